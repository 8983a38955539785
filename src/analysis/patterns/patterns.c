/* SPDX-License-Identifier: MIT */
/* See patterns.h. */
#include "analysis/patterns/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idle/idle_steps.h"
#include "analysis/patterns/pattern_limits.h"
#include "record/operation.h"

/* THREADS_MOST: a damaged capture can name any number of threads */
enum { OPERATIONS = 4, LINES = 256, THREADS_MOST = 16384 };

/* Time in which a thread made the calls of a pattern once. */
struct span {
	uint64_t start, end;
};

struct operation_count {
	uint32_t op;
	uint64_t count;
};

/* Sums of one pattern in one thread. */
struct tally {
	uint64_t count, ns, idle_ns, bytes;
	struct operation_count operations[OPERATIONS], then[OPERATIONS];
	uint64_t *ids; /* ids of the first LINES calls, whose lines are found at the end */
	uint32_t id_count, id_room;
	struct span *spans; /* in order of their start once is_sorted */
	size_t span_count, span_room;
	bool is_sorted;
};

/* A thread's outermost call. */
struct outer {
	uint64_t id, start, end, bytes;
	uint32_t op;
	enum gt_operation_kind kind;
	enum gt_idle_cause cause;
	bool is_small;
};

struct pattern_thread {
	uint32_t process, ordinal;
	uint64_t outer_end;  /* end of the last outermost call of any kind */
	struct outer last;   /* the last outermost call that is not transparent */
	uint64_t launches;   /* number of launches so far */
	uint32_t since_wait; /* launches since the thread last waited for a device */
	uint64_t last_launch_ns;
	/* time of the loop: of its steps, else from the launch after which start-up is over to the
	 * last launch; from 0: not known */
	uint64_t loop_from_ns, loop_to_ns;
	struct period period;
	/* calls of one operation in a row, without other calls: queries or small copies */
	struct {
		uint32_t op;
		uint64_t count, start, ns, bytes;
	} run;
	uint64_t short_gaps_ns; /* idle time of gaps in which the host launched without waiting */
	struct tally waits;     /* only spans: calls that wait for devices */
	struct tally tallies[PATTERN_COUNT];
	struct period_item *items;
	size_t item_count, item_room;
};

const char *pattern_kind_name(enum pattern_kind kind)
{
	static const char *const names[] = {
#define X(name, key) key,
		PATTERN_KINDS(X)
#undef X
	};
	return kind < PATTERN_COUNT ? names[kind] : "";
}

/* Return NULL if there are too many threads. */
static struct pattern_thread *find_thread(struct patterns *p, uint32_t process, uint32_t ordinal)
{
	const uint64_t key = (uint64_t)process << 32 | ordinal;
	uint32_t number = p->last;

	if (number < p->thread_count && p->threads[number].process == process &&
	    p->threads[number].ordinal == ordinal)
		return &p->threads[number];
	number = idmap_get(&p->numbers, key);
	if (number == LOOKUP_NONE && p->thread_count == THREADS_MOST)
		return NULL;
	if (number == LOOKUP_NONE) {
		number = p->thread_count;
		GROW_LIST(p->threads, p->thread_count, p->thread_room);
		p->threads[p->thread_count++] =
			(struct pattern_thread){.process = process, .ordinal = ordinal};
		idmap_put(&p->numbers, key, number);
	}
	p->last = number;
	return &p->threads[number];
}

/* Calls ---------------------------------------------------------------------------- */

static void count_operation(struct operation_count *list, uint32_t op)
{
	for (unsigned i = 0; i < OPERATIONS; i++) {
		if (!list[i].count)
			list[i].op = op;
		if (list[i].op == op) {
			list[i].count++;
			return;
		}
	}
}

static uint32_t most_frequent(const struct operation_count *list)
{
	unsigned best = 0;

	for (unsigned i = 1; i < OPERATIONS; i++)
		if (list[i].count > list[best].count)
			best = i;
	return list[best].op;
}

static void add_span(struct tally *t, uint64_t start, uint64_t end)
{
	GROW_LIST(t->spans, t->span_count, t->span_room);
	t->spans[t->span_count++] = (struct span){start, end};
}

static void add_id(struct tally *t, uint64_t id)
{
	if (t->id_count == LINES)
		return;
	GROW_LIST(t->ids, t->id_count, t->id_room);
	t->ids[t->id_count++] = id;
}

