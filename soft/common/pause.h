/* SPDX-License-Identifier: MIT */
/* Pause once in a loop that waits for another thread, so that the core's other hardware thread can
 * run. */
#ifndef SOFT_COMMON_PAUSE_H
#define SOFT_COMMON_PAUSE_H

static inline void soft_pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb"); /* "yield" does nothing on most aarch64 cores */
#endif
}

#endif
