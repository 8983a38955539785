/* SPDX-License-Identifier: MIT */
/* Model check of orders (runtime/submit_order.h): calls the real functions of
 * src/runtime/hip/hip_order.c and hip_order_match.c in many orders, from
 *
 *   program's threads ─ each call: push │ the runtime queues its work │ returned ─► work in the
 *                       order in which it was queued
 *   the stream's thread ─ next work: take ─► linked to a call, which must be the call
 *                       that the model knows, or none
 *
 * A graph launch is one record here (`--mode lite`), which spans exactly the first to the last of
 * its activities, or there is no record.
 *
 * Small plans are run in every order of these steps, larger plans in orders from a random generator
 * with a fixed seed, so that each run of this test covers the same orders. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/runtime/hip/hip_order.c"
#include "../../src/runtime/hip/hip_order_calls.c"
#include "../../src/runtime/hip/hip_order_match.c"
#include "unit.h"

/* Functions of the core that orders use -------------------------------------------- */

static uint8_t arena[64 << 20] __attribute__((aligned(64)));
static size_t arena_used;
static _Atomic uint32_t epoch = 1;
static _Atomic unsigned events;

struct gt_tap_options gt_tap_options = {.submit_orders = 1};
_Atomic uint64_t gt_stream_launches = UINT64_MAX;
static struct gt_session session = {.mode = GT_MODE_LITE};
struct gt_recording gt_recording = {.session = &session};
struct gt_table gt_hip_tables[GT_INSTANCES];
_Thread_local struct gt_thread gt_thread = {.epoch = 1};
struct gt_thread_hooks gt_thread_hooks;
const _Atomic uint32_t *gt_epoch = &epoch;

struct gt_thread *gt_thread_attach(struct gt_thread *t)
{
	return t;
}

void *gt_arena_take(size_t bytes)
{
	void *p = arena + arena_used;

	bytes = (bytes + 63) & ~(size_t)63;
	CHECK(arena_used + bytes <= sizeof arena);
	arena_used += bytes;
	return p;
}

static pthread_mutex_t core = PTHREAD_MUTEX_INITIALIZER;

void gt_core_lock(void)
{
	pthread_mutex_lock(&core);
}

void gt_core_unlock(void)
{
	pthread_mutex_unlock(&core);
}

bool gt_event_write(struct gt_thread *t, enum gt_event_code code, enum gt_domain domain,
		    uint64_t value, const char *text)
{
	(void)t, (void)code, (void)domain, (void)value, (void)text;
	events++;
	return true;
}

uint32_t gt_hip_function_name(const struct gt_table *table, struct gt_thread *t,
			      const void *function, bool by_pointer)
{
	(void)table, (void)t, (void)by_pointer;
	return (uint32_t)(uintptr_t)function;
}

void gt_hip_shared_nodes_put(struct gt_hip_shared_nodes *nodes)
{
	(void)nodes;
}

void gt_drop(struct gt_thread *t, enum gt_class class, enum gt_domain domain,
	     enum gt_drop_reason reason)
{
	(void)t, (void)class, (void)domain, (void)reason;
}

struct gt_graph_span {
	uint64_t id;
	/* parts: number of works[] that extended the span; first, last: their indices */
	uint32_t parts, first, last;
	bool closed, lost;
};
enum { SPANS_MAX = 32 };
static struct gt_graph_span opened_spans[SPANS_MAX];
static uint32_t span_count;

struct gt_graph_span *gt_graph_span_open(const struct gt_graph_span_head *head)
{
	CHECK(span_count < SPANS_MAX);
	opened_spans[span_count] = (struct gt_graph_span){.id = head->id, .first = UINT32_MAX};
	return &opened_spans[span_count++];
}

void gt_graph_span_add_part(struct gt_graph_span *e)
{
	CHECK(!e->closed);
	e->parts++;
}

void gt_graph_span_lose_part(struct gt_graph_span *e, struct gt_thread *t)
{
	(void)t;
	e->parts--;
	e->lost = true;
}

void gt_graph_span_close(struct gt_graph_span *e, struct gt_thread *t)
{
	(void)t;
	CHECK(!e->closed);
	e->closed = true;
}

/* The model ---------------------------------------------------------------------- */

