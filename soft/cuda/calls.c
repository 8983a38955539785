/* SPDX-License-Identifier: MIT */
/* The exported functions. Each function calls soft_<name>(), and notifies an attached tool of its
 * start and end (tools.h). Calls that the driver makes to itself are not reported.
 * cuGetProcAddress() returns these functions in both forms. */
#include <string.h>

#include "generated/cuda_driver_ops.h"
#include "soft/cuda/cuda_parts.h"
#include "soft/cuda/functions.h"

/* Return the kernel name of a launching call, or NULL for other calls. */
static const char *find_symbol(uint32_t number, const void *parameters)
{
	CUfunction f = NULL;

	switch (number) {
	case GT_CUDA_DRIVER_cuLaunchKernel:
	case GT_CUDA_DRIVER_cuLaunchKernel_ptsz:
		memcpy(&f, parameters, sizeof f); /* the function is the first parameter */
		break;
	case GT_CUDA_DRIVER_cuLaunchKernelEx:
	case GT_CUDA_DRIVER_cuLaunchKernelEx_ptsz:
		memcpy(&f, (const char *)parameters + sizeof(void *), sizeof f);
		break;
	default: break;
	}
	return f ? f->name : NULL;
}

static bool begin_seen(struct soft_cu_call *call, uint32_t number, const char *name,
		       const void *parameters)
{
	if (!soft_cu_get_tool())
		return false;
	*call = (struct soft_cu_call){
		.domain = SOFT_CU_DRIVER_CALLS,
		.number = number,
		.name = name,
		.parameters = parameters,
		.symbol = find_symbol(number, parameters),
	};
	return soft_cu_begin_call(call);
}

static int end_seen(struct soft_cu_call *call, bool is_seen, int status)
{
	soft_cu_send_notices();
	if (is_seen)
		soft_cu_end_call(call, &status);
	return status;
}

/* Like CUPTI, never report cuGetExportTable(). Names end in _ to differ from parameters. */
#define soft_is_seen(number) ((number) != GT_CUDA_DRIVER_cuGetExportTable)

#define X(name, ...)                                                                               \
	int name(SOFT_CUDA_LIST(DECLARE, __VA_ARGS__))                                             \
	{                                                                                          \
		const struct {                                                                     \
			SOFT_CUDA_EACH(MEMBER, __VA_ARGS__)                                        \
		} all_ = {SOFT_CUDA_LIST(NAME, __VA_ARGS__)};                                      \
		struct soft_cu_call call_;                                                         \
		const bool is_seen_ = soft_is_seen(GT_CUDA_DRIVER_##name) &&                       \
				      begin_seen(&call_, GT_CUDA_DRIVER_##name, #name, &all_);     \
		return end_seen(&call_, is_seen_, soft_##name(SOFT_CUDA_LIST(NAME, __VA_ARGS__))); \
	}
#define B(name, suffix, ...) X(name, __VA_ARGS__) X(name##suffix, __VA_ARGS__)
#define V(name)                                                                               \
	int name(void)                                                                        \
	{                                                                                     \
		struct soft_cu_call call_;                                                    \
		const bool is_seen_ = begin_seen(&call_, GT_CUDA_DRIVER_##name, #name, NULL); \
		return end_seen(&call_, is_seen_, soft_##name());                             \
	}
SOFT_CUDA_CALLS(X, B, V)
#undef X
#undef B
#undef V

/* By name -------------------------------------------------------------------------- */

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

/* Find a function for cuGetProcAddress(). CUDA 7.0 added the forms for the thread's default
 * stream. */
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

int soft_cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
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

int soft_cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	return soft_cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
