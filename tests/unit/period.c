/* SPDX-License-Identifier: MIT */
/* analysis/patterns/period.h: sequences with a known period, and without one. */
#include "analysis/patterns/period.h"

#include "failing_memory.h"
#include "unit.h"

enum { MOST = 1 << 16, US = 1000 };

static struct period_item items[MOST];
static size_t count;
static uint64_t now_ns;
static struct period found;

/* Add an activity of 1 us, @gap_ns after the one before. */
static void add(uint32_t name, uint64_t gap_ns)
{
	now_ns += gap_ns;
	items[count] = (struct period_item){.id = count + 1,
					    .start_ns = now_ns,
					    .end_ns = now_ns + US,
					    .name = name,
					    .is_kernel = name != 0};
	now_ns += US;
	count++;
}

/* Add a step: one activity per character of @names, 1 us apart, 9 us after the step before. */
static void add_step(const char *names)
{
	for (size_t i = 0; names[i]; i++)
		add((uint32_t)(names[i] - 'a'), i ? US : 9 * US);
}

static bool find(void)
{
	return period_find(items, count, &found);
}

UNIT_TEST(a_loop_has_the_length_of_its_step_and_starts_after_the_largest_gap)
{
	for (int i = 0; i < 20; i++)
		add_step("bccda");
	CHECK(find());
	CHECK_EQ(found.length, 5);
	CHECK_EQ(found.kernels, 4);
	/* 5 activities, 4 short gaps and a long one */
	CHECK_EQ(found.median_ns, (5 + 4 + 9) * US);
	CHECK_EQ(found.low_ns, found.high_ns);
	CHECK_EQ((found.from_ns - 9 * US) % ((5 + 4 + 9) * US), 0);
	CHECK_EQ(found.to_ns - found.from_ns, found.steps * found.median_ns);
	CHECK_EQ(found.third_ns - found.from_ns, 2 * found.median_ns);
}

UNIT_TEST(a_start_that_differs_is_not_part_of_the_loop)
{
	add_step("zyxwvutsrq");
	for (int i = 0; i < 20; i++)
		add_step("bcd");
	CHECK(find());
	CHECK_EQ(found.length, 3);
	CHECK(found.from_ns >= items[10].start_ns);
	CHECK(found.steps >= 17);
}

UNIT_TEST(the_smallest_period_is_found)
{
	for (int i = 0; i < 64; i++)
		add_step("bc");
	CHECK(find());
	CHECK_EQ(found.length, 2);
}

UNIT_TEST(few_items_or_names_without_order_have_no_period)
{
	uint64_t state = 1;

	CHECK(!find());
	add_step("bcd");
	add_step("bcd");
	CHECK(!find());
	count = 0;
	for (int i = 0; i < 4000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		add((uint32_t)(state >> 33) % 50, US);
	}
	CHECK(!find());
	CHECK_EQ(found.length, 0);
}

UNIT_TEST(steps_that_start_in_another_order_than_launched_have_no_negative_length)
{
	for (int i = 0; i < 20; i++)
		add_step("bcd");
	/* in an out-of-order queue, and on damaged captures, later launches may start first */
	for (size_t i = 0, k = count - 1; i < k; i++, k--) {
		uint64_t ns = items[i].start_ns;

		items[i].start_ns = items[k].start_ns;
		items[k].start_ns = ns;
		items[i].end_ns = items[i].start_ns + US;
		items[k].end_ns = items[k].start_ns + US;
	}
	if (find()) {
		CHECK(found.to_ns >= found.from_ns);
		CHECK(found.high_ns <= now_ns);
	}
}

static int find_in_guard(void *data)
{
	*(bool *)data = find();
	return 0;
}

static void release_nothing(void *data)
{
	(void)data;
}

UNIT_TEST(each_allocation_may_fail)
{
	bool is_found = false;

	for (int i = 0; i < 20; i++)
		add_step("bccda");
	CHECK_EQ(fail_each_allocation(find_in_guard, release_nothing, &is_found), 3);
	CHECK(is_found);
	CHECK_EQ(found.length, 5);
}