/* End a row of calls of one operation. */
static void end_run(struct pattern_thread *t)
{
	const struct gt_operation_info *info = gt_operation(t->run.op);
	const bool copies = info && (info->kind == GT_KIND_COPY || info->kind == GT_KIND_SET);
	struct tally *tally = &t->tallies[copies ? PATTERN_COPY_RUNS : PATTERN_POLLING];

	if (t->run.count >= (copies ? PATTERN_COPIES_LEAST : PATTERN_QUERIES_LEAST)) {
		tally->count += t->run.count;
		tally->ns += t->run.ns;
		tally->bytes += t->run.bytes;
		count_operation(tally->operations, t->run.op);
		add_id(tally, t->last.id);
		add_span(tally, t->run.start, t->last.end);
	}
	t->run.count = 0;
}

static bool is_query(const struct outer *call)
{
	const char *name = gt_operation_name(call->op);

	return call->kind == GT_KIND_OTHER &&
	       (strstr(name, "Query") || strstr(name, "QueryStatus") ||
		!strcmp(name, "clGetEventInfo"));
}

/* Return true for a call between the calls of a pattern, such as the question for the current
 * device, which frameworks ask all the time. */
static bool is_transparent(const struct outer *call)
{
	return call->kind == GT_KIND_OTHER && call->cause == GT_IDLE_OTHER_CALL && !is_query(call);
}

static void step_run(struct pattern_thread *t, const struct outer *call)
{
	const bool runs = is_query(call) ||
			  (call->kind == GT_KIND_COPY && call->bytes &&
			   call->bytes <= PATTERN_RUN_BYTES && call->cause != GT_IDLE_COPYING);

	if (t->run.count && (!runs || t->run.op != call->op))
		end_run(t);
	if (!runs)
		return;
	if (!t->run.count) {
		t->run.op = call->op;
		t->run.start = call->start;
		t->run.ns = t->run.bytes = 0;
	}
	t->run.count++;
	t->run.ns += call->end - call->start;
	t->run.bytes += call->bytes;
}

/* Return true for a call that launches kernels one by one. A graph is a whole step. */
static bool launches_kernel(const struct outer *call)
{
	return call->kind == GT_KIND_LAUNCH && !strstr(gt_operation_name(call->op), "Graph");
}

static bool waits(const struct outer *call)
{
	return call->cause == GT_IDLE_SYNCHRONISING || call->cause == GT_IDLE_COPYING;
}

/* Add a small copy that returned when it was complete, or the wait after a small copy. */
static void step_small_copy(struct pattern_thread *t, const struct outer *call)
{
	const bool blocks = call->is_small && call->cause == GT_IDLE_COPYING,
		   follows = call->cause == GT_IDLE_SYNCHRONISING && t->last.is_small &&
			     t->last.cause != GT_IDLE_COPYING;
	const struct outer *copy = follows ? &t->last : call;
	struct tally *tally = &t->tallies[PATTERN_SMALL_COPIES];

	if (!blocks && !follows)
		return;
	tally->count++;
	tally->bytes += copy->bytes;
	tally->ns += call->end - copy->start;
	count_operation(tally->operations, copy->op);
	if (follows)
		count_operation(tally->then, call->op);
	add_span(tally, copy->start, call->end);
	add_id(tally, copy->id);
}

static void step_wait(struct pattern_thread *t, const struct outer *call)
{
	struct tally *tally = &t->tallies[PATTERN_WAIT_EACH];

	if (call->cause == GT_IDLE_SYNCHRONISING && t->since_wait == 1 &&
	    launches_kernel(&t->last)) {
		tally->count++;
		tally->ns += call->end - call->start;
		count_operation(tally->operations, call->op);
		count_operation(tally->then, t->last.op);
		add_span(tally, t->last.start, call->end);
		add_id(tally, t->last.id);
	}
	if (waits(call)) {
		t->since_wait = 0;
		add_span(&t->waits, call->start, call->end);
	}
}

static void step_loop(struct pattern_thread *t, const struct outer *call)
{
	const bool allocates = call->cause == GT_IDLE_ALLOCATING || call->cause == GT_IDLE_FREEING,
		   builds = call->cause == GT_IDLE_COMPILING;
	struct tally *tally = &t->tallies[builds ? PATTERN_BUILDS : PATTERN_ALLOCATIONS];

	if (!allocates && !builds)
		return;
	count_operation(tally->operations, call->op);
	add_span(tally, call->start, call->end);
	add_id(tally, call->id);
}

