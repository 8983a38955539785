/* SPDX-License-Identifier: MIT */
/* A picture of a capture: rows over time, for a terminal or a page.
 *
 *   ranges of a thread      slices, one row for each depth
 *   a device, its queues    busy ns in each of `bins` equal parts of the time
 *   threads                 ns in calls, and the part of this time in calls that wait
 *   memory in use           points, for each process and kind of memory; only on request
 *
 * All sums are exact: overlapping activities count once. Only records that match the capture's
 * filter are included. The picture's time lasts from the start of the first of these records to the
 * end of the last one. Memory is bounded: there are at most `rows_most` queues and threads, those
 * with the most time, and at most `slices_most` slices, the longest. The capture is read twice. */
#ifndef GPUTAP_CLI_PICTURE_H
#define GPUTAP_CLI_PICTURE_H

#include "analysis/base/lookup.h"
#include "capture/capture.h"

enum picture_kind {
	PICTURE_RANGES,
	PICTURE_DEVICE,
	PICTURE_QUEUE,
	PICTURE_THREAD,
	PICTURE_MEMORY,
};

enum picture_activity {
	PICTURE_KERNEL,
	PICTURE_COPY,
	PICTURE_OTHER,
	PICTURE_CALL,
	PICTURE_WAIT,
	PICTURE_RANGE
};

struct picture_slice {
	uint64_t start_ns, end_ns;
	uint32_t row, name; /* name: number in picture.texts */
	uint8_t activity;   /* enum picture_activity */
	uint8_t depth;      /* calls: number of enclosing calls */
	uint32_t colour;    /* ranges: ARGB; 0: none */
};

/* The longest slices. Other slices are dropped. */
struct picture_slices {
	struct picture_slice *list; /* sorted by row and start at the end */
	size_t count, room, most;
	uint64_t shortest_ns; /* shorter slices are dropped */
	uint64_t left_out;
};

/* Times at which a process was not recorded. For a device: times at which no process that used the
 * device was recorded, and at least one was paused. In order, without overlap, within the picture's
 * time. */
struct picture_pauses {
	struct picture_pause {
		uint64_t start_ns, end_ns;
		uint32_t why; /* number in picture.texts: "not recorded: --delay" */
	} * list;
	size_t count, room;
};

struct picture_row {
	enum picture_kind kind;
	/* for example "device 0: NVIDIA H100", "queue 2"; "train (pid 7)", "main 7" */
	char *group, *label;
	uint32_t device;           /* UINT32_MAX: none, or not known */
	uint32_t process, ordinal; /* threads and their ranges: process and thread number */
	unsigned depth;            /* ranges: depth */
	uint64_t order;            /* position in the display order */
	uint64_t count;            /* number of activities or calls */
	uint64_t busy_ns, wait_ns;
	uint64_t *busy, *wait; /* time in each bin; wait: only for threads */
	/* time in which the row was recorded, or busy with activities launched before a pause */
	uint64_t known_ns;
	uint32_t pauses; /* index in picture.pauses; UINT32_MAX: never paused */
	/* memory: times, and the bytes in use from each time on */
	struct picture_point {
		uint64_t ns, in_use;
	} * points;
	size_t point_count, point_room;
};

struct picture {
	/* The caller sets these fields */
	size_t bins, rows_most, slices_most, ranges_most;
	bool mangled, memory;
	/* Results */
	uint64_t zero_ns; /* start of the first session */
	uint64_t start_ns, end_ns;
	struct picture_row *rows;
	size_t row_count, row_room;
	struct picture_slices slices, ranges; /* slices: activities and calls; ranges: ranges */
	uint64_t queues_left_out, threads_left_out, untimed;
	struct texts texts;
	struct picture_pauses *pauses;
	uint32_t pauses_count, pauses_room;
};

/* Read the capture. Return 0 or negative errno with a cause. Without records, row_count is
 * 0. */
int picture_read(struct picture *p, const struct gt_capture *c);
/* Store the row numbers in display order: devices and their queues, threads below their ranges,
 * memory. @order: room for row_count numbers. */
void picture_order(const struct picture *p, uint32_t *order);
/* Return the pauses of a row; NULL: none. */
const struct picture_pauses *picture_pauses_of(const struct picture *p,
					       const struct picture_row *row);
/* Return the time in ns between two times in which the row was not recorded. */
uint64_t picture_paused_ns(const struct picture *p, const struct picture_row *row,
			   uint64_t start_ns, uint64_t end_ns);
/* Return "ranges", "device" and so on. */
const char *picture_kind_name(enum picture_kind kind);
void picture_fini(struct picture *p);

#endif
