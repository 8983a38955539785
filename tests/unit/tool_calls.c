/* SPDX-License-Identifier: MIT */
/* Notifies tools of calls: which tools are notified, in which order, and until when. Tests with
 * many threads are in tool_calls_threads.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

#include "tool/tool_reader.h"
#include "tool/tool_activity.h"
#include "tool_fake.h"

static void tell(const struct gputap_call *c, uint64_t *data, void *user)
{
	size_t at = strlen(notified);

	(void)data;
	snprintf(notified + at, sizeof notified - at, "%s%s%u ", (const char *)user,
		 c->phase == GPUTAP_CALL_PHASE_ENTER ? "+" : "-", c->operation);
}

static struct gputap_context *teller(const char *name, uint32_t flags)
{
	struct gputap_context *ctx = context(flags);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell, (void *)(uintptr_t)name));
	return ctx;
}

UNIT_TEST(contexts_are_notified_first_to_last_and_after_the_call_last_to_first)
{
	struct gputap_context *a = teller("a", 0), *b = teller("b", 0), *c = teller("c", 0);

	CHECK_OK(gputap_context_start(c));
	CHECK_OK(gputap_context_start(a));
	CHECK_OK(gputap_context_start(b));
	CHECK_EQ(call(1, 21), 42);
	CHECK_STR(notified, "a+1 b+1 c+1 c-1 b-1 a-1 ");
	gputap_context_destroy(b);
	notified[0] = '\0';
	call(0, 0);
	CHECK_STR(notified, "a+0 c+0 c-0 a-0 ");
}

UNIT_TEST(which_calls_a_context_is_notified_of_changes_while_it_is_started)
{
	static const uint32_t one = 1;
	struct gputap_context *a = teller("a", 0), *b = context(0);

	CHECK_EQ(gputap_context_select(b, DOMAIN, &one, 1, 1), -ENOENT);
	CHECK_EQ(gputap_context_select(NULL, DOMAIN, &one, 1, 1), -EINVAL);
	CHECK_OK(gputap_context_select(a, DOMAIN, NULL, 0, 0));
	CHECK_OK(gputap_context_start(a));
	call(1, 21);
	CHECK_STR(notified, "");
	CHECK_OK(gputap_context_select(a, DOMAIN, &one, 1, 1));
	call(0, 0);
	CHECK_EQ(call(1, 21), 42);
	CHECK_STR(notified, "a+1 a-1 ");
	CHECK_OK(gputap_context_select(a, DOMAIN, &one, 1, 0));
	CHECK_EQ(call(1, 21), 42);
	CHECK_STR(notified, "a+1 a-1 ");
	CHECK_OK(gputap_context_stop(a));
	CHECK_OK(gputap_context_select(a, DOMAIN, NULL, 0, 1));
	CHECK_OK(gputap_context_start(a));
	notified[0] = '\0';
	call(0, 0);
	CHECK_STR(notified, "a+0 a-0 ");
}

/* Up to seven contexts are read as one word. More contexts are read in another way. */
UNIT_TEST(so_are_more_than_fit_into_a_word_and_those_that_are_left_of_them)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f",
					    "g", "h", "i", "j", "k", "l"};
	enum { MANY = sizeof names / sizeof *names };
	struct gputap_context *ctx[MANY];

	for (int i = 0; i < MANY; i++)
		CHECK_OK(gputap_context_start(ctx[i] = teller(names[i], 0)));
	call(0, 0);
	CHECK_STR(notified,
		  "a+0 b+0 c+0 d+0 e+0 f+0 g+0 h+0 i+0 j+0 k+0 l+0 l-0 k-0 j-0 i-0 h-0 g-0 "
		  "f-0 e-0 d-0 c-0 b-0 a-0 ");
	for (int i = 1; i < 6; i++)
		CHECK_OK(gputap_context_stop(ctx[i]));
	notified[0] = '\0';
	call(0, 0);
	CHECK_STR(notified, "a+0 g+0 h+0 i+0 j+0 k+0 l+0 l-0 k-0 j-0 i-0 h-0 g-0 a-0 ");
	CHECK_OK(gputap_context_start(ctx[3]));
	notified[0] = '\0';
	call(0, 0);
	CHECK_STR(notified, "a+0 d+0 g+0 h+0 i+0 j+0 k+0 l+0 l-0 k-0 j-0 i-0 h-0 g-0 d-0 a-0 ");
}

