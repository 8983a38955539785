/* SPDX-License-Identifier: MIT */
/* Finds the program's ranges that contain a record, for `--where range=NAME`. Ranges become known
 * when they end, after the records in them. All ranges are therefore read before the records.
 *
 * A set of ranges is a chain: each element has a name and refers to the enclosing set. Sets with
 * the same names in the same order are stored once. A set contains each name at most once. For each
 * thread, this table keeps the call numbers at which the set changes:
 *
 *   number  1     2      3       4
 *           step  step,  step,   step            16 bytes for each change, in memory
 *                 outer  outer,
 *                        inner */
#ifndef GPUTAP_ANALYSIS_QUERY_RANGE_PATHS_H
#define GPUTAP_ANALYSIS_QUERY_RANGE_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/lookup.h"
#include "analysis/base/sorter.h"

struct range_path {
	uint32_t name, around; /* around: enclosing set; LOOKUP_NONE: none */
};

struct range_paths_change {
	uint64_t id;
	uint32_t thread, set; /* set: the set from this call on; LOOKUP_NONE: no range */
};

/* Empty if zero-initialised. */
struct range_paths {
	struct sorter sorter; /* Ranges */
	struct range_path *sets;
	struct range_paths_change *changes;
	struct idmap set_numbers, thread_numbers;
	size_t change_count, change_room;
	uint32_t set_count, set_room, thread_count;
};

/* Return a number that identifies a thread. */
static inline uint64_t range_paths_thread(uint32_t process, uint32_t ordinal)
{
	return (uint64_t)process << 32 | ordinal;
}

/* Add a range from the thread's call @first to its call @last, inclusive. */
void range_paths_add(struct range_paths *e, uint64_t thread, uint64_t first, uint64_t last,
		     uint32_t name);
/* Call after the last range, before the first query. Return 0 or negative errno with a cause. */
int range_paths_finish(struct range_paths *e);
/* Return the set that contains call @id of the thread; LOOKUP_NONE: in no range. */
uint32_t range_paths_find(const struct range_paths *e, uint64_t thread, uint64_t id);
/* Store the names of a set, innermost first, at most @most. Return their number. */
unsigned range_paths_names(const struct range_paths *e, uint32_t set, uint32_t *names,
			   unsigned most);
void range_paths_fini(struct range_paths *e);

#endif
