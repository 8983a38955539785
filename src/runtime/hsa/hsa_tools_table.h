/* SPDX-License-Identifier: MIT */
/* ROCr's table for tools (ToolsApiTable, version 6 and later): functions that ROCr calls before and
 * after a queue's scratch memory is allocated, freed or reclaimed. Inserts gputap's functions,
 * which call any functions inserted earlier. */
#ifndef GPUTAP_RUNTIME_HSA_TOOLS_TABLE_H
#define GPUTAP_RUNTIME_HSA_TOOLS_TABLE_H

#include "runtime/hsa/hsa_abi.h"

/* a start and an end entry per operation */
enum { GT_HSA_TOOLS_ENTRIES = 2 * GT_HSA_SCRATCH_OPERATIONS };

struct gt_hsa_tools_table {
	struct {
		uint32_t major, size, step, reserved;
	} version;
	gt_hsa_scratch_fn *entries[GT_HSA_TOOLS_ENTRIES];
};

/* Define ours[], with one function per entry of the table. Each function passes the number of its
 * entry to @on_event: int on_event(uint32_t at, event). */
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

/* Insert gputap's functions into all entries that the runtime's table has. The previous functions
 * are stored in next[] before gputap's functions can be called. */
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

/* Call the previous function of an entry. */
static inline int gt_hsa_tools_table_next(gt_hsa_scratch_fn *const *next, uint32_t at,
					  const struct gt_hsa_scratch_event *e)
{
	gt_hsa_scratch_fn *fn = __atomic_load_n(&next[at], __ATOMIC_RELAXED);

	return fn ? fn(e) : 0;
}

#endif
