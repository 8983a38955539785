/* SPDX-License-Identifier: MIT */
/* Time between a call and its GPU activity, and time in calls that wait. */
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/stages.h"
#include "unit.h"

struct told {
	uint64_t own, others, runtime, latencies;
	struct stages_wait wait;
	unsigned waits;
};

static void take_latency(void *data, uint32_t track, uint64_t own, uint64_t others,
			 uint64_t runtime)
{
	struct told *t = data;

	CHECK_EQ(track, 0);
	t->own += own;
	t->others += others;
	t->runtime += runtime;
	t->latencies++;
}

static void take_wait(void *data, uint32_t thread, uint32_t group, const struct stages_wait *wait)
{
	struct told *t = data;

	CHECK_EQ(thread, 3);
	CHECK_EQ(group, 4);
	t->wait.transfer_ns += wait->transfer_ns;
	t->wait.earlier_ns += wait->earlier_ns;
	t->wait.runtime_ns += wait->runtime_ns;
	t->wait.unknown_ns += wait->unknown_ns;
	t->waits++;
}

static void add_activity(struct stages *s, uint32_t queue, uint64_t call, uint64_t start,
			 uint64_t end, bool told)
{
	struct stages_activity activity = {.id = call,
					   .call_start_ns = call,
					   .start_ns = start,
					   .end_ns = end,
					   .queue = queue,
					   .track = told ? 0 : LOOKUP_NONE};

	stages_activity(s, &activity);
}

static void add_copy(struct stages *s, uint64_t id, uint64_t call, uint64_t start, uint64_t end)
{
	struct stages_activity activity = {.id = id,
					   .call_start_ns = call,
					   .start_ns = start,
					   .end_ns = end,
					   .queue = 0,
					   .track = LOOKUP_NONE,
					   .moves = true};

	stages_activity(s, &activity);
}

static void add_call(struct stages *s, enum stages_kind kind, uint64_t id, uint64_t start,
		     uint64_t end, bool dependent)
{
	struct stages_call call = {.id = id,
				   .start_ns = start,
				   .end_ns = end,
				   .queue = 0xabc,
				   .thread = 3,
				   .group = 4,
				   .kind = kind,
				   .dependent = dependent};

	stages_call(s, &call);
}

static void add_event(struct stages *s, uint32_t process, uint64_t event, uint64_t at, uint64_t id)
{
	struct wait_handle handle = {event, process, false};

	wait_targets_add_call(&s->wait_targets, &handle, at, id);
}

static void add_wait(struct stages *s, uint64_t start, uint64_t end, size_t count,
		     const uint64_t *events)
{
	struct stages_call call = {.start_ns = start,
				   .end_ns = end,
				   .handles = events,
				   .handle_count = count,
				   .thread = 3,
				   .group = 4,
				   .kind = STAGES_EVENTS};

	stages_call(s, &call);
}

static struct told finish(struct stages *s, bool lost)
{
	struct stages_queue queues[] = {{.handle = 0xabc, .queue = 0},
					{.handle = 0xdef, .queue = 1},
					{.handle = 0xfed, .queue = 2, .domain = 1}};
	struct told told = {0};
	const struct stages_out out = {&told, take_latency, take_wait, NULL};

	CHECK_OK(stages_finish(s, queues, 3, lost, &out));
	stages_fini(s);
	return told;
}

UNIT_TEST(a_kernel_alone_takes_the_way_through_the_runtime)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 1000, 1700, 2000, true);
	t = finish(&s, false);
	CHECK_EQ(t.runtime, 700);
	CHECK_EQ(t.own + t.others, 0);
}

UNIT_TEST(a_kernel_stands_behind_its_queue_and_then_behind_others)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 1000, 5000, 6000, true); /* added first: order does not matter */
	add_activity(&s, 0, 500, 600, 1600, false);  /* on the same queue, until 1600 */
	add_activity(&s, 1, 500, 700, 2000, false);  /* on another queue, until 2000 */
	add_activity(&s, 2, 500, 2500, 4000, false);
	t = finish(&s, false);
	CHECK_EQ(t.latencies, 1);
	CHECK_EQ(t.own, 600);
	CHECK_EQ(t.others, 400 + 1500);
	CHECK_EQ(t.runtime, 4000 - 600 - 1900);
}

UNIT_TEST(work_that_runs_beside_it_in_its_own_queue_is_its_own_queue)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 500, 2000, 9000, false); /* out of order */
	add_activity(&s, 0, 1000, 3000, 3500, true);
	t = finish(&s, false);
	CHECK_EQ(t.own, 1000);
	CHECK_EQ(t.others, 0);
	CHECK_EQ(t.runtime, 1000);
}

UNIT_TEST(a_blocking_copy_is_split_into_waiting_moving_and_the_runtime)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 183000, false);
	add_call(&s, STAGES_COPY, 7, 1000, 190000, false);
	add_copy(&s, 7, 1000, 184000, 185000);
	add_copy(&s, 7, 1000, 184500, 186000); /* in two overlapping pieces */
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 182000);
	CHECK_EQ(t.wait.transfer_ns, 2000);
	CHECK_EQ(t.wait.runtime_ns, 189000 - 182000 - 2000);
	CHECK_EQ(t.wait.unknown_ns, 0);
}

