/* SPDX-License-Identifier: MIT */
/* Finds the calls whose GPU activities a thread waited for when it waited on an event or stream. An
 * event refers to the activity of the call that returned the event (OpenCL), or to the activities
 * in its stream at the time when the event was recorded (HIP). A stream refers to the activity of
 * its last call. Handles are reused, and a thread may wait for another thread's handle, but calls
 * are read one thread after another. All rows are therefore sorted by handle and time. Memory is
 * bounded: rows are small, and are sorted in files. */
#ifndef GPUTAP_ANALYSIS_IDLE_WAIT_TARGETS_H
#define GPUTAP_ANALYSIS_IDLE_WAIT_TARGETS_H

#include "analysis/base/sorter.h"

/* An event or a stream. */
struct wait_handle {
	uint64_t handle;
	uint32_t process;
	bool is_stream;
};

struct wait_targets {
	struct sorter rows;
	struct sorter records; /* records of events, and waits for these events */
	uint64_t record_count;
	bool any; /* true if any wait was added; otherwise, no search is needed */
};

void wait_targets_init(struct wait_targets *a);
/* Note that the handle refers to the activity of call @id from time @at on. */
void wait_targets_add_call(struct wait_targets *a, const struct wait_handle *handle, uint64_t at,
			   uint64_t id);
/* Note that, from time @at on, @event refers to the call that @stream refers to at that time. */
void wait_targets_add_record(struct wait_targets *a, const struct wait_handle *event,
			     const struct wait_handle *stream, uint64_t at);
/* Note that the wait with the given number, which began at time @at, waited for the handle. */
void wait_targets_add_wait(struct wait_targets *a, const struct wait_handle *handle, uint64_t at,
			   uint64_t wait);
/* Call @found for each handle of each wait, with the id of the call to which the handle referred;
 * id 0: no such call was seen. Return 0, or negative errno with a cause. */
int wait_targets_find(struct wait_targets *a,
		      void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id),
		      void *to);
void wait_targets_fini(struct wait_targets *a);

#endif
