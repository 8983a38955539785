/* SPDX-License-Identifier: MIT */
/* Read one of the kernel's clocks in nanoseconds. Keeps errno. Makes no system call for a clock in
 * the vDSO. */
#ifndef GPUTAP_UTIL_CLOCK_NS_H
#define GPUTAP_UTIL_CLOCK_NS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t gt_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

#endif
