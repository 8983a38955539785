/* SPDX-License-Identifier: MIT */
/* The programmable clock: clock.h defines its formula. All arithmetic is exact to the tick for
 * centuries (128 bits). */
#include <time.h>

#include "soft/common/clock.h"

#define NS_PER_S 1000000000ull

uint64_t soft_clock_host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t scale_ns(uint64_t ns, uint64_t hz)
{
	if (NS_PER_S % hz == 0)
		return ns / (NS_PER_S / hz);
	return (uint64_t)((unsigned __int128)ns * hz / NS_PER_S);
}

uint64_t soft_clock_ticks(const struct soft_clock *clock, uint64_t host_ns)
{
	uint64_t ns = clock->epoch_ns + host_ns;

	if (clock->drift_ppb)
		ns += (uint64_t)(int64_t)((__int128)(int64_t)(host_ns - clock->anchor_ns) *
					  clock->drift_ppb / (int64_t)NS_PER_S);
	return scale_ns(ns, clock->hz);
}

uint64_t soft_clock_paired_ticks(const struct soft_clock *clock, uint64_t host_ns)
{
	return soft_clock_ticks(clock, host_ns - (uint64_t)clock->skew_ns);
}
