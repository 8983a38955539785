/* SPDX-License-Identifier: MIT */
/* Time between a device's activities in which the device's state is not known, because nothing was
 * recorded. This time is neither busy nor idle:
 *
 *   paused    every live process with activities on the device was paused
 *             (docs/guides/recording-windows.md)
 *   evicted   time before the records that a flight recorder retained
 *   cut       all time, if a capture was cut from another with a filter that tests more than time
 *   between   with several captures, time before a session's first activity on the device or after
 *             its last activity
 *
 *   unrecorded_note()   each activity      -> first and last activity of each process and device
 *   unrecorded_make()   device, processes  -> spans in order, disjoint */
#ifndef GPUTAP_ANALYSIS_IDLE_UNRECORDED_H
#define GPUTAP_ANALYSIS_IDLE_UNRECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/lookup.h"
#include "capture/capture.h"

struct unrecorded_span {
	uint64_t start, end;
};

/* Empty if zero-initialised. */
struct unrecorded_list {
	struct unrecorded_span *spans;
	size_t count, room;
};

/* Activities of a process on a device. */
struct unrecorded_user {
	uint32_t device, process;
	uint64_t first_ns, last_ns;
};

/* Empty if zero-initialised. */
struct unrecorded {
	struct unrecorded_user *users;
	uint32_t count, room, last;
	struct idmap by_key; /* device << 32 | process -> user */
};

/* A callback that returns true if @process is one of the requested processes. */
typedef bool unrecorded_match(const void *data, uint32_t process);

/* Return true if the capture can contain unrecorded time. If not, all lists are empty. */
bool unrecorded_is_possible(const struct gt_capture *capture);
uint32_t unrecorded_find_user(struct unrecorded *u, uint32_t device, uint32_t process);
/* Note the times of an activity. @device: the caller's number. */
static inline void unrecorded_note(struct unrecorded *u, uint32_t device, uint32_t process,
				   uint64_t start_ns, uint64_t end_ns)
{
	struct unrecorded_user *user = u->count ? &u->users[u->last] : NULL;

	if (!user || user->process != process || user->device != device) {
		u->last = unrecorded_find_user(u, device, process);
		user = &u->users[u->last];
	}
	user->first_ns = start_ns < user->first_ns ? start_ns : user->first_ns;
	user->last_ns = end_ns > user->last_ns ? end_ns : user->last_ns;
}
/* Return the unrecorded time. @device: LOOKUP_NONE: any device; @match: NULL: all processes. */
struct unrecorded_list unrecorded_make(const struct unrecorded *u, const struct gt_capture *capture,
				       uint32_t device, unrecorded_match *match, const void *data);
/* Return the times for which the activity of the process is not known, because the process was
 * paused, or because its session or the retained part of a flight recorder had not begun. */
struct unrecorded_list unrecorded_of_process(const struct gt_capture *capture, uint32_t process);
void unrecorded_fini(struct unrecorded *u);

/* Return the length of the unrecorded time between two times. @list: may be NULL. */
uint64_t unrecorded_ns(const struct unrecorded_list *list, uint64_t start_ns, uint64_t end_ns);
/* Return the index of the first span that ends after @time, or the list's count. */
size_t unrecorded_find(const struct unrecorded_list *list, uint64_t time);
void unrecorded_list_fini(struct unrecorded_list *list);

#endif
