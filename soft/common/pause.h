/* SPDX-License-Identifier: MIT */
/* Wait one turn of a loop that waits for another thread: lets the core's other hardware thread
 * run. */
#ifndef SOFT_COMMON_PAUSE_H
#define SOFT_COMMON_PAUSE_H

static inline void soft_pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb"); /* "yield" does nothing on most of them */
#endif
}

#endif
