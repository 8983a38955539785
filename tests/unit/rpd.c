/* SPDX-License-Identifier: MIT */
/* export/rpd.c with captures that no collector would write: missing calls, graphs, activities
 * without times. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/export.h"
#include "export/formats.h"
#include "fake_capture.h"
#include "unit.h"

static struct gt_capture capture;
static char path[128];

/* Return the first row of @query, with columns joined by '|', or rows joined by a space.
 * Empty after a failed export. */
static const char *ask(const char *query)
{
	static char answer[8192];
	sqlite3_stmt *statement;
	sqlite3 *sql;
	size_t n = 0;

	CHECK_EQ(sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(sql, query, -1, &statement, NULL) != SQLITE_OK)
		unit_fail(__FILE__, __LINE__, "%s: %s", query, sqlite3_errmsg(sql));
	answer[0] = '\0';
	while (sqlite3_step(statement) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement) && n < sizeof answer; i++)
			n += (size_t)snprintf(answer + n, sizeof answer - n, "%s%s",
					      i   ? "|"
					      : n ? " "
						  : "",
					      (const char *)sqlite3_column_text(statement, i));
	sqlite3_finalize(statement);
	sqlite3_close(sql);
	return answer;
}

static void begin(void)
{
	fake_capture_init(&capture);
	fake_thread(&capture, 0, 1, 1001, "worker");
	fake_thread(&capture, 0, 2, 1002, "other");
}

static const struct gt_object_info *queue(void)
{
	return gt_capture_object_find(&capture, 0, GT_OBJECT_QUEUE, 1);
}

/* Export, and check the invariants that hold for every file. */
static void export(void)
{
	const struct gt_view_options options = {0};

	capture.health.bytes = 1000;
	snprintf(path, sizeof path, "%s/test.rpd", unit_folder());
	unlink(path);
	CHECK_OK(gt_export(&gt_exporter_rpd, &capture, path, false, &options));
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
	CHECK_STR(ask("PRAGMA foreign_key_check"), "");
	CHECK_STR(ask("SELECT count(*) FROM rocpd_op WHERE id NOT IN (SELECT op_id FROM "
		      "rocpd_api_ops)"),
		  "0");
	fake_capture_fini(&capture);
}

static uint64_t launch(uint32_t ordinal, uint64_t start, uint64_t end)
{
	return fake_call(&capture, ordinal, "clEnqueueNDRangeKernel", start, end, 0, NULL)->id;
}

UNIT_TEST(rpd_gives_work_of_an_unseen_call_a_call_to_hang_on)
{
	begin();
	launch(1, 10, 20);
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 30, 40, GT_ID(1, 9))->call_start_ns =
		25;
	/* an activity of the same call */
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 50, 60, GT_ID(1, 9))->call_start_ns =
		25;
	/* an activity without a call */
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 70, 80, 0)->queued_ns = 65;
	export();
	CHECK_STR(ask("SELECT pid, tid, start, end, domain, args FROM api WHERE apiName = '(call "
		      "not recorded)' ORDER BY start"),
		  "1000|1001|25|25|opencl| 1000|1000|65|65|opencl|");
	CHECK_STR(ask("SELECT o.start, a.start FROM rocpd_op o JOIN rocpd_api_ops l ON l.op_id = "
		      "o.id JOIN rocpd_api a "
		      "ON a.id = l.api_id ORDER BY o.start"),
		  "30|25 50|25 70|65");
}

/* The numbers of dropped calls are missing. An activity of such a call must not be attached to the
 * neighbouring call. */
UNIT_TEST(rpd_links_by_number_across_gaps_and_interleaved_threads)
{
	static const uint64_t gaps[] = {1, 2, 60, 64, 65, 1000, 1u << 20, UINT64_C(1) << 39};

	begin();
	for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
		for (uint32_t ordinal = 1; ordinal <= 2; ordinal++) {
			uint64_t at = 1000 * (i + 1) + 100 * ordinal;

			capture.sequence[ordinal] += gaps[i];
			fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, at + 50, at + 60,
				      launch(ordinal, at, at + 10));
			/* the previous number, which belongs to no call unless the gap is 1 */
			fake_activity(&capture, queue(), GT_DEVICE_FILL, 0, at + 70, at + 80,
				      GT_ID(ordinal, capture.sequence[ordinal] - 1))
				->call_start_ns = at - 1;
		}
	export();
	CHECK_STR(ask("SELECT count(*) FROM rocpd_op o JOIN rocpd_api_ops l ON l.op_id = o.id JOIN "
		      "rocpd_api a ON a.id = l.api_id "
		      "JOIN rocpd_kernelapi k ON k.api_ptr_id = a.id WHERE o.start = a.start + 50"),
		  "16");
	CHECK_STR(ask("SELECT count(*) FROM op o JOIN rocpd_api_ops l ON l.op_id = o.id JOIN api a "
		      "ON a.id = l.api_id "
		      "WHERE o.opType = 'FillBuffer' AND a.apiName = '(call not recorded)' AND "
		      "a.start = o.start - 71"),
		  "16");
}

