/* SPDX-License-Identifier: MIT */
/* analysis/idle/idle.h: gaps in captures that are in memory, exact to the nanosecond. */
#include "analysis/idle/idle_read.h"
#include "failing_memory.h"
#include "idle_case.h"

UNIT_TEST(a_gap_is_split_at_the_begin_and_the_end_of_calls)
{
	begin();
	add_launch(1000, 1100, 1200, 2000);
	fake_call(&c, 0, "clFinish", 1500, 2300, 0, NULL);
	fake_call(&c, 0, "clBuildProgram", 2500, 2900, 0, NULL);
	fake_call(&c, 0, "clGetPlatformIDs", 2950, 2960, 0, NULL);
	add_launch(3000, 3100, 3250, 4000);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_SYNCHRONISING), 300);
	CHECK_EQ(ns_of(GT_IDLE_HOST), 200 + 50 + 40);
	CHECK_EQ(ns_of(GT_IDLE_COMPILING), 400);
	CHECK_EQ(ns_of(GT_IDLE_OTHER_CALL), 10);
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 100);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 150);
	CHECK_EQ(s.rows[0].all.gaps, 1);
	CHECK_EQ(s.rows[0].sums[GT_IDLE_HOST].gaps, 1);
	finish();
}

UNIT_TEST(the_runtimes_stamp_tells_submitted_late_from_started_late)
{
	begin();
	add_launch(1000, 1100, 1200, 2000);
	add_launch(2000, 2100, 3000, 4000);
	c.item[c.items - 1].submitted_ns = 2700;
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 100);
	CHECK_EQ(ns_of(GT_IDLE_SUBMITTED_LATE), 600);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 300);
	finish();
}

UNIT_TEST(what_comes_after_the_submission_is_not_the_calls)
{
	begin();
	add_launch(1000, 1100, 1200, 2000);
	add_launch(2000, 2900, 3000, 4000);
	c.item[c.items - 1].submitted_ns = 2200;
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 200);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 800);
	finish();
}

UNIT_TEST(work_that_was_queued_before_the_gap_leaves_no_host_time)
{
	begin();
	add_launch(1000, 1100, 1200, 5000);
	add_launch(1200, 1300, 5400, 6000);
	add_launch(1400, 1500, 6100, 7000);
	fake_call(&c, 0, "clFinish", 1500, 7100, 0, NULL);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 500);
	CHECK_EQ(s.rows[0].all.ns, 500);
	finish();
}

UNIT_TEST(the_outermost_call_that_says_what_it_does_counts)
{
	const struct gt_item *launch;

	begin();
	add_launch(1000, 1100, 1200, 2000);
	launch = fake_call(&c, 0, "clEnqueueTask", 2100, 2900, 0, no_events);
	add_kernel(1, 3000, 4000, launch);
	fake_call(&c, 0, "clBuildProgram", 2200, 2700, 1, NULL);
	fake_call(&c, 0, "clFinish", 2300, 2400, 2, NULL);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST), 100);
	CHECK_EQ(ns_of(GT_IDLE_COMPILING), 500);
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 300);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 100);
	finish();
}

UNIT_TEST(what_is_shorter_than_the_clocks_are_apart_has_no_cause)
{
	begin();
	slack = 500;
	add_launch(1000, 1100, 1200, 2000);
	add_launch(2000, 2100, 2500, 3000);
	add_launch(3100, 3200, 3501, 4000);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_SHORT), 500);
	CHECK_EQ(s.rows[0].sums[GT_IDLE_SHORT].gaps, 1);
	CHECK_EQ(ns_of(GT_IDLE_HOST), 100);
	finish();
}

UNIT_TEST(work_without_a_call_ends_gaps_of_which_nothing_is_known)
{
	begin();
	add_launch(1000, 1100, 1200, 2000);
	add_kernel(1, 2500, 3000, NULL);
	add_launch(3000, 3100, 3200, 4000);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_UNKNOWN), 500);
	finish();
}

/* The call is missing, but the activity contains the start of the call. */
UNIT_TEST(a_call_that_was_lost_leaves_what_its_work_says)
{
	struct gt_item call = {.id = GT_ID(0, 2), .start_ns = 2300};

	begin();
	c.counts[0].dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 1;
	add_launch(1000, 1100, 1200, 2000);
	c.sequence[0]++;
	add_kernel(1, 2500, 3000, &call);
	fake_call(&c, 0, "clFinish", 4000, 4100, 0, NULL);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_UNKNOWN), 300);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 200);
	finish();
}

