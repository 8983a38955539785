/* SPDX-License-Identifier: MIT */
/* Which call's work a thread waited for that waits for an event or for a stream. An event stands
 * for the work of the call that gave it (OpenCL), or for what its stream had been given when it was
 * recorded (HIP); a stream for the last call on it. Handles are used again, and one thread waits
 * for what another one gave, whose calls come one thread after another: all is sorted by handle and
 * time. Memory is bounded: rows are small, and sorted in files. */
#ifndef GPUTAP_CLI_AWAITED_H
#define GPUTAP_CLI_AWAITED_H

#include "cli/spill.h"

/* An event or a stream. */
struct awaited_handle {
	uint64_t handle;
	uint32_t process;
	bool is_stream;
};

struct awaited {
	struct spill rows;
	struct spill records; /* of events, with the waits for them */
	uint64_t record_count;
	bool any; /* a wait was added: else nobody asks */
};

void awaited_init(struct awaited *a);
/* From @at on the handle stands for the work of the call @id. */
void awaited_add_call(struct awaited *a, const struct awaited_handle *handle, uint64_t at,
		      uint64_t id);
/* From @at on @event stands for what @stream stood for then. */
void awaited_add_record(struct awaited *a, const struct awaited_handle *event,
			const struct awaited_handle *stream, uint64_t at);
/* The wait of this number, which began at @at, waited for it. */
void awaited_add_wait(struct awaited *a, const struct awaited_handle *handle, uint64_t at,
		      uint64_t wait);
/* Calls @found for each handle of each wait, with the call that it stood for, 0: none was seen.
 * Return: 0, or negative errno with a cause. */
int awaited_find(struct awaited *a,
		 void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id), void *to);
void awaited_fini(struct awaited *a);

#endif
