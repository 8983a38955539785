/* SPDX-License-Identifier: MIT */
/* Sums for `gputap top`: over all records since the command began, and over the last interval.
 *
 * A device is busy while any of its activities runs. Spans of the last seconds are kept, so that
 * activities that become known late, and overlapping activities, count once and at their own
 * time. */
#ifndef GPUTAP_ANALYSIS_TABLES_TOP_SUMS_H
#define GPUTAP_ANALYSIS_TABLES_TOP_SUMS_H

#include <stdbool.h>

#include "analysis/base/lookup.h"
#include "capture/capture.h"

struct top_row {
	uint32_t name;             /* number in top_sums.names */
	uint64_t count, ns, bytes; /* sums since the last top_sums_begin() */
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
	uint64_t activity, all_activity; /* number of activities in the interval and in total */
	struct top_span *spans;          /* disjoint and sorted, except for newly added spans */
	size_t count, room;
	/* total length of removed spans, and time from which spans are kept */
	uint64_t past_ns, kept_from_ns;
};

struct top_sums {
	uint64_t begin_ns; /* set by the caller: activities are counted as busy from this time on */
	struct texts names;
	struct idmap kernel_names; /* numbers of names, by process and string */
	/* Kernels whose names are not in the file yet. `name`: the string and its process */
	struct top_unnamed {
		struct top_row row;
		uint32_t process;
	} * unnamed;
	size_t unnamed_count, unnamed_room;
	struct top_rows kernels, calls, copies;
	struct top_device *devices;
	uint32_t device_count;
	uint64_t activity, all_activity, call_count, all_call_count;
	uint64_t dropped; /* number of records dropped so far, from the capture's counts */
	char *command;
	uint32_t processes, ended; /* numbers of processes of the session */
};

/* Begin a new interval. */
void top_sums_begin(struct top_sums *s);
/* Add the available records. Return: 0 or negative errno with a cause. */
int top_sums_add(struct top_sums *s, const struct gt_capture *c);
/* Call after the last record of an interval. @keep_from_ns: spans that end before this time are
 * removed. */
void top_sums_settle(struct top_sums *s, uint64_t keep_from_ns);
/* Return the busy ns of a device between two times. Spans must be kept for this time. */
uint64_t top_device_busy(const struct top_device *d, uint64_t from_ns, uint64_t to_ns);
/* Return the busy ns of a device since top began. */
uint64_t top_device_all_busy(const struct top_device *d);
void top_sums_fini(struct top_sums *s);

#endif
