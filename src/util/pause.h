/* SPDX-License-Identifier: MIT */
/* One turn of a loop that waits for another thread: lets the core's other hardware thread go on. */
#ifndef GPUTAP_UTIL_PAUSE_H
#define GPUTAP_UTIL_PAUSE_H

static inline void gt_pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb"); /* "yield" does nothing on most of them */
#endif
}

#endif
