/* SPDX-License-Identifier: MIT */
/* Timing helpers of the bench programs. Each program prints lines "key value unit"; bench/run.py
 * runs the programs in interleaved rounds and computes medians and ratios. */
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

/* Measure how busy the core's other hardware thread is. It often belongs to another machine, halves
 * the number of operations that the core can have in flight, and comes and goes within
 * milliseconds.
 * Return the time of independent additions relative to a chain of multiplications, which no other
 * load slows down. Takes some 20 us. */
static inline double bench_busy(void)
{
	uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, start = bench_now_ns(), between;

	for (int i = 0; i < 5000; i++)
		__asm__ volatile(
			"add $1, %0; add $1, %1; add $1, %2; add $1, %3; add $1, %4; add $1, %5;"
			"add $1, %0; add $1, %1; add $1, %2; add $1, %3; add $1, %4; add $1, %5;"
			"add $1, %0; add $1, %1; add $1, %2; add $1, %3; add $1, %4; add $1, %5"
			: "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	between = bench_now_ns();
	for (int i = 0; i < 5000; i++)
		__asm__ volatile(
			"imul $3, %0, %0; imul $3, %0, %0; imul $3, %0, %0; imul $3, %0, %0"
			: "+r"(a));
	return (double)(between - start) / (double)(bench_now_ns() - between);
}

/* Return bench_busy() for an unshared core: nearly the minimum of many samples. The minimum itself
 * may come from a sample whose chain was interrupted, which makes the sample too small.
 * @known: earlier result, as text, or NULL */
static inline double bench_least_busy(const char *known)
{
	double seen[400], before = known ? atof(known) : 1e9;

	for (int i = 0; i < 400; i++)
		seen[i] = bench_busy();
	bench_median(seen, 400); /* sorts */
	return seen[20] < before ? seen[20] : before;
}

enum bench_core { BENCH_ALONE, BENCH_SHARED, BENCH_MIXED };

/* Classify the time between two samples of bench_busy() as unshared or shared. */
static inline enum bench_core bench_alone(double before, double after, double least)
{
	return before < 1.1 * least && after < 1.1 * least   ? BENCH_ALONE
	       : before > 1.3 * least && after > 1.3 * least ? BENCH_SHARED
							     : BENCH_MIXED;
}

static inline void bench_print(const char *key, double value, const char *unit)
{
	printf("%s %.4f %s\n", key, value, unit);
	fflush(stdout);
}

/* Median over 7 trials of `n` rounds of a statement, in ns per round. */
#define BENCH_LOOP(key, n, ...)                                                       \
	do {                                                                          \
		double trial_[7];                                                     \
		for (int t_ = 0; t_ < 7; t_++) {                                      \
			uint64_t start_ = bench_now_ns();                             \
			for (uint64_t i = 0; i < (uint64_t)(n); i++) {                \
				__VA_ARGS__;                                          \
				__asm__ volatile("" ::: "memory");                    \
			}                                                             \
			trial_[t_] = (double)(bench_now_ns() - start_) / (double)(n); \
		}                                                                     \
		bench_print(key, bench_median(trial_, 7), "ns");                      \
	} while (0)

#endif
