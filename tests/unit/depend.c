/* SPDX-License-Identifier: MIT */
/* analysis/depend/: the graph of small captures made by hand, and its replay, exact to the ns. */
#include "analysis/depend/depend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/depend/depend_parts.h"
#include "analysis/depend/replay.h"
#include "failing_memory.h"
#include "fake_capture.h"
#include "unit.h"
#include "util/error.h"

enum { US = 1000 };

static struct gt_capture c;
static struct depend d;
static struct replay r;
static struct replay_path path;
static char names[FAKE_MAX][16];
static size_t joints;
static const char *range;
static float kernel_factor = 1, call_factor = 1;
static const uint64_t queue[16] = {0xabc};

static float scale(void *data, const struct gt_item *item, bool *frees)
{
	(void)data;
	(void)frees;
	return item->kind == GT_RECORD_DEVICE ? kernel_factor : call_factor;
}

static void begin(void)
{
	fake_capture_init(&c);
	c.object[1].handle = queue[0];
	c.string[1] = "gemm";
	c.string[2] = "sum";
}

/* Add a launch, and its kernel with this name. */
static void launch(uint64_t from, uint64_t to, uint32_t name, uint64_t start, uint64_t end)
{
	const struct gt_item *call = fake_call(&c, 1, "clEnqueueNDRangeKernel", from, to, 0, queue);
	const uint64_t id = call->id;

	fake_activity(&c, &c.object[1], GT_DEVICE_KERNEL, name, start, end, id)->call_start_ns =
		from;
}

static void wait_for_queue(uint64_t from, uint64_t to)
{
	fake_call(&c, 1, "clFinish", from, to, 0, queue);
}

static int read_capture(void *data)
{
	(void)data;
	for (size_t i = 0; i < c.items; i++)
		if (c.item[i].args)
			c.item[i].args = c.args[i];
	d = (struct depend){.capture = &c, .scale = scale, .range = range};
	return depend_read(&d);
}

/* Replay with the factors. Return the length. */
static uint64_t replay(float kernels, float calls)
{
	const struct replay_change change = {.scales = true, .removed = LOOKUP_NONE};

	kernel_factor = kernels;
	call_factor = calls;
	CHECK_EQ(read_capture(NULL), 0);
	replay_init(&r, &d);
	replay_run(&r, &change);
	for (size_t i = 0; i < d.edge_count; i++)
		CHECK(d.edges[i].from == LOOKUP_NONE || d.edges[i].from < d.node_count);
	kernels = (float)r.length;
	replay_fini(&r);
	depend_fini(&d);
	return (uint64_t)kernels;
}

static void finish(void)
{
	fake_capture_fini(&c);
}

/* Two kernels that wait for nothing else: the host waits for both. */
static void add_bound_by_device(void)
{
	launch(1000 * US, 1010 * US, 1, 1020 * US, 1520 * US);
	launch(1010 * US, 1020 * US, 2, 1520 * US, 2020 * US);
	wait_for_queue(1020 * US, 2030 * US);
}

UNIT_TEST(a_replay_without_a_change_takes_as_long_as_the_run)
{
	begin();
	add_bound_by_device();
	CHECK_EQ(replay(1, 1), 1030 * US);
	finish();
}

UNIT_TEST(kernels_of_half_the_length_save_their_time_where_the_host_waits_for_them)
{
	begin();
	add_bound_by_device();
	CHECK_EQ(replay(0.5F, 1), 530 * US);
	finish();
}

UNIT_TEST(kernels_that_nothing_waits_for_save_nothing)
{
	begin();
	launch(1000 * US, 1010 * US, 1, 1020 * US, 1100 * US);
	/* the host computes for 2 ms before it waits */
	wait_for_queue(3000 * US, 3010 * US);
	CHECK_EQ(replay(1, 1), 2010 * US);
	CHECK_EQ(replay(0.5F, 1), 2010 * US);
	finish();
}

