/* SPDX-License-Identifier: MIT */
/* See idle_states.h. Splits an interval of a thread into spans. */
#include "analysis/idle/idle_interval.h"

#include <string.h>

/* Use of the processor in an interval. */
struct use {
	bool is_known;
	uint64_t cpu_ns;
	bool is_faults; /* true if page faults took most of cpu_ns */
	double voluntary, involuntary, minor_faults, major_faults;
};

/* CPU time per page fault at which page faults take most of the CPU time. A first touch of a page
 * of 4 KiB takes 0.5 to 1 us, including the write. One of 2 MiB takes 50 to 300 us, or up to 800
 * us in a virtual machine whose host has to find the memory too, mostly system time. */
enum { SMALL_FAULT_NS = 4000, LARGE_FAULT_NS = 2000000 };

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t scale(uint64_t value, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)value * part / whole) : 0;
}

static bool is_busy(enum gt_host_state state)
{
	return state == GT_HOST_STATE_COMPUTING || state == GT_HOST_STATE_FAULTS ||
	       state == GT_HOST_STATE_RUNNABLE;
}

/* Usage ------------------------------------------------------------------------------- */

static bool takes_faults(const struct idle_usage *a, const struct idle_usage *b, uint64_t cpu_ns)
{
	const uint64_t faults = b->minor_faults - a->minor_faults;
	const bool has_system = b->system_ns > 0 && b->system_ns >= a->system_ns;

	if (!faults || cpu_ns / faults > LARGE_FAULT_NS)
		return false;
	if (cpu_ns / faults <= SMALL_FAULT_NS)
		return true;
	return has_system && (b->system_ns - a->system_ns) * 2 >= cpu_ns;
}

/* Find the usage between the readings at both edges. The first reading may be earlier than the
 * interval. Short calls and short pauses then lie between, in which the thread ran. */
static struct use find_use(const struct idle_interval *v, const struct idle_state_row *rows,
			   size_t count)
{
	const uint64_t slack = idle_edge_ns(v->from, v->to), length = v->to - v->from;
	const struct idle_state_row *first = NULL, *last = NULL;
	const struct idle_usage *a, *b;
	uint64_t between, other, cpu;
	double share;

	for (size_t i = 0; i < count && !last; i++)
		if (idle_is_usage_from(&rows[i], v->to - slack))
			last = &rows[i];
		else if (rows[i].detail == GT_HOST_USAGE && rows[i].start <= v->from + slack)
			first = &rows[i];
	if (!first || !last)
		return (struct use){.is_known = false};
	a = &first->usage;
	b = &last->usage;
	if (b->cpu_ns < a->cpu_ns || b->voluntary < a->voluntary ||
	    b->involuntary < a->involuntary || b->minor_faults < a->minor_faults ||
	    b->major_faults < a->major_faults)
		return (struct use){.is_known = false};
	between = last->start > first->start ? last->start - first->start : 1;
	other = between > length ? between - length : 0;
	cpu = b->cpu_ns - a->cpu_ns;
	if (last->start < v->to) /* the thread read its usage and its stack */
		cpu += v->to - last->start;
	/* much other time: known only if the thread ran all the time */
	if (other > length && cpu < between - between / 20)
		return (struct use){.is_known = false};
	share = other < length ? 1 : (double)length / (double)between;
	return (struct use){
		.is_known = true,
		.cpu_ns = least(cpu > other ? cpu - other : 0, length),
		.is_faults = takes_faults(a, b, cpu),
		.voluntary = share * (double)(b->voluntary - a->voluntary),
		.involuntary = share * (double)(b->involuntary - a->involuntary),
		.minor_faults = share * (double)(b->minor_faults - a->minor_faults),
		.major_faults = share * (double)(b->major_faults - a->major_faults),
	};
}

/* Spans ------------------------------------------------------------------------------- */

static struct idle_span *add_span(struct idle_interval *v, uint64_t start, uint64_t end)
{
	struct idle_span *span;

	GROW_LIST(v->spans, v->count, v->room);
	span = &v->spans[v->count++];
	*span = (struct idle_span){.start = start,
				   .end = end,
				   .cpu_state = GT_HOST_STATE_COMPUTING,
				   .state = GT_HOST_STATE_UNKNOWN,
				   .wait = LOOKUP_NONE};
	return span;
}

