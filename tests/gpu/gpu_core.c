/* SPDX-License-Identifier: MIT */
/* Lets a Python program find out whether the calling thread has its CPU core to itself. */
#define _GNU_SOURCE
#include "bench/measure.h"

double gpu_core_busy(void);
double gpu_core_least_busy(int cpu);

double gpu_core_busy(void)
{
	return bench_busy();
}

/* Pin the calling thread to @cpu, and return bench_least_busy() there. */
double gpu_core_least_busy(int cpu)
{
	bench_pin(cpu);
	return bench_least_busy(NULL);
}