UNIT_TEST(a_copy_that_outlasts_its_call_or_has_no_record_is_not_split)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_call(&s, STAGES_COPY, 7, 1000, 5000, false);
	add_copy(&s, 7, 1000, 4000, 6000);
	add_call(&s, STAGES_COPY, 8, 6000, 7000, false);
	t = finish(&s, false);
	CHECK_EQ(t.waits, 2);
	CHECK_EQ(t.wait.unknown_ns, 5000);
	CHECK_EQ(t.wait.transfer_ns + t.wait.earlier_ns + t.wait.runtime_ns, 0);
}

UNIT_TEST(before_a_copy_that_waits_for_events_nobody_knows_why_it_waited)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_call(&s, STAGES_COPY, 7, 1000, 5000, true);
	add_copy(&s, 7, 1000, 3000, 4000);
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 500);
	CHECK_EQ(t.wait.unknown_ns, 1500);
	CHECK_EQ(t.wait.transfer_ns, 1000);
	CHECK_EQ(t.wait.runtime_ns, 1000);
}

UNIT_TEST(a_finish_waits_until_the_last_work_of_its_queue)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_activity(&s, 0, 110, 1500, 3000, false);
	add_activity(&s, 1, 120, 200, 4000, false); /* on another queue */
	add_call(&s, STAGES_FINISH, 9, 1000, 5000, false);
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 2000);
	CHECK_EQ(t.wait.runtime_ns, 2000);
	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_activity(&s, 1, 120, 200, 4000, false);
	add_activity(&s, 2, 130, 200, 4500, false); /* in another domain */
	add_call(&s, STAGES_FINISH_ALL, 9, 1000, 5000, false);
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 3000);
	CHECK_EQ(t.wait.runtime_ns, 1000);
}

UNIT_TEST(a_finish_is_not_split_when_work_was_lost_or_goes_on)
{
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_call(&s, STAGES_FINISH, 9, 1000, 5000, false);
	t = finish(&s, true);
	CHECK_EQ(t.wait.unknown_ns, 4000);
	stages_init(&s);
	add_activity(&s, 0, 100, 200, 9000, false);
	add_call(&s, STAGES_FINISH, 9, 1000, 5000, false);
	t = finish(&s, false);
	CHECK_EQ(t.wait.unknown_ns, 4000);
}

UNIT_TEST(rows_that_went_into_a_file_come_in_the_same_order)
{
	struct told t[2];

	for (unsigned round = 0; round < 2; round++) {
		struct stages s;

		stages_init(&s);
		s.activity.rows_most = s.calls.rows_most = round ? 8000 : 0;
		for (uint64_t i = 0; i < 3000; i++) { /* from the last to the first */
			uint64_t call = (3000 - i) * 1000;

			add_activity(&s, (uint32_t)(i % 3), call, call + 1500, call + 2200, true);
			add_call(&s, STAGES_COPY, i + 1, call, call + 9000, false);
			add_copy(&s, i + 1, call, call + 2300, call + 2400);
		}
		t[round] = finish(&s, false);
	}
	CHECK_EQ(t[0].latencies, 3000);
	CHECK_EQ(t[0].waits, 3000);
	CHECK_GT(t[0].own, 0);
	CHECK_GT(t[0].others, 0);
	CHECK(!memcmp(&t[0], &t[1], sizeof t[0]));
}

UNIT_TEST(a_wait_for_events_stands_until_the_last_of_their_work)
{
	static const uint64_t both[] = {0xe1, 0xe2};
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_activity(&s, 0, 110, 1500, 3000, false);
	add_activity(&s, 0, 120, 3000, 4500, false); /* no call waits for this activity */
	add_event(&s, 0, 0xe1, 100, 100);
	add_event(&s, 0, 0xe2, 110, 110);
	add_wait(&s, 1000, 3200, 2, both);
	t = finish(&s, false);
	CHECK_EQ(t.waits, 1);
	CHECK_EQ(t.wait.earlier_ns, 2000);
	CHECK_EQ(t.wait.runtime_ns, 200);
	CHECK_EQ(t.wait.transfer_ns + t.wait.unknown_ns, 0);
}

UNIT_TEST(a_wait_for_the_event_of_a_copy_sees_its_data_move)
{
	static const uint64_t event[] = {0xe1};
	struct stages s;
	struct told t;

	stages_init(&s);
	add_copy(&s, 7, 500, 2000, 2600);
	add_event(&s, 0, 0xe1, 500, 7);
	add_wait(&s, 1000, 3000, 1, event);
	add_wait(&s, 2200, 3100, 1, event); /* a wait in another thread, during the first wait */
	t = finish(&s, false);
	CHECK_EQ(t.waits, 2);
	CHECK_EQ(t.wait.earlier_ns, 1000);
	CHECK_EQ(t.wait.transfer_ns, 600 + 400);
	CHECK_EQ(t.wait.runtime_ns, 400 + 500);
}