UNIT_TEST(what_a_stopped_context_is_given_more_is_notified_when_it_starts_again)
{
	const uint32_t op = 1;
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, &op, 1, 0, tell, "x"));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_OK(gputap_context_stop(ctx));
	CHECK_OK(gputap_context_calls(ctx, GPUTAP_DOMAIN_HIP, NULL, 0, 0, tell, "y"));
	CHECK_OK(gputap_context_start(ctx));
	call(0, 0);
	call(1, 0);
	call_of(&hip_table, 0, 0, NULL);
	CHECK_STR(notified, "x+1 x-1 y+7 y-7 ");
}

UNIT_TEST(only_what_a_context_asked_for_is_reported_and_nothing_once_it_is_stopped)
{
	const uint32_t ops[] = {2, 0};
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, ops, 2, 0, tell, "x"));
	call(0, 0);
	CHECK_STR(notified, "");
	CHECK_EQ(gputap_context_is_active(ctx), 0);
	CHECK_OK(gputap_context_start(ctx));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_EQ(gputap_context_is_active(ctx), 1);
	call(1, 0);
	call(2, 0);
	CHECK_STR(notified, "x+2 x-2 ");
	CHECK_EQ(gt_tap_services(&taps[1]), 0);
	CHECK_OK(gputap_context_stop(ctx));
	CHECK_EQ(gt_tap_services(&taps[2]), 0);
	call(2, 0);
	CHECK_STR(notified, "x+2 x-2 ");
}

static struct gputap_context *inner;

static void stop_inner(void)
{
	CHECK_OK(gputap_context_stop(inner));
}

static void start_inner(void)
{
	CHECK_OK(gputap_context_start(inner));
}

UNIT_TEST(who_was_not_notified_of_the_begin_is_not_notified_of_the_end)
{
	CHECK_OK(gputap_context_start(teller("a", 0)));
	inner = teller("b", 0);
	call_of(&table, 1, 0, start_inner);
	CHECK_STR(notified, "a+1 a-1 ");
}

UNIT_TEST(a_context_that_was_stopped_in_the_middle_is_notified_of_no_end_unless_it_finishes_calls)
{
	inner = teller("a", 0);
	start_inner();
	call_of(&table, 1, 0, stop_inner);
	CHECK_STR(notified, "a+1 ");
	notified[0] = '\0';
	inner = teller("b", GPUTAP_CONTEXT_FINISH_CALLS);
	start_inner();
	call_of(&table, 1, 0, stop_inner);
	call(1, 0);
	CHECK_STR(notified, "b+1 b-1 ");
	notified[0] = '\0';
	start_inner();
	call_of(&table, 1, 0, stop_inner);
	gputap_context_destroy(inner);
	CHECK_STR(notified, "b+1 b-1 ");
}

static void keep(const struct gputap_call *c, uint64_t *data, void *user)
{
	if (c->phase == GPUTAP_CALL_PHASE_ENTER) {
		CHECK_EQ(*data, 0);
		*data = (uintptr_t)user + c->correlation;
		CHECK_NULL(c->ret);
		CHECK_EQ(((struct args *)c->args)->value, 5);
	} else {
		CHECK_EQ(*data, (uintptr_t)user + c->correlation);
		CHECK_EQ(*(uint64_t *)c->ret, 10);
		CHECK_EQ(c->ret_bytes, 8);
	}
	CHECK_EQ(c->thread, (uint64_t)gettid());
}

UNIT_TEST(contexts_that_want_it_are_notified_of_the_end_first_to_last)
{
	const uint32_t flag = GPUTAP_CONTEXT_EXIT_FORWARD;
	struct gputap_context *all[] = {teller("a", 0), teller("b", flag), teller("c", flag),
					teller("d", 0), teller("e", flag)};

	for (int i = 0; i < 5; i++)
		CHECK_OK(gputap_context_start(all[i]));
	call(1, 0);
	CHECK_STR(notified, "a+1 b+1 c+1 d+1 e+1 e-1 d-1 b-1 c-1 a-1 ");
}

