/* SPDX-License-Identifier: MIT */
/* Time between a device's activities in which its activity is not known, because nothing was
 * recorded. It is neither busy nor idle:
 *
 *   paused    every live process with activities on the device was paused
 *             (docs/guides/recording-windows.md)
 *   evicted   older than the records that a flight recorder retained
 *   cut       all time, if a capture was cut out of another with a filter on more than time
 *   between   before a session's first activity on the device, or after its last: for several
 *             captures
 *
 *   unrecorded_note()   each activity      -> the processes' activities on devices: from, to
 *   unrecorded_make()   device, processes  -> spans in order, disjoint */
#ifndef GPUTAP_CLI_UNRECORDED_H
#define GPUTAP_CLI_UNRECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "cli/lookup.h"

struct unrecorded_span {
	uint64_t start, end;
};

/* Zero-initialised is empty. */
struct unrecorded_list {
	struct unrecorded_span *spans;
	size_t count, room;
};

/* Activities of a process on a device. */
struct unrecorded_user {
	uint32_t device, process;
	uint64_t first_ns, last_ns;
};

/* Zero-initialised is empty. */
struct unrecorded {
	struct unrecorded_user *users;
	uint32_t count, room, last;
	struct idmap by_key; /* device << 32 | process -> user */
};

/* Return true if the process is one of those requested. */
typedef bool unrecorded_match(const void *data, uint32_t process);

/* Return true if the capture can have such time. If not, no list has spans. */
bool unrecorded_is_possible(const struct gt_capture *capture);
uint32_t unrecorded_find_user(struct unrecorded *u, uint32_t device, uint32_t process);
/* Note an activity of a device, which has the caller's number, with its times. */
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
/* @device: LOOKUP_NONE: any; @match: NULL: all processes. */
struct unrecorded_list unrecorded_make(const struct unrecorded *u, const struct gt_capture *capture,
				       uint32_t device, unrecorded_match *match, const void *data);
/* Return the times in which the process's own activity is not known: it was paused, or its session,
 * or the retained part of a flight recorder, had not begun. */
struct unrecorded_list unrecorded_of_process(const struct gt_capture *capture, uint32_t process);
void unrecorded_fini(struct unrecorded *u);

/* Return how much of the time was not recorded. @list: may be NULL. */
uint64_t unrecorded_ns(const struct unrecorded_list *list, uint64_t start_ns, uint64_t end_ns);
/* Return the first span that ends after @time, or the list's count. */
size_t unrecorded_find(const struct unrecorded_list *list, uint64_t time);
void unrecorded_list_fini(struct unrecorded_list *list);

#endif
