/* SPDX-License-Identifier: MIT */
/* The trials: the steps of each trial, and the rules that are broken if the plug-in misbehaves. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/plugin_check.h"

#define RULES(...)             \
	(const uint8_t[])      \
	{                      \
		__VA_ARGS__, 0 \
	}

enum {
	ITEMS = 30,
	OPERATOR = 1001,
	RANGE = 2002,
	DEPTH = 10000,
	COUNTERS = 1000,
	LATE_ITEMS = 300
};

static bool is_call_of(const pu1ActivityRecord *r)
{
	return r->kind == PU1_KIND_PRIVATEUSE1_RUNTIME || r->kind == PU1_KIND_PRIVATEUSE1_DRIVER;
}

static bool is_activity_of(const pu1ActivityRecord *r)
{
	return r->kind >= PU1_KIND_CONCURRENT_KERNEL && r->kind <= PU1_KIND_GPU_MEMSET;
}

static size_t count_activity(const struct gt_trial *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->record_count; i++)
		n += is_activity_of(&t->records[i]);
	return n;
}

/* Return true if faults in the buffers explain activities without records. */
static bool is_loss_explained(const struct gt_trial *t, enum gt_rule rule)
{
	uint64_t explains = 1ull << GT_RULE_WALK | 1ull << GT_RULE_PLACE | 1ull << GT_RULE_KIND |
			    1ull << GT_RULE_COMPLETED_ONCE | 1ull << GT_RULE_ONCE;

	if (rule != GT_RULE_FLUSHED)
		explains |= 1ull << GT_RULE_FLUSHED;
	if (rule == GT_RULE_IN_FLIGHT) /* only the times of records distinguish the sessions */
		explains |= 1ull << GT_RULE_TIMES;
	return t->reported & explains;
}

/* Check that at least @items activities have records, or are counted as dropped. */
static void want_activity(struct gt_trial *t, enum gt_rule rule, const char *when, size_t items,
			  size_t found)
{
	GT_TRIAL_WANT(t, rule, found >= items || is_loss_explained(t, rule),
		      "%s%zu activities have %zu records", when, items, found);
}

static uint64_t dropped(const struct gt_trial *t)
{
	uint64_t n = 0;

	for (int kind = 1; t->plugin.calls.drops.dropped && kind < PU1_KIND_COUNT; kind++)
		n += t->plugin.calls.drops.dropped((pu1ActivityKind)kind);
	return n;
}

static pu1ActivityKind first_kind(const struct gt_trial *t)
{
	return (pu1ActivityKind)__builtin_ctzll(t->plugin.about.kinds);
}

/* Loading ---------------------------------------------------------------------- */

struct prints {
	FILE *file;
	int saved[2];
};

/* Redirect printed text into a temporary file for a check. */
static void catch_prints(struct prints *p)
{
	p->file = tmpfile();
	fflush(NULL);
	for (int fd = 1; fd <= 2 && p->file; fd++) {
		p->saved[fd - 1] = dup(fd);
		dup2(fileno(p->file), fd);
	}
}

static long end_prints(struct prints *p)
{
	fflush(NULL);
	for (int fd = 1; fd <= 2 && p->file; fd++)
		dup2(p->saved[fd - 1], fd);
	return p->file ? lseek(fileno(p->file), 0, SEEK_END) : 0;
}

static bool has_functions(struct gt_trial *t, void *handle)
{
	static const char *const names[] = {
		"kineto_register_privateuse1_plugin",
		"pu1GetVersion",
		"pu1TracingSetCallbacks",
		"pu1TracingEnable",
		"pu1TracingDisable",
		"pu1PushExternalCorrelationId",
		"pu1PopExternalCorrelationId",
		"pu1FlushAll",
		"pu1GetNextRecord",
	};
	bool all = true;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!dlsym(handle, names[i])) {
			gt_trial_report(t, GT_TRIAL_BROKEN, GT_RULE_EXPORTS, "%s() is missing",
					names[i]);
			all = false;
		}
	return all;
}

/* Return a byte that depends on @i, so that a plug-in is unlikely to write the same bytes by
 * chance. */
