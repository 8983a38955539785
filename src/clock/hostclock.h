/* SPDX-License-Identifier: MIT */
/* Clock of the host stamps. Shared memory and captures contain these numbers. */
#ifndef GPUTAP_CLOCK_HOSTCLOCK_H
#define GPUTAP_CLOCK_HOSTCLOCK_H

enum gt_host_clock {
	GT_HOST_CLOCK_COUNTER = 1, /* the processor's counter (clock/counter.h) */
	GT_HOST_CLOCK_BOOTTIME = 2,
};

#endif
