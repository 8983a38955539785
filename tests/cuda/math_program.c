/* SPDX-License-Identifier: MIT */
/* Calls the functions of tests/cuda/math_stand_in.c, or those of the real libraries that work
 * without a GPU. Prints the result of each call.
 *
 *   math_program LIBRARY.. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct id {
	char internal[128];
};

#define CALL(type, name, list, ...)                                         \
	do {                                                                \
		type(*f) list;                                              \
		*(void **)&f = dlsym(library, #name);                       \
		if (f)                                                      \
			printf(#name " %lld\n", (long long)f(__VA_ARGS__)); \
	} while (0)

static void call_nccl(void *library)
{
	void *comm = NULL;
	struct id id;
	int version = 0;

	memset(&id, 0, sizeof id);
	CALL(int, ncclGetVersion, (int *), &version);
	CALL(int, ncclGetUniqueId, (struct id *), &id);
	CALL(int, ncclCommInitRank, (void **, int, struct id, int), &comm, 1, id, 0);
	CALL(int, ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *),
	     (void *)0x10, (void *)0x20, 1000, 7, 0, comm, NULL);
}

static void call_cublas(void *library)
{
	const float one = 1, numbers[16] = {0};
	float out[16];
	void *handle = NULL;
	double real = 0;

	CALL(int, cublasCreate_v2, (void **), &handle);
	CALL(int, cublasSgemm_v2,
	     (void *, int, int, int, int, int, const float *, const float *, int, const float *,
	      int, const float *, float *, int),
	     handle, 0, 1, 4, 3, 2, &one, numbers, 4, numbers, 3, &one, out, 4);
	CALL(int, cublasDaxpy_v2_64,
	     (void *, int64_t, const double *, const double *, int64_t, double *, int64_t), handle,
	     INT64_C(1) << 40, &real, &real, 1, &real, -1);
}

static void call_others(void *library)
{
	void *handle = NULL;

	CALL(size_t, cublasLtGetVersion, (void));
	CALL(int, cublasLtCreate, (void **), &handle);
	CALL(size_t, cudnnGetVersion, (void));
	CALL(int, cudnnCreate, (void **), &handle);
	CALL(int, cudnnBackendExecute, (void *, void *, void *), NULL, NULL, NULL);
	CALL(int, cudnnSetActivationDescriptor, (void *, int, int, double), &handle, 1, 0, 1.5);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 2;
		}
		call_nccl(library);
		if (!dlsym(library, "cublasLtCreate") || dlsym(library, "cublasCreate_v2"))
			call_cublas(library);
		call_others(library);
	}
	return 0;
}
