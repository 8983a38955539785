/* SPDX-License-Identifier: MIT */
/* A set of calls of a capture, with a number for each call. All calls are marked first; then
 * numbers are set and looked up. Memory: one bit for each call whose id is close to the id of a
 * marked call, and 4 bytes for each marked call. */
#ifndef GPUTAP_ANALYSIS_MODEL_CALLSET_H
#define GPUTAP_ANALYSIS_MODEL_CALLSET_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"

struct gt_callset_chunk;

/* Empty if zero-initialised. */
struct gt_callset {
	struct gt_map chunk_map; /* keys: process, and call id / GT_CALLSET_CHUNK */
	struct gt_callset_chunk *chunks;
	size_t chunk_count, chunk_room;
	uint32_t *numbers; /* numbers of the marked calls, in the order of `chunks` */
};

/* Mark a call. Return 0, or -ENOMEM without a cause. */
int gt_callset_mark(struct gt_callset *s, uint32_t process, uint64_t id);
/* Set all numbers to 0. Call after the last mark. Return 0, or -ENOMEM without a cause. */
int gt_callset_settle(struct gt_callset *s);
/* Return a pointer to the number of a marked call; NULL: the call is not marked. */
uint32_t *gt_callset_find(const struct gt_callset *s, uint32_t process, uint64_t id);
void gt_callset_fini(struct gt_callset *s);

#endif
