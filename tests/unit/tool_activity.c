/* SPDX-License-Identifier: MIT */
/* GPU activities reported to tools in difficult cases: callbacks that jump out, a fork, a context
 * that is destroyed. The test simulates the runtime (src/tool/tool_activity.h). */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/recording.h"
#include "tool/tool_activity.h"
#include "unit.h"
#include "util/clock_ns.h"

#define DOMAIN ((uint32_t)GT_DOMAIN_REFDEV)

static jmp_buf away;
static unsigned jump_at; /* phase; 0: never */
static char notified[4096];
static unsigned retirements;

static void on_activity(const struct gputap_activity *w, uint64_t *data, void *user)
{
	size_t at = strlen(notified);

	(void)user;
	CHECK_EQ(*data, w->phase == GPUTAP_ACTIVITY_PHASE_ENTER ? 0 : w->number);
	*data = w->number;
	snprintf(notified + at, sizeof notified - at, "%c%llu ", "?+-."[w->phase],
		 (unsigned long long)w -> number);
	if (w->phase == jump_at)
		longjmp(away, 1);
}

static void on_retired(uint64_t correlation, uint64_t time, void *user)
{
	(void)correlation, (void)time, (void)user;
	retirements++;
}

static struct gputap_context *listen(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;

	gt_recording_join();
	CHECK_OK(gputap_context_create(&opts, &ctx));
	CHECK_OK(gputap_context_activities(ctx, DOMAIN, GPUTAP_ACTIVITY_ALL, on_activity, NULL));
	CHECK_OK(gputap_context_retirement(ctx, on_retired, NULL));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_NE(gt_thread_get(), NULL);
	return ctx;
}

/* Submit an activity, as a wrap does. */
static struct gt_tool_activity *submit(void)
{
	struct gt_tool_activity *p = gt_tool_activity_take(DOMAIN, true);

	CHECK_NE(p, NULL);
	p->activity.type = GPUTAP_ACTIVITY_COPY;
	if (!gt_tool_activity_enter(p))
		return NULL;
	gt_tool_activity_exit(p);
	return p;
}

static void run_one(void)
{
	uint64_t now = gt_ticks_boottime();
	struct gt_tool_activity *p = submit();

	gt_tool_activity_done(p, 0, now, now + 10);
	CHECK_EQ(gt_tool_deliver(), 1);
}

static void a_phase_jumps(unsigned phase, const char *what)
{
	struct gputap_context *ctx = listen();

	jump_at = phase;
	if (!setjmp(away))
		submit();
	jump_at = 0;
	run_one();
	CHECK_STR(notified, what);
	CHECK_EQ(retirements, 1);
	gt_tool_activity_end(); /* the remaining activities also retire */
	CHECK_EQ(retirements, 2);
	CHECK_OK(gputap_context_stop(ctx));
}

UNIT_TEST(work_after_a_callback_that_jumps_out_before_submission_is_reported_as_if_nothing_was)
{
	a_phase_jumps(GPUTAP_ACTIVITY_PHASE_ENTER, "+1 +2 -2 .2 ");
}

UNIT_TEST(work_after_a_callback_that_jumps_out_behind_submission_is_reported_as_if_nothing_was)
{
	a_phase_jumps(GPUTAP_ACTIVITY_PHASE_EXIT, "+1 -1 +2 -2 .2 ");
}

UNIT_TEST(work_behind_a_callback_that_jumps_out_of_an_end_is_reported_with_the_next_delivery)
{
	struct gputap_context *ctx = listen(), *second = listen();

	for (int i = 0; i < 3; i++)
		gt_tool_activity_done(submit(), 0, 1, 2);
	notified[0] = '\0';
	jump_at = GPUTAP_ACTIVITY_PHASE_COMPLETE;
	for (volatile int i = 0; i < 4; i++)
		if (!setjmp(away))
			gt_tool_deliver();
	/* each callback jumps once, and is not called again for the same activity */
	CHECK_STR(notified, ".1 .1 .2 .2 ");
	jump_at = 0;
	CHECK_EQ(gt_tool_deliver(), 2);
	CHECK_STR(notified, ".1 .1 .2 .2 .3 .3 ");
	CHECK_EQ(retirements, 6);
	run_one();
	CHECK_OK(gputap_context_stop(ctx));
	CHECK_OK(gputap_context_stop(second));
}

