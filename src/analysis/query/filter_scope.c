/* SPDX-License-Identifier: MIT */
#include "analysis/query/filter_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/filter_process.h"
#include "analysis/query/filter_tree.h"
#include "record/operation.h"
#include "util/error.h"

/* Times at which records that match an expression can start. No matching record starts at another
 * time. `exact`: true if, in addition, all records that start at these times match. */
struct times {
	struct filter_times in;
	bool exact;
};

static const struct times always = {{{{0, UINT64_MAX}}, 1}, false};

static void add_span(struct filter_times *t, uint64_t from_ns, uint64_t to_ns)
{
	struct gt_time_range *last = t->count ? &t->spans[t->count - 1] : NULL;

	if (last && (last->to_ns == UINT64_MAX || from_ns <= last->to_ns + 1 ||
		     t->count == FILTER_SPANS_MOST))
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
	else
		t->spans[t->count++] = (struct gt_time_range){from_ns, to_ns};
}

static struct times intersect(const struct times *a, const struct times *b)
{
	struct times both = {.exact = a->exact && b->exact};

	for (uint32_t i = 0, j = 0; i < a->in.count && j < b->in.count;) {
		const struct gt_time_range *x = &a->in.spans[i], *y = &b->in.spans[j];
		uint64_t from = x->from_ns > y->from_ns ? x->from_ns : y->from_ns;
		uint64_t to = x->to_ns < y->to_ns ? x->to_ns : y->to_ns;

		both.exact &= both.in.count < FILTER_SPANS_MOST;
		if (from <= to)
			add_span(&both.in, from, to);
		if (x->to_ns < y->to_ns)
			i++;
		else
			j++;
	}
	return both;
}

static struct times unite(const struct times *a, const struct times *b)
{
	struct times any = {.exact = a->exact && b->exact};
	uint32_t i = 0, j = 0;

	while (i < a->in.count || j < b->in.count) {
		const bool first =
			j == b->in.count ||
			(i < a->in.count && a->in.spans[i].from_ns <= b->in.spans[j].from_ns);
		const struct gt_time_range *next = first ? &a->in.spans[i++] : &b->in.spans[j++];

		any.exact &= any.in.count < FILTER_SPANS_MOST;
		add_span(&any.in, next->from_ns, next->to_ns);
	}
	return any;
}

static struct times complement(const struct times *a)
{
	struct times rest = {.exact = true};
	uint64_t from = 0;

	if (!a->exact || a->in.count >= FILTER_SPANS_MOST)
		return always;
	for (uint32_t i = 0; i < a->in.count; i++) {
		const struct gt_time_range *x = &a->in.spans[i];

		if (x->from_ns > from)
			add_span(&rest.in, from, x->from_ns - 1);
		if (x->to_ns == UINT64_MAX)
			return rest;
		from = x->to_ns + 1;
	}
	add_span(&rest.in, from, UINT64_MAX);
	return rest;
}

/* Convert a time since the capture's start to the capture's clock. */
static uint64_t add_ns(uint64_t ns, int64_t after)
{
	uint64_t sum;

	if (after < 0)
		return ns > (uint64_t)-after ? ns + (uint64_t)after : 0;
	return __builtin_add_overflow(ns, (uint64_t)after, &sum) ? UINT64_MAX : sum;
}

/* Find the first and the last time that a point refers to, over all processes. Return false if the
 * point exists in no process. */
static bool find_hull(const struct filter *f, const struct filter_point *point, bool end,
		      struct gt_time_range *out)
{
	const struct filter_occurrence *o;
	bool any = false;

	if (point->occurrence == FILTER_NO_OCCURRENCE) {
		out->from_ns = out->to_ns = add_ns(f->origin_ns, point->ns);
		return true;
	}
	o = &f->occurrences[point->occurrence];
	*out = (struct gt_time_range){UINT64_MAX, 0};
	for (uint32_t i = 0; i < o->span_count; i++) {
		uint64_t ns = add_ns(end ? o->spans[i].to_ns : o->spans[i].from_ns, point->ns);

		if (!o->spans[i].to_ns)
			continue;
		any = true;
		out->from_ns = ns < out->from_ns ? ns : out->from_ns;
		out->to_ns = ns > out->to_ns ? ns : out->to_ns;
	}
	return any;
}

static struct times times_of_at(const struct filter *f, const struct filter_node *n)
{
	const bool interval = n->compare == CMP_EQ || n->compare == CMP_NE;
	const bool fixed = n->from.occurrence == FILTER_NO_OCCURRENCE &&
			   n->to.occurrence == FILTER_NO_OCCURRENCE;
	/* the time of a range differs between processes */
	struct times t = {.exact = fixed || f->is_one_process};
	struct gt_time_range from, to = {0};

