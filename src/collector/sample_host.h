/* SPDX-License-Identifier: MIT */
/* Samples the call stacks of threads that are outside any recorded call, from outside of the
 * process (`gputap run --sample-host`).
 *
 *   loop ─ every period ─► quiet threads (thread_calls.h) ─► registers (remote_thread.h)
 *        ─► native frames (remote_unwind.h), Python frames (remote_python.h)
 *        ─► SAMPLE rows of the thread; FRAMES and CODE once per stack
 *
 * A thread is quiet if it has started no call since the last look and all its calls have returned.
 * Equal stacks in consecutive looks become one row. A blocked thread that has not run since the
 * last look is not read again. Stacks and code objects get numbers that the process itself never
 * uses: from GT_SAMPLE_STACKS and GT_SAMPLE_CODES up.
 * Runs in the collector's thread. Never here: writes to the process's memory. */
#ifndef GPUTAP_COLLECTOR_SAMPLE_HOST_H
#define GPUTAP_COLLECTOR_SAMPLE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/drain_state.h"

#define GT_SAMPLE_STACKS (UINT32_C(1) << 30)
#define GT_SAMPLE_CODES  (UINT32_C(1) << 30)

enum { GT_SAMPLE_TIMES = 4 * 64 };

/* The price of sampling, and what was not sampled. */
struct gt_sample_totals {
	uint64_t samples;    /* looks at a quiet thread that gave a stack */
	uint64_t stops;      /* number of these for which the thread was stopped */
	uint64_t stopped_ns; /* sum and largest of the time of a stop */
	uint64_t longest_ns;
	/* number of stops by their time: four counters for each power of two */
	uint32_t stop_times[GT_SAMPLE_TIMES];
	uint64_t cpu_ns;  /* CPU time of the collector */
	uint64_t span_ns; /* from the first to the last look */
	uint64_t moved;   /* looks that gave no stack, because the thread ran in the meantime */
	uint64_t broken;  /* samples whose outer frames are not known */
	uint32_t processes, refused; /* processes sampled; processes that could not be read */
	uint32_t elsewhere;          /* processes in another pid namespace */
	int refusal;                 /* errno of the last refusal */
	uint32_t python_version;     /* of a Python whose frames are not known; 0: none */
};

struct gt_sample_host;

/* @period_ns: time between two looks. Return 0, or -ENOMEM with a cause. */
int gt_sample_host_create(struct gt_drain *d, uint64_t period_ns, uint32_t child_pid,
			  struct gt_sample_host **out);
/* Write the last rows. All functions accept NULL. */
void gt_sample_host_destroy(struct gt_sample_host *s);

/* Sample, if it is time. */
void gt_sample_host_look(struct gt_sample_host *s, uint64_t now_ns);
/* Return the time in ms until the next look; -1: no sampling. */
int gt_sample_host_due_ms(const struct gt_sample_host *s, uint64_t now_ns);
/* Write the last rows of a process, and forget it. */
void gt_sample_host_end(struct gt_sample_host *s, const struct gt_process *process);
void gt_sample_host_totals(const struct gt_sample_host *s, struct gt_sample_totals *out);
/* Return a time that 99 % of the stops did not exceed, rounded up by at most a quarter; 0: there
 * were no stops. */
uint64_t gt_sample_stop_p99_ns(const struct gt_sample_totals *totals);

#endif