enum {
	ALLOCATION = 0x10000,
	STREAM = 16,
	THREADS_MOST = 3,
	CALLS_MOST = 8,
	ACTIVITY_MOST = 64,
	CHOICES_MOST = 128
};

struct planned {
	enum gt_submit_kind kind;
	uint32_t name;            /* launch */
	uint64_t to, from, bytes; /* copy, fill */
	uint32_t direction;
	uint32_t pieces; /* number of pieces of a copy or fill; 0: one piece */
	bool fails;      /* true if the call fails without submitting work */
	bool hidden;     /* true if the work has other addresses */
	/* a digit is a kernel with that name, f a fill, c a copy in two pieces, n a node that needs
	 * no device; fails: after submitting a part of the nodes */
	const char *graph;
};

struct plan {
	uint32_t threads, calls[THREADS_MOST];
	struct planned call[THREADS_MOST][CALLS_MOST];
};

enum step { BEGIN, ACTIVITY, WAIT, END };

static struct actor {
	struct gt_thread thread;
	__typeof__(call) open;
	uint32_t at, waits_for;
	enum step step;
} actors[THREADS_MOST];

static struct activity {
	struct gt_submitted_activity activity;
	uint64_t words[4], id;
} activities[ACTIVITY_MOST];
static uint32_t made, taken, linked, wrong, spans;
static struct gt_tap taps[GT_HIP_INDEX_COUNT];
static const struct gt_table table = {.domain = GT_DOMAIN_HIP, .taps = taps};
static struct gt_submit_order *order;

static struct gt_slot slot;
static _Alignas(8) uint8_t nodes_memory[1 << 14];
static size_t nodes_used;

static enum gt_graph_part part_of(char c)
{
	return c == 'f' ? GT_GRAPH_FILL : c == 'c' || c == 'n' ? GT_GRAPH_COPY : GT_GRAPH_KERNEL;
}

/* Make nodes from @text, in sequence. */
static struct gt_hip_shared_nodes *make_nodes(const char *text)
{
	struct gt_hip_shared_nodes *n = (void *)(nodes_memory + nodes_used);
	uint32_t count = (uint32_t)strlen(text), next[GT_GRAPH_PARTS] = {count, count, count};

	nodes_used += (sizeof *n + (count + 1) * sizeof n->order[0] + 7) & ~(size_t)7;
	CHECK(nodes_used <= sizeof nodes_memory);
	n->count = count;
	for (uint32_t i = count + 1; i-- > 0;) {
		n->order[i] =
			(struct gt_hip_node){.ordinal = i, .first = i == 0, .last = i + 1 == count};
		if (i < count) {
			next[part_of(text[i])] = i;
			n->order[i].name =
				text[i] >= '0' && text[i] <= '9' ? (uint32_t)(text[i] - '0') : 0;
		}
		memcpy(n->order[i].next, next, sizeof next);
	}
	return n;
}

static void world_begin(void)
{
	arena_used = 0;
	memset(buckets, 0, sizeof buckets);
	unused = NULL;
	unused_orders = NULL;
	gt_submit_order_given_up = 0;
	span_count = 0;
	nodes_used = 0;
	gt_thread.slot = &slot;
	memset(actors, 0, sizeof actors);
	made = taken = 0;
	order = borrow_order(STREAM, 0);
}

/* Kernels of the runtime take both allocations and the offsets in them as arguments. The engines
 * do a copy in pieces and report its size. */
static void make_activity(const struct planned *p, uint64_t id)
{
	uint32_t pieces = p->pieces ? p->pieces : 1;

	for (uint32_t i = 0; i < pieces; i++) {
		struct activity *w = &activities[made++];
		uint64_t shift = (p->hidden ? 1 << 20 : 0) + i * (p->bytes / pieces);

		CHECK(made <= ACTIVITY_MOST);
		*w = (struct activity){.id = id};
		w->activity.part = p->kind == GT_SUBMIT_LAUNCH ? GT_GRAPH_KERNEL
				   : p->kind == GT_SUBMIT_COPY ? GT_GRAPH_COPY
							       : GT_GRAPH_FILL;
		w->activity.name = p->name;
		if (p->kind == GT_SUBMIT_LAUNCH)
			continue;
		if (pieces == 1 || p->kind == GT_SUBMIT_FILL) {
			w->words[0] = p->to / ALLOCATION * ALLOCATION;
			w->words[1] = p->from / ALLOCATION * ALLOCATION;
			w->words[2] = (p->to % ALLOCATION + shift) / 4;
			w->words[3] = p->from ? (p->from % ALLOCATION + shift) / 4 : 0;
			w->activity.words = w->words;
			w->activity.word_count = 4;
		} else {
			w->activity.destination = p->to + shift;
			w->activity.source = p->from + shift;
			w->activity.bytes = p->bytes / pieces;
		}
	}
}

