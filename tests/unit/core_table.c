/* SPDX-License-Identifier: MIT */
/* Registration of tables, and the effect of contexts on tables, with a domain of three functions
 * and one extension. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/context.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "core/table.h"
#include "gputap/gputap.h"
#include "ring/session.h"
#include "unit.h"

#define DOMAIN GT_DOMAIN_REFDEV
enum { ENTRIES = 3, OPERATIONS = 4, INSTANCES = 2 };
#define EXTENSION      86 /* a number of the domain, and its name */
#define EXTENSION_NAME "refdevSetClock"

/* the addresses of these ids represent functions */
static int tap_ids[INSTANCES][OPERATIONS], real_ids[8];
static int32_t functions[INSTANCES][OPERATIONS];
static const struct gt_operation operations[OPERATIONS] = {
	{GT_OP(DOMAIN, 0, 0), 0, true, false, 0},
	{GT_OP(DOMAIN, 1, 0), 8, false, false, 0},
	{GT_OP(DOMAIN, 2, 0), 16, false, false, 0},
	{GT_OP(DOMAIN, EXTENSION, 0), UINT32_MAX, false, false, 0},
};
static struct gt_tap taps[INSTANCES][OPERATIONS];
static struct gt_table tables[INSTANCES] = {{DOMAIN, 0, operations, OPERATIONS, taps[0], "fake",
					     10000, 0, functions[0]},
					    {DOMAIN, 1, operations, OPERATIONS, taps[1], "fake",
					     10000, 0, functions[1]}};
static const void *const target[5] = {&real_ids[0], &real_ids[1], &real_ids[2], &real_ids[3],
				      &real_ids[4]};

__attribute__((constructor)) static void lay_out_functions(void)
{
	for (int i = 0; i < INSTANCES; i++)
		for (int op = 0; op < OPERATIONS; op++)
			functions[i][op] =
				(int32_t)((char *)&tap_ids[i][op] - (char *)&functions[i][op]);
}

/* Execute this program again, as in ring_threads.c, with a session that requests the given
 * operations. */
