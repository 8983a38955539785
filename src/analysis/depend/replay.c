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

static uint64_t scaled(uint64_t ns, float factor)
{
	return factor == 1 ? ns : (uint64_t)((double)ns * (double)factor + 0.5);
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
		uint64_t ready =
			is_first ? e->inside : r->end[e->from] + scaled(e->inside, in_call);

		if (change->scales && is_freed(d, n, e))
			continue;
		ready += factor == 0 ? 0 : lag_of(e, change);
		if (ready > at || r->through[i] == LOOKUP_NONE) {
			at = ready;
			r->through[i] = (uint32_t)(edges + k - d->edges);
		}
	}
	if (!count)
		at = depend_ready(n) - d->start;
	r->start[i] = at;
	r->end[i] = n->is_marker ? at : at + scaled(n->end - n->start, factor);
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
		r->end[i] = r->start[i] + scaled(lag_of(edges, change), factor);
		r->through[i] = (uint32_t)(edges - d->edges);
		edges++;
		count--;
	} else {
		/* the first node of a thread, which another thread may have started */
		r->start[i] = count && edges->kind == DEPEND_THREAD ? 0 : n->start - d->start;
		r->end[i] = r->start[i] + (count ? 0 : scaled(n->end - n->start, factor));
	}
	for (size_t k = 0; k < count && factor > 0; k++) {
		const uint64_t ready =
			r->end[edges[k].from] + scaled(lag_of(&edges[k], change), factor);

		if (ready > r->end[i]) {
			r->end[i] = ready;
			r->through[i] = (uint32_t)(edges + k - d->edges);
		}
	}
}

void replay_run(struct replay *r, const struct replay_change *change)
{
	const struct depend *d = r->depend;

	r->length = 0;
	r->last = LOOKUP_NONE;
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
}

/* Critical path ---------------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b)
{
	const struct replay_share *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->class > y->class) - (x->class < y->class);
}

struct replay_path replay_find_path(const struct replay *r)
{
	const struct depend *d = r->depend;
	struct replay_path p = {.count = d->class_count + DEPEND_KIND_COUNT};

	p.shares = allocate_list(p.count, sizeof *p.shares);
	for (size_t c = 0; c < p.count; c++) {
		p.shares[c].class = c < d->class_count ? (uint32_t)c : LOOKUP_NONE;
		p.shares[c].kind = c < d->class_count ? 0 : (enum depend_kind)(c - d->class_count);
	}
	for (uint32_t i = r->last; i != LOOKUP_NONE;) {
		const struct depend_node *n = &d->nodes[i];
		const struct depend_edge *e =
			r->through[i] == LOOKUP_NONE ? NULL : &d->edges[r->through[i]];
		const uint64_t from = e && e->from != LOOKUP_NONE ? r->end[e->from] : 0;
		struct replay_share *s = &p.shares[n->class];

		s->count++;
		if (n->type != DEPEND_IS_ACTIVITY) {
			/* the time after a wait is time in the call */
			s->ns += r->end[i] - (e ? from : r->start[i]);
		} else {
			s->ns += r->end[i] - r->start[i];
			if (e) {
				struct replay_share *lag = &p.shares[d->class_count + e->kind];
				uint64_t in_call = r->start[i] - from;

				in_call = in_call < e->lag ? 0 : in_call - e->lag;
				lag->ns += r->start[i] - from - in_call;
				lag->count++;
				if (n->launcher != LOOKUP_NONE)
					p.shares[d->nodes[n->launcher].class].ns += in_call;
				else
					lag->ns += in_call;
			}
		}
		i = e ? e->from : LOOKUP_NONE;
	}
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
	struct replay_candidate *all = allocate_list(d->class_count, sizeof *all);
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
	free(all);
	return count;
}
