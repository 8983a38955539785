/* SPDX-License-Identifier: MIT */
/* Stand-in for an adapter of Unified Runtime, for faults and for machines without SYCL: has all
 * tables of the release that gputap knows, and five functions with an effect.
 *   UR_FAULT=release    one table has an additional entry, as in another release of this version
 *   UR_FAULT=version    accepts only version 0.11 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	SUCCESS = 0,
	INVALID_QUEUE = 3,
	UNSUPPORTED_VERSION = 43,
	UNSUPPORTED_FEATURE = 44,
	ENTRIES_MAX = 512
};

struct offset {
	uint64_t x, y, z;
};

/* All tables, one after the other. The first word of a handle points to them. */
static void *all[ENTRIES_MAX];
static struct handle {
	void **table;
} adapter = {all};

static int get_adapter(uint32_t count, struct handle **adapters, uint32_t *there)
{
	if (adapters && count)
		*adapters = &adapter;
	if (there)
		*there = 1;
	return SUCCESS;
}

/* Compare arguments in registers, structs passed by value, and arguments on the stack with the
 * values that the program passes. */
static int read_rect(void *queue, void *buffer, _Bool blocking, struct offset from,
		     struct offset to, struct offset region, size_t row, size_t slice,
		     size_t host_row, size_t host_slice, void *memory, uint32_t count,
		     void *const *events, void **event)
{
	if (!queue)
		return INVALID_QUEUE;
	if (buffer != (void *)2 || !blocking || from.x != 3 || to.y != 4 || region.z != 5 ||
	    row != 6 || slice != 7 || host_row != 8 || host_slice != 9 || memory || count != 1 ||
	    events[0] != (void *)10)
		abort();
	*event = (void *)11;
	return SUCCESS;
}

static int create_kernel(void *program, const char *name, void **kernel)
{
	(void)program;
	*kernel = strcmp(name, "scale") ? (void *)13 : (void *)12;
	return SUCCESS;
}

static int launch(void *queue, void *kernel, uint32_t dimensions, const size_t *offset,
		  const size_t *size, const size_t *group, uint32_t count, const void *arguments,
		  const void *properties, uint32_t wait_count, void *const *waits, void **event)
{
	if (!queue || !kernel || dimensions != 2 || offset || size[1] != 64 || group[0] != 8 ||
	    count || arguments || properties || wait_count || waits)
		abort();
	*event = (void *)14;
	return SUCCESS;
}

static int is_capture_enabled(void *queue, _Bool *result)
{
	(void)queue, (void)result;
	return UNSUPPORTED_FEATURE;
}

/* All other functions: each has a unique address. */
#define UR_TABLE(function, entries) entries
#define X(name)                    \
	static int do_##name(void) \
	{                          \
		return SUCCESS;    \
	}
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE
#undef X

static void *choose(int (*function)(void))
{
	if (function == do_urAdapterGet)
		return (void *)get_adapter;
	if (function == do_urEnqueueMemBufferReadRect)
		return (void *)read_rect;
	if (function == do_urKernelCreate)
		return (void *)create_kernel;
	if (function == do_urEnqueueKernelLaunchWithArgsExp)
		return (void *)launch;
	if (function == do_urQueueIsGraphCaptureEnabledExp)
		return (void *)is_capture_enabled;
	return (void *)function;
}

static unsigned put(void **out, int (*const *functions)(void))
{
	unsigned count = 0;

	for (; functions[count]; count++)
		out[count] = choose(functions[count]);
	return count;
}

static int fill(const char *name, uint32_t version, void **out, int (*const *functions)(void))
{
	const char *fault = getenv("UR_FAULT");
	unsigned count;

	if (version != (fault && !strcmp(fault, "version") ? 11 : 12))
		return UNSUPPORTED_VERSION;
	count = put(out, functions);
	if (fault && !strcmp(fault, "release") && !strcmp(name, "urGetQueueProcAddrTable"))
		out[count] = out[0];
	return SUCCESS;
}

#define X(name) do_##name,
#define UR_TABLE(function, entries)                                  \
	static int (*const in_##function[])(void) = {entries NULL};  \
	EXPORT int function(uint32_t version, void **out);           \
	EXPORT int function(uint32_t version, void **out)            \
	{                                                            \
		return fill(#function, version, out, in_##function); \
	}
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE

__attribute__((constructor)) static void fill_all(void)
{
	void **next = all;

#define UR_TABLE(function, entries) next += put(next, in_##function);
#include "runtime/unified_runtime/ur_release.inc"
}