static void make_graph_activity(const struct planned *p, uint64_t id)
{
	size_t count = strlen(p->graph);

	if (p->fails)
		count /= 2;
	for (size_t i = 0; i < count; i++) {
		struct planned node = {.kind = p->graph[i] == 'f'   ? GT_SUBMIT_FILL
					       : p->graph[i] == 'c' ? GT_SUBMIT_COPY
								    : GT_SUBMIT_LAUNCH,
				       .name = (uint32_t)(p->graph[i] - '0'),
				       .to = 0x100000,
				       .from = 0x200000,
				       .bytes = 4096,
				       .pieces = p->graph[i] == 'c' ? 2 : 1};

		if (p->graph[i] != 'n')
			make_activity(&node, id);
	}
}

/* Check the span in the record of the launch. */
static void check_spans(void)
{
	for (uint32_t i = 0; i < span_count; i++) {
		const struct gt_graph_span *e = &opened_spans[i];
		uint32_t first = UINT32_MAX, last = 0;

		if (!e->closed || e->lost)
			continue;
		for (uint32_t k = 0; k < made; k++)
			if (activities[k].id == e->id) {
				first = first == UINT32_MAX ? k : first;
				last = k;
			}
		spans++;
		wrong += e->first != first || e->last != last;
	}
}

static void begin_call(const struct planned *p, struct gt_thread *t)
{
	if (p->kind == GT_SUBMIT_GRAPH)
		gt_hip_order_add_launch(t, &table,
					&(struct gt_hip_ordered_launch){.stream = (void *)STREAM,
									.graph = 1,
									.nodes = make_nodes(
										p->graph)});
	else
		gt_submit_order_add_call(t, &table,
					 (struct gt_submit_call){p->kind, false, false, false,
								 !p->hidden, p->name, STREAM});
}

static void step_program(const struct plan *plan, uint32_t who)
{
	struct actor *a = &actors[who];
	const struct planned *p = &plan->call[who][a->at];
	struct gt_thread *t = &a->thread;

	call = a->open;
	switch (a->step) {
	case BEGIN:
		t->api_id = GT_ID(who + 1, a->at + 1);
		t->api_bytes = p->bytes;
		t->api_destination = p->to;
		t->api_source = p->from;
		t->api_direction = p->direction;
		begin_call(p, t);
		break;
	case ACTIVITY:
		if (p->kind == GT_SUBMIT_GRAPH)
			make_graph_activity(p, t->api_id);
		else if (p->kind != GT_SUBMIT_SYNC && !p->fails)
			make_activity(p, t->api_id);
		a->waits_for = p->kind == GT_SUBMIT_SYNC ? made : 0;
		break;
	case WAIT: break; /* can continue */
	case END:
		gt_submit_order_end_call(t, p->fails);
		a->at++;
		break;
	}
	a->step = a->step == END ? BEGIN : a->step + 1;
	if (a->step == WAIT && p->kind != GT_SUBMIT_SYNC)
		a->step = END;
	a->open = call;
}

static void step_stream(void)
{
	const struct activity *w = &activities[taken++];
	struct gt_submitter o = {.id = 0};

	gt_submit_order_match(order, &w->activity,
			      w->activity.part != GT_GRAPH_COPY || w->activity.words
				      ? gt_submit_order_reserve_packet(order)
				      : 0,
			      &o);
	linked += o.id != 0;
	wrong += o.id && o.id != w->id;
	if (o.node.span && !(o.node.unobserved >> w->activity.part & 1)) {
		uint32_t at = taken - 1;

		wrong += o.node.span->id != w->id;
		o.node.span->first = at < o.node.span->first ? at : o.node.span->first;
		o.node.span->last = at;
	}
}

