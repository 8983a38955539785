/* SPDX-License-Identifier: MIT */
/* See jobs.h. */
#include "cli/jobs.h"

#include <ctype.h>
#include <sched.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/ui.h"

unsigned jobs_default(void)
{
	cpu_set_t available;
	int count;

	if (sched_getaffinity(0, sizeof available, &available))
		return 1;
	count = CPU_COUNT(&available);
	return count < JOBS_DEFAULT_MOST ? (unsigned)count : JOBS_DEFAULT_MOST;
}

int jobs_option(const char *value, unsigned *jobs)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)value[0]) || *end || n < 1 || n > JOBS_MOST)
		return ui_fail(GT_EXIT_USAGE, "-j %s: a number from 1 to %d", value, JOBS_MOST);
	*jobs = (unsigned)n;
	return GT_EXIT_OK;
}