void patterns_note_call(struct patterns *p, const struct idle *idle, const struct gt_item *item)
{
	const struct gt_operation_info *info = gt_operation(item->op);
	const struct gt_call_view view = {item->op, item->args, item->payload, item->payload_bytes};
	struct pattern_thread *t;
	struct outer call;

	/* operations of relayed domains get their numbers while records are read */
	if (!p->wanted || !info ||
	    gt_domain_traits[GT_OP_DOMAIN(item->op) % GT_DOMAIN_COUNT].annotations ||
	    gt_domain_traits[GT_OP_DOMAIN(item->op) % GT_DOMAIN_COUNT].relayed)
		return;
	t = find_thread(p, item->process, item->ordinal);
	if (!t)
		return;
	if (item->start_ns < t->outer_end && item->end_ns <= t->outer_end)
		return; /* inside the last outermost call */
	t->outer_end = item->end_ns;
	call = (struct outer){.id = item->id,
			      .start = item->start_ns,
			      .end = item->end_ns,
			      .op = info->op,
			      .kind = (enum gt_operation_kind)info->kind,
			      .cause = idle_call_cause(idle, item)};
	if (is_transparent(&call))
		return;
	if (!gt_call_bytes(&view, &call.bytes))
		call.bytes = 0;
	call.is_small =
		call.kind == GT_KIND_COPY && call.bytes && call.bytes <= PATTERN_SMALL_BYTES;
	step_run(t, &call);
	step_small_copy(t, &call);
	step_wait(t, &call);
	step_loop(t, &call);
	if (call.kind == GT_KIND_LAUNCH) {
		t->launches++;
		t->since_wait++;
		t->last_launch_ns = call.start;
		if (t->launches == PATTERN_START_LAUNCHES)
			t->loop_from_ns = call.start;
	}
	t->last = call;
}

/* Activities ----------------------------------------------------------------------- */

void patterns_note_activity(struct patterns *p, const struct gt_item *activity, uint32_t name,
			    bool is_pageable)
{
	struct pattern_thread *t;

	if (!p->wanted || !activity->id)
		return;
	t = find_thread(p, activity->process, GT_ID_ORDINAL(activity->id));
	if (!t)
		return;
	if (is_pageable) {
		t->tallies[PATTERN_PAGEABLE].count++;
		t->tallies[PATTERN_PAGEABLE].ns += activity->end_ns - activity->start_ns;
		t->tallies[PATTERN_PAGEABLE].bytes += activity->bytes;
		add_id(&t->tallies[PATTERN_PAGEABLE], activity->id);
	}
	/* the nodes of a graph repeat within one launch, and say nothing about a loop's steps */
	if (activity->replay && activity->ordinal_in_graph)
		return;
	if (t->item_count >= PERIOD_MOST)
		return;
	GROW_LIST(t->items, t->item_count, t->item_room);
	t->items[t->item_count++] =
		(struct period_item){activity->id, activity->start_ns, activity->end_ns, name,
				     activity->device_op == GT_DEVICE_KERNEL && !activity->replay};
}

static int compare_items(const void *a, const void *b)
{
	const struct period_item *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Count the calls that the thread made in its loop. */
static void count_in_loop(const struct pattern_thread *t, struct tally *tally)
{
	for (size_t i = 0; i < tally->span_count && t->loop_from_ns; i++)
		if (tally->spans[i].start >= t->loop_from_ns &&
		    tally->spans[i].start < t->loop_to_ns) {
			tally->count++;
			tally->ns += tally->spans[i].end - tally->spans[i].start;
		}
}

void patterns_end_records(struct patterns *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		struct pattern_thread *t = &p->threads[i];

		end_run(t);
		t->loop_to_ns = t->last_launch_ns;
		if (t->item_count)
			qsort(t->items, t->item_count, sizeof *t->items, compare_items);
		if (period_find(t->items, t->item_count, &t->period)) {
			t->loop_from_ns = t->period.third_ns;
			t->loop_to_ns = t->period.to_ns;
		}
		count_in_loop(t, &t->tallies[PATTERN_ALLOCATIONS]);
		count_in_loop(t, &t->tallies[PATTERN_BUILDS]);
	}
}

const struct period *patterns_period(const struct patterns *p, uint32_t number, uint32_t *process)
{
	*process = p->threads[number].process;
	return &p->threads[number].period;
}