/* Return the threads that can make a step: one bit per thread of the program, and one for the
 * thread of the stream. */
static uint32_t ready(const struct plan *plan)
{
	uint32_t found = taken < made ? 1u << THREADS_MOST : 0;

	for (uint32_t i = 0; i < plan->threads; i++)
		if (actors[i].at < plan->calls[i] &&
		    (actors[i].step != WAIT || taken >= actors[i].waits_for))
			found |= 1u << i;
	return found;
}

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % n);
}

/* Run one order of steps. @choices: number of the ready thread that made each step; from @given on,
 * the first ready thread, or a random one. Return the number of choices. */
static uint32_t run(const struct plan *plan, uint8_t *choices, uint8_t *options, uint32_t given,
		    bool random)
{
	uint32_t n = 0, can;

	world_begin();
	for (; (can = ready(plan)) != 0; n++) {
		uint32_t count = (uint32_t)__builtin_popcount(can), which;

		CHECK(n < CHOICES_MOST);
		options[n] = (uint8_t)count;
		if (n >= given)
			choices[n] = random ? (uint8_t)random_below(count) : 0;
		for (which = choices[n]; which; which--)
			can &= can - 1;
		which = (uint32_t)__builtin_ctz(can);
		if (which == THREADS_MOST)
			step_stream();
		else
			step_program(plan, which);
	}
	check_spans();
	if (wrong) {
		fprintf(stderr, "order:");
		for (uint32_t i = 0; i < n; i++)
			fprintf(stderr, " %u", choices[i]);
		fprintf(stderr, "\n");
	}
	CHECK_EQ(wrong, 0);
	return n;
}

static uint64_t run_all(const struct plan *plan)
{
	static uint8_t choices[CHOICES_MOST], options[CHOICES_MOST];
	uint64_t runs = 0;
	uint32_t given = 0;

	linked = wrong = spans = 0;
	for (;;) {
		uint32_t n = run(plan, choices, options, given, false);

		runs++;
		while (n && choices[n - 1] + 1 == options[n - 1])
			n--;
		if (!n)
			return runs;
		choices[n - 1]++;
		given = n;
	}
}

static void run_some(const struct plan *plan, uint32_t runs)
{
	static uint8_t choices[CHOICES_MOST], options[CHOICES_MOST];

	seed = 1;
	linked = wrong = spans = 0;
	for (uint32_t i = 0; i < runs; i++)
		run(plan, choices, options, 0, true);
}

#define LAUNCH(n)                                   \
	{                                           \
		.kind = GT_SUBMIT_LAUNCH, .name = n \
	}
#define SYNC                           \
	{                              \
		.kind = GT_SUBMIT_SYNC \
	}

/* Two threads launch a kernel of their own, and both launch a third kernel. */
UNIT_TEST(kernels_of_two_threads_on_one_stream)
{
	static const struct plan
		both = {2, {2, 2}, {{LAUNCH(3), LAUNCH(3)}, {LAUNCH(3), LAUNCH(3)}}},
		own = {2, {2, 2}, {{LAUNCH(1), LAUNCH(1)}, {LAUNCH(2), LAUNCH(2)}}},
		mixed = {2,
			 {6, 6},
			 {{LAUNCH(1), LAUNCH(3), LAUNCH(1), LAUNCH(3), LAUNCH(1), LAUNCH(3)},
			  {LAUNCH(2), LAUNCH(3), LAUNCH(2), LAUNCH(3), LAUNCH(2), LAUNCH(3)}}};
	uint64_t runs = run_all(&both);

	CHECK(linked > 0 && linked < 4 * runs);
	runs = run_all(&own);
	CHECK_EQ(linked, 4 * runs); /* the name of each kernel identifies it */
	run_some(&mixed, 100000);
	CHECK(linked >= 6 * 100000);
}

