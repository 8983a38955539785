/* SPDX-License-Identifier: MIT */
/* Sums for `gputap top`: of what was recorded since it began, and of the last interval.
 *
 * A device is busy where any of its work runs: spans of the last seconds are kept, so that work
 * that is known late, and work that overlaps, counts once and in its own time. */
#ifndef GPUTAP_CLI_TOP_SUMS_H
#define GPUTAP_CLI_TOP_SUMS_H

#include <stdbool.h>

#include "capture/capture.h"
#include "cli/lookup.h"

struct top_row {
	uint32_t name;             /* of top_sums.names */
	uint64_t count, ns, bytes; /* since the last top_sums_begin() */
	uint64_t all_count, all_ns, all_bytes;
};

struct top_rows {
	struct top_row *rows;
	uint32_t count, room;
	struct idmap by_name;
};

struct top_span {
	uint64_t start_ns, end_ns;
};

struct top_device {
	char *name;
	uint64_t work, all_work; /* items */
	struct top_span *spans;  /* apart from each other, sorted, but for those that are new */
	size_t count, room;
	/* of spans that were let go; from when on they are kept */
	uint64_t past_ns, kept_from_ns;
};

struct top_sums {
	uint64_t begin_ns; /* set by the caller: work is counted as busy from then on */
	struct texts names;
	struct idmap kernel_names; /* of names, by process and string */
	/* kernels whose names are not in the file yet: `name` is the string, with its process */
	struct top_unnamed {
		struct top_row row;
		uint32_t process;
	} * unnamed;
	size_t unnamed_count, unnamed_room;
	struct top_rows kernels, calls, copies;
	struct top_device *devices;
	uint32_t device_count;
	uint64_t work, all_work, call_count, all_call_count;
	uint64_t dropped; /* so far, as the capture's counts say */
	char *command;
	uint32_t processes, ended; /* of the session */
};

/* A new interval. */
void top_sums_begin(struct top_sums *s);
/* Return: 0 or negative errno with a cause. */
int top_sums_add(struct top_sums *s, const struct gt_capture *c);
/* After the last of an interval. @keep_from_ns: spans that end before are let go. */
void top_sums_settle(struct top_sums *s, uint64_t keep_from_ns);
/* Busy ns of a device between two times that are kept. */
uint64_t top_device_busy(const struct top_device *d, uint64_t from_ns, uint64_t to_ns);
/* .. and since it all began */
uint64_t top_device_all_busy(const struct top_device *d);
void top_sums_fini(struct top_sums *s);

#endif
