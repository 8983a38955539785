/* SPDX-License-Identifier: MIT */
/* Tell the processor that a loop waits for another thread, so that the other hardware thread of the
 * core can run. */
#ifndef GPUTAP_UTIL_PAUSE_H
#define GPUTAP_UTIL_PAUSE_H

static inline void gt_pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb"); /* "yield" does nothing on most processors */
#endif
}

#endif
