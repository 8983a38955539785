/* SPDX-License-Identifier: MIT */
/* Chooses the clock for host stamps. The command makes the choice for a session. Without a session,
 * the tool API makes it. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "clock/clock.h"

#if defined(__x86_64__)
static const char counter_source[] = "tsc";

static bool is_counter_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
#elif defined(__aarch64__)
static const char counter_source[] = "arch_sys_counter";

static bool is_counter_invariant(void)
{
	return true; /* the architecture requires the same rate on all processors */
}
#else
static const char counter_source[] = "";

static bool is_counter_invariant(void)
{
	return false;
}
#endif

/* Return true if the kernel uses the counter as its clocksource. The kernel monitors the counter
 * and stops using an unsynchronised or unstable one; gputap does the same. */
static bool is_counter_the_kernels_clock(void)
{
	char name[32] = "";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (!f)
		return false;
	if (!fgets(name, sizeof name, f))
		name[0] = '\0';
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, counter_source);
}

uint32_t gt_clock_host_choose(void)
{
	return is_counter_invariant() && is_counter_the_kernels_clock() ? GT_HOST_CLOCK_COUNTER
									: GT_HOST_CLOCK_BOOTTIME;
}
