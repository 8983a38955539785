/* SPDX-License-Identifier: MIT */
/* Decides if pthread_create() may run on top of what a thread is doing. */
#ifndef GPUTAP_COLLECTOR_INJECT_SAFE_H
#define GPUTAP_COLLECTOR_INJECT_SAFE_H

#include "collector/inject_target.h"
#include "collector/remote_unwind.h"

/* A thread's system call, according to /proc or its registers. */
struct gt_inject_call {
	long number;      /* system call; -1: none */
	uint64_t args[3]; /* the second to fourth argument, if the call is known */
	bool is_in_wait;  /* for a thread that is stopped: it waited in this call when it stopped */
};

/* How well a thread is suited; lower is better. */
enum gt_inject_rank {
	GT_INJECT_WAITS,   /* continues waiting for the rest of its time */
	GT_INJECT_REPEATS, /* makes the call again */
	GT_INJECT_SLEEPS,  /* in a futex, which malloc also uses */
	GT_INJECT_RUNS,
	GT_INJECT_NEVER, /* the program would notice: a short write, a driver's call */
	GT_INJECT_RANKS = GT_INJECT_NEVER,
};

enum gt_inject_rank gt_inject_rank(const struct gt_inject_call *call);

enum gt_inject_safety {
	GT_INJECT_SAFE,
	GT_INJECT_UNSAFE,  /* a frame of malloc, of a signal handler, ... */
	GT_INJECT_UNKNOWN, /* the stack could not be unwound as far as necessary */
};

/**
 * gt_inject_judge() - prove that a thread is at a safe place
 * @registers: of a stopped thread; or, for a first look, of one that is blocked
 * The look at memory in @target is used.
 */
enum gt_inject_safety gt_inject_judge(struct gt_inject_target *target,
				      const struct gt_remote_registers *registers,
				      const struct gt_inject_call *call);

#endif
