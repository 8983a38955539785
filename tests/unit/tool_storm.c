/* SPDX-License-Identifier: MIT */
/* Uses the whole tool API at once, from many threads, while tools come and go at random: calls that
 * submit work, helpers that record and report the end of the work, objects that are loaded and
 * unloaded, buffers, retirement. Checks the notifications of each tool: none while it is stopped;
 * every end goes to the tool that got the start, with its eight bytes; parents precede children;
 * retirement comes last.
 *
 * 	GPUTAP_STORM=600 build-thread/tests/unit/tool_storm --no-fork ...
 *
 * GPUTAP_STORM: seconds; default: 4, or 600 with GPUTAP_SLOW=1.
 *
 * Most valuable in the ThreadSanitizer build. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/table.h"
#include "tool/tool_activity.h"
#include "unit.h"

#define DOMAIN ((uint32_t)GT_DOMAIN_REFDEV)
enum {
	OPERATIONS = 3,
	CALLERS = 8,
	TOOLS = 4,
	HELPERS = 2,
	LOADERS = 2,
	IN_FLIGHT = 256,
	SYMBOLS = 3
};
enum { TYPES = 3 }; /* types of activities: kernels, reads, writes */

static const struct gt_operation operations[OPERATIONS] = {
	{GT_OP(DOMAIN, 0, 1), 0, false, false, 0},
	{GT_OP(DOMAIN, 1, 1), 8, false, false, 0},
	{GT_OP(DOMAIN, 2, 0), 16, false, false, 0},
};
static struct gt_tap taps[OPERATIONS];
static struct gt_table table = {DOMAIN, 0, operations, OPERATIONS, taps, "fake", 10000, 0, NULL};

static uint64_t until_ns;
static _Atomic uint64_t calls_told, notify_activity, objects_told, records_told, retired_told;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool over(void)
{
	return now_ns() >= until_ns;
}

static unsigned next(unsigned *random)
{
	*random = *random * 1103515245u + 12345u;
	return *random >> 16;
}

/* Tools ---------------------------------------------------------------------- */

/* One lifetime of a tool's context, passed to its functions as `user`. */
struct life {
	_Atomic int running;
	uint64_t number; /* unique */
};

static void must_run(const struct life *l)
{
	if (!atomic_load(&l->running))
		unit_fail(__FILE__, __LINE__, "life %llu is told while it is stopped",
			  (unsigned long long)l->number);
}

/* Check the eight bytes of data: 0 at first, then the value written. */
static void check_data(const struct life *l, uint64_t *data, bool begins, uint64_t number)
{
	must_run(l);
	CHECK_EQ(*data, begins ? 0 : l->number << 40 ^ number);
	*data = l->number << 40 ^ number;
}

static void on_call(const struct gputap_call *c, uint64_t *data, void *user)
{
	check_data(user, data, c->phase == GPUTAP_CALL_PHASE_ENTER, c->correlation);
	CHECK_EQ(gputap_correlation(), c->correlation);
	atomic_fetch_add_explicit(&calls_told, 1, memory_order_relaxed);
}

static void on_activity(const struct gputap_activity *w, uint64_t *data, void *user)
{
	check_data(user, data, w->phase == GPUTAP_ACTIVITY_PHASE_ENTER, w->number << 2 | w->type);
	CHECK_EQ(w->domain, DOMAIN);
	if (w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE && w->start) {
		CHECK_LT(w->start, w->end);
		CHECK_LE(w->end, now_ns());
	}
	atomic_fetch_add_explicit(&notify_activity, 1, memory_order_relaxed);
}

static void on_object(const struct gputap_object *o, uint64_t *data, void *user)
{
	check_data(user, data, o->phase == GPUTAP_OBJECT_PHASE_LOAD, o->number << 4 | o->type);
	CHECK_STR(o->name, o->type == GPUTAP_OBJECT_CODE_OBJECT ? "code" : "symbol");
	atomic_fetch_add_explicit(&objects_told, 1, memory_order_relaxed);
}

static void on_retired(uint64_t correlation, uint64_t time, void *user)
{
	must_run(user);
	CHECK_NE(correlation, 0);
	CHECK_LE(time, now_ns());
	atomic_fetch_add_explicit(&retired_told, 1, memory_order_relaxed);
}

/* Batches of a buffer also arrive while its context is stopped. */
static void on_records(struct gputap_buffer *buffer, const struct gputap_record *records,
		       size_t count, uint64_t lost, void *user)
{
	(void)buffer, (void)lost, (void)user;
	for (size_t i = 0; i < count; i++) {
		const struct gputap_record_call *c = records[i].payload;
		const struct gputap_activity *w = records[i].payload;

		if (records[i].kind == GPUTAP_RECORD_CALL) {
			CHECK_EQ(c->domain, DOMAIN);
			CHECK_LE(c->start, c->end);
		} else if (records[i].kind == GPUTAP_RECORD_ACTIVITY) {
			CHECK_EQ(w->phase, GPUTAP_ACTIVITY_PHASE_COMPLETE);
		}
	}
	atomic_fetch_add_explicit(&records_told, count, memory_order_relaxed);
}