static void *deliver_once(void *arg)
{
	if (!setjmp(away))
		gt_tool_deliver();
	return arg;
}

/* Complete @pieces activities. The first callback of the first activity jumps out, in a thread that
 * ends. */
static void jump_in_a_thread_that_ends(int pieces)
{
	pthread_t thread;

	for (int i = 0; i < pieces; i++)
		gt_tool_activity_done(submit(), 0, 1, 2);
	notified[0] = '\0';
	jump_at = GPUTAP_ACTIVITY_PHASE_COMPLETE;
	CHECK_EQ(pthread_create(&thread, NULL, deliver_once, NULL), 0);
	pthread_join(thread, NULL);
	jump_at = 0;
	CHECK_STR(notified, ".1 ");
}

UNIT_TEST(work_behind_a_callback_that_jumped_out_in_a_thread_that_has_ended_is_reported_at_the_end)
{
	listen();
	jump_in_a_thread_that_ends(3);
	gt_tool_activity_end();
	CHECK_STR(notified, ".1 .2 .3 ");
	CHECK_EQ(retirements, 3);
}

UNIT_TEST(
	the_others_are_notified_at_the_end_of_work_whose_callback_jumped_out_in_a_thread_that_ended)
{
	listen();
	listen();
	listen();
	jump_in_a_thread_that_ends(2);
	gt_tool_activity_end();
	CHECK_STR(notified, ".1 .1 .1 .2 .2 .2 ");
	CHECK_EQ(retirements, 6);
}

static void count_one(const struct gputap_activity *w, uint64_t *data, void *user)
{
	(void)data;
	*(uint64_t *)user += w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE;
}

static void count_retired(uint64_t correlation, uint64_t time, void *user)
{
	(void)correlation, (void)time;
	++*(uint64_t *)user;
}

/* There is room for 262,144 open activities. */
UNIT_TEST(what_has_retired_makes_room_for_more_work_than_there_is_room_for)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	uint64_t done = 0, retired = 0;
	struct gputap_context *ctx;

	CHECK_OK(gputap_context_create(&opts, &ctx));
	CHECK_OK(gputap_context_activities(ctx, DOMAIN, GPUTAP_ACTIVITY_ALL, count_one, &done));
	CHECK_OK(gputap_context_retirement(ctx, count_retired, &retired));
	CHECK_OK(gputap_context_start(ctx));
	for (int i = 0; i < 300000; i++)
		run_one();
	CHECK_EQ(done, 300000);
	CHECK_EQ(retired, 300000);
	CHECK_EQ(gt_tool_activity_lost(), 0);
}

static void end_thread(const struct gputap_activity *w, uint64_t *data, void *user)
{
	(void)data;
	if (w->phase != GPUTAP_ACTIVITY_PHASE_COMPLETE)
		return;
	if (++*(int *)user == 1)
		pthread_exit(NULL);
}

UNIT_TEST(work_behind_a_callback_that_ended_its_thread_is_reported_with_the_next_delivery)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;
	pthread_t thread;
	int calls = 0;

	/* contexts are notified last to first, so this context is notified after the one that ends
	 * the thread */
	listen();
	CHECK_OK(gputap_context_create(&opts, &ctx));
	CHECK_OK(gputap_context_activities(ctx, DOMAIN, GPUTAP_ACTIVITY_ALL, end_thread, &calls));
	CHECK_OK(gputap_context_start(ctx));
	for (int i = 0; i < 3; i++)
		gt_tool_activity_done(submit(), 0, 1, 2);
	notified[0] = '\0';
	CHECK_EQ(pthread_create(&thread, NULL, deliver_once, NULL), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(calls, 1);
	CHECK_STR(notified, "");
	CHECK_EQ(gt_tool_deliver(), 3);
	CHECK_EQ(calls, 3);
	CHECK_STR(notified, ".1 .2 .3 ");
	CHECK_OK(gputap_context_stop(ctx)); /* no thread counts as inside its callbacks */
	run_one();
}

static bool go_on;

static void jump_late(const struct gputap_activity *w, uint64_t *data, void *user)
{
	(void)data;
	if (w->phase != GPUTAP_ACTIVITY_PHASE_COMPLETE)
		return;
	__atomic_fetch_add((int *)user, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&go_on, __ATOMIC_ACQUIRE))
		usleep(100);
	longjmp(away, 1);
}

