/* SPDX-License-Identifier: MIT */
/* Splits the time between the calls of threads by their sampled stacks (`gputap run
 * --sample-host`). Only time in which no GPU activity of the process ran counts.
 *
 *   call    |== end                          start ==|  call
 *   samples          1        2            3
 *   time       └──────── 1 ──┴──── 2 ───┴─── 3 ─────┘   minus GPU activities
 *
 * The time from a call to the next belongs to its samples: a boundary lies halfway between two
 * samples. Memory grows with the number of rows of samples, plus at most 8 MiB per sampled
 * process. */
#ifndef GPUTAP_ANALYSIS_TABLES_HOST_SAMPLES_H
#define GPUTAP_ANALYSIS_TABLES_HOST_SAMPLES_H

#include "capture/capture.h"
#include "record/host_state.h"

/* A sampled stack of a process in one state. */
struct host_samples_row {
	uint32_t process, stack; /* numbers in the capture */
	enum gt_host_state state;
	uint64_t ns, samples;
};

/* Consecutive samples of a thread with the same stack. */
struct host_samples_span {
	uint32_t process, ordinal, stack;
	enum gt_host_state state;
	uint64_t start_ns, end_ns; /* including the time around the samples */
	uint64_t ns;               /* of this time, without GPU activities */
	uint64_t samples;
};

struct host_samples {
	struct host_samples_span *spans; /* sorted by process, thread, time */
	struct host_samples_row *rows;   /* longest first */
	size_t span_count, span_room, row_count;
};

/* Read the samples of a capture. Return 0 or negative errno with a cause. */
int host_samples_read(struct host_samples *s, const struct gt_capture *c);
void host_samples_fini(struct host_samples *s);

/**
 * host_samples_find() - find the sampled stack that most of a thread's time has
 * @ns: receives the time of that stack between @start_ns and @end_ns, GPU activities included
 * Return: a span with that stack; NULL: no samples in this time.
 */
const struct host_samples_span *host_samples_find(const struct host_samples *s, uint32_t process,
						  uint32_t ordinal, uint64_t start_ns,
						  uint64_t end_ns, uint64_t *ns);

#endif
