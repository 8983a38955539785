/* SPDX-License-Identifier: MIT */
/* Time between a device's work in which nobody can know whether the device had work, because
 * nothing was recorded. It is neither busy nor idle:
 *
 *   paused    every process with work on the device that then lived was paused
 *             (docs/guides/recording-windows.md)
 *   evicted   older than what a flight recorder kept
 *   cut       all time, if a capture was cut out of another by anything but time
 *   between   before a session's first work on the device, or after its last: of several captures
 *
 *   unrecorded_note()   each work item     -> which processes had work on which devices, from when
 *                                             to when
 *   unrecorded_make()   device, processes  -> spans in order, apart from each other
 */
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

/* Work of a process on a device. */
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

/* Is the process one of those that are asked for? */
typedef bool unrecorded_match(const void *data, uint32_t process);

/* Does the capture have any such time? If not, no list has spans. */
bool unrecorded_is_possible(const struct gt_capture *capture);
uint32_t unrecorded_find_user(struct unrecorded *u, uint32_t device, uint32_t process);
/* Work of a device, whose number is the caller's, with its times. */
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
/* What the process itself did is not known: it was paused, or its session, or what a flight
 * recorder kept, had not begun. */
struct unrecorded_list unrecorded_of_process(const struct gt_capture *capture, uint32_t process);
void unrecorded_fini(struct unrecorded *u);

/* How much of the time was not recorded. @list: may be NULL. */
uint64_t unrecorded_ns(const struct unrecorded_list *list, uint64_t start_ns, uint64_t end_ns);
/* The first span that ends after @time, or the list's count. */
size_t unrecorded_find(const struct unrecorded_list *list, uint64_t time);
void unrecorded_list_fini(struct unrecorded_list *list);

#endif
