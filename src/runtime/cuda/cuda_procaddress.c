/* SPDX-License-Identifier: MIT */
/* Replaces functions that cuGetProcAddress() and cuGetProcAddress_v2() return by address. libcudart
 * and each library that contains a copy of libcudart get all driver functions this way, so taps of
 * the exports alone (generated/cuda_driver_interposed.c) would see almost none of these calls.
 *
 *   cuGetProcAddress_v2("cuMemAlloc", 12000, flags)  -> the driver: address of cuMemAlloc_v2
 *                                                    -> the program: the tap of cuMemAlloc_v2
 *
 * The function is identified by its address rather than its name, because the driver chooses among
 * a function's variants by requested release and flags. If several names share one address, the
 * name selects the function. The two functions can also return their own addresses, which are
 * replaced in the same way.
 * Locking: none. The taps' real functions do not change while the library is mapped. */
#include <stdatomic.h>
#include <string.h>

#include "core/emit.h"
#include "core/table.h"
#include "generated/cuda_driver_taps.h"
#include "generated/cuda_driver_wraps.h"
#include "record/operation.h"

/* Rate how well an operation's name matches a requested name: cuMemAlloc_v2 is a variant of
 * cuMemAlloc. */
static unsigned match_name(const char *operation, const char *symbol)
{
	size_t length = strlen(symbol);

	if (strncmp(operation, symbol, length) != 0)
		return 1;
	return operation[length] == '\0' ? 3 : operation[length] == '_' ? 2 : 1;
}

/* Return the tap of the function at @real, or NULL. */
static void *find_tap(const struct gt_table *table, const char *symbol, const void *real)
{
	unsigned best = 0;
	void *found = NULL;

	for (uint32_t i = 0; i < table->operation_count; i++) {
		void *tap = gt_table_tap(table, i);
		unsigned match;

		if (tap == real)
			return tap;
		if (table->taps[i].real != real)
			continue;
		match = match_name(gt_operation_text(table->operations[i].op), symbol);
		if (match > best) {
			best = match;
			found = tap;
		}
	}
	return found;
}

/* Return true if the name is new. All copies of libcudart look up the same names, and each name is
 * reported once. */
static bool is_new_name(const char *name)
{
	static _Atomic uint32_t seen[64];
	uint32_t hash = 2166136261u;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	hash |= 1; /* nonzero, because 0 marks a free slot */
	for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
		uint32_t there = 0;

		if (atomic_compare_exchange_strong(&seen[i], &there, hash))
			return true;
		if (there == hash)
			return false;
	}
	return false;
}

static void *exchange_address(const struct gt_call *call, const char *symbol, void *real)
{
	struct gt_table *tables[GT_CUDA_DRIVER_INSTANCES];
	void *tap = find_tap(call->table, symbol, real);
	bool unknown;

	if (tap)
		return tap;
	/* the library does not export the function, so only the function's name is known */
	for (unsigned i = 0; i < GT_CUDA_DRIVER_INSTANCES; i++)
		tables[i] = &gt_cuda_driver_tables[i];
	tap = gt_table_extension(tables, GT_CUDA_DRIVER_INSTANCES, symbol, real, &unknown);
	if (unknown && is_new_name(symbol))
		gt_event_write(gt_thread_own(), GT_EVENT_UNKNOWN_ENTRY, GT_DOMAIN_CUDA_DRIVER, 0,
			       symbol);
	return tap;
}

static int finish_call(const struct gt_call *call, int status, const char *symbol, void **function)
{
	if (status == 0 && symbol && function && *function)
		*function = exchange_address(call, symbol, *function);
	return status;
}

int gt_cuda_driver_wrap_cuGetProcAddress(const struct gt_call *call, const char *symbol, void **pfn,
					 int version, uint64_t flags)
{
	gt_cuda_driver_cuGetProcAddress_fn *real = call->tap->real;

	return finish_call(call, real(symbol, pfn, version, flags), symbol, pfn);
}

int gt_cuda_driver_wrap_cuGetProcAddress_v2(const struct gt_call *call, const char *symbol,
					    void **pfn, int version, uint64_t flags,
					    unsigned int *symbol_status)
{
	gt_cuda_driver_cuGetProcAddress_v2_fn *real = call->tap->real;

	return finish_call(call, real(symbol, pfn, version, flags, symbol_status), symbol, pfn);
}
