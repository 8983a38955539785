/* SPDX-License-Identifier: MIT */
/* Counts the dispatches of each kernel symbol. */
#ifndef GPUTAP_ANALYSIS_TABLES_DISPATCHES_H
#define GPUTAP_ANALYSIS_TABLES_DISPATCHES_H

#include "analysis/base/lookup.h"
#include "capture/capture.h"

/* Number of dispatches of each kernel symbol. Empty if zero-initialised. */
struct dispatches {
	struct idmap ids; /* process << 32 | number of the symbol -> count */
	uint64_t *counts;
	uint32_t count, room;
};

/* Add a GPU activity. Only kernels with a known symbol are counted. */
void dispatches_add(struct dispatches *d, const struct gt_item *item);
void dispatches_fini(struct dispatches *d);
/* Return the number of dispatches of a kernel symbol. */
uint64_t dispatches_of(const struct dispatches *d, const struct gt_object_info *kernel);

#endif
