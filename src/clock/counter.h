/* SPDX-License-Identifier: MIT */
/* The processor's own counter, which taps stamp with where it is invariant (enum gt_host_clock):
 * the TSC of x86-64, CNTVCT_EL0 of 64-bit Arm. Neither read is a system call. Other processors
 * have none here: GT_HAS_COUNTER is 0, and CLOCK_BOOTTIME is used. The compiler's builtins are
 * called, not <x86intrin.h>: to read that header takes 0.1 s for each file of the library. */
#ifndef GPUTAP_CLOCK_COUNTER_H
#define GPUTAP_CLOCK_COUNTER_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
#define GT_HAS_COUNTER 1

/* May be moved by some instructions against its neighbours: enough for a call's begin and end. */
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

/* Not before what stands before it, not after what stands behind it: for brackets around other
 * clocks. */
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