static uint64_t seen_inside;

static void tell_number(const struct gputap_call *c, uint64_t *data, void *user)
{
	size_t at = strlen(notified);

	(void)data;
	if (c->phase == GPUTAP_CALL_PHASE_ENTER)
		snprintf(notified + at, sizeof notified - at, "%s%u:%lu<%lu ", (const char *)user,
			 c->operation, (unsigned long)c->correlation, (unsigned long)c->parent);
}

static void call_in_the_middle(void)
{
	seen_inside = gputap_correlation();
	call(2, 0);
}

UNIT_TEST(a_call_for_which_nobody_wants_a_number_has_that_of_the_call_around_it)
{
	const uint32_t quiet[] = {1, 2};
	struct gputap_context *ctx = context(GPUTAP_CONTEXT_DENSE), *other = context(0);

	CHECK_EQ(gputap_context_uncorrelated(ctx, DOMAIN, quiet, 2, 0), -ENOENT);
	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell_number, "x"));
	CHECK_EQ(gputap_context_uncorrelated(ctx, DOMAIN, quiet, 2, 4), -EINVAL);
	CHECK_EQ(gputap_context_uncorrelated(NULL, DOMAIN, quiet, 2, 0), -EINVAL);
	CHECK_OK(gputap_context_uncorrelated(ctx, DOMAIN, quiet, 2, 0));
	CHECK_OK(gputap_context_calls(other, DOMAIN, &quiet[1], 1, 0, tell_number, "y"));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_EQ(gputap_context_uncorrelated(ctx, DOMAIN, quiet, 2, 0), -EBUSY);
	call(1, 0);
	call_of(&table, 0, 0, call_in_the_middle);
	CHECK_EQ(seen_inside, 1);
	CHECK_STR(notified, "x1:0<0 x0:1<0 x2:1<0 ");
	CHECK_OK(gputap_context_start(other)); /* one context requests the call */
	notified[0] = '\0';
	call(2, 0);
	call_of(&table, 1, 0, call_in_the_middle);
	CHECK_STR(notified, "x2:2<0 y2:2<0 x1:0<0 x2:3<0 y2:3<0 ");
}

UNIT_TEST(a_call_may_have_a_number_only_if_it_is_made_in_no_other)
{
	const uint32_t quiet[] = {1, 2};
	struct gputap_context *ctx = context(GPUTAP_CONTEXT_DENSE);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell_number, "x"));
	CHECK_OK(gputap_context_uncorrelated(ctx, DOMAIN, quiet, 2, GPUTAP_UNCORRELATED_ALONE));
	CHECK_OK(gputap_context_start(ctx));
	call(2, 0);
	call_of(&table, 0, 0, call_in_the_middle);
	call_of(&table, 1, 0, call_in_the_middle);
	CHECK_STR(notified, "x2:1<0 x0:2<0 x2:2<0 x1:3<0 x2:3<0 ");
}

static struct gputap_hold *held;

static void tell_and_hold(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (c->phase == GPUTAP_CALL_PHASE_ENTER && c->operation == 0)
		held = gputap_correlation_hold();
	gputap_suppress_begin();
	call(2, 0); /* call of the tool itself */
	gputap_suppress_end();
	gputap_suppress_end(); /* one call more than there were begins */
}

static void on_retired(uint64_t correlation, uint64_t time, void *user)
{
	size_t at = strlen(notified);

	(void)time, (void)user;
	snprintf(notified + at, sizeof notified - at, "retired %lu ", (unsigned long)correlation);
}

UNIT_TEST(a_call_that_is_held_retires_when_it_is_released_and_a_tools_own_calls_are_not_notified)
{
	struct gputap_context *ctx = context(GPUTAP_CONTEXT_DENSE);

	gputap_correlation_release(gputap_correlation_hold()); /* no effect outside a call */
	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell_and_hold, NULL));
	CHECK_OK(gputap_context_retirement(ctx, on_retired, NULL));
	CHECK_OK(gputap_context_start(ctx));
	call(0, 0);
	CHECK_STR(notified, "");
	call(1, 0);
	CHECK_STR(notified, "retired 2 ");
	gputap_correlation_release(held);
	CHECK_STR(notified, "retired 2 retired 1 ");
}