/* Give the span the state and the shares of a row. */
static void copy_state(struct idle_span *span, const struct idle_state_row *row)
{
	const uint64_t length = span->end - span->start, whole = row->end - row->start;
	const uint64_t cpu = scale(row->cpu_ns, length, whole),
		       delay = scale(row->delay_ns, length, whole);

	span->state = (enum gt_host_state)row->state;
	span->wait = row->wait;
	span->has_holder = row->has_holder;
	if (row->state == GT_HOST_STATE_FAULTS)
		span->cpu_state = GT_HOST_STATE_FAULTS;
	if (row->state == GT_HOST_STATE_RUNNABLE) {
		span->cpu_ns = least(cpu, length);
		span->delay_ns = length - span->cpu_ns;
	} else if (is_busy(span->state) && !cpu) { /* CPU time was not read */
		span->delay_ns = least(delay, length);
		span->cpu_ns = length - span->delay_ns;
	} else {
		span->cpu_ns = least(cpu, length);
		span->delay_ns = least(delay, length - span->cpu_ns);
	}
}

/* Fill the time between two states. @left, @right: NULL at the edges of the interval. */
static void add_hole(struct idle_interval *v, uint64_t start, uint64_t end,
		     const struct idle_state_row *left, const struct idle_state_row *right)
{
	const struct idle_state_row *row = left ? left : right;
	uint64_t middle = end;
	struct idle_span *span;

	if (left && right && (left->state != right->state || left->wait != right->wait)) {
		if (is_busy((enum gt_host_state)left->state) ==
		    is_busy((enum gt_host_state)right->state))
			middle = start + (end - start) / 2;
		else
			row = is_busy((enum gt_host_state)left->state) ? right : left;
	}
	span = add_span(v, start, middle);
	span->is_hole = true;
	if (row)
		copy_state(span, row);
	if (left && right &&
	    is_busy((enum gt_host_state)left->state) != is_busy((enum gt_host_state)right->state)) {
		span->cpu_ns = (end - start) / 2;
		span->delay_ns = 0;
	}
	if (middle < end) {
		span = add_span(v, middle, end);
		span->is_hole = true;
		copy_state(span, right);
	}
}

static void add_spans(struct idle_interval *v, const struct idle_state_row *rows, size_t count)
{
	const struct idle_state_row *last = NULL;
	uint64_t at = v->from;

	for (size_t i = 0; i < count; i++) {
		const struct idle_state_row *row = &rows[i];
		uint64_t start = row->start > at ? row->start : at, end = least(row->end, v->to);

		if (row->detail != GT_HOST_STATE || row->end < v->from || row->start >= v->to)
			continue;
		if (start > at)
			add_hole(v, at, start, last, row);
		if (end > start)
			copy_state(add_span(v, start, end), row);
		last = row;
		at = end > start ? end : start;
	}
	if (at < v->to)
		add_hole(v, at, v->to, last, NULL);
}

/* CPU time ---------------------------------------------------------------------------- */

/* MIXED: holes at which the thread began or ceased to wait. */
enum kind { MIXED, HOLES, BUSY, ANY };

static bool is_kind(const struct idle_span *span, enum kind kind)
{
	return kind == ANY || (kind == HOLES && span->is_hole) ||
	       (kind == MIXED && span->is_hole && !is_busy(span->state)) ||
	       (kind == BUSY && is_busy(span->state));
}

/* Return the time of a span that can become CPU time, or that can stop being CPU time. */
static uint64_t room_of(const struct idle_span *span, enum kind kind, bool adds)
{
	if (!is_kind(span, kind))
		return 0;
	return adds ? span->end - span->start - span->cpu_ns : span->cpu_ns;
}

static void move_cpu(struct idle_span *span, uint64_t ns, bool adds, bool to_delay)
{
	if (adds) {
		span->cpu_ns += ns;
		span->delay_ns = least(span->delay_ns, span->end - span->start - span->cpu_ns);
		return;
	}
	span->cpu_ns -= ns;
	if (is_busy(span->state) && to_delay)
		span->delay_ns += ns;
}

/* Add CPU time to spans, or remove it, in proportion to the room. Return the time that did not
 * fit. @to_delay: removed time was waiting for a processor, if the thread was ready to run. */
