/* SPDX-License-Identifier: MIT */
/* Replaces functions that hipGetProcAddress() and, since ROCm 7, hipGetDriverEntryPoint() return by
 * address. If the runtime's exports are interposed, the address may be that of a real function. The
 * program then gets the function's tap of the same instance instead. If gputap has replaced the
 * functions in the runtime's table (ROCm 6 and later), a returned function already goes through the
 * table, and no address is that of a real function. */
#include "core/table.h"
#include "generated/hip_wraps.h"
#include "runtime/hip/hip_attach.h"
#include "generated/hip_compiler_taps.h"
#include "generated/hip_taps.h"

static void *tap_for(const struct gt_table *table, const char *name, void *real)
{
	struct gt_table *tables[GT_INSTANCES];
	bool unknown;

	for (uint32_t i = 0; i < table->operation_count; i++)
		if (table->taps[i].real == real) {
			void *front = gt_hip_front(table->instance, i);

			return front ? front : gt_table_tap(table, i);
		}
	/* the function is not exported: look up its name in any instance that lacks a function of
	 * that name */
	for (unsigned i = 0; i < GT_INSTANCES; i++)
		tables[i] = &gt_hip_tables[i];
	return gt_table_extension(tables, GT_INSTANCES, name, real, &unknown);
}

static int exchange_address(const struct gt_call *call, int ret, const char *symbol,
			    void **function)
{
	if (ret == 0 && symbol && function && *function &&
	    gt_hip_is_interposed(call->table->instance))
		*function = tap_for(call->table, symbol, *function);
	return ret;
}

int gt_hip_wrap_hipGetProcAddress(const struct gt_call *call, const char *symbol, void **pfn,
				  int version, uint64_t flags, unsigned int *status)
{
	return exchange_address(call,
				((gt_hip_hipGetProcAddress_fn *)call->tap->real)(symbol, pfn,
										 version, flags,
										 status),
				symbol, pfn);
}

int gt_hip_wrap_hipGetDriverEntryPoint(const struct gt_call *call, const char *symbol,
				       void **function, unsigned long long flags,
				       unsigned int *status)
{
	return exchange_address(call,
				((gt_hip_hipGetDriverEntryPoint_fn *)call->tap->real)(
					symbol, function, flags, status),
				symbol, function);
}

int gt_hip_wrap_hipGetDriverEntryPoint_spt(const struct gt_call *call, const char *symbol,
					   void **function, unsigned long long flags,
					   unsigned int *status)
{
	return exchange_address(call,
				((gt_hip_hipGetDriverEntryPoint_spt_fn *)call->tap->real)(
					symbol, function, flags, status),
				symbol, function);
}
