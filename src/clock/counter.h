/* SPDX-License-Identifier: MIT */
/* The processor's counter, which taps use for stamps if the counter is invariant (enum
 * gt_host_clock): the TSC of x86-64, CNTVCT_EL0 of 64-bit Arm. Reading either needs no system call.
 * On other processors GT_HAS_COUNTER is 0 and CLOCK_BOOTTIME is used. Uses the compiler's builtins,
 * because <x86intrin.h> adds 0.1 s to the compilation of each file of the library. */
#ifndef GPUTAP_CLOCK_COUNTER_H
#define GPUTAP_CLOCK_COUNTER_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
#define GT_HAS_COUNTER 1

/* Read the counter. The processor may reorder the read by some instructions, which is precise
 * enough for the start and end of a call. */
static inline uint64_t gt_counter_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

/* Read the counter, ordered after the preceding and before the following instructions. Used for
 * brackets around other clocks. */
static inline uint64_t gt_counter_read_ordered(void)
{
	uint64_t ticks;

#if defined(__x86_64__)
	__builtin_ia32_lfence();
	ticks = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
#else
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
#endif
	return ticks;
}
#else
#define GT_HAS_COUNTER 0

static inline uint64_t gt_counter_read(void)
{
	return 0;
}

static inline uint64_t gt_counter_read_ordered(void)
{
	return 0;
}
#endif

#endif