UNIT_TEST(a_context_may_be_notified_of_all_that_retires)
{
	struct gputap_context *ctx = teller("x", 0),
			      *all = context(GPUTAP_CONTEXT_ALL_RETIRED | GPUTAP_CONTEXT_DENSE),
			      *none = context(0);

	CHECK_OK(gputap_context_retirement(all, on_retired, NULL));
	CHECK_OK(gputap_context_retirement(none, on_retired, NULL));
	CHECK_OK(gputap_context_start(all));
	CHECK_OK(gputap_context_start(none));
	call(1, 0);
	CHECK_STR(notified, ""); /* no context requests the call */
	CHECK_OK(gputap_context_start(ctx));
	call(1, 0);
	CHECK_STR(notified, "x+1 x-1 retired 1 ");
	CHECK_OK(gputap_context_stop(all));
	call(0, 0);
	CHECK_STR(notified, "x+1 x-1 retired 1 x+0 x-0 ");
}

static uint64_t cause;

static void submit(void)
{
	struct gt_tool_activity *p = gt_tool_activity_take(DOMAIN, true);

	cause = p->activity.correlation;
	gt_tool_activity_give(p);
}

static void call_that_submits(void)
{
	call_of(&table, 1, 0, submit);
}

UNIT_TEST(work_is_caused_by_hips_call_or_where_a_context_wants_it_by_the_innermost)
{
	struct gputap_context *ctx = teller("x", GPUTAP_CONTEXT_DENSE), *other;

	CHECK_OK(gputap_context_calls(ctx, GPUTAP_DOMAIN_HIP, NULL, 0, 0, tell, "h"));
	CHECK_OK(gputap_context_start(ctx));
	call_of(&hip_table, 0, 0, call_that_submits);
	CHECK_EQ(cause, 1);
	other = teller("y", GPUTAP_CONTEXT_INNERMOST);
	call_of(&hip_table, 0, 0, call_that_submits);
	CHECK_EQ(cause, 4);
	gputap_context_destroy(other);
	call_of(&hip_table, 0, 0, call_that_submits);
	CHECK_EQ(cause, 5);
}

static uint64_t entered, start;

static void time_it(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data;
	if (c->phase == GPUTAP_CALL_PHASE_ENTER) {
		CHECK_EQ(c->start, 0);
		entered = gputap_now();
	} else if (user) {
		start = c->start;
	}
}

UNIT_TEST(a_call_begins_when_all_have_been_notified)
{
	struct gputap_context *first = context(0), *second = context(0);

	CHECK_EQ(gputap_context_calls(first, DOMAIN, NULL, 0, 8, time_it, NULL), -EINVAL);
	CHECK_OK(gputap_context_calls(first, DOMAIN, NULL, 0, GPUTAP_CALLS_TIMED, time_it, first));
	CHECK_OK(gputap_context_calls(second, DOMAIN, NULL, 0, 0, time_it, NULL));
	CHECK_OK(gputap_context_start(first));
	CHECK_OK(gputap_context_start(second));
	call(0, 1);
	CHECK(start >= entered && start <= gputap_now());
	CHECK_OK(gputap_context_stop(second));
}

UNIT_TEST(each_context_keeps_eight_bytes_of_a_call)
{
	for (uintptr_t i = 1; i <= 3; i++) {
		struct gputap_context *ctx = context(0);

		CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, keep, (void *)(i << 32)));
		CHECK_OK(gputap_context_start(ctx));
	}
	for (int i = 0; i < 100; i++)
		call(i % 3, 5);
}

static void change(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (c->phase == GPUTAP_CALL_PHASE_ENTER)
		((struct args *)c->args)->value++;
}

UNIT_TEST(what_a_callback_writes_into_the_arguments_is_passed_on)
{
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, GPUTAP_CALLS_WRITE, change, NULL));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_EQ(call(0, 20), 42);
}

