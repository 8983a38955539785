/* SPDX-License-Identifier: MIT */
/* Condition variables whose waits end at a time of CLOCK_MONOTONIC. glibc before 2.30 has no
 * pthread_cond_clockwait(), so the clock is chosen when the variable is initialised. */
#ifndef SOFT_COMMON_CONDITION_H
#define SOFT_COMMON_CONDITION_H

#include <pthread.h>
#include <time.h>

/* Call once, before any other thread can use @condition. */
static inline void soft_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &clock);
	pthread_condattr_destroy(&clock);
}

#endif
