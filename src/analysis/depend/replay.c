/* SPDX-License-Identifier: MIT */
/* See replay.h. One pass over the nodes, because each edge comes from an earlier node. */
#include "analysis/depend/replay.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"

void replay_init(struct replay *r, const struct depend *d)
{
	*r = (struct replay){.depend = d, .last = LOOKUP_NONE};
	r->start = allocate_list(d->node_count + 1, sizeof *r->start);
	r->end = allocate_list(d->node_count + 1, sizeof *r->end);
	r->through = allocate_list(d->node_count + 1, sizeof *r->through);
}

void replay_fini(struct replay *r)
{
	free(r->start);
	free(r->end);
	free(r->through);
	*r = (struct replay){.last = LOOKUP_NONE};
}

/* Factors may be huge: times are at most LONGEST_NS, so that two of them can be added. */
#define LONGEST_NS (UINT64_C(1) << 62)

static uint64_t scaled(uint64_t ns, float factor)
{
	const double product = (double)ns * (double)factor;

	if (factor == 1)
		return ns < LONGEST_NS ? ns : LONGEST_NS;
	return product < (double)LONGEST_NS ? (uint64_t)(product + 0.5) : LONGEST_NS;
}

static uint64_t add(uint64_t time, uint64_t ns)
{
	const uint64_t sum = time + (ns < LONGEST_NS ? ns : LONGEST_NS);

	return sum < LONGEST_NS ? sum : LONGEST_NS;
}

static uint64_t lag_of(const struct depend_edge *e, const struct replay_change *change)
{
	switch (change->lags) {
	case REPLAY_LOW: return e->lag > e->less ? e->lag - e->less : 0;
	case REPLAY_HIGH: return e->lag + e->more;
	default: return e->lag;
	}
}

static float factor_of(const struct depend_node *n, const struct replay_change *change)
{
	if (change->removed != LOOKUP_NONE &&
	    (n->class == change->removed || n->launches == change->removed))
		return 0;
	return change->scales ? n->factor : 1;
}

/* Does --overlap remove the edge? */
static bool is_freed(const struct depend *d, const struct depend_node *to,
		     const struct depend_edge *e)
{
	const struct depend_node *from = e->from == LOOKUP_NONE ? NULL : &d->nodes[e->from];

	return from && from->type == DEPEND_IS_ACTIVITY && from->frees != to->frees &&
	       (e->kind == DEPEND_STREAM || e->kind == DEPEND_BUSY || e->kind == DEPEND_EVENT ||
		e->kind == DEPEND_GRAPH);
}

static void run_activity(struct replay *r, size_t i, const struct replay_change *change)
{
	const struct depend *d = r->depend;
	const struct depend_node *n = &d->nodes[i];
	const float factor = factor_of(n, change);
	const float in_call =
		n->launcher == LOOKUP_NONE ? 1 : factor_of(&d->nodes[n->launcher], change);
	uint64_t at = 0;
	size_t count;
	const struct depend_edge *edges = depend_edges(d, i, &count);

	r->through[i] = LOOKUP_NONE;
	for (size_t k = 0; k < count; k++) {
		const struct depend_edge *e = &edges[k];
		const bool is_first = e->from == LOOKUP_NONE;
		uint64_t ready = is_first ? add(e->inside, 0)
					  : add(r->end[e->from], scaled(e->inside, in_call));

		if (change->scales && is_freed(d, n, e))
			continue;
		ready = add(ready, factor == 0 ? 0 : lag_of(e, change));
		if (ready > at || r->through[i] == LOOKUP_NONE) {
			at = ready;
			r->through[i] = (uint32_t)(edges + k - d->edges);
		}
	}
	if (!count)
		at = add(depend_ready(n) - d->start, 0);
	r->start[i] = at;
	r->end[i] = n->is_marker ? at : add(at, scaled(n->end - n->start, factor));
}