static uint8_t guard_byte(size_t i)
{
	return (uint8_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static void try_registration(struct gt_trial *t, void *handle)
{
	struct {
		pu1Plugin plugin;
		uint8_t behind[64];
	} room;
	pu1Host host = {sizeof host, PU1_VERSION, 0, "gputap plugin check"};
	pu1Result (*enter)(const pu1Host *, pu1Plugin *);
	pu1Result result;

	*(void **)&enter = dlsym(handle, "kineto_register_privateuse1_plugin");
	for (size_t i = 0; i < sizeof room.behind; i++)
		room.behind[i] = guard_byte(i);
	room.plugin = (pu1Plugin){.size = sizeof room.plugin};
	gt_trial_try(t, GT_RULE_REGISTERS, "kineto_register_privateuse1_plugin()");
	result = enter(&host, &room.plugin);
	GT_TRIAL_WANT(t, GT_RULE_REGISTERS, !result, "it returned %s",
		      gt_trial_result_name(result));
	for (size_t i = 0; i < sizeof room.behind; i++)
		GT_TRIAL_WANT(t, GT_RULE_REGISTERS, room.behind[i] == guard_byte(i),
			      "it wrote beyond pu1Plugin.size");
	if (result)
		return;
	GT_TRIAL_WANT(t, GT_RULE_NAMED, room.plugin.name && *room.plugin.name, "it has no name");
	GT_TRIAL_WANT(t, GT_RULE_NAMED, room.plugin.kinds & ((1u << PU1_KIND_COUNT) - 2),
		      "it has no kinds");
	if (!room.plugin.find_group)
		return;
	gt_trial_try(t, GT_RULE_NO_GROUP, "find_group()");
	GT_TRIAL_WANT(t, GT_RULE_NO_GROUP, !room.plugin.find_group("gputap.no such group"),
		      "it returned a group for an unknown name");
	gt_trial_try(t, GT_RULE_GROUP_SIZE, "find_group()");
	for (size_t i = 0; i < GPUTAP_PLUGIN_GROUP_COUNT; i++) {
		static const char *const names[] = {PU1_GROUP_USER,   PU1_GROUP_DROPS,
						    PU1_GROUP_CLOCK,  PU1_GROUP_ROWS,
						    PU1_GROUP_ERRORS, PU1_GROUP_CONFIG,
						    PU1_GROUP_WINDOW, PU1_GROUP_COUNTERS,
						    PU1_GROUP_GRAPHS, PU1_GROUP_SYNCHRONIZE,
						    PU1_GROUP_SUBMITS};
		const size_t *size = room.plugin.find_group(names[i]);

		GT_TRIAL_WANT(t, GT_RULE_GROUP_SIZE,
			      !size || (*size >= 2 * sizeof *size && *size <= 4096),
			      "group %s gives its size as %zu bytes", names[i], size ? *size : 0);
	}
}

static void try_load(struct gt_trial *t)
{
	struct prints prints;
	uint32_t (*version)(void);
	char why[512];
	void *handle;
	long printed;

	gt_trial_try(t, GT_RULE_FILE, "checking the file");
	if (gt_plugin_is_no_library(t->path, why, sizeof why) ||
	    gt_plugin_is_unsafe(t->path, why, sizeof why)) {
		gt_trial_report(t, GT_TRIAL_BROKEN, GT_RULE_FILE, "%s", why);
		return;
	}
	catch_prints(&prints);
	gt_trial_try(t, GT_RULE_LOADS, "dlopen()");
	handle = dlopen(t->path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		gt_trial_report(t, GT_TRIAL_BROKEN, GT_RULE_LOADS, "%s", dlerror());
		end_prints(&prints);
		return;
	}
	gt_trial_try(t, GT_RULE_EXPORTS, "dlsym()");
	if (has_functions(t, handle)) {
		gt_trial_try(t, GT_RULE_VERSION, "pu1GetVersion()");
		*(void **)&version = dlsym(handle, "pu1GetVersion");
		GT_TRIAL_WANT(t, GT_RULE_VERSION, version() >> 16 == PU1_VERSION_MAJOR,
			      "its version is %u.%u; this gputap supports %u.%u", version() >> 16,
			      version() & 0xffff, PU1_VERSION_MAJOR, PU1_VERSION_MINOR);
		if (version() >> 16 == PU1_VERSION_MAJOR)
			try_registration(t, handle);
	}
	printed = end_prints(&prints);
	gt_trial_try(t, GT_RULE_SILENT, "loading it");
	GT_TRIAL_WANT(t, GT_RULE_SILENT, printed <= 0, "it printed %ld bytes", printed);
}

/* Order ------------------------------------------------------------------------ */

static void want_result(struct gt_trial *t, const char *call, pu1Result got, pu1Result wanted)
{
	GT_TRIAL_WANT(t, t->trying, got == wanted, "%s returned %s, not %s", call,
		      gt_trial_result_name(got), gt_trial_result_name(wanted));
}

static void try_kinds(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	pu1ActivityKind kind = first_kind(t);

	gt_trial_try(t, GT_RULE_NO_KIND, "pu1TracingEnable(0)");
	want_result(t, "pu1TracingEnable(0)", c->enable((pu1ActivityKind)0), PU1_ERROR_INVALID);
	want_result(t, "pu1TracingEnable(99)", c->enable((pu1ActivityKind)99), PU1_ERROR_INVALID);
	want_result(t, "pu1TracingDisable(99)", c->disable((pu1ActivityKind)99), PU1_ERROR_INVALID);
	gt_trial_try(t, GT_RULE_KINDS, "pu1TracingEnable()");
	for (uint32_t k = 1; k < PU1_KIND_COUNT; k++) {
		bool has = t->plugin.about.kinds >> k & 1;

		want_result(t, "pu1TracingEnable()", c->enable((pu1ActivityKind)k),
			    has ? PU1_SUCCESS : PU1_ERROR_NOT_SUPPORTED);
		c->disable((pu1ActivityKind)k);
	}
	gt_trial_try(t, GT_RULE_ENABLE_TWICE, "pu1TracingEnable()");
	want_result(t, "pu1TracingEnable()", c->enable(kind), PU1_SUCCESS);
	want_result(t, "the second pu1TracingEnable()", c->enable(kind), PU1_SUCCESS);
	gt_trial_try(t, GT_RULE_LATE_CALLBACKS, "pu1TracingSetCallbacks()");
}

static void try_order(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	pu1ActivityKind kind = first_kind(t);
	pu1BufferRequestFn request;
	pu1BufferCompleteFn complete;

	gt_trial_callbacks(&request, &complete);
	gt_trial_try(t, GT_RULE_EARLY_ENABLE, "pu1TracingEnable()");
	want_result(t, "pu1TracingEnable()", c->enable(kind), PU1_ERROR_ORDER);
	gt_trial_try(t, GT_RULE_EARLY_FLUSH, "pu1FlushAll()");
	want_result(t, "pu1FlushAll()", c->flush(), PU1_ERROR_ORDER);
	gt_trial_try(t, GT_RULE_NULL_CALLBACKS, "pu1TracingSetCallbacks(NULL, ..)");
	want_result(t, "pu1TracingSetCallbacks(NULL, ..)", c->callbacks(NULL, complete),
		    PU1_ERROR_INVALID);
	want_result(t, "pu1TracingSetCallbacks(.., NULL)", c->callbacks(request, NULL),
		    PU1_ERROR_INVALID);
	want_result(t, "pu1TracingSetCallbacks()", c->callbacks(request, complete), PU1_SUCCESS);
	try_kinds(t);
	want_result(t, "pu1TracingSetCallbacks()", c->callbacks(request, complete),
		    PU1_ERROR_ORDER);
	gt_trial_try(t, GT_RULE_ENABLE_TWICE, "pu1TracingDisable()");
	want_result(t, "pu1TracingDisable()", c->disable(kind), PU1_SUCCESS);
	want_result(t, "pu1TracingSetCallbacks() after one disable",
		    c->callbacks(request, complete), PU1_SUCCESS);
	gt_trial_try(t, GT_RULE_DISABLE_TWICE, "pu1TracingDisable()");
	want_result(t, "the second pu1TracingDisable()", c->disable(kind), PU1_SUCCESS);
}

static void stacks(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	pu1Result result = PU1_SUCCESS;

	gt_trial_try(t, GT_RULE_EMPTY_POP, "pu1PopExternalCorrelationId()");
	want_result(t, "a pop from an empty stack", c->pop(), PU1_ERROR_EMPTY);
	want_result(t, "a push", c->push(1), PU1_SUCCESS);
	want_result(t, "its pop", c->pop(), PU1_SUCCESS);
	want_result(t, "one more pop", c->pop(), PU1_ERROR_EMPTY);
	if (c->user.pop)
		want_result(t, "a pop from an empty stack of ranges", c->user.pop(),
			    PU1_ERROR_EMPTY);
	gt_trial_try(t, GT_RULE_DEPTH, "pu1PushExternalCorrelationId()");
	for (uint64_t i = 1; i <= DEPTH && !result; i++)
		result = c->push(i);
	want_result(t, "one of 10,000 pushes", result, PU1_SUCCESS);
	for (uint64_t i = 1; i <= DEPTH && !result; i++)
		result = c->pop();
	want_result(t, "one of 10,000 pops", result, PU1_SUCCESS);
	want_result(t, "one more pop", c->pop(), PU1_ERROR_EMPTY);
}

/* Sessions --------------------------------------------------------------------- */

static void try_walk(struct gt_trial *t)
{
	const struct gt_trial_buffer *b = &t->buffers[0];
	const pu1ActivityRecord *r = NULL;
	_Alignas(8) static pu1ActivityRecord stranger = {.size = sizeof stranger};

	gt_trial_try(t, GT_RULE_BAD_WALK, "pu1GetNextRecord()");
	want_result(t, "pu1GetNextRecord(NULL, ..)", t->plugin.calls.next(NULL, 100, &r),
		    PU1_ERROR_INVALID);
	want_result(t, "pu1GetNextRecord(.., NULL)", t->plugin.calls.next(b->data, b->valid, NULL),
		    PU1_ERROR_INVALID);
	r = &stranger;
	want_result(t, "pu1GetNextRecord() after a record elsewhere",
		    t->plugin.calls.next(b->data, b->valid, &r), PU1_ERROR_INVALID);
}

static bool is_recorded_call(const struct gt_trial *t, uint64_t correlation)
{
	for (size_t i = 0; i < t->record_count; i++)
		if (is_call_of(&t->records[i]) && t->records[i].correlation_id == correlation)
			return true;
	return false;
}

static void check_correlations(struct gt_trial *t)
{
	bool calls = t->plugin.about.kinds &
		     (1u << PU1_KIND_PRIVATEUSE1_RUNTIME | 1u << PU1_KIND_PRIVATEUSE1_DRIVER);
	uint64_t first = 0;
	size_t activity = 0, same = 0;

	for (size_t i = 0; i < t->record_count; i++) {
		const pu1ActivityRecord *r = &t->records[i];

		if (!is_activity_of(r))
			continue;
		GT_TRIAL_WANT(t, GT_RULE_CORRELATION, r->correlation_id,
			      "a record of kind %u has no correlation id", r->kind);
		GT_TRIAL_WANT(
			t, GT_RULE_CORRELATION, !calls || is_recorded_call(t, r->correlation_id),
			"a record of kind %u has correlation id %llu, but no call has that id",
			r->kind, (unsigned long long)r->correlation_id);
		first = first ? first : r->correlation_id;
		same += r->correlation_id == first && !r->graph_id;
		activity++;
	}
	GT_TRIAL_WANT(t, GT_RULE_CORRELATION, activity < 4 || same < activity,
		      "all %zu activities have the same correlation id", activity);
}

static void *exercise_thread(void *data)
{
	gt_trial_exercise(data, 3);
	return NULL;
}

static void check_tops(struct gt_trial *t)
{
	bool user = t->plugin.calls.user.push;

	for (size_t i = 0; i < t->record_count; i++) {
		const pu1ActivityRecord *r = &t->records[i];

		GT_TRIAL_WANT(t, GT_RULE_TOP, r->external_id == OPERATOR,
			      "a record has operator %llu, but %d was on top",
			      (unsigned long long)r->external_id, OPERATOR);
		GT_TRIAL_WANT(t, GT_RULE_TWO_STACKS, !user || r->user_id == RANGE,
			      "a record has range %llu, but %d was on top",
			      (unsigned long long)r->user_id, RANGE);
	}
}

static void try_rows(struct gt_trial *t)
{
	const pu1RowsGroup *rows = &t->plugin.calls.rows;
	pu1DeviceRow row = {.size = sizeof row};

	gt_trial_try(t, GT_RULE_IDS, "the row of a device that does not exist");
	if (rows->device && rows->device_count)
		GT_TRIAL_WANT(t, GT_RULE_IDS,
			      rows->device(rows->device_count(), &row) != PU1_SUCCESS,
			      "device %d has a row, but there are %d devices", rows->device_count(),
			      rows->device_count());
}

static void session(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	pthread_t thread;

	gt_trial_try(t, GT_RULE_FLUSHED, "a session");
	gt_trial_begin(t);
	c->push(7);
	c->push(OPERATOR);
	if (c->user.push)
		c->user.push(RANGE);
	gt_trial_exercise(t, ITEMS);
	gt_trial_flush(t);
	gt_trial_try(t, GT_RULE_WALK, "pu1GetNextRecord()");
	gt_trial_collect(t);
	want_activity(t, GT_RULE_FLUSHED, "", ITEMS, count_activity(t));
	gt_trial_try(t, GT_RULE_TOP, "checking records");
	gt_trial_has_group(t, GT_RULE_TWO_STACKS, GPUTAP_PLUGIN_USER);
	check_tops(t);
	check_correlations(t);
	if (t->buffer_count)
		try_walk(t);
	try_rows(t);
	gt_trial_try(t, GT_RULE_OWN_STACKS, "activities of another thread");
	pthread_create(&thread, NULL, exercise_thread, t);
	pthread_join(thread, NULL);
	gt_trial_flush(t);
	gt_trial_collect(t);
	for (size_t i = 0; i < t->record_count; i++)
		GT_TRIAL_WANT(t, GT_RULE_OWN_STACKS, !t->records[i].external_id,
			      "a thread that pushed nothing has operator %llu",
			      (unsigned long long)t->records[i].external_id);
	c->pop();
	c->pop();
	gt_trial_end(t);
	gt_trial_check_rows(t);
	gt_trial_compare_texts(t);
}

static size_t count_activity_since(const struct gt_trial *t, uint64_t begun_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < t->record_count; i++) {
		const pu1ActivityRecord *r = &t->records[i];

		n += is_activity_of(r) &&
		     gt_plugin_real_time(&t->plugin, r->device_id, r->start_time) >= begun_ns;
	}
	return n;
}

struct late_activity {
	struct gt_trial *t;
	uint32_t items;
	_Atomic bool is_done;
};

static void *exercise_long(void *data)
{
	struct late_activity *w = data;

	gt_trial_exercise(w->t, w->items);
	w->is_done = true;
	return NULL;
}

/* End a session while another thread submits activities. Return true if the thread was still
 * submitting. */
static bool end_in_flight(struct gt_trial *t, uint32_t items)
{
	struct late_activity w = {.t = t, .items = items};
	pthread_t thread;
	bool in_time;

	gt_trial_begin(t);
	if (pthread_create(&thread, NULL, exercise_long, &w))
		return false;
	while (!w.is_done && t->seen == __atomic_load_n(&t->buffer_count, __ATOMIC_RELAXED))
		usleep(100); /* wait for the first record */
	gt_trial_end(t);
	in_time = !w.is_done;
	t->plugin.calls.flush();
	pthread_join(thread, NULL);
	return in_time;
}

/* Test activities in flight at the end of a session. They complete outside of any session, and the
 * next session must contain all of its own activities. */
static void in_flight(struct gt_trial *t)
{
	uint32_t items = LATE_ITEMS;

	for (int i = 0; i < 3; i++) {
		gt_trial_try(t, GT_RULE_IN_FLIGHT, "a session that ends with activities in flight");
		for (int k = 0; k < 5 && !end_in_flight(t, items); k++)
			items *= 4; /* the thread finished too early */
		gt_trial_begin(t);
		gt_trial_exercise(t, ITEMS);
		gt_trial_end(t);
		gt_trial_flush(t);
		gt_trial_collect(t);
		want_activity(t, GT_RULE_IN_FLIGHT, "in the session after it, ", ITEMS,
			      count_activity_since(t, t->begun_ns));
	}
}

static void synchronize(struct gt_trial *t)
{
	pu1Result result;

	if (!gt_trial_has_group(t, GT_RULE_SYNCHRONIZE, GPUTAP_PLUGIN_SYNCHRONIZE) ||
	    !t->plugin.calls.synchronize.wait)
		return;
	gt_trial_try(t, GT_RULE_SYNCHRONIZE, "wait() of pu1.synchronize");
	gt_trial_begin(t);
	gt_trial_exercise(t, ITEMS);
	result = t->plugin.calls.synchronize.wait(UINT64_C(10000000000));
	GT_TRIAL_WANT(t, GT_RULE_SYNCHRONIZE, !result, "wait() returned %s",
		      gt_trial_result_name(result));
	gt_trial_end(t);
	gt_trial_flush(t);
	gt_trial_collect(t);
	want_activity(t, GT_RULE_SYNCHRONIZE, "after wait(), ", ITEMS, count_activity(t));
}

static void count_submission(uint64_t correlation, pu1ActivityKind kind, uint32_t items)
{
	(void)correlation;
	if (kind >= PU1_KIND_CONCURRENT_KERNEL && kind <= PU1_KIND_GPU_MEMSET)
		gt_trial_now->reported_items += items;
}

static void submissions(struct gt_trial *t)
{
	pu1Result result;
	size_t activity;

	if (!gt_trial_has_group(t, GT_RULE_SUBMITS, GPUTAP_PLUGIN_SUBMITS) ||
	    !t->plugin.calls.submits.set)
		return;
	gt_trial_try(t, GT_RULE_SUBMITS, "set() of pu1.submits");
	result = t->plugin.calls.submits.set(count_submission);
	GT_TRIAL_WANT(t, GT_RULE_SUBMITS, !result, "set() returned %s",
		      gt_trial_result_name(result));
	gt_trial_begin(t);
	gt_trial_exercise(t, ITEMS);
	gt_trial_end(t);
	gt_trial_flush(t);
	gt_trial_collect(t);
	activity = count_activity(t);
	GT_TRIAL_WANT(t, GT_RULE_SUBMITS,
		      t->reported_items == activity || is_loss_explained(t, GT_RULE_SUBMITS),
		      "%llu activities were reported, but %zu have records",
		      (unsigned long long)t->reported_items, activity);
	t->plugin.calls.submits.set(NULL);
	t->reported_items = 0;
	gt_trial_exercise(t, ITEMS);
	GT_TRIAL_WANT(t, GT_RULE_SUBMITS, !t->reported_items, "it still reports after set(NULL)");
}

static void disabled(struct gt_trial *t)
{
	gt_trial_try(t, GT_RULE_DISABLED, "activities with nothing enabled");
	gt_trial_begin(t);
	gt_trial_end(t);
	gt_trial_exercise(t, ITEMS);
	gt_trial_flush(t);
	t->plugin.enabled = 0;
	gt_trial_collect(t);
	GT_TRIAL_WANT(t, GT_RULE_DISABLED, !t->record_count, "%zu records were delivered",
		      t->record_count);
}

/* Test the plug-in with buffers that are too small. @bytes: size of these buffers. */
static void starve(struct gt_trial *t, enum gt_rule rule, size_t bytes)
{
	size_t good = t->buffer_bytes;
	uint64_t before;

	gt_trial_try(t, rule,
		     bytes ? "activities with buffers of 64 bytes" : "activities without buffers");
	gt_trial_begin(t);
	t->buffer_bytes = bytes;
	before = dropped(t);
	gt_trial_exercise(t, ITEMS);
	gt_trial_flush(t);
	GT_TRIAL_WANT(t, rule, !t->plugin.calls.drops.dropped || dropped(t) > before,
		      "%d activities were dropped, but none was counted", ITEMS);
	gt_trial_collect(t);
	t->buffer_bytes = good;
	gt_trial_exercise(t, ITEMS);
	gt_trial_flush(t);
	gt_trial_collect(t);
	want_activity(t, rule, "afterwards, with buffers, ", ITEMS, count_activity(t));
	gt_trial_end(t);
}

static void no_buffer(struct gt_trial *t)
{
	starve(t, GT_RULE_NO_BUFFER, 0);
}

static void small_buffer(struct gt_trial *t)
{
	starve(t, GT_RULE_SMALL_BUFFER, 64);
}

static void sessions(struct gt_trial *t)
{
	for (int i = 1; i <= 5; i++) {
		gt_trial_try(t, GT_RULE_SESSIONS, "a session after others");
		gt_trial_begin(t);
		gt_trial_exercise(t, ITEMS);
		gt_trial_end(t);
		gt_trial_flush(t);
		gt_trial_collect(t);
		want_activity(t, GT_RULE_SESSIONS, i > 1 ? "in a later session, " : "", ITEMS,
			      count_activity(t));
	}
}

/* Groups ----------------------------------------------------------------------- */

static void try_counters(struct gt_trial *t)
{
	const pu1CountersGroup *c = &t->plugin.calls.counters;
	uint32_t count = c->count ? c->count() : 0;

	if (!gt_trial_has_group(t, GT_RULE_COUNTERS, GPUTAP_PLUGIN_COUNTERS))
		return;
	gt_trial_try(t, GT_RULE_COUNTERS, "the rows of pu1.counters");
	for (uint32_t id = 0; c->counter && id <= count + 1 && id <= COUNTERS; id++) {
		pu1CounterRow row = {.size = sizeof row};
		bool has = c->counter(id, &row) == PU1_SUCCESS;

		GT_TRIAL_WANT(t, GT_RULE_COUNTERS, has == (id && id <= count),
			      "counter %u of %u has %s row", id, count, has ? "a" : "no");
		GT_TRIAL_WANT(t, GT_RULE_COUNTERS, !has || (row.name && *row.name),
			      "counter %u has no name", id);
	}
}

static void try_groups(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	const char *text;
	char fit[512];

	gt_trial_has_group(t, GT_RULE_ERRORS, GPUTAP_PLUGIN_ERRORS);
	gt_trial_try(t, GT_RULE_ERRORS, "the text of pu1.errors");
	c->enable((pu1ActivityKind)99);
	text = c->errors.text ? c->errors.text() : NULL;
	for (const char *at = text; at && *at; at++)
		GT_TRIAL_WANT(t, GT_RULE_ERRORS, (unsigned char)*at >= ' ',
			      "byte %td of the text is control character %d", at - text, *at);
	GT_TRIAL_WANT(t, GT_RULE_ERRORS,
		      !text || gt_plugin_mend(fit, sizeof fit, text, strnlen(text, sizeof fit - 1),
					      true) != GT_TEXT_NONE,
		      "the text is empty");
	gt_trial_has_group(t, GT_RULE_CONFIG, GPUTAP_PLUGIN_CONFIG);
	gt_trial_try(t, GT_RULE_CONFIG, "set() of pu1.config");
	if (c->config.set)
		want_result(t, "set() with an unknown text",
			    c->config.set("gputap plugin check: ?"), PU1_ERROR_INVALID);
	try_counters(t);
}

static void try_window(struct gt_trial *t)
{
	const pu1WindowGroup *w = &t->plugin.calls.window;

	if (!gt_trial_has_group(t, GT_RULE_WINDOW, GPUTAP_PLUGIN_WINDOW))
		return;
	for (int i = 1; i <= 2; i++) {
		gt_trial_try(t, GT_RULE_WINDOW, "activities in a window");
		if (w->begins)
			w->begins(gt_plugin_now());
		gt_trial_begin(t);
		gt_trial_exercise(t, ITEMS);
		if (w->ends)
			w->ends(gt_plugin_now());
		gt_trial_end(t);
		gt_trial_flush(t);
		gt_trial_collect(t);
		want_activity(t, GT_RULE_WINDOW, i > 1 ? "in the second window, " : "", ITEMS,
			      count_activity(t));
	}
}

/* Threads, forks, unloading and exit ------------------------------------------- */

enum { THREADS = 4, THREAD_ITEMS = 300 };

static void *thread_life(void *data)
{
	struct gt_trial *t = data;

	for (int i = 0; i < 1000; i++)
		t->plugin.calls.push((uint64_t)i);
	gt_trial_exercise(t, THREAD_ITEMS);
	for (int i = 0; i < 1000; i++)
		t->plugin.calls.pop();
	return NULL;
}

static void threads(struct gt_trial *t)
{
	pthread_t all[THREADS];
	uint64_t before;
	size_t activity;

	gt_trial_try(t, GT_RULE_THREADS, "activities of four threads during pu1FlushAll()");
	gt_trial_begin(t);
	t->buffer_bytes = 4096;
	before = dropped(t);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, thread_life, t);
	for (int i = 0; i < 200; i++) {
		t->plugin.calls.flush();
		usleep(100);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	gt_trial_end(t);
	gt_trial_flush(t);
	gt_trial_collect(t);
	activity = count_activity(t) + dropped(t) - before;
	want_activity(t, GT_RULE_THREADS, "", (size_t)THREADS * THREAD_ITEMS, activity);
}

static int in_child(struct gt_trial *t)
{
	const struct gt_plugin_calls *c = &t->plugin.calls;
	pu1Result result;

	alarm(5);
	c->version();
	c->push(1);
	c->pop();
	result = c->enable(first_kind(t));
	if (result && result != PU1_ERROR_FORKED)
		return 1;
	c->flush();
	c->disable(first_kind(t));
	return 0;
}

static void try_forks(struct gt_trial *t)
{
	int status;
	pid_t child;

	gt_trial_try(t, GT_RULE_FORK, "fork()");
	gt_trial_begin(t);
	gt_trial_exercise(t, ITEMS);
	child = fork();
	if (!child)
		_exit(in_child(t));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	GT_TRIAL_WANT(t, GT_RULE_FORK, !WIFSIGNALED(status), "a call in the child: %s",
		      WTERMSIG(status) == SIGALRM ? "does not return"
						  : strsignal(WTERMSIG(status)));
	GT_TRIAL_WANT(t, GT_RULE_FORK, WIFSIGNALED(status) || !WEXITSTATUS(status),
		      "pu1TracingEnable() in the child is neither PU1_SUCCESS nor "
		      "PU1_ERROR_FORKED");
	gt_trial_exercise(t, ITEMS);
	gt_trial_end(t);
	gt_trial_flush(t);
	gt_trial_collect(t);
	want_activity(t, GT_RULE_FORK, "the parent's ", (size_t)2 * ITEMS, count_activity(t));
}

static void unload(struct gt_trial *t)
{
	gt_trial_try(t, GT_RULE_UNLOAD, "dlclose()");
	gt_trial_begin(t);
	if (t->activity)
		gt_trial_exercise(t, ITEMS);
	gt_trial_end(t);
	gt_trial_flush(t);
	dlclose(t->plugin.handle);
	usleep(50000); /* gives any threads of the plug-in time to run */
}

static void end_inside(struct gt_trial *t)
{
	gt_trial_try(t, GT_RULE_EXIT, "exit()");
	gt_trial_begin(t);
	if (t->activity)
		gt_trial_exercise(t, ITEMS);
}

const struct gt_trial_kind gt_trials[] = {
	{try_load, false,
	 RULES(GT_RULE_FILE, GT_RULE_LOADS, GT_RULE_EXPORTS, GT_RULE_VERSION, GT_RULE_SILENT,
	       GT_RULE_REGISTERS, GT_RULE_NAMED, GT_RULE_NO_GROUP, GT_RULE_GROUP_SIZE)},
	{try_order, false,
	 RULES(GT_RULE_NULL_CALLBACKS, GT_RULE_EARLY_ENABLE, GT_RULE_EARLY_FLUSH,
	       GT_RULE_LATE_CALLBACKS, GT_RULE_NO_KIND, GT_RULE_KINDS, GT_RULE_ENABLE_TWICE,
	       GT_RULE_DISABLE_TWICE)},
	{stacks, false, RULES(GT_RULE_EMPTY_POP, GT_RULE_DEPTH)},
	{session, true,
	 RULES(GT_RULE_OWN_STACKS, GT_RULE_TWO_STACKS, GT_RULE_TOP, GT_RULE_COMPLETED_ONCE,
	       GT_RULE_OVERRUN, GT_RULE_FLUSHED, GT_RULE_WALK, GT_RULE_BAD_WALK, GT_RULE_PLACE,
	       GT_RULE_KIND, GT_RULE_TIMES, GT_RULE_IDS, GT_RULE_NAMES, GT_RULE_CORRELATION,
	       GT_RULE_TEXTS, GT_RULE_ONCE, GT_RULE_SIZES)},
	{disabled, true, RULES(GT_RULE_DISABLED)},
	{no_buffer, true, RULES(GT_RULE_NO_BUFFER)},
	{small_buffer, true, RULES(GT_RULE_SMALL_BUFFER)},
	{sessions, true, RULES(GT_RULE_SESSIONS)},
	{threads, true, RULES(GT_RULE_THREADS)},
	{try_forks, true, RULES(GT_RULE_FORK)},
	{try_groups, false, RULES(GT_RULE_ERRORS, GT_RULE_CONFIG, GT_RULE_COUNTERS)},
	{try_window, true, RULES(GT_RULE_WINDOW)},
	{in_flight, true, RULES(GT_RULE_IN_FLIGHT)},
	{synchronize, true, RULES(GT_RULE_SYNCHRONIZE)},
	{submissions, true, RULES(GT_RULE_SUBMITS)},
	{unload, false, RULES(GT_RULE_UNLOAD)},
	{end_inside, false, RULES(GT_RULE_EXIT)},
};
const size_t gt_trial_count = sizeof gt_trials / sizeof *gt_trials;
