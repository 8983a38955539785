/* SPDX-License-Identifier: MIT */
/* analysis/model/ranges.c with programs that misuse ROCTx, and with failing allocations. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/model/ranges.h"
#include "generated/roctx_ops.h"
#include "record/operation.h"
#include "unit.h"
#include "util/error.h"

/* Number of allocations until one fails; negative: all succeed. */
static int fail_after = -1;

static bool fails(void)
{
	return fail_after >= 0 && fail_after-- == 0;
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

char *__real_strndup(const char *text, size_t bytes);
char *__wrap_strndup(const char *text, size_t bytes);
char *__wrap_strndup(const char *text, size_t bytes)
{
	return fails() ? NULL : __real_strndup(text, bytes);
}

static struct gt_ranges ranges;
static struct gt_range range;

static uint64_t payload[8];

/* Add a call of thread @ordinal. @text: for a start. @value: the returned id (start) or the passed
 * id (stop). */
static int call(uint32_t ordinal, uint32_t number, uint64_t ns, const char *text, uint64_t value)
{
	struct gt_item item = {.kind = GT_RECORD_CALL,
			       .ordinal = ordinal,
			       .start_ns = ns,
			       .end_ns = ns + 1,
			       .ret = value};
	struct gt_payload head = {.arg = 0};
	uint64_t args[1] = {value};

	item.op = GT_OP(GT_DOMAIN_ROCTX, number, number == GT_ROCTX_roctxRangePop ? 0 : 1);
	item.args = args;
	if (text) {
		head.bytes = (uint32_t)strlen(text) + 1;
		memcpy(payload, &head, sizeof head);
		memcpy((char *)payload + sizeof head, text, head.bytes);
		item.payload = (const uint8_t *)payload;
		item.payload_bytes = (uint32_t)(sizeof head + ((head.bytes + 7) & ~7u));
	}
	return gt_ranges_step(&ranges, &item, &range);
}

#define PUSH(thread, ns, text)      call(thread, GT_ROCTX_roctxRangePushA, ns, text, 0)
#define POP(thread, ns)             call(thread, GT_ROCTX_roctxRangePop, ns, NULL, 0)
#define START(thread, ns, text, id) call(thread, GT_ROCTX_roctxRangeStartA, ns, text, id)
#define STOP(thread, ns, id)        call(thread, GT_ROCTX_roctxRangeStop, ns, NULL, id)

static void check_range(const char *name, uint32_t ordinal, uint64_t start_ns, uint64_t end_ns)
{
	CHECK_STR(range.name, name);
	CHECK_EQ(range.ordinal, ordinal);
	CHECK_EQ(range.start_ns, start_ns);
	CHECK_EQ(range.end_ns, end_ns);
}

UNIT_TEST(a_pop_without_its_push_is_nothing)
{
	CHECK_EQ(POP(1, 10), 0);
	CHECK_EQ(PUSH(1, 20, "a"), 0);
	CHECK_EQ(POP(2, 30), 0); /* in another thread */
	CHECK_EQ(POP(1, 40), 1);
	check_range("a", 1, 20, 41);
	CHECK_EQ(POP(1, 50), 0);
	CHECK(!gt_ranges_rest(&ranges, &range));
	gt_ranges_fini(&ranges);
}

UNIT_TEST(a_range_that_nobody_ends_goes_to_the_last_that_was_said)
{
	PUSH(1, 10, "outer");
	PUSH(1, 20, "inner");
	START(2, 30, "started", 7);
	CHECK_EQ(call(2, GT_ROCTX_roctxMarkA, 90, "mark", 0), 1);
	check_range("mark", 2, 90, 90);
	CHECK(range.instant);
	for (int left = 3; left > 0; left--) {
		CHECK(gt_ranges_rest(&ranges, &range));
		CHECK_EQ(range.end_ns, 91);
		CHECK(!range.instant);
	}
	CHECK(!gt_ranges_rest(&ranges, &range));
	gt_ranges_fini(&ranges);
}

UNIT_TEST(a_range_started_in_one_thread_is_stopped_by_another_whichever_is_read_first)
{
	CHECK_EQ(START(1, 10, "first", 1), 0);
	CHECK_EQ(STOP(2, 20, 1), 1);
	check_range("first", 1, 10, 21);
	CHECK(range.across);
	/* records of the stopping thread precede records of the starting thread */
	CHECK_EQ(STOP(2, 40, 2), 0);
	CHECK_EQ(START(3, 30, "second", 2), 1);
	check_range("second", 3, 30, 41);
	CHECK(!gt_ranges_rest(&ranges, &range));
	gt_ranges_fini(&ranges);
}

UNIT_TEST(an_id_that_is_used_again_is_of_the_newest_range)
{
	START(1, 10, "old", 5);
	CHECK_EQ(STOP(1, 20, 5), 1);
	check_range("old", 1, 10, 21);
	START(1, 30, "new", 5);
	CHECK_EQ(STOP(1, 40, 5), 1);
	check_range("new", 1, 30, 41);
	START(1, 50, "never stopped", 5);
	START(1, 60, "stopped", 5);
	CHECK_EQ(STOP(1, 70, 5), 1);
	check_range("stopped", 1, 60, 71);
	CHECK(gt_ranges_rest(&ranges, &range));
	CHECK_STR(range.name, "never stopped");
	gt_ranges_fini(&ranges);
}

UNIT_TEST(a_pop_does_not_end_what_was_started)
{
	START(1, 10, "started", 3);
	CHECK_EQ(POP(1, 20), 0);
	CHECK_EQ(STOP(1, 30, 3), 1);
	gt_ranges_fini(&ranges);
}

UNIT_TEST(without_memory_a_range_is_refused_and_nothing_leaks)
{
	for (int n = 0; n < 2; n++) {
		fail_after = n;
		CHECK_EQ(PUSH(1, 10, "a"), -ENOMEM);
	}
	fail_after = 0;
	CHECK_EQ(STOP(1, 20, 9), -ENOMEM);
	fail_after = -1;
	CHECK_EQ(POP(1, 30), 0); /* the failed pushes are not on the stack */
	for (int i = 0; i < 40; i++)
		CHECK_EQ(PUSH(1, 40, "deep"), 0);
	for (int i = 0; i < 40; i++)
		CHECK_EQ(POP(1, 50), 1);
	gt_ranges_fini(&ranges);
}
