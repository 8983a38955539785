/* SPDX-License-Identifier: MIT */
/* The program's completion signals that stay in their packets and copies (hsa_signal.c has the
 * protocol). */
#ifndef GPUTAP_RUNTIME_HSA_SIGNAL_H
#define GPUTAP_RUNTIME_HSA_SIGNAL_H

#include "runtime/hsa/hsa_runtime.h"

struct gt_hsa_agent;

enum gt_hsa_watch_state {
	GT_HSA_WORK_FREE = 0,
	GT_HSA_WORK_PENDING, /* submitted */
	GT_HSA_WORK_CLAIMED, /* a thread reads the times from the program's signal */
	GT_HSA_WORK_SAVED,   /* they are in times[] */
	GT_HSA_WORK_LOST,    /* done, but its times are not known */
};

/* Where the times of work in flight will be. */
struct gt_hsa_watch {
	struct gt_hsa_signal *signal; /* ours, or the program's */
	_Atomic uint32_t state;       /* enum gt_hsa_watch_state */
	/* of the program's signal in the table of signals, + 1; 0: none */
	uint32_t entry;
	/* SAVED: start, end: raw for kernels, system time for copies */
	uint64_t times[2];
	struct gt_hsa_agent *agent; /* copies; NULL: a kernel */
	_Atomic int64_t value;      /* copies: of the signal before */
	uint64_t queued;            /* copies: when it was submitted, system time */
};

/* Read the times of this work from the program's signal when it has them. False: that signal
 * stands for other work that is in flight, or the table is full: not watched. */
bool gt_hsa_signal_watch(struct gt_hsa_watch *w, struct gt_hsa_signal *signal);
/* The program is about to use the signal again, or to destroy it: what it has of earlier work is
 * saved now. False: that work was not done yet. */
bool gt_hsa_signal_release(uint64_t signal);
/* Does the program's signal stand for other work that is in flight and watched? What has completed
 * is saved. */
bool gt_hsa_signal_is_busy(const struct gt_hsa_signal *signal);
/* The program's signal is about to be decremented for work that is not watched. */
void gt_hsa_signal_expect_less(const struct gt_hsa_signal *signal);
/* Watch a copy by a signal of ours, whose value is 1. */
void gt_hsa_signal_watch_ours(struct gt_hsa_watch *w, struct gt_hsa_signal *ours);
/* The calling thread alone may look at the work: gt_hsa_signal_take() has to follow. False: another
 * thread does, or the times are in w->times, or lost. */
bool gt_hsa_signal_claim(struct gt_hsa_watch *w);
/* True: it has completed; the times, which are also in w->times; end 0: lost. */
bool gt_hsa_signal_take(struct gt_hsa_watch *w, struct gt_hsa_times *times);
/* The program is about to destroy the signal. */
void gt_hsa_signal_end(uint64_t signal);
/* The harvester's look. True: the times are in w->times, or lost. */
bool gt_hsa_signal_harvest(struct gt_hsa_watch *w);
void gt_hsa_signal_forget(struct gt_hsa_watch *w);

#endif