static void with_session(const char *test, unsigned ops, bool device)
{
	struct gt_session s = {.magic = GT_SESSION_MAGIC,
			       .version = GT_SESSION_VERSION,
			       .bytes = sizeof s,
			       .host_clock = GT_HOST_CLOCK_BOOTTIME,
			       .block_bytes = 16384,
			       .pool_bytes = 1 << 20,
			       .slot_count = 8,
			       .domains = GT_DOMAIN_BIT(DOMAIN),
			       .device_activity = device};
	char path[256], folder[128];
	int fd;

	if (getenv(GT_SESSION_ENV))
		return;
	s.ops[DOMAIN][0] = ops;
	snprintf(folder, sizeof folder, "%s", unit_folder());
	snprintf(path, sizeof path, "%s/session", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(write(fd, &s, sizeof s), (ssize_t)sizeof s);
	close(fd);
	setenv(GT_SESSION_ENV, folder, 1);
	execl("/proc/self/exe", "core_table", "--no-fork", test, (char *)NULL);
}

static uint32_t services(int instance, int op)
{
	return atomic_load(&taps[instance][op].services);
}

UNIT_TEST(taps_stand_only_where_somebody_asked)
{
	void *out[ENTRIES];

	with_session("taps_stand_only_where_somebody_asked", 1u << 1, false);
	CHECK_EQ(gt_table_register(&tables[0], target, sizeof out, out), 0);
	CHECK_EQ(out[0], target[0]);
	CHECK_EQ(out[1], (const void *)&tap_ids[0][1]);
	CHECK_EQ(out[2], target[2]);
	CHECK_EQ(services(0, 0), 0);
	CHECK_EQ(services(0, 1), GT_SERVICE_STREAM);
	for (int i = 0; i < ENTRIES; i++)
		CHECK_EQ(taps[0][i].real, target[i]);
	CHECK_EQ(gt_table_register(&tables[0], target, sizeof out, out), -EALREADY);
	CHECK_EQ(out[1], target[1]);
	CHECK_EQ(gt_table_register(&tables[1], target, sizeof out, out), 0);
	CHECK_EQ(out[1], (const void *)&tap_ids[1][1]);
	CHECK_EQ(gt_table_register(&tables[1], NULL, sizeof out, out), -EINVAL);
	CHECK_EQ(atomic_load(&atomic_load(&gt_recording.segment)->runtimes_seen),
		 GT_DOMAIN_BIT(DOMAIN));
}

UNIT_TEST(device_activity_needs_wraps_also_of_operations_that_nobody_asked_for)
{
	void *out[ENTRIES];

	with_session("device_activity_needs_wraps_also_of_operations_that_nobody_asked_for",
		     1u << 1, true);
	CHECK_EQ(gt_table_register(&tables[0], target, sizeof out, out), 0);
	CHECK_EQ(out[0], (const void *)&tap_ids[0][0]);
	CHECK_EQ(services(0, 0), GT_SERVICE_WRAP);
	CHECK_EQ(services(0, 1), GT_SERVICE_STREAM);
	CHECK_EQ(out[2], target[2]);
	/* the end of recording leaves the wrap in place: calls that it hides must stay hidden */
	gt_recording_stop();
	CHECK_EQ(services(0, 0), GT_SERVICE_WRAP);
	CHECK_EQ(services(0, 1), 0);
}

UNIT_TEST(a_table_can_be_patched_in_place)
{
	void *table[ENTRIES];

	with_session("a_table_can_be_patched_in_place", 7, false);
	memcpy(table, target, sizeof table);
	CHECK_EQ(gt_table_register(&tables[0], (const void *const *)table, sizeof table, table), 0);
	for (int i = 0; i < ENTRIES; i++) {
		CHECK_EQ(table[i], (const void *)&tap_ids[0][i]);
		CHECK_EQ(taps[0][i].real, target[i]);
	}
}

static unsigned told;
static uint64_t told_value;

static void listen(const struct gputap_event *e, void *user)
{
	CHECK_EQ(e->code, GPUTAP_EVENT_TABLE);
	CHECK_EQ(e->domain, DOMAIN);
	CHECK_STR(e->text, "fake");
	told_value = e->value;
	told++;
	(void)user;
}

UNIT_TEST(a_shorter_and_a_longer_table_are_used_as_far_as_known_and_reported)
{
	void *out[5] = {0};

	with_session("a_shorter_and_a_longer_table_are_used_as_far_as_known_and_reported", 7,
		     false);
	CHECK_EQ(gputap_event_subscribe(listen, NULL), 0);
	CHECK_EQ(gt_table_register(&tables[0], target, 16, out), 0);
	CHECK_EQ(told, 1);
	CHECK_EQ(told_value, 2);
	CHECK_EQ(out[1], (const void *)&tap_ids[0][1]);
	CHECK_NULL(out[2]);
	CHECK_NULL(taps[0][2].real);
	CHECK_EQ(gt_table_register(&tables[1], target, sizeof out, out), 0);
	CHECK_EQ(told, 2);
	CHECK_EQ(told_value, 5);
	CHECK_EQ(out[2], (const void *)&tap_ids[1][2]);
	CHECK_EQ(out[4], target[4]);
	gt_table_unregister(&tables[0]);
	CHECK_EQ(gt_table_register(&tables[0], target, 24, out), 0);
	CHECK_EQ(told, 2); /* exactly as long as the known table */
}

UNIT_TEST(an_empty_entry_stays_empty)
{
	const void *const holes[ENTRIES] = {&real_ids[0], NULL, &real_ids[2]};
	void *out[ENTRIES];

	with_session("an_empty_entry_stays_empty", 7, false);
	CHECK_EQ(gt_table_register(&tables[0], holes, sizeof out, out), 0);
	CHECK_NULL(out[1]);
	CHECK_NULL(taps[0][1].real);
}

UNIT_TEST(each_real_function_of_an_extension_gets_a_tap_of_its_own)
{
	struct gt_table *const list[INSTANCES] = {&tables[0], &tables[1]};
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64] = {{0}};
	struct gt_context c = {.started = true, .domains = GT_DOMAIN_BIT(DOMAIN), .ops = ops};
	bool unknown;

	with_session("each_real_function_of_an_extension_gets_a_tap_of_its_own", 0, false);
	/* no session requests the operation */
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, &real_ids[5], &unknown),
		 (void *)&real_ids[5]);
	CHECK(!unknown);
	ops[DOMAIN][EXTENSION / 64] = UINT64_C(1) << EXTENSION % 64;
	gt_context_add(&c);
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, &real_ids[5], &unknown),
		 (void *)&tap_ids[0][3]);
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, &real_ids[5], &unknown),
		 (void *)&tap_ids[0][3]);
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, &real_ids[6], &unknown),
		 (void *)&tap_ids[1][3]);
	/* no extension left */
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, &real_ids[7], &unknown),
		 (void *)&real_ids[7]);
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, &tap_ids[0][3], &unknown),
		 (void *)&tap_ids[0][3]);
	CHECK_EQ(gt_table_extension(list, INSTANCES, EXTENSION_NAME, NULL, &unknown), NULL);
	CHECK_EQ(gt_table_extension(list, INSTANCES, "other", &real_ids[7], &unknown),
		 (void *)&real_ids[7]);
	CHECK(unknown);
	gt_core_lock();
	gt_context_set_started(&c, true);
	gt_core_unlock();
	CHECK_EQ(services(0, 3), GT_SERVICE_STREAM);
	CHECK_EQ(services(1, 3), GT_SERVICE_STREAM);
	gt_context_remove(&c);
	CHECK_EQ(services(0, 3), 0);
}

UNIT_TEST(a_domain_from_32_on_is_requested_like_one_below)
{
	enum { HIGH = 40, LOW = HIGH - 32 };
	const struct gt_operation high = {.op = GT_OP(HIGH, 5, 0)}, low = {.op = GT_OP(LOW, 5, 0)};
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64] = {{0}};
	struct gt_context c = {.started = true, .domains = GT_DOMAIN_BIT(HIGH), .ops = ops};

	with_session("a_domain_from_32_on_is_requested_like_one_below", 0, false);
	ops[HIGH][0] = ops[LOW][0] = UINT64_C(1) << 5;
	gt_context_add(&c);
	CHECK(gt_contexts_ask(&high));
	CHECK(!gt_contexts_ask(&low));
}
