/* SPDX-License-Identifier: MIT */
/* The page that the kernel wipes in the child of a fork, and the locks in that page. Used by
 * recording.c, which has the diagram. */
#ifndef GPUTAP_CORE_RECORDING_STATE_H
#define GPUTAP_CORE_RECORDING_STATE_H

#include <stdatomic.h>
#include <stdint.h>

enum { GT_PAGE = 4096 };

/* A page of .bss, because the kernel requires anonymous private memory. */
extern union gt_wiped {
	struct {
		_Atomic uint32_t epoch;  /* *gt_epoch; 0: this process has no segment yet */
		_Atomic uint32_t making; /* nonzero while a thread creates the segment */
		_Atomic uint32_t lock;   /* gt_core_lock() */
		_Atomic uint32_t mapped_lock;
		_Atomic uint32_t control_lock; /* lock of tool_follow.c */
		_Atomic uint32_t late_lock;    /* lock of late.c */
		_Atomic uint32_t copies_lock;  /* lock of runtime/table_copies.c */
		_Atomic uint32_t adopt_lock;   /* lock of runtime/hsa/hsa_adopt.c */
		_Atomic uint32_t shared_lock;  /* lock of runtime/hsa/hsa_shared.c */
		/* first epoch of this process, which has further ones if sessions attach to it one
		 * after the other; 0: this process has no segment yet */
		_Atomic uint32_t first_epoch;
	};
	char page[GT_PAGE];
} gt_wiped __attribute__((visibility("hidden")));

/* Take a one-word lock in the wiped page. Sleeps while the lock is held, because the holder makes
 * system calls. To release the lock, store 0 (release). */
void gt_word_take(_Atomic uint32_t *word);

#endif
