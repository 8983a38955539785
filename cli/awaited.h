/* SPDX-License-Identifier: MIT */
/* Find the calls whose GPU activities a thread waited for when it waited on an event or stream. An
 * event refers to the activity of the call that returned it (OpenCL), or to the activities that its
 * stream had when it was recorded (HIP); a stream refers to its last call. Handles are reused, and
 * a thread may wait for another thread's handle, while calls are read one thread after another: so
 * all rows are sorted by handle and time. Memory is bounded: rows are small, and sorted in
 * files. */
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
	struct spill records; /* records of events, with the waits for them */
	uint64_t record_count;
	bool any; /* true if a wait was added; otherwise no search is needed */
};

void awaited_init(struct awaited *a);
/* Let the handle refer to the activity of call @id from @at on. */
void awaited_add_call(struct awaited *a, const struct awaited_handle *handle, uint64_t at,
		      uint64_t id);
/* Let @event refer from @at on to what @stream refers to then. */
void awaited_add_record(struct awaited *a, const struct awaited_handle *event,
			const struct awaited_handle *stream, uint64_t at);
/* Note that the wait with this number, which began at @at, waited for the handle. */
void awaited_add_wait(struct awaited *a, const struct awaited_handle *handle, uint64_t at,
		      uint64_t wait);
/* Call @found for each handle of each wait, with the id of the call to which the handle referred,
 * 0: no call was seen. Return 0, or negative errno with a cause. */
int awaited_find(struct awaited *a,
		 void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id), void *to);
void awaited_fini(struct awaited *a);

#endif
