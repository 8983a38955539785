/* SPDX-License-Identifier: MIT */
/* peer_uftrace KEY CALLS: measures a call in a program built with -pg. Run it under `uftrace
 * record`. */
#define UNTRACED __attribute__((no_instrument_function))
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int traced_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

__attribute__((noinline)) int traced_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	__asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d));
	return 0;
}

UNTRACED static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

UNTRACED static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

UNTRACED int main(int argc, char **argv)
{
	double trial[5];
	uint64_t calls;

	if (argc != 3) {
		fprintf(stderr, "usage: peer_uftrace KEY CALLS\n");
		return 2;
	}
	calls = strtoull(argv[2], NULL, 0);
	for (int t = 0; t < 5; t++) {
		uint64_t start = now_ns();

		for (uint64_t i = 0; i < calls; i++)
			traced_call(i, 2, 3, 4);
		trial[t] = (double)(now_ns() - start) / (double)calls;
	}
	qsort(trial, 5, sizeof *trial, compare);
	printf("%s %.4f ns\n", argv[1], trial[2]);
	return 0;
}
