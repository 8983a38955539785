/* SPDX-License-Identifier: MIT */
/* Stops one thread of another process, and lets it create the worker. All functions must be called
 * in one thread, which has no other child and traces nothing else. */
#ifndef GPUTAP_COLLECTOR_INJECT_THREAD_H
#define GPUTAP_COLLECTOR_INJECT_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "collector/inject_safe.h"
#include "collector/inject_target.h"

enum { GT_INJECT_LATE = 64, GT_INJECT_STATE_BYTES = 32 * 1024 };

struct gt_inject_tracer {
	struct gt_inject_target *target;
	struct gt_inject_why *why;
	const struct gt_inject_job *job; /* to be copied into the process */
	uint64_t deadline_ns;            /* for one thread */
	uint64_t longest_ns;             /* longest stop */
	unsigned tries;
	/* threads that were told to stop and have not stopped yet */
	pid_t late[GT_INJECT_LATE];
	unsigned late_count;
	timer_t timer;           /* interrupts waits, with SIGRTMAX */
	struct sigaction before; /* of SIGRTMAX */
	/* this thread has a real-time priority, so that it notices a stop at once. Otherwise the
	 * time in which a thread has not stopped yet counts as stopped */
	bool is_first;
	/* extended registers of the stopped thread; AMX needs 11 KiB */
	uint8_t state[GT_INJECT_STATE_BYTES] __attribute__((aligned(64)));
};

/* Return 0 or negative errno. */
int gt_inject_tracer_init(struct gt_inject_tracer *t);
/* Wait a moment for late threads, and leave the rest to the kernel. */
void gt_inject_tracer_fini(struct gt_inject_tracer *t);

enum gt_inject_outcome {
	GT_INJECT_CREATED, /* the worker waits for GO; *job is its address */
	GT_INJECT_PASSED,  /* not this thread: it runs as before */
	GT_INJECT_FAILED,  /* no thread will do: see `why` */
};

/* Stop a thread of the process and try it. */
enum gt_inject_outcome gt_inject_try(struct gt_inject_tracer *t, pid_t tid, uintptr_t *job);

/* Resume threads that stopped late. */
void gt_inject_release_late(struct gt_inject_tracer *t);

#endif
