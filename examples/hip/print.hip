/* SPDX-License-Identifier: MIT */
/* print: device printf and host printf print the same text for the same formats. Strings are
 * printed without width or precision: if a width differs from the length of the string, HIP 5.2
 * reads the wrong arguments. */
#include "common.h"

#define LINES(who)                                                                        \
	printf("%s: %d %5d %-5d| %+d %05d\n", who, -7, 42, 42, 42, 42);                   \
	printf("%s: %u %x %X %#o %lld %llx\n", who, 4000000000u, 0xcafeu, 0xcafeu, 8,     \
	       -1234567890123LL, 0xfedcba9876543210ULL);                                  \
	printf("%s: %f %.3f %10.2e %g %G\n", who, 3.25, 2.0 / 3, 12345.678, 1e-10, 1e20); \
	printf("%s: [%s] [%s] %c %%\n", who, "text", "right", 'x');                       \
	printf("%s: %*d %.*f %hhd %hd\n", who, 6, 5, 2, 1.005, (char)-1, (short)-2)

__global__ void say()
{
	LINES("device");
}

__global__ void say_who()
{
	if (threadIdx.x % 16 == 0)
		printf("group %d thread %d\n", (int)blockIdx.x, (int)threadIdx.x);
}

int main()
{
	LINES("host");
	fflush(stdout);
	say<<<1, 1>>>();
	MUST(hipDeviceSynchronize());
	say_who<<<3, 64>>>();
	MUST(hipDeviceSynchronize());
	return 0;
}
