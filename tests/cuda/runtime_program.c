/* SPDX-License-Identifier: MIT */
/* A program for the CUDA runtime API on the stand-in runtime. Prints as JSON the number of calls of
 * each function, and addresses that the test looks for. Built with cudart.c inside, or linked with
 * libcudart.so.13.
 *
 *   runtime_program MODULE every            call each function once or twice
 *   runtime_program MODULE threads COUNT    launches, memcpys, memsets from COUNT threads
 *   runtime_program MODULE jump             leave a call with a jump
 *   runtime_program MODULE fork             first a child calls the runtime, then the parent
 *   runtime_program MODULE pause LIBRARY    pause recording between calls
 *   runtime_program MODULE share            the program itself uses CUPTI's callbacks */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft/cuda/cudart/cudart_api.h"

enum { NUMBERS = 256, ROUNDS = 20 };

static struct {
	const char *name;
	_Atomic int count;
} counts[64];

static _Atomic int *find_count(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (counts[i].name && strcmp(counts[i].name, name))
		i++;
	counts[i].name = name;
	pthread_mutex_unlock(&lock);
	return &counts[i].count;
}

/* Count a call, and check that it returns @status. */
#define GIVES(status, function, ...)                                                 \
	do {                                                                         \
		(*find_count(#function))++;                                          \
		int found = function(__VA_ARGS__);                                   \
		if (found != (status)) {                                             \
			printf("line %d: %s gave %d\n", __LINE__, #function, found); \
			fflush(stdout);                                              \
			_exit(1);                                                    \
		}                                                                    \
	} while (0)
#define CALL(function, ...) GIVES(cudaSuccess, function, __VA_ARGS__)

static void print_counts(void)
{
	printf("{");
	for (unsigned i = 0; counts[i].name; i++)
		printf("%s\"%s\": %d", i ? ", " : "", counts[i].name, counts[i].count);
	printf("}\n");
	fflush(stdout);
}

static void add_numbers(void)
{
}

static void launch(int *numbers, cudaStream_t stream)
{
	unsigned count = NUMBERS;
	int more = 1;
	void *arguments[] = {&numbers, &count, &more};
	const dim3 grid = {4, 1, 1}, block = {64, 1, 1};

	CALL(cudaLaunchKernel, (const void *)add_numbers, grid, block, arguments, 16, stream);
}

static void note(void *data)
{
	++*(_Atomic int *)data;
}

static void call_of_devices(void)
{
	int version, count, device, attribute;

	CALL(cudaDriverGetVersion, &version);
	CALL(cudaRuntimeGetVersion, &version);
	CALL(cudaGetDeviceCount, &count);
	CALL(cudaSetDevice, 0);
	CALL(cudaGetDevice, &device);
	CALL(cudaDeviceGetAttribute, &attribute, 1, 0);
	GIVES(cudaErrorInvalidDevice, cudaSetDevice, 77);
	GIVES(cudaErrorInvalidDevice, cudaPeekAtLastError);
	GIVES(cudaErrorInvalidDevice, cudaGetLastError);
	CALL(cudaGetLastError);
}

static void call_of_memory(void)
{
	void *address, *host, *managed, *function = NULL;
	size_t pitch, available, total;
	int status;

	CALL(cudaMallocPitch, &address, &pitch, 100, 5);
	CALL(cudaFree, address);
	CALL(cudaMallocHost, &host, 4096);
	CALL(cudaFreeHost, host);
	CALL(cudaHostAlloc, &host, 8192, 3);
	CALL(cudaFreeHost, host);
	CALL(cudaMallocManaged, &managed, 4096, 1);
	CALL(cudaFree, managed);
	CALL(cudaMemGetInfo, &available, &total);
	CALL(cudaGetDriverEntryPointByVersion, "cuMemAlloc", &function, 12000, 0, &status);
	GIVES(cudaErrorMemoryAllocation, cudaMalloc, &address, (size_t)1 << 60);
}

static void call_of_streams(void)
{
	static _Atomic int notes;
	cudaStream_t stream, other;
	cudaEvent_t start, end;
	float milliseconds;
	void *memory;
	int numbers[NUMBERS] = {0};

	CALL(cudaStreamCreate, &stream);
	CALL(cudaStreamCreateWithFlags, &other, 1);
	CALL(cudaEventCreate, &start);
	CALL(cudaEventCreateWithFlags, &end, 0);
	CALL(cudaMallocAsync, &memory, sizeof numbers, stream);
	CALL(cudaEventRecord, start, stream);
	CALL(cudaMemsetAsync, memory, 0, sizeof numbers, stream);
	CALL(cudaMemcpyAsync, memory, numbers, sizeof numbers, cudaMemcpyHostToDevice, stream);
	launch(memory, stream);
	CALL(cudaLaunchHostFunc, stream, note, &notes);
	CALL(cudaEventRecord, end, stream);
	CALL(cudaStreamWaitEvent, other, end, 0);
	CALL(cudaEventSynchronize, end);
	CALL(cudaEventQuery, end);
	CALL(cudaEventElapsedTime, &milliseconds, start, end);
	CALL(cudaFreeAsync, memory, stream);
	CALL(cudaStreamSynchronize, stream);
	CALL(cudaStreamQuery, stream);
	CALL(cudaEventDestroy, start);
	CALL(cudaEventDestroy, end);
	CALL(cudaStreamDestroy, stream);
	CALL(cudaStreamDestroy, other);
}

static void call_of_copies(void)
{
	int numbers[NUMBERS] = {0};
	unsigned count = NUMBERS;
	int more = 1;
	void *memory, *arguments[] = {&memory, &count, &more};
	const cudaLaunchConfig_t config = {.gridDim = {8, 1, 1},
					   .blockDim = {32, 1, 1},
					   .dynamicSmemBytes = 64};

	CALL(cudaMalloc, &memory, sizeof numbers);
	printf("memory %p\n", memory);
	printf("kernel %p\n", (void *)add_numbers);
	CALL(cudaMemset, memory, 0, sizeof numbers);
	CALL(cudaMemcpy, memory, numbers, sizeof numbers, cudaMemcpyHostToDevice);
	launch(memory, NULL);
	CALL(cudaLaunchKernelExC, &config, (const void *)add_numbers, arguments);
	CALL(cudaDeviceSynchronize);
	CALL(cudaMemcpy, numbers, memory, sizeof numbers, cudaMemcpyDeviceToHost);
	CALL(cudaFree, memory);
	if (numbers[NUMBERS - 1] != 2)
		printf("the kernels wrote %d\n", numbers[NUMBERS - 1]);
}

static void *work(void *data)
{
	cudaStream_t stream;
	void *memory;

	(void)data;
	CALL(cudaStreamCreate, &stream);
	CALL(cudaMalloc, &memory, NUMBERS * sizeof(int));
	for (int i = 0; i < ROUNDS; i++) {
		CALL(cudaMemsetAsync, memory, 0, NUMBERS * sizeof(int), stream);
		launch(memory, stream);
	}
	CALL(cudaStreamSynchronize, stream);
	CALL(cudaFree, memory);
	CALL(cudaStreamDestroy, stream);
	return NULL;
}

static void run_threads(int count)
{
	pthread_t threads[16];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static sigjmp_buf back;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Recurse to the given stack depth, then make a call. */
static __attribute__((noinline)) void call_deep(int depth)
{
	volatile char room[256];

	memset((void *)room, depth, sizeof room);
	if (depth)
		call_deep(depth - 1);
	else
		CALL(cudaDeviceSynchronize);
}

/* Make the runtime write the new address to read-only memory. */
static void jump_out(void)
{
	signal(SIGSEGV, leave);
	for (volatile int i = 0; i < 3; i++) {
		if (!sigsetjmp(back, 1)) {
			cudaMalloc((void **)8, 64);
			printf("no fault\n");
		}
		CALL(cudaDeviceSynchronize);
		call_deep(20);
	}
}

static void fork_child(void)
{
	int status, count;
	pid_t child = fork();

	if (!child) {
		cudaGetDeviceCount(&count); /* CUDA does not work in a child, but must not hang */
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		printf("child: %d\n", status);
	CALL(cudaDeviceSynchronize);
}

/* Pause with ROCTx from the named library. */
static void pause_recording(const char *library)
{
	void *roctx = dlopen(library, RTLD_NOW);
	int (*pause)(uint64_t), (*resume)(uint64_t);

	if (!roctx)
		return;
	*(void **)&pause = dlsym(roctx, "roctxProfilerPause");
	*(void **)&resume = dlsym(roctx, "roctxProfilerResume");
	for (int i = 0; i < ROUNDS; i++) {
		CALL(cudaDeviceSynchronize);
		pause(0);
		cudaDeviceSynchronize();
		cudaGetLastError();
		resume(0);
		CALL(cudaPeekAtLastError);
	}
}

/* The program uses CUPTI itself: it enables callbacks for two functions, then for none. */
static int seen[2];

static void see(void *user, int domain, uint32_t id, const void *data)
{
	(void)user;
	(void)data;
	if (domain == 2 && (id == 10 || id == 165)) /* cudaGetLastError, cudaDeviceSynchronize */
		seen[id == 165]++;
	else
		printf("not asked for: %d %u\n", domain, id);
}

static void share(void)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW), *subscriber = NULL;
	int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
	int (*enable)(uint32_t, void *, int, uint32_t), (*enable_domain)(uint32_t, void *, int);

	if (!cupti)
		return;
	*(void **)&subscribe = dlsym(cupti, "cuptiSubscribe");
	*(void **)&enable = dlsym(cupti, "cuptiEnableCallback");
	*(void **)&enable_domain = dlsym(cupti, "cuptiEnableDomain");
	printf("subscribe %d\n", subscribe(&subscriber, see, NULL));
	enable(1, subscriber, 2, 10);
	enable(1, subscriber, 2, 165);
	for (int i = 0; i < ROUNDS; i++) {
		CALL(cudaDeviceSynchronize);
		CALL(cudaGetLastError);
		CALL(cudaPeekAtLastError);
	}
	enable_domain(0, subscriber, 2);
	CALL(cudaDeviceSynchronize);
	printf("seen %d %d\n", seen[0], seen[1]);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 2 ? argv[2] : "";
	int device;
	void **image = __cudaRegisterFatBinary(argv[1]);

	__cudaRegisterFunction(image, (const char *)add_numbers, NULL, "add_numbers", -1, NULL,
			       NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(image);
	if (cudaGetDevice(&device)) /* this call initialises the driver */
		return 1;
	if (!strcmp(scene, "every")) {
		call_of_devices();
		call_of_memory();
		call_of_streams();
		call_of_copies();
	} else if (!strcmp(scene, "threads")) {
		run_threads(atoi(argv[3]));
	} else if (!strcmp(scene, "jump")) {
		jump_out();
	} else if (!strcmp(scene, "fork")) {
		fork_child();
	} else if (!strcmp(scene, "pause")) {
		pause_recording(argv[3]);
	} else if (!strcmp(scene, "share")) {
		share();
	}
	print_counts();
	return 0;
}
