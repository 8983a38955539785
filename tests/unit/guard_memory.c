/* SPDX-License-Identifier: MIT */
/* analysis/base/guard_memory.h: running out of memory is an error of the innermost guard. */
#include "analysis/base/guard_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unit.h"
#include "util/error.h"

static int succeed(void *data)
{
	*(int *)data += 1;
	return 7;
}

/* Sanitizers end a program that requests too much memory, so no test does. */
static int run_out(void *data)
{
	*(int *)data += 1;
	memory_ran_out();
}

static int nest(void *data)
{
	int calls = 0;

	CHECK_EQ(guard_memory(run_out, &calls), -ENOMEM);
	CHECK_EQ(calls, 1);
	return run_out(data); /* leaves the outer guard */
}

UNIT_TEST(guard_returns_the_result_of_its_step)
{
	int calls = 0;

	CHECK_EQ(guard_memory(succeed, &calls), 7);
	CHECK_EQ(calls, 1);
}

UNIT_TEST(guard_turns_exhausted_memory_into_an_error_with_a_cause)
{
	int calls = 0;

	gt_error_clear();
	CHECK_EQ(guard_memory(run_out, &calls), -ENOMEM);
	CHECK_EQ(calls, 1);
	CHECK(strstr(gt_error_text(), "out of memory"));
	gt_error_clear();
}

UNIT_TEST(guards_nest)
{
	int calls = 0;

	CHECK_EQ(guard_memory(nest, &calls), -ENOMEM);
	CHECK_EQ(calls, 1);
	CHECK_EQ(guard_memory(succeed, &calls), 7);
	gt_error_clear();
}

static char order[8];

static void note(void *data)
{
	strcat(order, data);
}

static int run_out_with_cleanups(void *data)
{
	struct cleanup a, b, c, d;

	cleanup_push(&a, note, "a");
	cleanup_push(&b, note, "b");
	cleanup_push(&c, note, "c");
	cleanup_push(&d, note, "d");
	cleanup_pop(&b);
	cleanup_cancel(&d);
	return run_out(data);
}

UNIT_TEST(exhausted_memory_runs_the_cleanups_of_the_innermost_guard_newest_first)
{
	struct cleanup outer;
	int calls = 0;

	cleanup_push(&outer, note, "o");
	CHECK_EQ(guard_memory(run_out_with_cleanups, &calls), -ENOMEM);
	CHECK_STR(order, "bca");
	cleanup_pop(&outer);
	CHECK_STR(order, "bcao");
	gt_error_clear();
}

/* The address sanitizer finds lists that are not freed. */
static int run_out_with_scratch(void *data)
{
	uint64_t *a = allocate_scratch(3, sizeof *a), *b = allocate_scratch(0, sizeof *b);

	CHECK_EQ(a[0] + a[1] + a[2], 0);
	CHECK_EQ((uintptr_t)a % _Alignof(max_align_t), 0);
	free_scratch(a);
	free_scratch(NULL);
	a = allocate_scratch(1000, sizeof *a);
	a[999] = 1;
	return a > b || a < b ? run_out(data) : 0;
}

UNIT_TEST(exhausted_memory_frees_scratch_lists)
{
	int calls = 0;

	CHECK_EQ(guard_memory(run_out_with_scratch, &calls), -ENOMEM);
	CHECK_EQ(calls, 1);
	CHECK_EQ(guard_memory(succeed, &calls), 7);
	gt_error_clear();
}

static void *run_in_thread(void *data)
{
	int calls = 0;

	*(int *)data = guard_memory(run_out, &calls);
	return NULL;
}

UNIT_TEST(guards_of_threads_are_independent)
{
	int results[4] = {0};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, run_in_thread, &results[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		CHECK_EQ(results[i], -ENOMEM);
	}
}