static void *end_the_process(void *arg)
{
	gt_tool_activity_end();
	return arg;
}

UNIT_TEST(a_thread_that_ends_while_the_process_waits_for_its_callback_leaves_nothing_unreported)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;
	pthread_t thread, ends;
	int calls = 0;

	/* contexts are notified last to first, so this context is notified after the one that
	 * jumps */
	listen();
	CHECK_OK(gputap_context_create(&opts, &ctx));
	CHECK_OK(gputap_context_activities(ctx, DOMAIN, GPUTAP_ACTIVITY_ALL, jump_late, &calls));
	CHECK_OK(gputap_context_start(ctx));
	gt_tool_activity_done(submit(), 0, 1, 2);
	notified[0] = '\0';
	CHECK_EQ(pthread_create(&thread, NULL, deliver_once, NULL), 0);
	while (!__atomic_load_n(&calls, __ATOMIC_ACQUIRE))
		usleep(100);
	CHECK_EQ(pthread_create(&ends, NULL, end_the_process, NULL), 0);
	usleep(20000); /* most likely the thread waits by now */
	__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	pthread_join(ends, NULL);
	CHECK_STR(notified, ".1 ");
	CHECK_EQ(calls, 1);
	CHECK_EQ(retirements, 1);
}

static void stop_at_enter(const struct gputap_activity *w, uint64_t *data, void *user)
{
	(void)data;
	if (w->phase == GPUTAP_ACTIVITY_PHASE_ENTER)
		gputap_context_destroy(*(struct gputap_context **)user);
	else
		unit_fail(__FILE__, __LINE__, "told after its end");
}

UNIT_TEST(a_context_that_destroys_itself_when_work_begins_hears_no_more_of_it)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;
	struct gt_tool_activity *p;

	CHECK_OK(gputap_context_create(&opts, &ctx));
	CHECK_OK(gputap_context_activities(ctx, DOMAIN, GPUTAP_ACTIVITY_ALL, stop_at_enter, &ctx));
	CHECK_OK(gputap_context_start(ctx));
	p = submit();
	gt_tool_activity_done(p, 0, 1, 2);
	CHECK_EQ(gt_tool_deliver(), 1);
	CHECK_EQ(gt_tool_activity_asked(DOMAIN), 0);
}