UNIT_TEST(kernels_whose_calls_fail_or_have_no_known_name)
{
	static const struct plan fails = {2,
					  {3, 2},
					  {{LAUNCH(3),
					    {.kind = GT_SUBMIT_LAUNCH, .name = 3, .fails = true},
					    LAUNCH(3)},
					   {LAUNCH(3), LAUNCH(3)}}},
				 unknown = {2,
					    {3, 3},
					    {{LAUNCH(3), LAUNCH(0), LAUNCH(4)},
					     {LAUNCH(3), LAUNCH(4), LAUNCH(3)}}},
				 alone = {1,
					  {3},
					  {{LAUNCH(3),
					    {.kind = GT_SUBMIT_LAUNCH, .name = 3, .fails = true},
					    LAUNCH(3)}}};

	run_some(&fails, 100000);
	run_some(&unknown, 100000);
	run_all(&alone);
	CHECK(linked > 0);
}

/* A lost order is trusted again only when no earlier activity can still arrive. */
UNIT_TEST(a_wait_mends_a_broken_order_only_if_nobody_else_was_at_it)
{
	static const struct planned failing = {.kind = GT_SUBMIT_LAUNCH, .name = 3, .fails = true};
	static const struct plan two = {2,
					{5, 5},
					{{LAUNCH(3), failing, LAUNCH(3), SYNC, LAUNCH(3)},
					 {LAUNCH(3), LAUNCH(3), SYNC, LAUNCH(3), LAUNCH(3)}}},
				 three = {3,
					  {4, 4, 4},
					  {{LAUNCH(3), failing, SYNC, LAUNCH(3)},
					   {LAUNCH(3), SYNC, LAUNCH(3), LAUNCH(3)},
					   {LAUNCH(3), LAUNCH(3), SYNC, LAUNCH(3)}}},
				 alone = {1,
					  {5},
					  {{LAUNCH(3), failing, LAUNCH(3), SYNC, LAUNCH(3)}}};
	uint64_t runs;

	run_some(&two, 200000);
	CHECK(linked > 0);
	run_some(&three, 200000);
	CHECK(linked > 0);
	runs = run_all(&alone);
	CHECK(linked >= runs);
}

#define COPY(a, b)                                                         \
	{                                                                  \
		.kind = GT_SUBMIT_COPY, .to = a, .from = b, .bytes = 4096, \
		.direction = GT_HIP_DEVICE_TO_DEVICE                       \
	}
#define PIECES(a, b)                                                                       \
	{                                                                                  \
		.kind = GT_SUBMIT_COPY, .to = a, .from = b, .bytes = 4096, .direction = 1, \
		.pieces = 2                                                                \
	}
#define HIDDEN(a, b)                                                       \
	{                                                                  \
		.kind = GT_SUBMIT_COPY, .to = a, .from = b, .bytes = 4096, \
		.direction = GT_HIP_DEVICE_TO_DEVICE, .hidden = true       \
	}
#define FILL(a, n)                                                          \
	{                                                                   \
		.kind = GT_SUBMIT_FILL, .to = a, .bytes = 4096, .pieces = n \
	}
#define A UINT64_C(0x7f0000010000)
#define B UINT64_C(0x7f0000020000)
#define C UINT64_C(0x7f0000030000)

UNIT_TEST(copies_and_fills_of_one_thread)
{
	static const struct plan copies = {1,
					   {6},
					   {{COPY(A, B), COPY(A, B), LAUNCH(3), PIECES(A, B),
					     PIECES(A, B), COPY(A + 64, B + 64)}}},
				 hidden = {1,
					   {6},
					   {{HIDDEN(A, B), COPY(A, B), HIDDEN(A, C), COPY(A, B),
					     LAUNCH(3), COPY(A, B)}}},
				 inside = {1,
					   {5},
					   {{COPY(A, B), COPY(A + 64, B + 64), COPY(A, B),
					     LAUNCH(3), COPY(A, B)}}},
				 after = {1,
					  {4},
					  {{COPY(A + 64, B + 64), COPY(A, B),
					    COPY(A + 8192, B + 8192), COPY(A, B)}}},
				 fills = {1,
					  {6},
					  {{FILL(A, 1), FILL(A, 2), FILL(A, 1), COPY(A, B),
					    FILL(A, 3), FILL(B, 1)}}};
	uint64_t runs = run_all(&copies);

	CHECK_EQ(linked, 8 * runs);
	runs = run_all(&hidden);
	CHECK(linked >= 2 * runs);
	runs = run_all(&inside);
	CHECK(linked >= 3 * runs);
	runs = run_all(&after);
	CHECK(linked >= 2 * runs);
	runs = run_all(&fills);
	CHECK(linked >= 3 * runs);
}