	if (!find_hull(f, &n->from, n->compare == CMP_LE || n->compare == CMP_GT, &from) ||
	    (interval && !find_hull(f, &n->to, true, &to)))
		return t; /* the range exists in no process, so the condition matches nothing */
	switch (n->compare) {
	case CMP_LT:
		if (from.to_ns)
			add_span(&t.in, 0, from.to_ns - 1);
		return t;
	case CMP_LE: add_span(&t.in, 0, from.to_ns); return t;
	case CMP_GT:
		if (from.from_ns < UINT64_MAX)
			add_span(&t.in, from.from_ns + 1, UINT64_MAX);
		return t;
	case CMP_GE: add_span(&t.in, from.from_ns, UINT64_MAX); return t;
	default: break;
	}
	if (fixed && to.to_ns > from.from_ns)
		to.to_ns--; /* the end is excluded */
	if (to.to_ns >= from.from_ns)
		add_span(&t.in, from.from_ns, to.to_ns);
	return n->compare == CMP_EQ ? t : complement(&t);
}

static struct times times_of(const struct filter *f, const struct filter_node *n)
{
	struct times left, right;

	switch (n->type) {
	case NODE_AND:
		left = times_of(f, n->left);
		right = times_of(f, n->right);
		return intersect(&left, &right);
	case NODE_OR:
		left = times_of(f, n->left);
		right = times_of(f, n->right);
		return unite(&left, &right);
	case NODE_NOT: left = times_of(f, n->left); return complement(&left);
	case NODE_AT: return times_of_at(f, n);
	default: return always;
	}
}

/* Find the times. @is_time: set to true if all records that start at these times match. */
static bool find_times(const struct filter *f, struct filter_times *times, bool *is_time)
{
	struct times t = times_of(f, f->root);

	*times = t.in;
	*is_time = t.exact;
	return t.in.count != 1 || t.in.spans[0].from_ns || t.in.spans[0].to_ns != UINT64_MAX;
}

bool filter_find_times(const struct filter *f, struct filter_times *times)
{
	bool is_time;

	return find_times(f, times, &is_time);
}

const struct gt_time_range *filter_times_find(const struct filter_times *times, uint64_t ns)
{
	for (uint32_t i = 0; i < times->count; i++)
		if (ns >= times->spans[i].from_ns && ns <= times->spans[i].to_ns)
			return &times->spans[i];
	return NULL;
}

/* Return true if calls of the capture wait, or may wait, for other processes. */
static bool has_collectives(const struct gt_capture *capture)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
		bool called = false;

		for (uint32_t i = 0; i < gt_capture_process_count(capture) && !called; i++)
			called = gt_capture_counts(capture, i)->seen[GT_CLASS_CALL][d] != 0;
		for (uint32_t n = 0; called && n < gt_operation_count((enum gt_domain)d); n++) {
			const struct gt_operation_info *info = gt_operation(GT_OP(d, n, 0));

			if (info && info->joins)
				return true;
		}
	}
	return false;
}

int filter_scope_find(struct filter_scope *s, struct filter *f, const struct gt_capture *capture)
{
	bool *processes;
	int status = 0;

	*s = (struct filter_scope){0};
	if (f)
		f->is_one_process = gt_capture_process_count(capture) == 1;
	if (!f || has_collectives(capture))
		return 0;
	s->some = find_times(f, &s->begins, &s->is_time);
	processes = calloc(gt_capture_process_count(capture) + 1, sizeof *processes);
	if (!processes)
		return gt_error(-ENOMEM, "cannot evaluate --where");
	s->of_processes = filter_find_processes(f, capture, processes);
	if (s->of_processes)
		status = gt_capture_add_sharing(capture, processes);
	for (uint32_t i = 0; i < s->begins.count; i++) {
		const struct gt_time_range *span = &s->begins.spans[i];

		add_span(&s->overlaps,
			 span->from_ns > FILTER_CONTEXT_NS ? span->from_ns - FILTER_CONTEXT_NS : 0,
			 span->to_ns);
	}
	if (s->of_processes)
		s->processes = processes;
	else
		free(processes);
	return status;
}

void filter_scope_fini(struct filter_scope *s)
{
	free(s->processes);
	s->processes = NULL;
}

static struct gt_scope scope_of(const struct filter_scope *s)
{
	return (struct gt_scope){.spans = s->overlaps.spans,
				 .count = s->overlaps.count,
				 .processes = s->processes};
}

int filter_scope_restrict(const struct filter_scope *s, struct gt_cursor *cursor)
{
	const struct gt_scope scope = scope_of(s);

	return s->some || s->of_processes ? gt_cursor_take_scope(cursor, &scope) : 0;
}

int filter_scope_begin(struct filter_scope *s, struct filter *f, const struct gt_capture *capture)
{
	struct gt_scope scope;
	int status;

	filter_scope_end(capture);
	status = filter_scope_find(s, f, capture);
	scope = scope_of(s);
	if (!status && (s->some || s->of_processes))
		status = gt_capture_set_scope((struct gt_capture *)(uintptr_t)capture, &scope);
	filter_scope_fini(s);
	return status;
}