static void run_thread(struct replay *r, size_t i, const struct replay_change *change)
{
	const struct depend *d = r->depend;
	const struct depend_node *n = &d->nodes[i];
	const float factor = factor_of(n, change);
	size_t count;
	const struct depend_edge *edges = depend_edges(d, i, &count);

	r->through[i] = LOOKUP_NONE;
	if (count && edges->kind == DEPEND_HOST) {
		r->start[i] = r->end[edges->from];
		r->end[i] = add(r->start[i], scaled(lag_of(edges, change), factor));
		r->through[i] = (uint32_t)(edges - d->edges);
		edges++;
		count--;
	} else {
		/* the first node of a thread, which another thread may have started */
		r->start[i] =
			count && edges->kind == DEPEND_THREAD ? 0 : add(n->start - d->start, 0);
		r->end[i] = add(r->start[i], count ? 0 : scaled(n->end - n->start, factor));
	}
	for (size_t k = 0; k < count && factor > 0; k++) {
		const uint64_t ready = add(add(r->end[edges[k].from], edges[k].inside),
					   scaled(lag_of(&edges[k], change), factor));

		if (ready > r->end[i]) {
			r->end[i] = ready;
			r->through[i] = (uint32_t)(edges + k - d->edges);
		}
	}
}

/* Return the new time of a moment in a node, or near it, on its thread. */
static uint64_t new_time(const struct replay *r, uint32_t node, uint64_t time)
{
	const struct depend_node *n = &r->depend->nodes[node];
	const uint64_t ns = r->end[node] - r->start[node];

	if (time >= n->end)
		return add(r->end[node], time - n->end);
	if (time <= n->start)
		return r->start[node] > n->start - time ? r->start[node] - (n->start - time) : 0;
	return r->start[node] +
	       (uint64_t)((double)ns * (double)(time - n->start) / (double)(n->end - n->start));
}

/* Find the new mean length of the ranges. */
static void measure_ranges(struct replay *r)
{
	const struct depend *d = r->depend;
	uint64_t sum = 0, latest = 0;

	for (size_t i = 0; i < d->range_count; i++) {
		const struct depend_range *range = &d->ranges[i];
		const uint64_t from = new_time(r, range->first, range->start),
			       to = new_time(r, range->last, range->end);

		sum += to > from ? to - from : 0;
		if (to >= latest) {
			latest = to;
			r->last = range->last;
			r->until = to;
		}
	}
	if (d->range_count)
		r->length = sum / d->range_count;
}

void replay_run(struct replay *r, const struct replay_change *change)
{
	const struct depend *d = r->depend;

	r->length = 0;
	r->last = LOOKUP_NONE;
	r->until = 0;
	for (size_t i = 0; i < d->node_count; i++) {
		if (d->nodes[i].type == DEPEND_IS_ACTIVITY)
			run_activity(r, i, change);
		else
			run_thread(r, i, change);
		if (d->nodes[i].type != DEPEND_IS_HOST &&
		    (r->end[i] > r->length || r->last == LOOKUP_NONE)) {
			r->length = r->end[i];
			r->last = (uint32_t)i;
		}
	}
	measure_ranges(r);
}

/* Critical path ---------------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b)
{
	const struct replay_share *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->class > y->class) - (x->class < y->class);
}

/* Disjoint times of ranges, in order; before: total length of the earlier ones. */
struct inside {
	struct inside_span {
		uint64_t from, to, before;
	} * list;
	size_t count;
};

