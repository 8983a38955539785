/* SPDX-License-Identifier: MIT */
/* analysis/idle/idle_states.h: causes of gaps from states of threads, exact to the nanosecond. */
#include "idle_case.h"

enum { MS = 1000000 };

/* Add the usage of the thread that a reading at one time returns. */
static void add_usage(uint64_t at, uint64_t cpu, uint64_t voluntary, uint64_t involuntary,
		      uint64_t faults)
{
	const uint64_t value[8] = {cpu, voluntary, involuntary, faults, 0, 1, 0, 0};

	fake_state(&c, 0, GT_HOST_USAGE, 0, at, at, value);
}

/* Add a state with a text. @text: string id, 0: none. */
static void add_state(enum gt_host_state state, uint64_t from, uint64_t to, uint32_t text,
		      uint64_t holder)
{
	const uint64_t value[8] = {1, text, holder, 0, 0, 0, 1, 0};

	fake_state(&c, 0, GT_HOST_STATE, state, from, to, value);
}

/* Add a kernel that ends at 2 ms, and a kernel that the thread launches at 22 ms. Both calls take
 * no time, and the device starts at once. The host has 20 ms. */
static void begin_gap(void)
{
	begin();
	add_launch(1 * MS, 1 * MS, 1 * MS, 2 * MS);
	fake_call(&c, 0, "clFinish", 1 * MS, 2 * MS, 0, NULL);
	add_launch(22 * MS, 22 * MS, 22 * MS, 23 * MS);
}

/* Return the largest detail of a cause that has a text. */
static const char *wait_of(enum gt_idle_cause cause)
{
	for (uint32_t i = 0; i < s.detail_count; i++)
		if (s.details[i].cause == cause && s.details[i].wait != LOOKUP_NONE)
			return texts_get(&names, s.details[i].wait);
	return "";
}

UNIT_TEST(without_readings_the_host_is_the_cause)
{
	begin_gap();
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST), 20 * MS);
	finish();
}

UNIT_TEST(usage_tells_computing_from_waiting)
{
	begin_gap();
	add_usage(2 * MS, 5 * MS, 7, 0, 0);
	add_usage(22 * MS, 17 * MS, 9, 0, 0);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_COMPUTING), 12 * MS);
	CHECK_EQ(ns_of(GT_IDLE_HOST_WAITING), 8 * MS);
	CHECK_EQ(s.rows[0].evidence[GT_IDLE_HOST_COMPUTING].cpu_ns, 12 * MS);
	CHECK_EQ((uint64_t)s.rows[0].evidence[GT_IDLE_HOST_WAITING].voluntary, 2);
	finish();
}

UNIT_TEST(a_thread_that_others_replaced_waited_for_a_processor)
{
	begin_gap();
	add_usage(2 * MS, 5 * MS, 7, 0, 0);
	add_usage(22 * MS, 9 * MS, 7, 5, 0);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_COMPUTING), 4 * MS);
	CHECK_EQ(ns_of(GT_IDLE_HOST_RUNNABLE), 16 * MS);
	CHECK_EQ((uint64_t)s.rows[0].evidence[GT_IDLE_HOST_RUNNABLE].involuntary, 5);
	finish();
}

UNIT_TEST(many_page_faults_are_a_cause)
{
	begin_gap();
	add_usage(2 * MS, 0, 0, 0, 100);
	add_usage(22 * MS, 20 * MS, 0, 0, 20100);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_FAULTS), 20 * MS);
	CHECK_EQ((uint64_t)s.rows[0].evidence[GT_IDLE_HOST_FAULTS].minor_faults, 20000);
	finish();
	begin_gap();
	add_usage(2 * MS, 0, 0, 0, 100);
	add_usage(22 * MS, 20 * MS, 0, 0, 400);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_COMPUTING), 20 * MS);
	finish();
}

UNIT_TEST(states_fill_the_gap_up_to_its_edges)
{
	begin_gap();
	c.string[3] = "/data/batch.bin";
	add_state(GT_HOST_STATE_FILE, 7 * MS, 17 * MS, 3, 0);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_FILE), 20 * MS);
	CHECK_STR(wait_of(GT_IDLE_HOST_FILE), "/data/batch.bin");
	finish();
}

/* The thread computed for 12 ms and slept for 8 ms, and was seen at intervals of 5 ms. */
UNIT_TEST(usage_corrects_what_intervals_show)
{
	begin_gap();
	add_usage(2 * MS, 0, 0, 0, 0);
	add_usage(22 * MS, 12 * MS, 1, 0, 0);
	add_state(GT_HOST_STATE_COMPUTING, 7 * MS, 12 * MS, 0, 0);
	add_state(GT_HOST_STATE_SLEEPING, 17 * MS, 17 * MS, 0, 0);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_COMPUTING), 12 * MS);
	CHECK_EQ(ns_of(GT_IDLE_HOST_SLEEPING), 8 * MS);
	finish();
}

UNIT_TEST(a_lock_has_a_holder)
{
	begin_gap();
	fake_thread(&c, 0, 1, 1001, "worker");
	add_state(GT_HOST_STATE_LOCK, 7 * MS, 17 * MS, 0, 1001);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_LOCK), 20 * MS);
	CHECK_STR(wait_of(GT_IDLE_HOST_LOCK), "held by worker (thread 1001)");
	finish();
}

