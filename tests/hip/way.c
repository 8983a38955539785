/* SPDX-License-Identifier: MIT */
/* A few HIP calls, reached in one of the ways that programs use; compiled by
 * tests/test_interception_hip.py:
 *   (nothing)   linked: through the PLT
 *   VIA_TABLE   linked: through a constant table of pointers (data relocations)
 *   VIA_DLSYM   dlopen() of the library, dlsym() of each function
 * As a program it makes the calls once, or lets plug-ins make them: way PLUG-IN
 * local|global|deepbind ...
 * As a plug-in (PLUGIN) it exports work(). Prints the names of the calls, in order. The calls
 * include structs passed by value, a return value that is not a status, and a call that fails. No
 * kernel runs, not even one of the library's own, such as a fill, so that any device works. */
#define __HIP_PLATFORM_AMD__ 1
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(X) \
	X(hipGetDeviceCount) X(hipSetDevice) X(hipMalloc) X(hipMallocPitch) \
	X(hipMemcpy) X(hipMemsetAsync) X(hipMalloc3D) X(hipMemset3D) \
	X(hipStreamCreate) X(hipStreamSynchronize) X(hipStreamDestroy) \
	X(hipMemcpy2D) X(hipFree) X(hipIpcOpenMemHandle) X(hipGetErrorName) \
	X(hipGetStreamDeviceId) X(hipDeviceSynchronize)
/* clang-format on */

#if defined(VIA_TABLE)
#define X(f) __typeof__(&f) f##_;
static const struct {
	FUNCTIONS(X)
} volatile table = {
#undef X
#define X(f) f,
	FUNCTIONS(X)
#undef X
};
#define CALL(f) (puts(#f), table.f##_)
#elif defined(VIA_DLSYM)
static void *library;
#define CALL(f) (puts(#f), (__typeof__(&f))dlsym(library, #f))
#else
#define CALL(f) (puts(#f), f)
#endif

#define CHECK(call)                                                 \
	do {                                                        \
		hipError_t e = call;                                \
		if (e) {                                            \
			fprintf(stderr, "%s: %d\n", #call, (int)e); \
			return 3;                                   \
		}                                                   \
	} while (0)

int work(void);
int work(void)
{
	enum { N = 4096, ROW = 64, ROWS = 8 };
	char host[N], back[N];
	void *p, *pitched, *imported;
	size_t pitch;
	hipStream_t stream;
	struct hipPitchedPtr volume;
	struct hipExtent extent = {32, 4, 2};
	hipIpcMemHandle_t handle;
	hipError_t error;
	int count;

#ifdef VIA_DLSYM
	library = dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return 2;
#endif
	for (int i = 0; i < N; i++)
		host[i] = (char)i;
	CHECK(CALL(hipGetDeviceCount)(&count));
	CHECK(CALL(hipSetDevice)(0));
	CHECK(CALL(hipMalloc)(&p, N));
	CHECK(CALL(hipMemcpy)(p, host, N, hipMemcpyHostToDevice));
	CHECK(CALL(hipMemcpy)(back, p, N, hipMemcpyDeviceToHost));
	if (memcmp(host, back, N))
		return 4;
	CHECK(CALL(hipMallocPitch)(&pitched, &pitch, ROW, ROWS));
	CHECK(CALL(hipMemcpy2D)(pitched, pitch, host, ROW, ROW, ROWS, hipMemcpyHostToDevice));
	CHECK(CALL(hipStreamCreate)(&stream));
	if (CALL(hipGetStreamDeviceId)(stream) != 0)
		return 5;
	CHECK(CALL(hipMemsetAsync)(p, 7, 0, stream));
	CHECK(CALL(hipStreamSynchronize)(stream));
	CHECK(CALL(hipStreamDestroy)(stream));
	CHECK(CALL(hipMalloc3D)(&volume, extent));
	extent.depth = 0; /* an empty fill, which needs no kernel */
	CHECK(CALL(hipMemset3D)(volume, 9, extent));
	CHECK(CALL(hipDeviceSynchronize)());
	CHECK(CALL(hipMemcpy)(back, volume.ptr, 32, hipMemcpyDeviceToHost));
	memset(&handle, 0x5a, sizeof handle);
	/* an invalid flag, and an invalid handle */
	error = CALL(hipIpcOpenMemHandle)(&imported, handle, 2);
	puts(CALL(hipGetErrorName)(error) ? "named" : "unnamed");
	CHECK(CALL(hipFree)(volume.ptr));
	CHECK(CALL(hipFree)(pitched));
	CHECK(CALL(hipFree)(p));
	return 0;
}

#ifndef PLUGIN
static int plugin(const char *path, const char *how)
{
	int flags = !strcmp(how, "global")     ? RTLD_GLOBAL
		    : !strcmp(how, "deepbind") ? RTLD_LOCAL | RTLD_DEEPBIND
					       : RTLD_LOCAL;
	void *handle = dlopen(path, RTLD_NOW | flags);
	int (*does)(void) = handle ? (int (*)(void))dlsym(handle, "work") : NULL;

	if (!does)
		return fprintf(stderr, "%s\n", dlerror()), 9;
	return does();
}

int main(int argc, char **argv)
{
	int status = argc < 3 ? work() : 0;

	for (int i = 2; i < argc && !status; i++)
		status = plugin(argv[1], argv[i]);
	fflush(stdout);
	return status;
}
#endif
