/* SPDX-License-Identifier: MIT */
/* Counts the GPU activities whose calls were recorded. Makes one pass over the records, in any
 * order, and needs two bits per call id. Ids in a thread ascend from 1, so a page of 512 ids is
 * mostly full. A call whose record was lost leaves a gap. */
#ifndef GPUTAP_ANALYSIS_TABLES_LINKED_H
#define GPUTAP_ANALYSIS_TABLES_LINKED_H

#include "analysis/base/lookup.h"

enum { LINKED_PAGE_IDS = 512 };

struct linked_page {
	uint64_t first_id;
	uint32_t process;
	uint64_t calls[LINKED_PAGE_IDS / 64]; /* calls that were recorded */
	/* calls whose activities were seen before the call's record */
	uint64_t activity[LINKED_PAGE_IDS / 64];
};

/* Empty if zero-initialised. */
struct linked {
	struct linked_page *pages;
	uint32_t count, room;
	uint32_t last[2]; /* page + 1 of the last call and of the last activity; 0: none */
	struct idmap by_hash;
	/* page and id -> number of additional activities whose call was not seen yet */
	struct idmap more;
	uint64_t activity; /* number of activities whose call's record was seen */
	/* number of activities with a known call id whose call was not seen */
	uint64_t lost;
};

/* Add a call. @process: a number that is unique per process. */
void linked_call(struct linked *l, uint32_t process, uint64_t id);
/* Add an activity of call @id. Ids of 0 are ignored. */
void linked_activity(struct linked *l, uint32_t process, uint64_t id);
void linked_fini(struct linked *l);

#endif