static uint64_t correlations[8], parents[8];
static int heard;

static void call_within(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	CHECK_EQ(gputap_correlation(), c->correlation);
	if (c->phase != GPUTAP_CALL_PHASE_ENTER)
		return;
	correlations[heard] = c->correlation;
	parents[heard++] = c->parent;
	if (c->operation == 7 && heard == 1)
		call_of(&hip_table, 0, 0, NULL); /* call of the tool itself: reported */
}

static void hip_within(void)
{
	call_of(&hip_table, 0, 0, NULL); /* a call that the runtime makes */
	call(1, 0);                      /* a call of another runtime, which HIP uses */
}

UNIT_TEST(the_runtimes_own_calls_are_not_reported_but_those_of_callbacks_and_of_lower_runtimes_are)
{
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, call_within, NULL));
	CHECK_OK(gputap_context_calls(ctx, GPUTAP_DOMAIN_HIP, NULL, 0, 0, call_within, NULL));
	CHECK_OK(gputap_context_start(ctx));
	call_of(&hip_table, 0, 0, hip_within);
	CHECK_EQ(heard, 3);
	CHECK_EQ(parents[0], 0);
	CHECK_EQ(parents[1], correlations[0]);
	CHECK_EQ(parents[2], correlations[0]);
	CHECK_NE(correlations[1], correlations[2]);
	CHECK_EQ(gputap_correlation(), 0);
}

static jmp_buf away;

static void jump(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	heard++;
	if (c->operation == 0)
		longjmp(away, 1);
}

UNIT_TEST(a_callback_that_jumps_out_leaves_everything_usable)
{
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, jump, NULL));
	CHECK_OK(gputap_context_start(ctx));
	for (int i = 0; i < 20; i++)
		if (!setjmp(away))
			call(0, 0);
	CHECK_EQ(heard, 20);
	CHECK_EQ(call(1, 3), 6);
	CHECK_EQ(heard, 22);
	CHECK_OK(gputap_context_stop(ctx));
	gputap_context_destroy(ctx);
	CHECK_EQ(gputap_correlation(), 0);
}

static void jump_to_the_outer(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	heard++;
	if (c->operation == 1)
		longjmp(away, 1);
	if (!setjmp(away))
		call(1, 0);
}

UNIT_TEST(a_callback_that_jumps_to_the_callback_around_it_leaves_nothing_held)
{
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, jump_to_the_outer, NULL));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_EQ(call(0, 3), 6);
	CHECK_EQ(heard, 4);
	CHECK_EQ(gt_tool_reader->depth, 0);
	for (int i = 0; i < GT_TOOL_DEPTH; i++)
		CHECK_EQ(atomic_load(&gt_tool_reader->hazards[i]), 0);
}

static uint64_t parent_of_call = UINT64_MAX;
static bool jumped;

static void jump_once(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)data, (void)user;
	heard++;
	parent_of_call = c->parent;
	if (!jumped) {
		jumped = true;
		longjmp(away, 1);
	}
}

/* Overwrite the stack where the variables of that call were. */
static __attribute__((noinline)) void call_from_below(unsigned char fill)
{
	volatile unsigned char over[1 << 14];

	memset((void *)(uintptr_t)over, fill, sizeof over);
	call_of(&hip_table, 0, over[fill], NULL);
	CHECK_EQ(over[0], fill);
}

UNIT_TEST(
	what_is_called_from_below_the_place_of_a_call_that_was_left_is_reported_as_the_programs_own)
{
	struct gputap_context *ctx = context(0);

	CHECK_OK(gputap_context_calls(ctx, GPUTAP_DOMAIN_HIP, NULL, 0, 0, jump_once, NULL));
	CHECK_OK(gputap_context_start(ctx));
	for (int i = 0; i < 256; i++) {
		jumped = false;
		heard = 0;
		if (!setjmp(away))
			call_of(&hip_table, 0, 0, NULL);
		call_from_below((unsigned char)i);
		CHECK_EQ(heard, 3);
		CHECK_EQ(parent_of_call, 0);
		CHECK_EQ(gputap_correlation(), 0);
	}
}

