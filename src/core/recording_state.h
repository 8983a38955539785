/* SPDX-License-Identifier: MIT */
/* The page that the kernel wipes in the child of a fork, and the locks in it, for recording.c,
 * which has the diagram. */
#ifndef GPUTAP_CORE_RECORDING_STATE_H
#define GPUTAP_CORE_RECORDING_STATE_H

#include <stdatomic.h>
#include <stdint.h>

enum { GT_PAGE = 4096 };

/* A page of .bss: anonymous private memory, as the kernel requires. */
extern union gt_wiped {
	struct {
		_Atomic uint32_t epoch;  /* *gt_epoch; 0: this process has no segment yet */
		_Atomic uint32_t making; /* a thread is creating the segment */
		_Atomic uint32_t lock;   /* gt_core_lock() */
		_Atomic uint32_t mapped_lock;
		_Atomic uint32_t control_lock; /* tool_follow.c's */
	};
	char page[GT_PAGE];
} gt_wiped __attribute__((visibility("hidden")));

/* Take a lock of one word in that page: waits by sleeping, because the holder makes system calls.
 * Release it with a store of 0 (release). */
void gt_word_take(_Atomic uint32_t *word);

#endif