/* The last call that returned this event was not recorded. The handle in the capture refers to an
 * older activity. */
UNIT_TEST(a_handle_that_is_used_again_is_the_last_calls_or_nobody_knows)
{
	static const uint64_t event[] = {0xe1};
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 500, false);
	add_activity(&s, 0, 900, 1000, 2500, false);
	add_event(&s, 0, 0xe1, 900, 900);
	add_event(&s, 0, 0xe1, 100, 100);
	add_event(&s, 1, 0xe1, 950, 100); /* in another process */
	add_event(&s, 0, 0xe1, 2600, 0);  /* later */
	add_wait(&s, 1000, 2600, 1, event);
	/* completed before the wait, so it may be another activity */
	add_wait(&s, 4000, 5000, 1, event);
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 1500);
	CHECK_EQ(t.wait.runtime_ns, 100);
	CHECK_EQ(t.wait.unknown_ns, 1000);
}

UNIT_TEST(of_a_wait_for_what_was_not_seen_the_rest_is_not_known)
{
	static const uint64_t both[] = {0xe1, 0xe2}, event[] = {0xe3};
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_event(&s, 0, 0xe1, 100, 100);
	add_event(&s, 0, 0xe3, 110, 110); /* the activity of this event has no times */
	add_wait(&s, 1000, 3000, 2, both);
	add_wait(&s, 1000, 2000, 1, event);
	t = finish(&s, false);
	CHECK_EQ(t.waits, 2);
	CHECK_EQ(t.wait.earlier_ns, 500);
	CHECK_EQ(t.wait.unknown_ns, 1500 + 1000);
	CHECK_EQ(t.wait.runtime_ns, 0);

	stages_init(&s);
	/* contradiction: the wait returned before the activity */
	add_activity(&s, 0, 100, 200, 2500, false);
	add_event(&s, 0, 0xe1, 100, 100);
	add_wait(&s, 1000, 2000, 1, both);
	t = finish(&s, false);
	CHECK_EQ(t.wait.unknown_ns, 1000);

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_event(&s, 0, 0xe1, 100, 100);
	add_wait(&s, 1000, 2000, 1, both);
	t = finish(&s, true); /* records were lost */
	CHECK_EQ(t.wait.earlier_ns, 500);
	CHECK_EQ(t.wait.unknown_ns, 500);
}

/* HIP: the stream may have unrecorded activities. */
UNIT_TEST(a_wait_for_a_stream_or_an_event_on_it_is_known_until_its_last_work)
{
	static const uint64_t stream[] = {0x51}, event[] = {0xe1};
	const struct wait_handle of_stream = {0x51, 0, true}, of_event = {0xe1, 0, false},
				 other = {0x52, 0, true};
	struct stages_call call = {.start_ns = 1000,
				   .end_ns = 4000,
				   .thread = 3,
				   .group = 4,
				   .handles = stream,
				   .handle_count = 1,
				   .dependent = true,
				   .kind = STAGES_STREAM};
	struct stages s;
	struct told t;

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_activity(&s, 0, 300, 1500, 3000, false);
	add_activity(&s, 0, 400, 3000, 3900, false); /* on another stream */
	wait_targets_add_call(&s.wait_targets, &of_stream, 100, 100);
	wait_targets_add_record(&s.wait_targets, &of_event, &of_stream, 200);
	wait_targets_add_call(&s.wait_targets, &of_stream, 300, 300);
	wait_targets_add_call(&s.wait_targets, &other, 400, 400);
	stages_call(&s, &call);
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 2000);
	CHECK_EQ(t.wait.unknown_ns, 1000);

	stages_init(&s);
	add_activity(&s, 0, 100, 200, 1500, false);
	add_activity(&s, 0, 300, 1500, 3000, false);
	wait_targets_add_call(&s.wait_targets, &of_stream, 100, 100);
	wait_targets_add_record(&s.wait_targets, &of_event, &of_stream, 200);
	wait_targets_add_call(&s.wait_targets, &of_stream, 300, 300);
	call.handles = event;
	call.kind = STAGES_EVENTS;
	stages_call(&s, &call);
	t = finish(&s, false);
	CHECK_EQ(t.wait.earlier_ns, 500);
	CHECK_EQ(t.wait.unknown_ns, 2500);
	CHECK_EQ(t.waits, 1);
}

/* A copy may launch a kernel of the runtime that does not move the data. */
UNIT_TEST(kernels_of_a_blocking_copy_move_nothing_also_where_events_are_waited_for)
{
	static const uint64_t event[] = {0xe1};

	for (int waits = 0; waits < 2; waits++) {
		struct stages s;
		struct told t;

		stages_init(&s);
		add_activity(&s, 0, 7, 2000, 2500, false);
		add_copy(&s, 7, 1000, 3000, 4000);
		add_call(&s, STAGES_COPY, 7, 1000, 5000, false);
		if (waits)
			add_wait(&s, 6000, 6000, 1, event);
		t = finish(&s, false);
		CHECK_EQ(t.wait.transfer_ns, 1000);
		CHECK_EQ(t.wait.runtime_ns + t.wait.earlier_ns, 3000);
	}
}
