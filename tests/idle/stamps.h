/* SPDX-License-Identifier: MIT */
/* Shared by the programs of tests/idle. They provoke idle time with one cause, and write the time:
 * "CAUSE FROM TO", with CLOCK_BOOTTIME in ns, as in captures. */
#ifndef GPUTAP_TESTS_IDLE_STAMPS_H
#define GPUTAP_TESTS_IDLE_STAMPS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNUSED __attribute__((unused))

enum { PROVOKED_MS = 20, TIMES = 10 };

static UNUSED uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static UNUSED void sleep_ms(unsigned ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000l};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static UNUSED void say_stamps(const char *cause, uint64_t from, uint64_t to)
{
	printf("%s %llu %llu\n", cause, (unsigned long long)from, (unsigned long long)to);
}

/* Write the time in which the main thread waited for a processor, which a busy machine takes from
 * any cause. */
static UNUSED __attribute__((destructor)) void say_delay(void)
{
	FILE *file = fopen("/proc/self/schedstat", "r");
	unsigned long long cpu, delay;

	if (file && fscanf(file, "%llu %llu", &cpu, &delay) == 2)
		printf("run_delay 0 %llu\n", delay);
	if (file)
		fclose(file);
}

#define EXPECT(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

#endif