UNIT_TEST(calls_that_were_lost_are_not_the_host)
{
	begin();
	c.counts[0].dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 1;
	add_launch(1000, 1100, 1200, 2000);
	fake_call(&c, 0, "clFinish", 2100, 2200, 0, NULL);
	add_launch(2400, 2500, 2500, 3000);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_UNKNOWN), 100 + 200);
	CHECK_EQ(ns_of(GT_IDLE_SYNCHRONISING), 100);
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 100);
	finish();
}

/* Two kernels at a time: the device is idle when neither runs, and the first kernel to start ends
 * the gap. */
UNIT_TEST(a_device_is_idle_when_no_queue_of_it_works)
{
	begin();
	add_launch(1000, 1100, 1200, 2000);
	add_launch(1100, 1200, 1300, 2500);
	add_launch(2600, 2700, 3000, 3100);
	add_launch(2700, 2750, 2900, 3500);
	read_all();
	CHECK_EQ(s.rows[0].all.ns, 400);
	CHECK_EQ(ns_of(GT_IDLE_HOST), 100);
	CHECK_EQ(ns_of(GT_IDLE_OTHER_CALL), 100); /* call for another kernel */
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 50);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 150);
	finish();
}

/* Add a blocking copy, whose activity starts later, with a kind of memory that CUDA reports. */
static void add_copy(const char *kind, uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	static const uint64_t blocking[16] = {0, 0, 1};
	const struct gt_item *call =
		fake_call(&c, 0, "clEnqueueWriteBuffer", from, to, 0, blocking);
	struct gt_item *activity;

	c.string[2] = kind;
	activity = add_kernel(2, start, end, call);
	activity->device_op = GT_DEVICE_WRITE;
	activity->submitted_ns = start - 10;
}

UNIT_TEST(copies_say_what_memory_they_are_of)
{
	begin();
	add_launch(1000, 1100, 1200, 2000);
	add_copy("Memcpy HtoD (Pinned -> Device)", 2100, 3000, 2500, 2900);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_HOST), 100);
	CHECK_EQ(ns_of(GT_IDLE_COPYING), 390);
	CHECK_EQ(ns_of(GT_IDLE_STARTED_LATE), 10);
	finish();
	begin();
	add_launch(1000, 1100, 1200, 2000);
	add_copy("Memcpy HtoD (Pageable -> Device)", 2100, 3000, 2500, 2900);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_PAGEABLE), 390);
	CHECK_EQ(ns_of(GT_IDLE_COPYING), 0);
	finish();
}

/* The events that the call waits for are unknown. */
UNIT_TEST(without_arguments_a_call_may_have_waited_for_events)
{
	const struct gt_item *launch;

	begin();
	add_launch(1000, 1100, 1200, 2000);
	launch = fake_call(&c, 0, "clEnqueueTask", 2000, 2100, 0, NULL);
	add_kernel(1, 3000, 4000, launch);
	read_all();
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 100);
	CHECK_EQ(ns_of(GT_IDLE_UNKNOWN), 900);
	finish();
}

UNIT_TEST(markers_are_no_activity)
{
	struct gt_item *marker;

	begin();
	add_launch(1000, 1100, 1200, 2000);
	marker = fake_activity(&c, &c.object[1], GT_DEVICE_MARKER, 0, 2100, 2900, 0);
	CHECK(marker);
	add_launch(1100, 1150, 3000, 4000);
	read_all();
	CHECK_EQ(s.rows[0].all.ns, 1000);
	finish();
}

/* Pause process 0 from @from to @to. */
static void pause_between(uint64_t from, uint64_t to)
{
	c.window[0] = (struct gt_window_info){.recorded = true, .from_ns = 500, .to_ns = from};
	c.window[1] = (struct gt_window_info){.from_ns = from, .to_ns = to};
	c.window[2] = (struct gt_window_info){.recorded = true, .from_ns = to, .to_ns = 9000};
	c.windows = 3;
}

UNIT_TEST(what_was_paused_is_no_idle_time)
{
	begin();
	pause_between(2200, 2600);
	add_launch(1000, 1100, 1200, 2000);
	fake_call(&c, 0, "clFinish", 2500, 2700, 0, NULL);
	add_launch(3000, 3100, 3100, 4000);
	read_all();
	CHECK_EQ(s.rows[0].all.ns, 700);
	CHECK_EQ(s.rows[0].all.max_ns, 700);
	CHECK_EQ(s.rows[0].all.gaps, 1);
	CHECK_EQ(s.unrecorded_ns[0], 400);
	CHECK_EQ(ns_of(GT_IDLE_UNRECORDED), 0);
	CHECK_EQ(ns_of(GT_IDLE_SYNCHRONISING), 100);
	CHECK_EQ(ns_of(GT_IDLE_HOST), 200 + 300);
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 100);
	CHECK_EQ(idle_find_gap(&s, 0, 2000, 3100)->idle_ns, 700);
	finish();
}

