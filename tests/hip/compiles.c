/* SPDX-License-Identifier: MIT */
/* Compiles a kernel at run time, and makes one HIP call itself. Prints the names of the calls, in
 * order. Results are ignored. Needs no headers. The functions are in libamdhip64 or libhiprtc,
 * depending on the release. LIBRARY: build a library with these functions, for machines without
 * libhiprtc. */
#include <stddef.h>

extern int hiprtcVersion(int *major, int *minor);
extern int hiprtcCreateProgram(void **program, const char *source, const char *name,
			       int header_count, const char **headers, const char **includes);
extern int hiprtcCompileProgram(void *program, int count, const char **options);
extern int hiprtcDestroyProgram(void **program);

#ifdef LIBRARY
int hiprtcVersion(int *major, int *minor)
{
	*major = *minor = 9;
	return 0;
}

int hiprtcCreateProgram(void **program, const char *source, const char *name, int header_count,
			const char **headers, const char **includes)
{
	(void)source, (void)name, (void)header_count, (void)headers, (void)includes;
	*program = program;
	return 0;
}

int hiprtcCompileProgram(void *program, int count, const char **options)
{
	(void)program, (void)count, (void)options;
	return 0;
}

/* Call another function through this library's PLT, which is not a call of the program. */
int hiprtcDestroyProgram(void **program)
{
	int major, minor;

	*program = NULL;
	return hiprtcVersion(&major, &minor);
}
#else
#include <stdio.h>

extern int hipGetDeviceCount(int *count);

int main(void)
{
	int major, minor, count;
	void *program;

	hiprtcVersion(&major, &minor);
	puts("hiprtcVersion");
	if (hiprtcCreateProgram(&program, "__global__ void f() {}", "f.hip", 0, NULL, NULL))
		return 1;
	puts("hiprtcCreateProgram");
	hiprtcCompileProgram(program, 0, NULL);
	puts("hiprtcCompileProgram");
	hiprtcDestroyProgram(&program);
	puts("hiprtcDestroyProgram");
	hipGetDeviceCount(&count);
	puts("hipGetDeviceCount");
	return 0;
}
#endif