/* Idle time ------------------------------------------------------------------------ */

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool has_span_at(struct tally *t, uint64_t time)
{
	size_t low = 0, high = t->span_count;

	if (!t->is_sorted && t->span_count)
		qsort(t->spans, t->span_count, sizeof *t->spans, compare_spans);
	t->is_sorted = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->spans[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low && t->spans[low - 1].end >= time;
}

/* Return true if the host did something outside calls that took long. */
static bool is_host_work(const struct gt_idle_part *part)
{
	return !strncmp(gt_idle_cause_name(part->cause), "host", 4) &&
	       part->end_ns - part->start_ns >= PATTERN_SHORT_GAP_NS;
}

/* Return true if the device waited for the thread to reach and make the launching call, or for the
 * runtime to pass on the launch. */
static bool is_of_launch(const struct gt_idle_part *part)
{
	return part->cause == GT_IDLE_LAUNCHING || part->cause == GT_IDLE_OTHER_CALL ||
	       part->cause == GT_IDLE_SUBMITTED_LATE || part->cause == GT_IDLE_STARTED_LATE ||
	       !strncmp(gt_idle_cause_name(part->cause), "host", 4);
}

void patterns_note_idle(void *patterns, const struct gt_idle_part *part)
{
	static const enum pattern_kind spanned[] = {PATTERN_SMALL_COPIES, PATTERN_WAIT_EACH,
						    PATTERN_POLLING, PATTERN_COPY_RUNS};
	struct patterns *p = patterns;
	const uint64_t ns = part->end_ns - part->start_ns;
	struct pattern_thread *t;

	if (!p->wanted || !part->ordinal || part->cause == GT_IDLE_UNRECORDED)
		return;
	t = find_thread(p, part->process, part->ordinal);
	if (!t)
		return;
	if (part->cause == GT_IDLE_PAGEABLE)
		t->tallies[PATTERN_PAGEABLE].idle_ns += ns;
	if (t->loop_from_ns && part->start_ns >= t->loop_from_ns &&
	    part->start_ns < t->loop_to_ns) {
		if (part->cause == GT_IDLE_ALLOCATING || part->cause == GT_IDLE_FREEING)
			t->tallies[PATTERN_ALLOCATIONS].idle_ns += ns;
		if (part->cause == GT_IDLE_COMPILING)
			t->tallies[PATTERN_BUILDS].idle_ns += ns;
	}
	if (is_host_work(part))
		return;
	for (unsigned i = 0; i < sizeof spanned / sizeof *spanned; i++)
		if (has_span_at(&t->tallies[spanned[i]], part->gap_start_ns))
			t->tallies[spanned[i]].idle_ns += ns;
	if (part->gap_end_ns - part->gap_start_ns < PATTERN_SHORT_GAP_NS && is_of_launch(part) &&
	    !has_span_at(&t->waits, part->gap_start_ns))
		t->short_gaps_ns += ns;
}

/* Results -------------------------------------------------------------------------- */

static void add_pattern(struct patterns *p, struct pattern pattern)
{
	GROW_LIST(p->list, p->count, p->room);
	p->list[p->count++] = pattern;
}

static int compare_durations(const void *a, const void *b)
{
	const struct period_item *x = a, *y = b;
	const uint64_t d = x->end_ns - x->start_ns, e = y->end_ns - y->start_ns;

	return (d > e) - (d < e);
}

/* Return the median duration of the kernels, whose number *count receives. Changes the order of the
 * items. */
static uint64_t find_median_kernel(struct period_item *items, size_t count, size_t *kernels)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].is_kernel)
			items[n++] = items[i];
	*kernels = n;
	if (!n)
		return 0;
	qsort(items, n, sizeof *items, compare_durations);
	return items[n / 2].end_ns - items[n / 2].start_ns;
}

/* Return the line that makes more than half of the calls, as far as their stacks are known. */
static uint32_t find_line(struct idle *idle, const struct pattern_thread *t,
			  const struct tally *tally)
{
	uint32_t line = LOOKUP_NONE, votes = 0, count = 0;

	for (uint32_t i = 0; i < tally->id_count; i++) {
		uint32_t one = idle_find_line(idle, t->process, tally->ids[i]);

		if (!votes)
			line = one;
		votes += one == line ? 1u : -1u;
	}
	for (uint32_t i = 0; i < tally->id_count && line != LOOKUP_NONE; i++)
		count += idle_find_line(idle, t->process, tally->ids[i]) == line;
	return 2 * count > tally->id_count ? line : LOOKUP_NONE;
}

/* Return true if the pattern is one of a loop, not of some calls. */
static bool is_frequent(const struct pattern_thread *t, enum pattern_kind kind)
{
	const uint64_t count = t->tallies[kind].count;

	switch (kind) {
	case PATTERN_WAIT_EACH: /* a step of one kernel has nothing to wait for later */
		return count >= PATTERN_LEAST && count * 2 >= t->launches &&
		       !(t->period.length && t->period.kernels < 2);
	case PATTERN_ALLOCATIONS: return count >= PATTERN_LEAST && count * 20 >= t->launches;
	case PATTERN_BUILDS: return count >= PATTERN_BUILDS_LEAST;
	default: return count >= PATTERN_LEAST;
	}
}

