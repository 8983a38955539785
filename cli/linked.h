/* SPDX-License-Identifier: MIT */
/* Which device work has its call: one pass over records in any order, two bits for each call's
 * id. Ids of a thread count from 1, so that a page of 512 is mostly full; a call whose record
 * was lost leaves a gap. */
#ifndef GPUTAP_CLI_LINKED_H
#define GPUTAP_CLI_LINKED_H

#include "cli/lookup.h"

enum { LINKED_PAGE_IDS = 512 };

struct linked_page {
	uint64_t first_id;
	uint32_t process;
	uint64_t calls[LINKED_PAGE_IDS / 64]; /* whose record was there */
	/* that device work came from, before the call's record was seen */
	uint64_t work[LINKED_PAGE_IDS / 64];
};

/* Zero-initialised is empty. */
struct linked {
	struct linked_page *pages;
	uint32_t count, room;
	uint32_t last[2]; /* page + 1 of the last call, of the last work; 0 none */
	struct idmap by_hash;
	struct idmap more; /* page and id -> how much work beyond the first waits for its call */
	uint64_t work;     /* whose call's record was there so far */
	uint64_t lost;     /* whose call is known but its record was not, so far */
};

/* @process: a number that is the same for the same process only. */
void linked_call(struct linked *l, uint32_t process, uint64_t id);
/* @id: 0 is counted nowhere. */
void linked_work(struct linked *l, uint32_t process, uint64_t id);
void linked_fini(struct linked *l);

#endif