UNIT_TEST(copies_and_fills_of_several_threads)
{
	static const struct plan same = {2,
					 {3, 3},
					 {{COPY(A, B), COPY(A, B), COPY(A, B)},
					  {COPY(A, B), COPY(A, B), COPY(A, B)}}},
				 mixed = {3,
					  {4, 4, 4},
					  {{COPY(A, B), LAUNCH(3), PIECES(A, C), FILL(A, 2)},
					   {FILL(A, 1), COPY(A, B), LAUNCH(3), COPY(A, C)},
					   {HIDDEN(A, B), PIECES(A, B), SYNC, FILL(A, 1)}}},
				 own = {2,
					{3, 3},
					{{COPY(A, B), COPY(A, B), COPY(A, B)},
					 {COPY(C, B), COPY(C, B), COPY(C, B)}}};

	run_some(&same, 100000);
	CHECK(linked > 0);
	run_some(&mixed, 200000);
	CHECK(linked > 0);
	run_some(&own, 100000);
	CHECK_EQ(linked, 6 * 100000);
}

#define GRAPH(text)                                    \
	{                                              \
		.kind = GT_SUBMIT_GRAPH, .graph = text \
	}
#define FAILING(text)                                                 \
	{                                                             \
		.kind = GT_SUBMIT_GRAPH, .graph = text, .fails = true \
	}

UNIT_TEST(graphs_of_one_thread_are_one_record_each)
{
	static const struct plan
		kernels = {1, {5}, {{LAUNCH(3), GRAPH("33"), LAUNCH(3), GRAPH("3"), LAUNCH(3)}}},
		others = {1, {5}, {{GRAPH("3f4c"), LAUNCH(3), GRAPH("c3"), GRAPH("f"), SYNC}}},
		ends = {1, {4}, {{GRAPH("3c"), COPY(A, B), GRAPH("3cc"), SYNC}}},
		none = {1, {4}, {{GRAPH("3n"), LAUNCH(3), GRAPH("n3"), LAUNCH(3)}}},
		fails = {1, {5}, {{FAILING("3344"), GRAPH("33"), SYNC, GRAPH("33"), LAUNCH(3)}}};
	uint64_t runs = run_all(&kernels);

	CHECK_EQ(spans, 2 * runs);
	CHECK_EQ(linked, 6 * runs);
	runs = run_all(&others);
	CHECK(spans >= runs);
	run_all(&ends);
	CHECK(spans > 0);
	runs = run_all(&none);
	/* it is unknown whether all activities of the first launch have arrived */
	CHECK_EQ(spans, runs);
	runs = run_all(&fails);
	CHECK(spans >= runs && spans <= 2 * runs);
}

UNIT_TEST(graphs_of_several_threads_on_one_stream_are_one_record_or_none)
{
	static const struct plan same = {2,
					 {2, 2},
					 {{GRAPH("33"), GRAPH("33")}, {GRAPH("33"), GRAPH("33")}}},
				 mixed = {3,
					  {4, 4, 4},
					  {{GRAPH("3c"), LAUNCH(3), SYNC, GRAPH("34")},
					   {COPY(A, B), GRAPH("34"), FILL(A, 2), GRAPH("3c")},
					   {LAUNCH(3), GRAPH("c3"), SYNC, LAUNCH(4)}}},
				 fails = {2,
					  {4, 4},
					  {{GRAPH("34"), FAILING("3434"), SYNC, GRAPH("34")},
					   {LAUNCH(3), GRAPH("4c"), SYNC, GRAPH("4c")}}};

	run_some(&same, 100000);
	CHECK(spans > 0);
	run_some(&mixed, 200000);
	CHECK(spans > 0);
	run_some(&fails, 200000);
	CHECK(spans > 0);
}

/* Real threads: for ThreadSanitizer, and for errors that single steps cannot show -------- */