UNIT_TEST(factors_of_any_size_end_and_keep_the_order_of_times)
{
	static const float factors[] = {0, 1e-30F, 1, 1e6F, 1e30F};

	begin();
	add_bound_by_device();
	for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
		for (unsigned k = 0; k < sizeof factors / sizeof *factors; k++) {
			const uint64_t length = replay(factors[i], factors[k]);

			if (factors[i] <= 1 && factors[k] <= 1)
				CHECK(length <= 1030 * US);
			else
				CHECK(length >= 10 * US);
		}
	finish();
}

UNIT_TEST(times_that_contradict_each_other_give_a_graph_without_cycles)
{
	uint64_t state = 7, length;

	begin();
	for (unsigned i = 0; i < 200; i++) {
		uint64_t from, start;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		from = 1000 * US + (state >> 40) % (500 * US);
		start = 1000 * US + (state >> 20) % (500 * US);
		launch(from, from + (state >> 50) % 3000, 1 + i % 2, start, start + i % 3 * US);
		if (i % 5 == 0)
			wait_for_queue(from, from + i * US);
	}
	length = replay(1, 1);
	CHECK(length <= 1000 * US);
	/* the replay is one pass over the nodes, and the critical path goes back to its start */
	CHECK_EQ(read_capture(NULL), 0);
	for (size_t i = 0; i < d.node_count; i++) {
		size_t count;
		const struct depend_edge *e = depend_edges(&d, i, &count);

		for (size_t k = 0; k < count; k++)
			if (e[k].from != LOOKUP_NONE)
				CHECK_LT(e[k].from, i);
	}
	depend_fini(&d);
	finish();
}

UNIT_TEST(activities_without_calls_or_times_are_read)
{
	begin();
	fake_activity(&c, &c.object[1], GT_DEVICE_KERNEL, 1, 1000 * US, 1100 * US, 0);
	fake_activity(&c, &c.object[1], GT_DEVICE_KERNEL, 1, 1200 * US, 1300 * US, GT_ID(1, 99));
	fake_activity(&c, NULL, GT_DEVICE_KERNEL, 0, 0, 0, 0);
	CHECK_EQ(replay(1, 1), 300 * US);
	finish();
	begin();
	CHECK_EQ(read_capture(NULL), -ENODATA);
	gt_error_clear();
	depend_fini(&d);
	finish();
}

static int replay_removals(void *data)
{
	const struct replay_change change = {.removed = LOOKUP_NONE};
	struct replay_candidate removals[4];
	int status = read_capture(data);

	if (status)
		return status;
	replay_init(&r, &d);
	replay_run(&r, &change);
	joints = d.reading->joint_count;
	path = replay_find_path(&r);
	CHECK_GT(replay_rank_removals(&r, &change, removals, 4), 1);
	return 0;
}

static void release_all(void *data)
{
	(void)data;
	replay_path_fini(&path);
	replay_fini(&r);
	depend_fini(&d);
}

static void add_barrier(uint32_t process, uint64_t from, uint64_t to)
{
	static const uint64_t world[16] = {0x44000000};

	struct gt_item *call = fake_call(&c, 1, "clFinish", from, to, 0, world);

	call->op = gt_operation_find(GT_DOMAIN_MPI, "MPI_Barrier")->op;
	call->process = process;
}

UNIT_TEST(each_allocation_may_fail)
{
	uint32_t rank;

	begin();
	add_bound_by_device();
	/* so many names that their table grows, and mangled ones */
	for (uint32_t i = 3; i < 40; i++) {
		c.string[i] = names[i];
		snprintf(names[i], sizeof names[i], "_Z3k%02ui", i);
		launch((2000 + i * 10) * US, (2005 + i * 10) * US, i, (2006 + i * 10) * US,
		       (2007 + i * 10) * US);
	}
	/* another rank waits for the first one */
	add_barrier(0, 3000 * US, 3100 * US);
	rank = fake_process(&c, 1001, "rank");
	c.process[rank].rank.rank = 1;
	fake_thread(&c, rank, 1, 1001, "rank");
	add_barrier(rank, 2500 * US, 3100 * US);
	range = "step";
	CHECK_GT(fail_each_allocation(replay_removals, release_all, NULL), 10);
	CHECK_GT(joints, 0);
	finish();
}
