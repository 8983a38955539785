/* SPDX-License-Identifier: MIT */
/* The runtime of tool_cost.c: a library of its own, as runtimes are. A jump to another library
 * costs 2 ns where one within the program costs less than half a one (a branch predictor's entry
 * for far targets), whoever makes it. */
int bench_runtime_retain(void *event);

int bench_runtime_retain(void *event)
{
	__asm__ volatile("" : : "r"(event));
	return 0;
}