UNIT_TEST(in_a_call_only_time_without_a_processor_is_not_the_calls)
{
	begin();
	add_launch(1 * MS, 1 * MS, 1 * MS, 2 * MS);
	fake_call(&c, 0, "clBuildProgram", 2 * MS, 12 * MS, 0, NULL);
	fake_call(&c, 0, "clBuildProgram", 12 * MS, 22 * MS, 0, NULL);
	add_launch(22 * MS, 22 * MS, 22 * MS, 23 * MS);
	add_state(GT_HOST_STATE_FILE, 4 * MS, 10 * MS, 0, 0);
	add_state(GT_HOST_STATE_STOPPED, 14 * MS, 20 * MS, 0, 0);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_COMPILING), 10 * MS);
	CHECK_EQ(ns_of(GT_IDLE_HOST_STOPPED), 10 * MS);
	finish();
}

static void add_delayed(uint64_t from, uint64_t to)
{
	const uint64_t value[8] = {0, 0, 0, 0, to - from, 0, 2, 0};

	fake_state(&c, 0, GT_HOST_STATE, GT_HOST_STATE_RUNNABLE, from, to, value);
}

/* The first call waits for a kernel that ends during the call, and then returns late. The second
 * call waits for something else. */
UNIT_TEST(a_call_that_waits_is_late_only_after_its_activity_has_ended)
{
	begin();
	add_launch(1 * MS, 1 * MS, 1 * MS, 4 * MS);
	fake_call(&c, 0, "clFinish", 2 * MS, 12 * MS, 0, NULL);
	fake_call(&c, 0, "clFinish", 12 * MS, 22 * MS, 0, NULL);
	add_launch(22 * MS, 22 * MS, 22 * MS, 23 * MS);
	add_delayed(2 * MS, 12 * MS);
	add_delayed(12 * MS, 22 * MS);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_RUNNABLE), 8 * MS);
	CHECK_EQ(ns_of(GT_IDLE_SYNCHRONISING), 10 * MS);
	finish();
}

/* The device was busy in the first half of the interval. */
UNIT_TEST(a_gap_takes_its_part_of_an_interval)
{
	begin();
	add_launch(1 * MS, 1 * MS, 1 * MS, 12 * MS);
	add_launch(2 * MS, 2 * MS, 12 * MS, 12 * MS);
	add_launch(22 * MS, 22 * MS, 22 * MS, 23 * MS);
	add_usage(2 * MS, 0, 0, 0, 0);
	add_usage(22 * MS, 10 * MS, 1, 0, 0);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_COMPUTING), 5 * MS);
	CHECK_EQ(ns_of(GT_IDLE_HOST_WAITING), 5 * MS);
	finish();
}

UNIT_TEST(a_gap_has_the_calls_before_it_and_at_its_end)
{
	const struct idle_pair *pair;

	begin_gap();
	read_all();
	CHECK_EQ(s.site_count, 1);
	CHECK_EQ(s.sites[0].ns, 20 * MS);
	pair = &s.pairs[s.sites[0].pair];
	CHECK_STR(gt_operation_name(pair->previous_op), "clFinish");
	CHECK_STR(gt_operation_name(pair->next_op), "clEnqueueTask");
	CHECK_EQ(pair->next_line, LOOKUP_NONE);
	finish();
}

static void add_workers(uint64_t from, uint64_t to, uint64_t delay)
{
	const uint64_t value[8] = {delay, 4, 1007, 0, delay, 0, 0, 0};

	c.string[4] = "pocl";
	fake_state(&c, 0, GT_HOST_WORKERS, 0, from, to, value);
}

/* Two kernels are launched at 1 and 2 ms and start 8 and 4 ms after the end of the one before. */
static void begin_late(const char *device)
{
	begin();
	c.object[0].text = device;
	add_launch(1 * MS, 1 * MS, 1 * MS, 2 * MS);
	add_launch(2 * MS, 2 * MS, 10 * MS, 11 * MS);
	add_launch(2 * MS, 2 * MS, 15 * MS, 16 * MS);
}

UNIT_TEST(a_delay_of_a_runtimes_thread_counts_once_from_the_first_idle_time)
{
	begin_late("type=cpu\0");
	add_workers(0, 20 * MS, 9 * MS);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_RUNNABLE), 9 * MS);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 3 * MS);
	CHECK_EQ(s.rows[0].evidence[GT_IDLE_HOST_RUNNABLE].delay_ns, 9 * MS);
	CHECK_STR(wait_of(GT_IDLE_HOST_RUNNABLE), "pocl (thread 1007)");
	finish();
}

UNIT_TEST(a_delay_counts_only_between_its_readings)
{
	begin_late("type=cpu\0");
	add_workers(12 * MS, 20 * MS, 7 * MS);
	add_workers(7 * MS, 9 * MS, 1 * MS);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_RUNNABLE), 4 * MS);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 8 * MS);
	finish();
}

UNIT_TEST(threads_do_not_execute_the_activities_of_a_gpu)
{
	begin_late("type=gpu\0");
	add_workers(0, 20 * MS, 9 * MS);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST_RUNNABLE), 0);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 12 * MS);
	finish();
}