static void add_thread_patterns(struct patterns *p, struct idle *idle, struct pattern_thread *t,
				uint64_t span_ns)
{
	struct pattern pattern = {.process = t->process,
				  .ordinal = t->ordinal,
				  .device = LOOKUP_NONE,
				  .line = LOOKUP_NONE};
	const struct period period = t->period;
	uint64_t median, least_ns;
	size_t kernels;

	if (period.length) {
		pattern.kind = PATTERN_PERIOD;
		pattern.count = period.steps;
		pattern.ns = period.median_ns;
		pattern.period = period;
		add_pattern(p, pattern);
	}
	pattern.period = period;
	/* start-up takes longer than many loops */
	pattern.span_ns = period.length ? period.to_ns - period.from_ns : span_ns;
	least_ns = pattern.span_ns / 100 + 1;
	for (unsigned k = 0; k <= PATTERN_COPY_RUNS; k++) {
		const struct tally *tally = &t->tallies[k];

		if (!is_frequent(t, (enum pattern_kind)k) ||
		    (tally->ns < least_ns && tally->idle_ns < least_ns))
			continue;
		pattern.kind = (enum pattern_kind)k;
		pattern.op = most_frequent(tally->operations);
		pattern.then = most_frequent(tally->then);
		pattern.count = tally->count;
		pattern.ns = tally->ns;
		pattern.idle_ns = tally->idle_ns;
		pattern.bytes = tally->bytes;
		pattern.of = t->launches;
		pattern.line = find_line(idle, t, tally);
		add_pattern(p, pattern);
	}
	median = find_median_kernel(t->items, t->item_count, &kernels);
	if (kernels >= PATTERN_KERNELS_LEAST && median < PATTERN_SHORT_KERNEL_NS &&
	    t->short_gaps_ns >= least_ns * PATTERN_HOST_BOUND_PERCENT) {
		pattern.kind = PATTERN_SMALL_KERNELS;
		pattern.op = pattern.then = 0;
		pattern.line = LOOKUP_NONE;
		pattern.count = pattern.of = kernels;
		pattern.ns = pattern.bytes = 0;
		pattern.idle_ns = t->short_gaps_ns;
		pattern.each_ns = median;
		add_pattern(p, pattern);
	}
}

/* Add a gap that is more than half of its device's idle time. */
static void add_pauses(struct patterns *p, const struct idle *idle, uint64_t span_ns)
{
	for (uint32_t d = 0; d < idle->device_count; d++) {
		const struct idle_gap *gap = &idle->largest[(size_t)d * IDLE_LARGEST];
		uint64_t all = 0;

		for (uint32_t i = 0; i < idle->row_count; i++)
			if (idle->rows[i].owner.device == d)
				all += idle->rows[i].all.ns;
		if (gap->idle_ns <= span_ns / 100 || gap->idle_ns * 2 <= all)
			continue;
		add_pattern(p, (struct pattern){.kind = PATTERN_PAUSE,
						.process = gap->process,
						.ordinal = gap->ordinal,
						.device = d,
						.line = LOOKUP_NONE,
						.span_ns = span_ns,
						.count = 1,
						.idle_ns = gap->idle_ns,
						.of = all,
						.each_ns = gap->start_ns});
	}
}

/* The period comes last, because it costs nothing. */
static int compare_patterns(const void *a, const void *b)
{
	const struct pattern *x = a, *y = b;
	const uint64_t m = x->kind == PATTERN_PERIOD ? 0
			   : x->idle_ns > x->ns      ? x->idle_ns
						     : x->ns,
		       n = y->kind == PATTERN_PERIOD ? 0
			   : y->idle_ns > y->ns      ? y->idle_ns
						     : y->ns;

	if (m != n)
		return m < n ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

void patterns_finish(struct patterns *p, struct idle *idle, uint64_t span_ns)
{
	if (!p->wanted || !span_ns)
		return;
	for (uint32_t i = 0; i < p->thread_count; i++)
		add_thread_patterns(p, idle, &p->threads[i], span_ns);
	if (idle->largest)
		add_pauses(p, idle, span_ns);
	if (p->count)
		qsort(p->list, p->count, sizeof *p->list, compare_patterns);
}

void patterns_fini(struct patterns *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		for (unsigned k = 0; k < PATTERN_COUNT; k++) {
			free(p->threads[i].tallies[k].spans);
			free(p->threads[i].tallies[k].ids);
		}
		free(p->threads[i].waits.spans);
		free(p->threads[i].items);
	}
	free(p->threads);
	free(p->list);
	idmap_fini(&p->numbers);
	*p = (struct patterns){0};
}
