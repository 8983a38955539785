/* SPDX-License-Identifier: MIT */
/* Captures in memory with gaps, for tests of analysis/idle/: a test adds calls, activities and
 * states of threads, and reads the causes. */
#ifndef GPUTAP_IDLE_CASE_H
#define GPUTAP_IDLE_CASE_H

#include <string.h>

#include "analysis/idle/idle.h"
#include "analysis/idle/idle_steps.h"
#include "fake_capture.h"
#include "record/operation.h"
#include "unit.h"

static struct gt_capture c;
static struct idle s;
static struct texts names;
static struct unrecorded unrecorded;
static struct unrecorded_list list; /* unrecorded intervals of the device */
static uint64_t slack;
static const uint64_t no_events[16]; /* arguments of a call without a wait list */

/* Start a capture to which calls and activities are added. */
static __attribute__((unused)) void begin(void)
{
	fake_capture_init(&c);
	slack = 0;
}

static __attribute__((unused)) struct gt_item *add_kernel(uint32_t name, uint64_t start,
							  uint64_t end, const struct gt_item *call)
{
	const uint64_t id = call ? call->id : 0, call_start = call ? call->start_ns : 0;
	struct gt_item *activity =
		fake_activity(&c, &c.object[1], GT_DEVICE_KERNEL, name, start, end, id);

	activity->call_start_ns = call_start;
	return activity;
}

/* Add a launch and its kernel. The gap before the kernel ends at @start. */
static __attribute__((unused)) void add_launch(uint64_t from, uint64_t to, uint64_t start,
					       uint64_t end)
{
	const struct gt_item *call = fake_call(&c, 0, "clEnqueueTask", from, to, 0, no_events);

	add_kernel(1, start, end, call);
}

static __attribute__((unused)) void read_all(void)
{
	memset(&s, 0, sizeof s);
	s.capture = &c;
	s.names = &names;
	idle_init(&s);
	for (size_t i = 0; i < c.items; i++) {
		struct gt_item *item = &c.item[i];
		const struct idle_activity activity = {
			.item = item,
			.slack_ns = slack,
			.name = texts_put(&names, item->name ? c.string[item->name] : "marker"),
			.counts = true,
			.is_marker = item->device_op == GT_DEVICE_MARKER};

		if (item->args)
			item->args = c.args[i];
		idle_note(&s, item);
		if (item->kind == GT_RECORD_DEVICE) {
			unrecorded_note(&unrecorded, 0, item->process, item->start_ns,
					item->end_ns);
			idle_add_activity(&s, &activity);
		}
	}
	list = unrecorded_make(&unrecorded, &c, 0, NULL, NULL);
	s.unrecorded = &list;
	CHECK_EQ(idle_finish(&s), 0);
}

static __attribute__((unused)) uint64_t ns_of(enum gt_idle_cause cause)
{
	return s.row_count ? s.rows[0].sums[cause].ns : 0;
}

/* Check that all parts add up to the idle time. */
static __attribute__((unused)) void finish(void)
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < GT_IDLE_COUNT; cause++)
		sum += ns_of((enum gt_idle_cause)cause);
	CHECK_EQ(sum, s.row_count ? s.rows[0].all.ns : 0);
	idle_fini(&s);
	unrecorded_list_fini(&list);
	unrecorded_fini(&unrecorded);
	texts_fini(&names);
	fake_capture_fini(&c);
}

#endif
