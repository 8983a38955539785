/* SPDX-License-Identifier: MIT */
/* The program's completion signals that stay in its packets and copies. hsa_signal.c describes the
 * protocol. */
#ifndef GPUTAP_RUNTIME_HSA_SIGNAL_H
#define GPUTAP_RUNTIME_HSA_SIGNAL_H

#include "runtime/hsa/hsa_runtime.h"

struct gt_hsa_agent;

enum gt_hsa_watch_state {
	GT_HSA_ACTIVITY_FREE = 0,
	GT_HSA_ACTIVITY_PENDING, /* submitted */
	GT_HSA_ACTIVITY_CLAIMED, /* a thread is reading the times from the program's signal */
	GT_HSA_ACTIVITY_SAVED,   /* the times are in times[] */
	GT_HSA_ACTIVITY_LOST,    /* completed, but the times are not known */
};

/* Completion and times of a GPU activity in flight. */
struct gt_hsa_watch {
	struct gt_hsa_signal *signal; /* gputap's signal, or the program's */
	_Atomic uint32_t state;       /* enum gt_hsa_watch_state */
	/* one plus the index in the table of program signals; 0: none */
	uint32_t entry;
	/* SAVED: start and end; raw time stamps for kernels, system time for copies */
	uint64_t times[2];
	struct gt_hsa_agent *agent; /* agent of a copy; NULL: a kernel */
	_Atomic int64_t value;      /* copies: value of the signal before the copy */
	uint64_t queued;            /* copies: submission time, system time */
};

/* Watch an activity, whose times will be read from the program's signal once available. Return
 * false, without watching, if the signal is used for other activities in flight or the table is
 * full. */
bool gt_hsa_signal_watch(struct gt_hsa_watch *w, struct gt_hsa_signal *signal);
/* Save the times of earlier activities. Call before the program reuses or destroys the signal.
 * Return false if an earlier activity is not complete. */
bool gt_hsa_signal_release(uint64_t signal);
/* Return true if other watched activities in flight use the program's signal. Saves the times of
 * completed activities. */
bool gt_hsa_signal_is_busy(const struct gt_hsa_signal *signal);
/* Note that the program's signal will be decremented for an activity that is not watched. */
void gt_hsa_signal_expect_less(const struct gt_hsa_signal *signal);
/* Watch a copy with a signal of gputap whose value is 1. */
void gt_hsa_signal_watch_ours(struct gt_hsa_watch *w, struct gt_hsa_signal *ours);
/* Claim an activity, so that only the calling thread may read its signal. The thread must then call
 * gt_hsa_signal_take(). Return false if another thread has claimed the activity, or the times are
 * in w->times or lost. */
bool gt_hsa_signal_claim(struct gt_hsa_watch *w);
/* Take the times of a claimed activity. Return true if the activity is complete; the times are then
 * also in w->times. An end of 0 means that the times are lost. */
bool gt_hsa_signal_take(struct gt_hsa_watch *w, struct gt_hsa_times *times);
/* End the use of a signal. Call before the program destroys the signal. */
void gt_hsa_signal_end(uint64_t signal);
/* Check an activity in the harvester. Return true if the times are in w->times or lost. */
bool gt_hsa_signal_harvest(struct gt_hsa_watch *w);
void gt_hsa_signal_forget(struct gt_hsa_watch *w);

#endif
