/* SPDX-License-Identifier: MIT */
/* Which ranges of the program a record is in: `--where range=..`. Ranges become known when they
 * end, after what is in them, so they are read before everything else.
 *
 * A set is a chain: a name, and the set around it. The same names in the same order are one set,
 * a name is in a set once. Of each thread there are the call numbers at which the set changes:
 *
 *   number  1     2      3       4
 *           step  step,  step,   step            16 bytes for each change, in memory
 *                 outer  outer,
 *                        inner  */
#ifndef GPUTAP_CLI_ENCLOSING_H
#define GPUTAP_CLI_ENCLOSING_H

#include <stddef.h>
#include <stdint.h>

#include "cli/lookup.h"
#include "cli/spill.h"

struct enclosing_set {
	uint32_t name, around; /* LOOKUP_NONE: nothing is around it */
};

struct enclosing_change {
	uint64_t id;
	uint32_t thread, set; /* LOOKUP_NONE: from here on in no range */
};

/* Zero-initialised is empty. */
struct enclosing {
	struct spill spill; /* ranges */
	struct enclosing_set *sets;
	struct enclosing_change *changes;
	struct idmap set_numbers, thread_numbers;
	size_t change_count, change_room;
	uint32_t set_count, set_room, thread_count;
};

/* What tells a thread from all others. */
static inline uint64_t enclosing_thread(uint32_t process, uint32_t ordinal)
{
	return (uint64_t)process << 32 | ordinal;
}

/* A range from the thread's call @first to its call @last, both in it. */
void enclosing_add(struct enclosing *e, uint64_t thread, uint64_t first, uint64_t last,
		   uint32_t name);
/* After the last range, before the first question. Return: 0 or negative errno with a cause. */
int enclosing_finish(struct enclosing *e);
/* The set in which that call of the thread is; LOOKUP_NONE: in no range. */
uint32_t enclosing_find(const struct enclosing *e, uint64_t thread, uint64_t id);
/* The names of a set, innermost first, at most @most. */
unsigned enclosing_names(const struct enclosing *e, uint32_t set, uint32_t *names, unsigned most);
void enclosing_fini(struct enclosing *e);

#endif
