/* SPDX-License-Identifier: MIT */
/* Which clock host stamps are taken from: the command decides for a session, the tool API where there is none. */
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "clock/clock.h"

uint32_t gt_clock_host_choose(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	char name[32] = "";
	FILE *f;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d >> 8 & 1))
		return GT_HOST_CLOCK_BOOTTIME;
	/* The kernel watches its clocksource: where it gave the TSC up (unsynchronised, unstable), so do we. */
	f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (f) {
		if (!fgets(name, sizeof name, f))
			name[0] = '\0';
		fclose(f);
	}
	if (!strcmp(name, "tsc\n"))
		return GT_HOST_CLOCK_TSC;
#endif
	return GT_HOST_CLOCK_BOOTTIME;
}