static void destroy_itself(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)c, (void)data, (void)user;
	heard++;
	gputap_context_destroy(inner);
}

UNIT_TEST(a_callback_may_destroy_its_own_context_and_make_others)
{
	inner = context(0);
	CHECK_OK(gputap_context_calls(inner, DOMAIN, NULL, 0, 0, destroy_itself, NULL));
	CHECK_OK(gputap_context_start(inner));
	call(0, 0);
	call(0, 0);
	CHECK_EQ(heard, 1);
}

UNIT_TEST(bad_input_gets_its_status_and_nothing_half_done)
{
	const struct gputap_context_opts no_flags = {.size = sizeof no_flags, .flags = 1u << 31};
	const uint32_t wrong[] = {0, 99999};
	struct gputap_context *ctx = context(0), *none;

	CHECK_EQ(gputap_context_create(&no_flags, &none), -EINVAL);
	CHECK_NULL(none);
	CHECK_EQ(gputap_context_calls(NULL, DOMAIN, NULL, 0, 0, tell, NULL), -EINVAL);
	CHECK_EQ(gputap_context_calls(ctx, 0, NULL, 0, 0, tell, NULL), -EINVAL);
	CHECK_EQ(gputap_context_calls(ctx, (uint32_t)GT_DOMAIN_COUNT, NULL, 0, 0, tell, NULL),
		 -EINVAL);
	CHECK_EQ(gputap_context_calls(ctx, DOMAIN, wrong, 2, 0, tell, NULL), -EINVAL);
	CHECK_EQ(gputap_context_calls(ctx, DOMAIN, NULL, 2, 0, tell, NULL), -EINVAL);
	CHECK_EQ(gputap_context_calls(ctx, DOMAIN, NULL, 0, 4, tell, NULL), -EINVAL);
	CHECK_EQ(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, NULL, NULL), -EINVAL);
	CHECK_EQ(gputap_context_activities(ctx, DOMAIN, 0, (gputap_activity_fn)(uintptr_t)tell,
					   NULL),
		 -EINVAL);
	CHECK_EQ(gputap_context_buffer(ctx, DOMAIN, NULL, 0, 0, 0, NULL), -EINVAL);
	CHECK_OK(gputap_context_start(ctx));
	call(0, 0);
	CHECK_EQ(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell, "x"), -EBUSY);
	CHECK_OK(gputap_context_stop(ctx));
	CHECK_OK(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell, "x"));
	CHECK_EQ(gputap_context_calls(ctx, DOMAIN, NULL, 0, 0, tell, "x"), -EEXIST);
	CHECK_EQ(gputap_context_start(NULL), -EINVAL);
	CHECK_EQ(gputap_context_stop(NULL), -EINVAL);
	CHECK_EQ(gputap_context_is_active(NULL), -EINVAL);
	gputap_context_destroy(NULL);
}

static void hear_table(const struct gputap_table *t, void *user)
{
	(void)t, (void)user;
}

UNIT_TEST(sixty_four_may_subscribe_to_tables_and_no_more)
{
	for (int i = 0; i < 64; i++)
		CHECK_OK(gputap_table_subscribe(hear_table, &taps[0]));
	CHECK_EQ(gputap_table_subscribe(hear_table, &taps[0]), -ENOSPC);
	CHECK_EQ(gputap_table_subscribe(NULL, NULL), -EINVAL);
}

UNIT_TEST(more_contexts_than_there_are_places_are_refused_and_places_are_used_again)
{
	struct gputap_context *ctx[GT_TOOL_POOL], *more = context(0);

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < GT_TOOL_POOL; i++) {
			ctx[i] = teller("x", 0);
			CHECK_OK(gputap_context_start(ctx[i]));
		}
		CHECK_EQ(gputap_context_calls(more, DOMAIN, NULL, 0, 0, tell, NULL), -ENOSPC);
		notified[0] = '\0';
		call(2, 0);
		CHECK_EQ(strlen(notified), 2 * 4 * GT_TOOL_POOL);
		for (int i = 0; i < GT_TOOL_POOL; i++)
			gputap_context_destroy(ctx[i]);
	}
}