UNIT_TEST(a_gap_that_was_all_paused_is_none)
{
	begin();
	pause_between(1900, 3200);
	add_launch(1000, 1100, 1200, 2000);
	add_launch(1100, 1150, 3000, 4000);
	read_all();
	CHECK_EQ(s.rows[0].all.ns, 0);
	CHECK_EQ(s.rows[0].all.gaps, 0);
	CHECK_EQ(s.unrecorded_ns[0], 1000);
	finish();
}

/* The kernel before the gap was long. Its record was written when it ended, like the record of a
 * call. */
UNIT_TEST(what_a_flight_recorder_threw_away_is_no_idle_time)
{
	begin();
	c.only.kept = (struct gt_retained){.is_kept = true, .is_window = true, .begin_ns = 2600};
	add_launch(1000, 1100, 1200, 2000);
	fake_call(&c, 0, "clFinish", 2500, 2700, 0, NULL);
	add_launch(3000, 3100, 3100, 4000);
	read_all();
	CHECK_EQ(s.unrecorded_ns[0], 600);
	CHECK_EQ(s.rows[0].all.ns, 500);
	CHECK_EQ(ns_of(GT_IDLE_SYNCHRONISING), 100);
	CHECK_EQ(ns_of(GT_IDLE_HOST), 300);
	CHECK_EQ(ns_of(GT_IDLE_LAUNCHING), 100);
	CHECK_EQ(ns_of(GT_IDLE_UNKNOWN), 0);
	finish();
}

/* Another process uses the device before and after the gap. */
UNIT_TEST(a_device_that_another_process_had_recorded_was_idle_but_of_the_host_nothing_is_known)
{
	uint32_t other;
	const struct gt_object_info *queue;

	begin();
	other = fake_process(&c, 1001, "other");
	c.process[other].start_ns = 500;
	fake_thread(&c, other, 1, 1001, "other");
	queue = fake_queue(&c, other, 1);
	pause_between(2200, 2600);
	fake_activity(&c, queue, GT_DEVICE_KERNEL, 1, 600, 700, 0);
	add_launch(1000, 1100, 1200, 2000);
	add_launch(3000, 3100, 3100, 4000);
	fake_activity(&c, queue, GT_DEVICE_KERNEL, 1, 4000, 4100, 0);
	read_all();
	CHECK_EQ(s.unrecorded_ns[0], 0);
	CHECK_EQ(ns_of(GT_IDLE_HOST), 200 + 400 + 300);
	CHECK_EQ(ns_of(GT_IDLE_UNKNOWN), 400);
	finish();
}

static int cause_of_call(enum gt_domain domain, const char *name)
{
	return idle_describe_operation(gt_operation_find(domain, name)->op).cause;
}

UNIT_TEST(a_call_that_says_how_large_a_launch_is_builds_and_loads_nothing)
{
	CHECK_EQ(cause_of_call(GT_DOMAIN_HIP_COMPILER, "__hipRegisterFatBinary"),
		 GT_IDLE_COMPILING);
	CHECK_EQ(cause_of_call(GT_DOMAIN_HIP_COMPILER, "__hipPushCallConfiguration"),
		 GT_IDLE_OTHER_CALL);
	CHECK_EQ(cause_of_call(GT_DOMAIN_CUDA_RUNTIME, "__cudaPopCallConfiguration"),
		 GT_IDLE_OTHER_CALL);
}

static void count_part(void *to, const struct gt_idle_part *part)
{
	(void)part;
	++*(int *)to;
}

static int read_parts(void *data)
{
	*(int *)data = 0;
	return idle_read(
		&(struct idle_reading){.capture = &c, .all = true, .each = count_part, .to = data});
}

/* idle_read() releases everything. */
static void release_nothing(void *data)
{
	(void)data;
}

UNIT_TEST(each_allocation_may_fail)
{
	int parts;

	begin();
	c.string[1] = "_Z4gemmv";
	c.counts[0].recorded[GT_CLASS_DEVICE][GT_DOMAIN_OPENCL] = 2;
	pause_between(2200, 2600);
	add_launch(1000, 1100, 1200, 2000);
	fake_call(&c, 0, "clFinish", 1500, 2300, 0, NULL);
	add_launch(3000, 3100, 3250, 4000);
	CHECK_GT(fail_each_allocation(read_parts, release_nothing, &parts), 10);
	CHECK_GT(parts, 3);
	fake_capture_fini(&c);
}

UNIT_TEST(captures_without_gaps_have_no_idle_time)
{
	begin();
	read_all();
	CHECK_EQ(s.row_count, 0);
	finish();
	begin();
	add_launch(1000, 1100, 1200, 2000);
	read_all();
	CHECK_EQ(s.rows[0].all.ns, 0);
	finish();
}