enum { AT_A_TIME = 3, EACH = 3000 };
static struct {
	pthread_mutex_t lock;
	struct {
		uint32_t name;
		uint64_t id;
	} activity[AT_A_TIME * EACH];
	uint32_t made;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *launching_thread(void *number)
{
	uint32_t who = (uint32_t)(uintptr_t)number;
	struct gt_thread t = {.epoch = 1};

	for (uint32_t i = 1; i <= EACH; i++) {
		t.api_id = GT_ID(who, i);
		gt_submit_order_add_call(&t, &table,
					 (struct gt_submit_call){.kind = GT_SUBMIT_LAUNCH,
								 .function = who,
								 .stream = STREAM});
		pthread_mutex_lock(&runtime.lock);
		runtime.activity[runtime.made].name = who;
		runtime.activity[runtime.made++].id = t.api_id;
		pthread_mutex_unlock(&runtime.lock);
		gt_submit_order_end_call(&t, 0);
	}
	return NULL;
}

UNIT_TEST(threads_that_launch_at_a_time_have_their_own_kernels)
{
	pthread_t threads[AT_A_TIME];

	world_begin();
	for (uint32_t i = 0; i < AT_A_TIME; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, launching_thread,
					(void *)(uintptr_t)(i + 1)),
			 0);
	for (uint32_t n = 0; n < AT_A_TIME * EACH;) {
		struct gt_submitted_activity w = {.part = GT_GRAPH_KERNEL};
		struct gt_submitter o = {.id = 0};
		uint64_t id = 0;

		pthread_mutex_lock(&runtime.lock);
		if (n < runtime.made) {
			w.name = runtime.activity[n].name;
			id = runtime.activity[n].id;
		}
		pthread_mutex_unlock(&runtime.lock);
		if (!id) {
			sched_yield();
			continue;
		}
		gt_submit_order_match(order, &w, gt_submit_order_reserve_packet(order), &o);
		CHECK_EQ(o.id, id);
		n++;
	}
	for (uint32_t i = 0; i < AT_A_TIME; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(order->open_count, 0);
}

/* Streams -------------------------------------------------------------------------- */

static _Atomic uint32_t ends;

static void *stream_thread(void *wanted)
{
	while (atomic_load(&ends) < (uint32_t)(uintptr_t)wanted)
		sched_yield();
	return NULL;
}

/* Run a stream from start to end. @packet: read a packet only after the thread has ended. */
static void live(uintptr_t handle, uint32_t number, bool packet)
{
	struct gt_thread t = {.api_id = GT_ID(1, number)};
	struct gt_submitter o = {.id = 0};
	struct gt_submitted_activity activity = {.part = GT_GRAPH_KERNEL, .name = 3};
	struct gt_submit_order *l;
	pthread_t thread;
	uint32_t turn;

	gt_thread.api_id = t.api_id;
	gt_hip_order_begin_stream();
	CHECK_EQ(gt_hip_thread_create(&thread, NULL, stream_thread, (void *)(uintptr_t)number), 0);
	gt_hip_order_bind_stream((void *)handle);
	gt_submit_order_add_call(&t, &table,
				 (struct gt_submit_call){GT_SUBMIT_LAUNCH, false, false, false,
							 false, 3, handle});
	l = call.order;
	turn = gt_submit_order_reserve_packet(l);
	gt_submit_order_end_call(&t, 0);
	if (!packet)
		gt_submit_order_match(l, &activity, turn, &o);
	gt_hip_order_destroy_stream((void *)handle);
	atomic_store(&ends, number);
	pthread_join(thread, NULL);
	if (packet)
		gt_submit_order_match(l, &activity, turn, &o);
	CHECK_EQ(o.id, t.api_id);
}

UNIT_TEST(a_stream_that_is_gone_leaves_its_order_to_the_next_one)
{
	size_t used;

	world_begin();
	live(0x1000, 1, false);
	used = arena_used;
	for (uint32_t i = 2; i < 200; i++)
		live(0x1000 + i % 3 * 64, i, false);
	CHECK_EQ(arena_used, used);
}

UNIT_TEST(an_order_that_a_packet_still_names_is_kept)
{
	world_begin();
	for (uint32_t i = 1; i < 20; i++)
		live(0x1000, i, true);
	CHECK(unused_orders == NULL);
}
