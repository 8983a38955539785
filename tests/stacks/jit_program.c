/* SPDX-License-Identifier: MIT */
/* A program that generates code at run time and names it as JIT compilers do: jit_program MAP. The
 * code calls a launch through frames with frame pointers. The program moves the code once, so that
 * the map contains two functions at one address. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static cl_command_queue queue;
static cl_mem buffer;

__attribute__((noinline)) static void launch(void)
{
	char zero = 0;

	clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, 4096, 0, NULL, NULL);
	__asm__ volatile("" ::: "memory");
}

static int set_up(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 77;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	buffer = clCreateBuffer(context, 0, 4096, NULL, NULL);
	return 0;
}

/* push rbp; mov rbp, rsp; mov rax, target; call rax; pop rbp; ret */
static void write_function(uint8_t *to, void (*target)(void))
{
	static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8},
			     end[] = {0xff, 0xd0, 0x5d, 0xc3};

	memcpy(to, begin, sizeof begin);
	memcpy(to + sizeof begin, &target, sizeof target);
	memcpy(to + sizeof begin + sizeof target, end, sizeof end);
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *map = argc > 1 ? fopen(argv[1], "w") : NULL;
	const char *name = getenv("JIT_NAME");
	int status = set_up();

	if (status)
		return status;
	write_function(code, launch);
	write_function(code + 64, (void (*)(void))code);
	if (map) {
		fprintf(map, "%llx 40 former name\n", (unsigned long long)(uintptr_t)code);
		fprintf(map, "%llx 40 Py::inner function:3\n", (unsigned long long)(uintptr_t)code);
		fprintf(map, "%llx 20 %s\n", (unsigned long long)(uintptr_t)code + 64,
			name ? name : "LazyCompile:~outer");
		fputs("no line of a map\nffffffffffffffff 10 beyond\n", map);
		fclose(map);
	}
	((void (*)(void))(code + 64))();
	clFinish(queue);
	return 0;
}
