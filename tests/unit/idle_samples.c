/* SPDX-License-Identifier: MIT */
/* analysis/idle/idle_samples.h: the time between calls is divided among samples. */
#include "analysis/idle/idle_samples.h"

#include "record/host_state.h"
#include "unit.h"

enum { MS = 1000000 };

static struct idle_samples *t;

static void add(uint32_t thread, uint64_t start, uint64_t end, uint64_t stack)
{
	const uint64_t args[8] = {stack};
	const struct gt_item item = {.process = 3,
				     .start_ns = start * MS,
				     .end_ns = end * MS,
				     .args = args};

	idle_samples_add(t, &item, thread);
}

static void check_span(size_t i, uint64_t start, uint64_t end, uint32_t stack)
{
	size_t count;
	const struct idle_sampled_span *spans = idle_samples_spans(t, &count);

	CHECK(i < count);
	CHECK_EQ(spans[i].start, start * MS);
	CHECK_EQ(spans[i].end, end * MS);
	CHECK_EQ(spans[i].stack, stack);
	CHECK_EQ(spans[i].process, 3);
}

static size_t count_spans(uint64_t from, uint64_t to)
{
	size_t count;

	CHECK_EQ(idle_samples_read(t, from * MS, to * MS), 0);
	idle_samples_spans(t, &count);
	return count;
}

UNIT_TEST(a_boundary_lies_halfway_between_two_samples)
{
	t = idle_samples_create(0);
	add(0, 30, 30, 2);
	add(0, 12, 20, 1);
	CHECK_EQ(idle_samples_begin(t, 0), 0);
	CHECK_EQ(count_spans(10, 40), 2);
	check_span(0, 10, 25, 1);
	check_span(1, 25, 40, 2);
	CHECK_EQ(idle_samples_find(t, 24 * MS), 0);
	CHECK_EQ(idle_samples_find(t, 25 * MS), 1);
	CHECK_EQ(idle_samples_find(t, 40 * MS), 2);
	idle_samples_destroy(t);
}

UNIT_TEST(samples_of_other_gaps_and_threads_have_no_time)
{
	t = idle_samples_create(0);
	add(0, 5, 8, 1);
	add(0, 15, 15, 2);
	add(0, 50, 60, 3);
	add(1, 15, 15, 4);
	CHECK_EQ(idle_samples_begin(t, 0), 0);
	CHECK_EQ(count_spans(10, 20), 1);
	check_span(0, 10, 20, 2);
	CHECK_EQ(count_spans(20, 45), 0);
	CHECK_EQ(idle_samples_begin(t, 1), 0);
	CHECK_EQ(count_spans(10, 20), 1);
	check_span(0, 10, 20, 4);
	idle_samples_destroy(t);
}

UNIT_TEST(a_row_that_covers_several_gaps_has_a_span_in_each)
{
	t = idle_samples_create(0);
	add(0, 5, 95, 1);
	CHECK_EQ(idle_samples_begin(t, 0), 0);
	CHECK_EQ(count_spans(0, 20), 1);
	check_span(0, 0, 20, 1);
	CHECK_EQ(count_spans(21, 40), 1);
	check_span(0, 21, 40, 1);
	CHECK_EQ(count_spans(80, 100), 1);
	check_span(0, 80, 100, 1);
	idle_samples_destroy(t);
}

UNIT_TEST(time_far_from_any_sample_is_not_known)
{
	t = idle_samples_create(0);
	add(0, 500, 510, 1);
	CHECK_EQ(idle_samples_begin(t, 0), 0);
	CHECK_EQ(count_spans(0, 1000), 1);
	check_span(0, 450, 560, 1);
	idle_samples_destroy(t);
}
