/* SPDX-License-Identifier: MIT */
/* State of the process's part in a session, which all files of core/ read, and the locks:
 * recording.h, recording_state.h. Calls no other gputap function. recording.c fills in the
 * state. */
#include "core/recording_state.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "core/recording.h"
#include "core/seccomp.h"
#include "core/tap.h"

_Alignas(GT_PAGE) union gt_wiped gt_wiped;
GT_AT_START struct gt_recording gt_recording;
_Atomic bool gt_seccomp_filtered;
GT_HOT struct gt_tap_options gt_tap_options;
GT_HOT const _Atomic uint32_t *gt_epoch = &gt_wiped.epoch;
GT_HOT uint32_t gt_host_clock = GT_HOST_CLOCK_BOOTTIME;

void gt_word_take(_Atomic uint32_t *word)
{
	const struct timespec pause = {0, 20000};
	uint32_t free = 0;

	while (!atomic_compare_exchange_weak_explicit(word, &free, 1, memory_order_acquire,
						      memory_order_relaxed)) {
		free = 0;
		/* sleep instead of spinning, because the holder of the lock makes system calls */
		syscall(SYS_nanosleep, &pause, NULL);
	}
}

void gt_core_lock(void)
{
	gt_word_take(&gt_wiped.lock);
}

void gt_core_unlock(void)
{
	atomic_store_explicit(&gt_wiped.lock, 0, memory_order_release);
}

void gt_mapped_lock(void)
{
	gt_word_take(&gt_wiped.mapped_lock);
}

void gt_mapped_unlock(void)
{
	atomic_store_explicit(&gt_wiped.mapped_lock, 0, memory_order_release);
}