UNIT_TEST(work_in_flight_at_a_fork_completes_in_the_parent_alone)
{
	struct gt_tool_activity *in_flight, *done;
	uint64_t now = gt_ticks_boottime();
	int status;
	pid_t pid;

	unit_need_the_kernel();
	listen();
	in_flight = submit();
	done = submit();
	gt_tool_activity_done(done, 0, now, now + 1); /* an activity not reported so far */
	pid = fork();
	if (pid == 0) {
		notified[0] = '\0';
		CHECK_NE(gt_thread_get(), NULL);
		gt_tool_deliver();
		CHECK_STR(notified, "");
		run_one(); /* activity of the child */
		CHECK_STR(notified, "+3 -3 .3 ");
		gt_tool_activity_end();
		CHECK_EQ(retirements, 1);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	gt_tool_activity_done(in_flight, 0, now, now + 1);
	CHECK_EQ(gt_tool_deliver(), 2);
	CHECK_STR(notified, "+1 -1 +2 -2 .2 .1 ");
	CHECK_EQ(retirements, 2);
}

/* Drain and clocks ---------------------------------------------------------------- */

static void *complete_later(void *item)
{
	gt_tool_activity_done(item, 0, 1, 2);
	gt_tool_deliver();
	return NULL;
}

UNIT_TEST(a_drain_says_how_much_is_open_when_its_time_is_over)
{
	struct gputap_context *ctx = listen(), *other = listen();
	struct gt_tool_activity *first = submit(), *second = submit();
	uint64_t open = 7;

	CHECK_EQ(gputap_context_drain(ctx, 1000000, &open), -ETIMEDOUT);
	CHECK_EQ(open, 2);
	complete_later(first);
	CHECK_EQ(gputap_context_drain(other, 0, &open), -ETIMEDOUT);
	CHECK_EQ(open, 1);
	gt_tool_activity_drop(second, true); /* the end of this activity cannot be observed */
	CHECK_EQ(gputap_context_drain(ctx, 0, &open), 0);
	CHECK_EQ(open, 0);
	CHECK_EQ(gputap_context_drain(NULL, 0, &open), -EINVAL);
	gputap_context_destroy(ctx);
	gputap_context_destroy(other);
}

UNIT_TEST(a_drain_waits_for_work_that_another_thread_completes)
{
	struct gputap_context *ctx = listen();
	struct gt_tool_activity *p = submit();
	pthread_t thread;

	CHECK_OK(pthread_create(&thread, NULL, complete_later, p));
	CHECK_EQ(gputap_context_drain(ctx, UINT64_MAX, NULL), 0);
	CHECK_STR(notified, "+1 -1 .1 ");
	pthread_join(thread, NULL);
	gputap_context_destroy(ctx);
}

UNIT_TEST(a_drain_does_not_wait_for_a_context_that_is_gone_or_for_the_parent_of_a_fork)
{
	struct gputap_context *ctx;
	int status;

	unit_need_the_kernel();
	ctx = listen();
	submit();
	gputap_context_destroy(ctx);
	ctx = listen(); /* uses the slot of the destroyed context */
	CHECK_EQ(gputap_context_drain(ctx, 0, NULL), 0);
	submit();
	if (fork() == 0)
		_exit(gputap_context_drain(ctx, 0, NULL) != 0);
	wait(&status);
	CHECK_EQ(status, 0);
	CHECK_EQ(gputap_context_drain(ctx, 0, NULL), -ETIMEDOUT);
	gputap_context_destroy(ctx);
}

static void count_records(struct gputap_buffer *b, const struct gputap_record *records,
			  size_t count, uint64_t lost, void *user)
{
	(void)b, (void)records, (void)lost;
	*(_Atomic size_t *)user += count;
}

UNIT_TEST(a_drain_hands_over_what_its_context_has_recorded)
{
	const struct gputap_context_opts opts = {.size = sizeof opts,
						 .flags = GPUTAP_CONTEXT_FINISH_CALLS};
	_Atomic size_t records = 0;
	const struct gputap_buffer_opts how = {.size = sizeof how,
					       .fn = count_records,
					       .user = &records};
	struct gputap_buffer *buffer;
	struct gputap_context *ctx;
	struct gt_tool_activity *p;

	gt_recording_join();
	CHECK_OK(gputap_buffer_create(&how, &buffer));
	CHECK_OK(gputap_context_create(&opts, &ctx));
	CHECK_OK(gputap_context_buffer(ctx, DOMAIN, NULL, 0, GPUTAP_ACTIVITY_ALL, 0, buffer));
	CHECK_OK(gputap_context_start(ctx));
	CHECK_NE(gt_thread_get(), NULL);
	p = submit();
	CHECK_OK(gputap_context_stop(ctx));
	CHECK_EQ(gputap_context_drain(ctx, 0, NULL), -ETIMEDOUT);
	complete_later(p);
	CHECK_EQ(gputap_context_drain(ctx, UINT64_MAX, NULL), 0);
	CHECK_EQ(records, 1);
	gputap_context_destroy(ctx);
	CHECK_OK(gputap_buffer_destroy(buffer));
}

UNIT_TEST(a_pair_of_clocks_is_of_one_moment)
{
	struct gputap_clock_pair pair = {.size = sizeof pair}, older = {.size = 3 * 8};
	uint64_t before = gt_clock_ns(CLOCK_REALTIME), boottime = gputap_now(), after;

	CHECK_OK(gputap_clock_read(&pair));
	after = gt_clock_ns(CLOCK_REALTIME);
	CHECK(pair.realtime + pair.width >= before && pair.realtime <= after + pair.width);
	CHECK(pair.boottime + 1000000 >= boottime);
	CHECK(pair.monotonic <= gt_clock_ns(CLOCK_MONOTONIC) + pair.width);
	CHECK(pair.monotonic_raw <= gt_clock_ns(CLOCK_MONOTONIC_RAW) + pair.width);
	/* a caller that knows only two clocks */
	CHECK_OK(gputap_clock_read(&older));
	CHECK(older.realtime >= before);
	CHECK_EQ(older.monotonic, 0);
	CHECK_EQ(gputap_clock_read(NULL), -EINVAL);
	CHECK_EQ(gputap_clock_read(&(struct gputap_clock_pair){.size = 4}), -EINVAL);
}