static struct gputap_context *configure(struct life *l, struct gputap_buffer *buffer,
					unsigned *random)
{
	const uint32_t some[] = {0, 2}, flags = next(random) % 4 ? 0 : GPUTAP_CONTEXT_DENSE;
	const struct gputap_context_opts opts = {.size = sizeof opts, .flags = flags};
	const unsigned what = next(random) | (next(random) % 2 ? 1 : 2);
	struct gputap_context *ctx;

	CHECK_OK(gputap_context_create(&opts, &ctx));
	if (what & 1)
		CHECK_OK(gputap_context_calls(ctx, DOMAIN, some, what & 64 ? 2 : 0, 0, on_call, l));
	if (what & 2)
		CHECK_OK(gputap_context_activities(ctx, DOMAIN,
						   what & 64 ? GPUTAP_ACTIVITY_BIT(
								       GPUTAP_ACTIVITY_KERNEL)
							     : GPUTAP_ACTIVITY_ALL,
						   on_activity, l));
	if (what & 4)
		CHECK_OK(gputap_context_objects(ctx, DOMAIN,
						1u << GPUTAP_OBJECT_CODE_OBJECT |
							1u << GPUTAP_OBJECT_KERNEL_SYMBOL,
						what & 128 ? GPUTAP_OBJECTS_NO_REPLAY : 0,
						on_object, l));
	if (what & 8)
		CHECK_OK(gputap_context_buffer(ctx, DOMAIN, NULL, 0,
					       what & 256 ? GPUTAP_ACTIVITY_ALL : 0, what & 512,
					       buffer));
	if (what & 16)
		CHECK_OK(gputap_context_retirement(ctx, on_retired, l));
	gt_table_adopt(&table);
	return ctx;
}

static struct gputap_buffer *make_buffer(unsigned *random)
{
	const struct gputap_buffer_opts opts = {.size = sizeof opts,
						.bytes = 1u << (12 + next(random) % 8),
						.policy = next(random) % 2 ? GPUTAP_BUFFER_LOSSLESS
									   : GPUTAP_BUFFER_DISCARD,
						.fn = on_records};
	struct gputap_buffer *buffer;

	CHECK_OK(gputap_buffer_create(&opts, &buffer));
	return buffer;
}

static void *tool(void *arg)
{
	unsigned random = (unsigned)(uintptr_t)arg * 7919u + 1;
	uint64_t number = (uintptr_t)arg << 20;

	while (!over()) {
		struct gputap_buffer *buffer = make_buffer(&random);

		for (unsigned lives = next(&random) % 8; lives-- > 0;) {
			struct life l = {0, ++number};
			struct gputap_context *ctx = configure(&l, buffer, &random);

			for (unsigned i = next(&random) % 4; i-- > 0 && !over();) {
				atomic_store(&l.running, 1);
				CHECK_OK(gputap_context_start(ctx));
				for (unsigned n = next(&random) % 8; n-- > 0;)
					sched_yield();
				if (next(&random) % 4 == 0)
					CHECK_OK(gputap_buffer_flush(buffer));
				if (next(&random) % 4 == 0)
					break; /* destroyed while started */
				CHECK_OK(gputap_context_stop(ctx));
				atomic_store(&l.running, 0);
			}
			gputap_context_destroy(ctx);
			atomic_store(&l.running, 0);
		}
		CHECK_OK(gputap_buffer_destroy(buffer));
	}
	return NULL;
}

/* The runtime ------------------------------------------------------------------ */

/* Activities that a helper has yet to complete. */
static struct gt_tool_activity *_Atomic in_flight[IN_FLIGHT];

static bool hand_to_helper(struct gt_tool_activity *p, unsigned at)
{
	struct gt_tool_activity *none = NULL;

	return atomic_compare_exchange_strong(&in_flight[at % IN_FLIGHT], &none, p);
}

static void end(struct gt_tool_activity *p, unsigned random)
{
	uint64_t now = now_ns();

	gt_tool_activity_done(p, random % 8 ? 0 : -5, random % 16 ? now - 1000 : 0,
			      random % 16 ? now : 0);
}

/* Submit as runtimes do: the activity may end before EXIT is notified. */
static void submit(unsigned *random)
{
	const unsigned how = next(random), at = next(random);
	struct gt_tool_activity *p;
	bool handed = false;

	if (!gt_tool_activity_asked(DOMAIN) || !(p = gt_tool_activity_take(DOMAIN, true)))
		return;
	if (how % 32 == 0) {
		gt_tool_activity_give(p);
		return;
	}
	gt_tool_activity_submitting(p);
	p->dispatch = how % TYPES == 0;
	p->activity.type = GPUTAP_ACTIVITY_KERNEL + how % TYPES;
	if (!gt_tool_activity_enter(p))
		return;
	if (how % 5 == 0 && how % 7)
		handed = hand_to_helper(p, at);
	gt_tool_activity_exit(p);
	if (handed)
		return;
	if (how % 7 == 0)
		gt_tool_activity_drop(p, true);
	else if (!hand_to_helper(p, at))
		end(p, how);
}

