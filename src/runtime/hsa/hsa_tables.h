/* SPDX-License-Identifier: MIT */
/* Finds the tables of the HSA runtimes that are mapped, in their data. */
#ifndef GPUTAP_RUNTIME_HSA_TABLES_H
#define GPUTAP_RUNTIME_HSA_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/hsa/hsa_runtime.h"

/* A mapped copy of the runtime. */
struct gt_hsa_mapped {
	uintptr_t base;
	struct gt_hsa_tables *tables; /* through which the exports call; NULL: not found */
	bool is_initialised;          /* true between hsa_init() and the last hsa_shut_down() */
};

/**
 * gt_hsa_tables_find() - find the tables through which the exports of mapped runtimes call
 * Return: number of copies of the runtime, at most @most.
 * Thread: any, without the dynamic linker's lock. Calls hsa_status_string() and
 *         hsa_system_get_info() of each copy, and keeps the copies mapped.
 */
size_t gt_hsa_tables_find(struct gt_hsa_mapped *found, size_t most);

#endif
