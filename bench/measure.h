/* SPDX-License-Identifier: MIT */
/* Timing helpers of the bench programs. Each prints lines "key value unit"; bench/run.py runs the
 * programs in interleaved rounds and makes medians and ratios of them. */
#ifndef GPUTAP_BENCH_MEASURE_H
#define GPUTAP_BENCH_MEASURE_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

static inline uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline int bench_compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, bench_compare_double);
	return values[count / 2];
}

static inline void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static inline void bench_print(const char *key, double value, const char *unit)
{
	printf("%s %.4f %s\n", key, value, unit);
	fflush(stdout);
}

/* Median over 7 trials of `n` rounds of a statement, in ns per round. */
#define BENCH_LOOP(key, n, ...)                                                             \
	do {                                                                                \
		double trial_[7];                                                           \
		for (int t_ = 0; t_ < 7; t_++) {                                            \
			uint64_t start_ = bench_now_ns();                                   \
			for (uint64_t i = 0; i < (uint64_t)(n); i++) {                      \
				__VA_ARGS__;                                                \
				__asm__ volatile("" ::: "memory");                          \
			}                                                                   \
			trial_[t_] = (double)(bench_now_ns() - start_) / (double)(n);       \
		}                                                                           \
		bench_print(key, bench_median(trial_, 7), "ns");                            \
	} while (0)

#endif
