/* SPDX-License-Identifier: MIT */
/* ROCr's table for tools (ToolsApiTable, version 6 and later): functions that it calls before and
 * after a queue's scratch memory is allocated, freed or reclaimed; and insertion of our functions.
 * An earlier function is called from the later one. */
#ifndef GPUTAP_RUNTIME_HSA_TOOLS_TABLE_H
#define GPUTAP_RUNTIME_HSA_TOOLS_TABLE_H

#include "runtime/hsa/hsa_abi.h"

enum { GT_HSA_TOOLS_ENTRIES = 2 * GT_HSA_SCRATCH_OPERATIONS }; /* start and end of each */

struct gt_hsa_tools_table {
	struct {
		uint32_t major, size, step, reserved;
	} version;
	gt_hsa_scratch_fn *entries[GT_HSA_TOOLS_ENTRIES];
};

/* Define a function for each entry, ours[], which passes its number to @on_event: int
 * on_event(uint32_t at, event). */
#define GT_HSA_TOOLS_ENTRY(on_event, n)                                 \
	static int on_event##_##n(const struct gt_hsa_scratch_event *e) \
	{                                                               \
		return on_event(n, e);                                  \
	}
#define GT_HSA_TOOLS_FUNCTIONS(ours, on_event)                                               \
	GT_HSA_TOOLS_ENTRY(on_event, 0)                                                      \
	GT_HSA_TOOLS_ENTRY(on_event, 1)                                                      \
	GT_HSA_TOOLS_ENTRY(on_event, 2)                                                      \
	GT_HSA_TOOLS_ENTRY(on_event, 3)                                                      \
	GT_HSA_TOOLS_ENTRY(on_event, 4)                                                      \
	GT_HSA_TOOLS_ENTRY(on_event, 5)                                                      \
	static gt_hsa_scratch_fn *const ours[] = {on_event##_0, on_event##_1, on_event##_2,  \
						  on_event##_3, on_event##_4, on_event##_5}; \
	static_assert(sizeof ours / sizeof *ours == GT_HSA_TOOLS_ENTRIES,                    \
		      "a function for each entry")

/* Insert our functions, as far as the runtime's table goes; the former ones are in next[] before
 * ours can be called. */
static inline void gt_hsa_tools_table_put(struct gt_hsa_tools_table *table,
					  gt_hsa_scratch_fn *const *ours, gt_hsa_scratch_fn **next)
{
	for (uint32_t i = 0; i < GT_HSA_TOOLS_ENTRIES; i++) {
		if (offsetof(struct gt_hsa_tools_table, entries) +
				    (i + 1) * sizeof *table->entries >
			    table->version.size ||
		    table->entries[i] == ours[i])
			continue;
		__atomic_store_n(&next[i], table->entries[i], __ATOMIC_RELAXED);
		__atomic_store_n(&table->entries[i], ours[i], __ATOMIC_RELEASE);
	}
}

/* Call the former function. */
static inline int gt_hsa_tools_table_next(gt_hsa_scratch_fn *const *next, uint32_t at,
					  const struct gt_hsa_scratch_event *e)
{
	gt_hsa_scratch_fn *fn = __atomic_load_n(&next[at], __ATOMIC_RELAXED);

	return fn ? fn(e) : 0;
}

#endif