struct args {
	uint64_t value;
};

static uint64_t call(uint32_t op, uint64_t value, unsigned *random)
{
	struct args held = {value};
	struct gt_tool_frame frame;
	uint64_t ret;

	if (!(gt_tap_services(&table.taps[op]) & GT_SERVICE_NOTIFY) ||
	    !gt_tool_call_enter(&frame, &table, op, &held, sizeof held)) {
		submit(random);
		return 2 * value;
	}
	if (next(random) % 2)
		submit(random);
	ret = 2 * held.value;
	gt_tool_call_exit(&frame, &ret, sizeof ret);
	return ret;
}

static void *caller(void *seed)
{
	unsigned random = (unsigned)(uintptr_t)seed * 31u + 17;
	uint64_t top;

	for (uint64_t i = 0; !over(); i++) {
		CHECK_OK(gputap_external_push(GPUTAP_STACK_USER, i + 1));
		CHECK_EQ(call((uint32_t)(i % OPERATIONS), i, &random), 2 * i);
		CHECK_OK(gputap_external_pop(GPUTAP_STACK_USER, &top));
		CHECK_EQ(top, i + 1);
	}
	return NULL;
}

static void *helper(void *seed)
{
	unsigned random = (unsigned)(uintptr_t)seed + 99;
	bool left = true;

	while (left || !over()) {
		left = false;
		for (int i = 0; i < IN_FLIGHT; i++) {
			struct gt_tool_activity *p = atomic_exchange(&in_flight[i], NULL);

			left |= p != NULL;
			if (p)
				end(p, next(&random));
		}
		left |= gt_tool_deliver() != 0;
		sched_yield();
	}
	return NULL;
}

static void *loader(void *seed)
{
	unsigned random = (unsigned)(uintptr_t)seed + 7;
	static _Atomic uint64_t codes, symbols;

	while (!over()) {
		struct gputap_object code = {.domain = DOMAIN,
					     .type = GPUTAP_OBJECT_CODE_OBJECT,
					     .storage_file = -1,
					     .name = gt_tool_text("code", 4)},
				     symbol = {.domain = DOMAIN,
					       .type = GPUTAP_OBJECT_KERNEL_SYMBOL,
					       .storage_file = -1,
					       .name = gt_tool_text("symbol", 6)};
		struct gt_tool_object *objects[4] = {NULL};

		for (int i = 0; i < 4; i++) {
			symbol.parent = code.number = atomic_fetch_add(&codes, 1) + 1;
			objects[i] = gt_tool_object_add(&code, NULL);
			for (int s = 0; s < SYMBOLS; s++) {
				symbol.number = atomic_fetch_add(&symbols, 1) + 1;
				gt_tool_object_add(&symbol, objects[i]);
			}
			gt_tool_object_loaded(objects[i]);
		}
		for (unsigned n = next(&random) % 8; n-- > 0;)
			sched_yield();
		for (int i = 0; i < 4; i++)
			gt_tool_object_unload(objects[i]);
	}
	return NULL;
}

UNIT_TEST_SECONDS(calls_work_objects_and_buffers_while_tools_come_and_go, 1200)
{
	static const struct {
		void *(*run)(void *);
		int count;
	} parts[] = {{caller, CALLERS}, {tool, TOOLS}, {helper, HELPERS}, {loader, LOADERS}};
	const char *seconds = getenv("GPUTAP_STORM");
	pthread_t threads[32];
	int count = 0;

	until_ns = now_ns() + (seconds                 ? strtoull(seconds, NULL, 10)
			       : getenv("GPUTAP_SLOW") ? 600
						       : 4) *
				      1000000000u;
	for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
		for (uintptr_t i = 0; i < (uintptr_t)parts[p].count; i++)
			pthread_create(&threads[count++], NULL, parts[p].run, (void *)(i + 1));
	while (count-- > 0)
		pthread_join(threads[count], NULL);
	gt_tool_deliver();
	printf("told: %llu calls, %llu work, %llu objects, %llu retired; %llu records\n",
	       (unsigned long long)calls_told, (unsigned long long)notify_activity,
	       (unsigned long long)objects_told, (unsigned long long)retired_told,
	       (unsigned long long)records_told);
	CHECK_NE(atomic_load(&calls_told), 0);
	CHECK_NE(atomic_load(&notify_activity), 0);
	CHECK_NE(atomic_load(&objects_told), 0);
	CHECK_NE(atomic_load(&retired_told), 0);
	CHECK_NE(atomic_load(&records_told), 0);
}