UNIT_TEST(rpd_shows_work_of_a_graph_by_the_launch)
{
	uint64_t id;

	begin();
	capture.string[2] = "node";
	id = fake_call(&capture, 1, "clFlush", 10, 20, 0, NULL)->id;
	for (uint32_t node = 1; node <= 3; node++) {
		struct gt_item *activity = fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 2,
							 100 * node, 100 * node + 50, id);

		activity->replay = 1;
		activity->ordinal_in_graph = node;
		activity->object[0] = 0xabc;
		activity->global[0] = 64;
	}
	export();
	CHECK_STR(ask("SELECT opType, description, sequenceId FROM op"),
		  "KernelExecution|node|1 KernelExecution|node|2 KernelExecution|node|3");
	CHECK_STR(
		ask("SELECT start, gridX, kernelName FROM kernel ORDER BY start"),
		"100|0|Graph Kernel (0xabc) 200|0|Graph Kernel (0xabc) 300|0|Graph Kernel (0xabc)");
}

UNIT_TEST(rpd_leaves_out_work_without_times_and_tells)
{
	begin();
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 0, 0, launch(1, 10, 20));
	/* the end of the kernel is unknown */
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 100, 0, launch(1, 30, 40));
	export();
	CHECK_STR(ask("SELECT start, end FROM rocpd_op"), "100|100");
	CHECK_STR(ask("SELECT value FROM rocpd_metadata WHERE tag = 'gputap::ops_without_times'"),
		  "1");
}

static struct gt_item *external(uint32_t ordinal, enum gt_external_stack stack, bool push,
				uint64_t time, uint64_t value)
{
	struct gt_item *item = fake_call(&capture, ordinal, "clFlush", time, time, 0, NULL);

	capture.sequence[ordinal]--;
	item->kind = GT_RECORD_EXTERNAL;
	item->op = stack;
	item->push = push;
	item->id = 0;
	item->ret = value;
	return item;
}

UNIT_TEST(rpd_makes_markers_of_external_ids)
{
	begin();
	external(1, GT_EXTERNAL_USER, false, 5, 0); /* pushed before the recording */
	external(1, GT_EXTERNAL_USER, true, 10, 7);
	external(1, GT_EXTERNAL_OPERATION, true, 11, 70);
	external(1, GT_EXTERNAL_USER, true, 12, 8);
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 100, 200, launch(1, 13, 20));
	external(1, GT_EXTERNAL_USER, false, 21, 8);
	external(1, GT_EXTERNAL_OPERATION, false, 22, 70);
	/* range 7 stays open until here */
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 1, 300, 400, launch(1, 30, 90));
	export();
	CHECK_STR(
		ask("SELECT start, end, args FROM api WHERE apiName = 'UserMarker' ORDER BY start"),
		"10|90|user 7 11|22|operation 70 12|21|user 8");
	CHECK_STR(ask("SELECT a.start FROM rocpd_op o JOIN rocpd_api_ops l ON l.op_id = o.id JOIN "
		      "rocpd_api a ON a.id = l.api_id "
		      "ORDER BY o.start"),
		  "13 30");
}

UNIT_TEST(rpd_cuts_long_names_between_characters)
{
	static char name[9001];

	for (size_t i = 0; i < 9000; i += 3)
		memcpy(name + i, "\xe2\x82\xac", 3);
	begin();
	capture.string[2] = name;
	fake_activity(&capture, queue(), GT_DEVICE_KERNEL, 2, 100, 200, launch(1, 10, 20));
	export();
	CHECK_STR(ask("SELECT length(description), length(CAST(description AS BLOB)) FROM op"),
		  "1333|3999");
}

UNIT_TEST(rpd_of_an_empty_capture_has_all_tables)
{
	begin();
	export();
	CHECK_STR(ask("SELECT count(*) FROM api"), "0");
	CHECK_STR(ask("SELECT count(*) FROM busy"), "0");
	CHECK_STR(ask("SELECT count(*) FROM top"), "0");
}

UNIT_TEST(rpd_numbers_queues_of_several_processes_on_one_device_apart)
{
	const struct gt_object_info *mine, *theirs;
	struct gt_item *item;

	begin();
	fake_process(&capture, 2000, "/bin/other");
	fake_thread(&capture, 1, 1, 2001, "t");
	theirs = fake_queue(&capture, 1, 1);
	mine = queue();
	fake_activity(&capture, mine, GT_DEVICE_KERNEL, 1, 100, 200, launch(1, 10, 20));
	item = fake_call(&capture, 1, "clEnqueueNDRangeKernel", 11, 21, 0, NULL);
	item->process = 1;
	fake_activity(&capture, theirs, GT_DEVICE_KERNEL, 1, 150, 250, item->id);
	export();
	CHECK_STR(ask("SELECT gpuId, queueId FROM rocpd_op ORDER BY start"), "0|1 0|2");
	CHECK_STR(ask("SELECT a.pid, a.tid FROM rocpd_api a ORDER BY start"),
		  "1000|1001 2000|2001");
	CHECK_STR(ask("SELECT pid, exe FROM gputap_process"), "1000|/bin/prog 2000|/bin/other");
}