static int compare_spans(const void *a, const void *b)
{
	const struct inside_span *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static struct inside find_inside(const struct replay *r)
{
	const struct depend *d = r->depend;
	struct inside in = {.list = allocate_scratch(d->range_count + 1, sizeof *in.list)};

	for (size_t i = 0; i < d->range_count; i++)
		in.list[i] = (struct inside_span){.from = new_time(r, d->ranges[i].first,
								   d->ranges[i].start),
						  .to = new_time(r, d->ranges[i].last,
								 d->ranges[i].end)};
	qsort(in.list, d->range_count, sizeof *in.list, compare_spans);
	for (size_t i = 0; i < d->range_count; i++) {
		struct inside_span *last = in.count ? &in.list[in.count - 1] : NULL;
		const struct inside_span s = in.list[i];

		if (last && s.from <= last->to)
			last->to = s.to > last->to ? s.to : last->to;
		else
			in.list[in.count++] =
				(struct inside_span){s.from, s.to > s.from ? s.to : s.from,
						     last ? last->before + (last->to - last->from)
							  : 0};
	}
	return in;
}

/* Return the time in ranges before @time; without ranges, @time. */
static uint64_t inside_before(const struct inside *in, uint64_t time)
{
	size_t low = 0, high = in->count;
	const struct inside_span *s;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (in->list[middle].from <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!in->count)
		return time;
	if (!low)
		return 0;
	s = &in->list[low - 1];
	return s->before + ((time < s->to ? time : s->to) - s->from);
}

static uint64_t inside_between(const struct inside *in, uint64_t from, uint64_t to)
{
	return to > from ? inside_before(in, to) - inside_before(in, from) : 0;
}

/* Add the time of a node, and the time that it waited after its last dependency. */
static void add_shares(const struct replay *r, struct replay_path *p, const struct inside *in,
		       uint32_t i)
{
	const struct depend *d = r->depend;
	const struct depend_node *n = &d->nodes[i];
	const struct depend_edge *e =
		r->through[i] == LOOKUP_NONE ? NULL : &d->edges[r->through[i]];
	const uint64_t from = e && e->from != LOOKUP_NONE ? r->end[e->from] : 0;
	const uint64_t start = r->start[i], end = r->end[i];
	struct replay_share *own = &p->shares[n->class], *lag;
	uint64_t called; /* end of the time in the launching call */

	own->count++;
	if (n->type != DEPEND_IS_ACTIVITY) {
		/* the time after a wait is time in the call */
		own->ns += inside_between(in, e ? from : start, end);
		return;
	}
	own->ns += inside_between(in, start, end);
	if (!e)
		return;
	lag = &p->shares[d->class_count + e->kind];
	called = e->kind == DEPEND_LAUNCH && start > from + e->lag ? start - e->lag : from;
	lag->ns += inside_between(in, called, start);
	lag->count++;
	if (called > from && n->launcher != LOOKUP_NONE)
		p->shares[d->nodes[n->launcher].class].ns += inside_between(in, from, called);
}

struct replay_path replay_find_path(const struct replay *r)
{
	const struct depend *d = r->depend;
	struct replay_path p = {.count = d->class_count + DEPEND_KIND_COUNT};
	struct inside in = find_inside(r);

	p.shares = allocate_list(p.count, sizeof *p.shares);
	for (size_t c = 0; c < p.count; c++) {
		p.shares[c].class = c < d->class_count ? (uint32_t)c : LOOKUP_NONE;
		p.shares[c].kind = c < d->class_count ? 0 : (enum depend_kind)(c - d->class_count);
	}
	for (uint32_t i = r->last; i != LOOKUP_NONE;) {
		const uint32_t edge = r->through[i];

		add_shares(r, &p, &in, i);
		i = edge == LOOKUP_NONE ? LOOKUP_NONE : d->edges[edge].from;
	}
	/* the last range may end after the last call */
	p.shares[0].ns += inside_between(&in, r->end[r->last], r->until);
	free_scratch(in.list);
	for (size_t c = 0; d->range_count && c < p.count; c++)
		p.shares[c].ns /= d->range_count;
	qsort(p.shares, p.count, sizeof *p.shares, compare_shares);
	while (p.count && !p.shares[p.count - 1].ns)
		p.count--;
	return p;
}

void replay_path_fini(struct replay_path *p)
{
	free(p->shares);
	*p = (struct replay_path){.count = 0};
}

/* Removals --------------------------------------------------------------------------- */

static int compare_by_time(const void *a, const void *b)
{
	const struct replay_candidate *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->class > y->class) - (x->class < y->class);
}

static int compare_by_length(const void *a, const void *b)
{
	const struct replay_candidate *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return compare_by_time(a, b);
}

size_t replay_rank_removals(struct replay *r, const struct replay_change *base,
			    struct replay_candidate *out, size_t most)
{
	const struct depend *d = r->depend;
	struct replay_candidate *all = allocate_scratch(d->class_count, sizeof *all);
	size_t count = 0;

	for (size_t c = 0; c < d->class_count; c++)
		all[c].class = (uint32_t)c;
	for (size_t i = 0; i < d->node_count; i++) {
		struct replay_candidate *c = &all[d->nodes[i].class];

		c->ns += d->nodes[i].end - d->nodes[i].start;
		c->count += d->nodes[i].type == DEPEND_IS_ACTIVITY || d->nodes[i].ends_call;
	}
	all[0].ns = 0; /* time outside any call is not a candidate */
	qsort(all, d->class_count, sizeof *all, compare_by_time);
	for (size_t c = 0; c < d->class_count && count < most && all[c].ns; c++) {
		struct replay_change change = *base;

		change.removed = all[c].class;
		replay_run(r, &change);
		out[count] = all[c];
		out[count++].length = r->length;
	}
	qsort(out, count, sizeof *out, compare_by_length);
	free_scratch(all);
	return count;
}
