/* SPDX-License-Identifier: MIT */
/* Some of a capture's calls, with a number each: first all that are meant are marked, then numbers
 * are set and found. A bit for each call of a thread that has any near it, 4 bytes for each that is
 * marked. */
#ifndef GPUTAP_EXPORT_CALLSET_H
#define GPUTAP_EXPORT_CALLSET_H

#include <stddef.h>
#include <stdint.h>

#include "export/map.h"

struct gt_callset_chunk;

/* Zero-initialised is empty. */
struct gt_callset {
	struct gt_map chunk_map; /* by process, and number of a call by GT_CALLSET_CHUNK */
	struct gt_callset_chunk *chunks;
	size_t chunk_count, chunk_room;
	uint32_t *numbers; /* of marked calls, in the order of chunks */
};

/* Return: 0, or -ENOMEM without a cause. */
int gt_callset_mark(struct gt_callset *s, uint32_t process, uint64_t id);
/* After the last mark: all numbers are 0. Return: 0, or -ENOMEM without a cause. */
int gt_callset_settle(struct gt_callset *s);
/* Where a marked call's number is; NULL: it is not marked. */
uint32_t *gt_callset_find(const struct gt_callset *s, uint32_t process, uint64_t id);
void gt_callset_fini(struct gt_callset *s);

#endif