static uint64_t change_cpu(struct idle_interval *v, enum kind kind, uint64_t ns, bool adds,
			   bool to_delay)
{
	uint64_t room = 0, left;

	for (size_t i = 0; i < v->count; i++)
		room += room_of(&v->spans[i], kind, adds);
	left = least(ns, room);
	ns -= left;
	for (size_t i = 0; i < v->count && left; i++) {
		const uint64_t own = room_of(&v->spans[i], kind, adds);
		const uint64_t part = scale(left, own, room);

		move_cpu(&v->spans[i], part, adds, to_delay);
		left -= part;
		room -= own;
	}
	return ns;
}

/* Set the state of time that was neither CPU time nor seen as waiting. A thread that was seen ready
 * to run, and was replaced by others, waited for a processor. */
static void name_rest(struct idle_interval *v, const struct use *use)
{
	const enum gt_host_state known = use->voluntary > 0     ? GT_HOST_STATE_WAITING
					 : use->involuntary > 0 ? GT_HOST_STATE_RUNNABLE
								: GT_HOST_STATE_UNKNOWN;

	for (size_t i = 0; i < v->count; i++) {
		struct idle_span *span = &v->spans[i];
		const uint64_t length = span->end - span->start;

		if (is_busy(span->state))
			span->state = use->involuntary > 0 ? GT_HOST_STATE_RUNNABLE : known;
		else if (span->state == GT_HOST_STATE_UNKNOWN)
			span->state = known;
		if (span->state == GT_HOST_STATE_RUNNABLE)
			span->delay_ns = length - span->cpu_ns;
		/* interrupts, and time that a hypervisor took, are not in the CPU time */
		if (span->state == GT_HOST_STATE_UNKNOWN && span->cpu_ns >= length - length / 16)
			span->cpu_ns = length - span->delay_ns;
	}
}

/* Make the CPU time of all spans equal to the usage. */
static void match_cpu(struct idle_interval *v, const struct use *use)
{
	const bool has_switches = use->voluntary > 0 || use->involuntary > 0;
	uint64_t sum = 0, ns;

	for (size_t i = 0; i < v->count; i++)
		sum += v->spans[i].cpu_ns;
	if (use->cpu_ns > sum) {
		ns = change_cpu(v, HOLES, use->cpu_ns - sum, true, false);
		ns = change_cpu(v, BUSY, ns, true, false);
		change_cpu(v, ANY, ns, true, false);
	} else if (has_switches) {
		ns = change_cpu(v, MIXED, sum - use->cpu_ns, false, false);
		ns = change_cpu(v, HOLES, ns, false, use->involuntary > 0);
		change_cpu(v, ANY, ns, false, use->involuntary > 0);
	}
	name_rest(v, use);
}

/* Page faults that read storage block the thread. */
static void name_faults(struct idle_interval *v, const struct use *use)
{
	for (size_t i = 0; i < v->count; i++) {
		struct idle_span *span = &v->spans[i];

		if (use->is_faults)
			span->cpu_state = GT_HOST_STATE_FAULTS;
		if (use->major_faults > 0 &&
		    (span->state == GT_HOST_STATE_DISK || span->state == GT_HOST_STATE_WAITING))
			span->state = GT_HOST_STATE_FAULTS;
	}
}

void idle_interval_split(struct idle_interval *v, const struct idle_state_row *rows, size_t count)
{
	const struct use use = find_use(v, rows, count);

	v->count = 0;
	v->cpu_ns = v->delay_ns = v->rest_ns = 0;
	add_spans(v, rows, count);
	if (use.is_known) {
		match_cpu(v, &use);
		name_faults(v, &use);
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct idle_span *span = &v->spans[i];

		v->cpu_ns += span->cpu_ns;
		v->delay_ns += span->delay_ns;
		v->rest_ns += span->end - span->start - span->cpu_ns - span->delay_ns;
	}
	v->voluntary = use.voluntary;
	v->involuntary = use.involuntary;
	v->minor_faults = use.minor_faults;
	v->major_faults = use.major_faults;
}

size_t idle_interval_find(const struct idle_interval *v, uint64_t time)
{
	size_t low = 0, high = v->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (v->spans[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
