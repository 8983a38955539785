/* SPDX-License-Identifier: MIT */
/* Functions that the driver hands out by name: cuGetProcAddress(), both forms. */
#include <string.h>

#include "soft/cuda/cuda_parts.h"
#include "soft/cuda/functions.h"

static const struct {
	const char *name;
	int release;
	void (*function)(void), (*per_thread)(void);
} functions[] = {
#define X(name, release, symbol, per_thread) \
	{#name, release, (void (*)(void))(symbol), (void (*)(void))(per_thread)},
	SOFT_CUDA_FUNCTIONS(X)
#undef X
};

enum { FOUND = 0, NO_SUCH_NAME = 1, RELEASE_TOO_OLD = 2 };

/* Forms for a thread's default stream came with 7.0. */
static unsigned find_function(const char *name, int release, uint64_t flags, void **out)
{
	const bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	unsigned status = NO_SUCH_NAME;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (strcmp(functions[i].name, name) != 0)
			continue;
		status = RELEASE_TOO_OLD;
		if (functions[i].release > release)
			continue;
		*out = (void *)(per_thread && release >= 7000 ? functions[i].per_thread
							      : functions[i].function);
		return FOUND;
	}
	return status;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			unsigned int *status)
{
	unsigned found;

	if (!symbol || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*function = NULL;
	found = find_function(symbol, version, flags, function);
	if (status)
		*status = found;
	return found == FOUND || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

int cuGetExportTable(const void **table, const CUuuid *id)
{
	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table = NULL;
	return CUDA_ERROR_NOT_FOUND;
}
