/* SPDX-License-Identifier: MIT */
/* Implements locks and waits on single words (tool_buffer.h). In the child of a fork, the locks are
 * unlocked. Calls no gputap function of another file. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tool/tool_buffer.h"

void gt_word_wait(_Atomic uint32_t *word, uint32_t seen)
{
	const struct timespec some = {0, 5000000};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &some, NULL, 0);
}

void gt_word_sleep(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void gt_word_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Lock a word: 0 unlocked, 1 locked, 2 locked with waiters. */
void gt_word_lock(_Atomic uint32_t *word)
{
	uint32_t open = 0;

	if (atomic_compare_exchange_strong_explicit(word, &open, 1, memory_order_acquire,
						    memory_order_relaxed))
		return;
	while (atomic_exchange_explicit(word, 2, memory_order_acquire) != 0)
		gt_word_wait(word, 2);
}

void gt_word_unlock(_Atomic uint32_t *word)
{
	if (atomic_exchange_explicit(word, 0, memory_order_release) == 2)
		gt_word_wake(word);
}
