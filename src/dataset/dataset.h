/* SPDX-License-Identifier: MIT */
/* Captures that are opened together, and the numbers by which their tables refer to each other.
 *
 *   gputap_capture ─┐                        call id, 63 bits
 *   gputap_capture ─┼─► dataset ─► gt_capture    | session 15 | thread and count 48 |
 *   reader ─────────┘
 *
 * gputap_capture.h's handles, and all readers, hold references to a dataset. A dataset
 * is constant after it was opened, so that any thread may read it. */
#ifndef GPUTAP_DATASET_DATASET_H
#define GPUTAP_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "gputap/capture.h"

/* Position of a session's threads in the capture's list of threads. */
struct dataset_session {
	uint32_t first_thread, thread_count;
};

struct dataset {
	struct gt_capture *capture;
	/* difference from the capture's clock (BOOTTIME of the first session) to CLOCK_REALTIME */
	int64_t realtime_offset_ns;
	struct dataset_session *sessions;
	size_t session_count;
	int32_t *queue_numbers; /* for each object of the capture: number of the queue; -1: none */
	unsigned users;         /* number of references; atomic */
};

/* A user's handle. */
struct gputap_capture {
	struct dataset *dataset;
	char *where; /* expression; NULL: all records */
};

int dataset_open(const char *const *paths, size_t count, struct dataset **out);
struct dataset *dataset_take(struct dataset *d);
void dataset_put(struct dataset *d);
void dataset_read_health(const struct dataset *d, struct gputap_capture_health *health);
/* Read the health of one session. */
void dataset_read_session_health(const struct dataset *d, uint32_t session,
				 struct gputap_capture_health *health);

/* Return a time in ns since 1970. @ns: on the capture's clock. Times of damaged captures can be any
 * number. */
static inline int64_t dataset_since_1970(const struct dataset *d, uint64_t ns)
{
	return (int64_t)(ns + (uint64_t)d->realtime_offset_ns);
}
/* The same, but @ns 0 means that the time is not known. */
static inline int64_t dataset_time(const struct dataset *d, uint64_t ns)
{
	return ns ? dataset_since_1970(d, ns) : GPUTAP_UNKNOWN;
}

/* A thread, as ids and rows name it. */
struct thread_number {
	uint32_t process, ordinal; /* key in the capture */
	int32_t number;            /* index in the list of threads; -1: not in the list */
	int32_t session;
	int64_t base;  /* id of a call with count 0 */
	uint32_t step; /* number of threads in the session */
};

/* Find a thread. A thread that is missing in a damaged capture has the number -1. */
struct thread_number dataset_find_thread(const struct dataset *d, uint32_t process,
					 uint32_t ordinal);

enum { ID_COUNT_BITS = 24 };
int64_t dataset_long_id(const struct thread_number *t, uint64_t id);
/* Return the id of a call in the tables. @t: the call's thread; @id: its id in the capture */
static inline int64_t dataset_id(const struct thread_number *t, uint64_t id)
{
	if (__builtin_expect(GT_ID_SEQ(id) >> ID_COUNT_BITS || t->number < 0, 0))
		return dataset_long_id(t, id);
	return t->base + (int64_t)GT_ID_SEQ(id);
}

/* Expand folders to the captures in them, sorted by name. Return 0 or negative errno with a
 * cause. The caller frees each path and the list. */
int dataset_list_files(const char *const *paths, size_t count, char ***files, size_t *file_count);

#endif
