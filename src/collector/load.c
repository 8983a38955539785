/* SPDX-License-Identifier: MIT */
/* See load.h. */
#include "collector/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "util/clock_ns.h"

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static uint64_t used_by(int who)
{
	struct rusage r;

	return getrusage(who, &r) ? 0 : ns_of(&r.ru_utime) + ns_of(&r.ru_stime);
}

/* Read the line of each processor from /proc/stat: user, nice, system, idle, iowait, irq, softirq,
 * stolen, in ticks. */
static void read_processors(const cpu_set_t *of, struct gt_machine_load *out)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *stat = fopen("/proc/stat", "re");
	char line[512];

	while (stat && fgets(line, sizeof line, stat)) {
		uint64_t t[8] = {0};
		unsigned number;

		if (sscanf(line,
			   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &number, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 5 ||
		    number >= CPU_SETSIZE || !CPU_ISSET(number, of))
			continue;
		out->processors++;
		out->busy_ns += (t[0] + t[1] + t[2] + t[5] + t[6]) * tick_ns;
		out->stolen_ns += t[7] * tick_ns;
	}
	if (stat)
		fclose(stat);
}

static void read_load(const cpu_set_t *of, struct gt_machine_load *out)
{
	*out = (struct gt_machine_load){
		.wall_ns = gt_clock_ns(CLOCK_MONOTONIC),
		.own_ns = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN),
	};
	read_processors(of, out);
}

void gt_load_begin(struct gt_load *l)
{
	if (sched_getaffinity(0, sizeof l->processors, &l->processors))
		CPU_ZERO(&l->processors); /* there are more processors than a set can hold */
	read_load(&l->processors, &l->at_begin);
}

void gt_load_end(const struct gt_load *l, struct gt_machine_load *out)
{
	const struct gt_machine_load *begin = &l->at_begin;

	read_load(&l->processors, out);
	if (out->processors != begin->processors) /* a processor was added or removed */
		out->processors = 0;
	out->wall_ns -= begin->wall_ns;
	out->busy_ns -= begin->busy_ns;
	out->own_ns -= begin->own_ns;
	out->stolen_ns -= begin->stolen_ns;
}
