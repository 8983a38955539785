/* SPDX-License-Identifier: MIT */
/* Which call's work a thread waited for that waits for events: the call that gave the event of that
 * handle last, before the wait began. Handles are used again, and events are given and waited for
 * by several threads, whose calls come one thread after another: all is sorted by handle and time.
 * Memory is bounded: rows are small, and sorted in files. */
#ifndef GPUTAP_CLI_AWAITED_H
#define GPUTAP_CLI_AWAITED_H

#include "cli/spill.h"

struct awaited {
	struct spill rows;
	bool any; /* a wait was added: else nobody asks */
};

void awaited_init(struct awaited *a);
/* The call @id, which began at @at, gave the event @handle. */
void awaited_add_event(struct awaited *a, uint32_t process, uint64_t handle, uint64_t at,
		       uint64_t id);
/* The wait of this number, which began at @at, waited for it. */
void awaited_add_wait(struct awaited *a, uint32_t process, uint64_t handle, uint64_t at,
		      uint64_t wait);
/* Calls @found for each event of each wait, with the call that gave it, 0: it was not seen.
 * Return: 0, or negative errno with a cause. */
int awaited_find(struct awaited *a,
		 void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id), void *to);
void awaited_fini(struct awaited *a);

#endif
