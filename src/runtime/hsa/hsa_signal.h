/* SPDX-License-Identifier: MIT */
/* The program's completion signals that stay in their packets and copies (see hsa_signal.c for the
 * protocol). */
#ifndef GPUTAP_RUNTIME_HSA_SIGNAL_H
#define GPUTAP_RUNTIME_HSA_SIGNAL_H

#include "runtime/hsa/hsa_runtime.h"

struct gt_hsa_agent;

enum gt_hsa_watch_state {
	GT_HSA_WORK_FREE = 0,
	GT_HSA_WORK_PENDING, /* submitted */
	GT_HSA_WORK_CLAIMED, /* a thread is reading the times from the program's signal */
	GT_HSA_WORK_SAVED,   /* the times are in times[] */
	GT_HSA_WORK_LOST,    /* done, but its times are not known */
};

/* Completion and times of a GPU activity in flight. */
struct gt_hsa_watch {
	struct gt_hsa_signal *signal; /* ours, or the program's */
	_Atomic uint32_t state;       /* enum gt_hsa_watch_state */
	/* index in the table of program signals, + 1; 0: none */
	uint32_t entry;
	/* SAVED: start, end: raw for kernels, system time for copies */
	uint64_t times[2];
	struct gt_hsa_agent *agent; /* copies; NULL: a kernel */
	_Atomic int64_t value;      /* copies: the signal's value before */
	uint64_t queued;            /* copies: when it was submitted, system time */
};

/* Read the times of this activity from the program's signal once it has them. Return false, without
 * watching, if that signal is used for other activities in flight, or the table is full. */
bool gt_hsa_signal_watch(struct gt_hsa_watch *w, struct gt_hsa_signal *signal);
/* Save the times of earlier activities, because the program is about to reuse or destroy the
 * signal. Return false if an earlier activity was not done yet. */
bool gt_hsa_signal_release(uint64_t signal);
/* Return true if the program's signal is used for other activities that are in flight and watched.
 * Saves the completed ones. */
bool gt_hsa_signal_is_busy(const struct gt_hsa_signal *signal);
/* Note that the program's signal is about to be decremented for an activity that is not watched. */
void gt_hsa_signal_expect_less(const struct gt_hsa_signal *signal);
/* Watch a copy with our signal, whose value is 1. */
void gt_hsa_signal_watch_ours(struct gt_hsa_watch *w, struct gt_hsa_signal *ours);
/* Claim the activity, so that only the calling thread may look at it: gt_hsa_signal_take() must
 * follow. Return false if another thread has it, or the times are in w->times, or lost. */
bool gt_hsa_signal_claim(struct gt_hsa_watch *w);
/* Take the times. Return true if it has completed; the times are then also in w->times; end 0:
 * lost. */
bool gt_hsa_signal_take(struct gt_hsa_watch *w, struct gt_hsa_times *times);
/* Call when the program is about to destroy the signal. */
void gt_hsa_signal_end(uint64_t signal);
/* Look, in the harvester. Return true if the times are in w->times, or lost. */
bool gt_hsa_signal_harvest(struct gt_hsa_watch *w);
void gt_hsa_signal_forget(struct gt_hsa_watch *w);

#endif
