/* SPDX-License-Identifier: MIT */
/* See depend_parts.h. A node started, or a call returned, a short time after the last of its
 * dependencies: the lag of this edge. The other edges were met earlier, and how short their lags
 * can be is not known. They get the median lag of edges of the same kind that nodes did wait for,
 * but no more than was recorded. The range of the estimate is that of most such lags (the tenth to
 * the ninetieth percentile), from 0 to the longest if there are few, and from 0 to what was
 * recorded if there are none. */
#include <stdlib.h>

#include "analysis/depend/depend_parts.h"
#include "analysis/tables/histogram.h"

enum { FEW = 8 };

struct lags {
	struct depend *d;
	struct idmap numbers; /* key -> histogram */
	struct histogram *times;
	size_t count, room;
};

static uint64_t key_of(const struct depend *d, const struct depend_node *n,
		       const struct depend_edge *e)
{
	if (n->type != DEPEND_IS_ACTIVITY)
		return (uint64_t)n->class << 8 | (e->kind == DEPEND_HOST ? 1 : 2);
	if (e->kind == DEPEND_LAUNCH && n->call != LOOKUP_NONE)
		return (uint64_t)d->reading->calls[n->call].class << 8 | 3;
	return (uint64_t)(d->queues[n->owner].device & 0xffffff) << 16 |
	       (uint64_t)(d->classes[n->class].kind == GT_DEVICE_KERNEL) << 9 |
	       (uint64_t)n->is_marker << 8 | (16u + e->kind);
}

/* Keys of all activities' edges of a kind, and of all activities' edges. */
#define KEY_OF_KIND(kind) (UINT64_C(1) << 56 | (uint64_t)(kind))
#define KEY_OF_ALL        (UINT64_C(1) << 57)

static struct histogram *find_times(struct lags *l, uint64_t key, bool adds)
{
	uint32_t number = idmap_get(&l->numbers, key);

	if (number == LOOKUP_NONE) {
		if (!adds)
			return NULL;
		GROW_LIST(l->times, l->count, l->room);
		number = (uint32_t)l->count++;
		idmap_put(&l->numbers, key, number);
	}
	return &l->times[number];
}

/* Return the start of the launching call; 0: not known. */
static uint64_t call_start(const struct depend *d, const struct depend_node *n)
{
	return n->call == LOOKUP_NONE ? 0 : d->reading->calls[n->call].start;
}

static uint64_t total_lag(const struct depend *d, const struct depend_node *n,
			  const struct depend_edge *e)
{
	return e->kind == DEPEND_LAUNCH && n->call != LOOKUP_NONE
		       ? depend_ready(n) - call_start(d, n)
		       : e->lag;
}

/* Return the time by which the edge was met before it was needed, to compare edges. */
static uint64_t margin(const struct depend *d, const struct depend_node *n,
		       const struct depend_edge *e)
{
	/* within its call, an activity was launched at an unknown time */
	return e->kind == DEPEND_LAUNCH && e->inside ? total_lag(d, n, e) : e->lag;
}

static void find_binding(struct lags *l, size_t i)
{
	struct depend *d = l->d;
	const struct depend_node *n = &d->nodes[i];
	size_t count, best = 0;
	struct depend_edge *edges = (struct depend_edge *)depend_edges(d, i, &count);
	uint64_t total;

	for (size_t k = 1; k < count; k++)
		if (edges[best].is_known || margin(d, n, &edges[k]) < margin(d, n, &edges[best]))
			best = k;
	if (!count)
		return;
	edges[best].binds = true;
	total = total_lag(d, n, &edges[best]);
	if (n->type == DEPEND_IS_ACTIVITY) {
		histogram_add(find_times(l, KEY_OF_KIND(edges[best].kind), true), total);
		histogram_add(find_times(l, KEY_OF_ALL, true), total);
	}
	if (n->type == DEPEND_IS_ACTIVITY || count > 1)
		histogram_add(find_times(l, key_of(d, n, &edges[best]), true), total);
}

/* Count the launch from the start of the call. */
static void move_launch(struct depend *d, const struct depend_node *n, struct depend_edge *e,
			uint64_t total)
{
	const struct depend_call *call = &d->reading->calls[n->call];
	size_t count;
	const struct depend_edge *first = depend_edges(d, call->first, &count);
	const uint64_t in_call = d->nodes[call->last].end - call->start;

	/* on damaged captures, a thread's calls overlap, and the node before may be a later one */
	if (count && first->kind == DEPEND_HOST && first->from < n - d->nodes) {
		e->from = first->from;
		e->inside = total < in_call ? total : in_call;
	} else {
		e->from = LOOKUP_NONE;
		e->inside = call->start - d->start + (total < in_call ? total : in_call);
	}
	e->lag = total < in_call ? 0 : total - in_call;
}

/* Return the lags that are most like the edge's; NULL: none are known. */
static const struct histogram *find_like(struct lags *l, const struct depend_node *n,
					 const struct depend_edge *e)
{
	const struct histogram *times = find_times(l, key_of(l->d, n, e), false);

	if (times || n->type != DEPEND_IS_ACTIVITY)
		return times;
	times = find_times(l, KEY_OF_KIND(e->kind), false);
	return times ? times : find_times(l, KEY_OF_ALL, false);
}

/* Set the lag of an edge that the node did not wait for. @most: as recorded */
static void set_estimate(struct depend *d, const struct depend_node *n, struct depend_edge *e,
			 const struct histogram *times, uint64_t usual, uint64_t most)
{
	const bool few = !times || times->count < FEW;
	uint64_t low = few ? 0 : histogram_percentile(times, 100);
	uint64_t high = !times ? most : few ? times->max : histogram_percentile(times, 900);

	usual = usual < most ? usual : most;
	low = low < usual ? low : usual;
	high = high < most ? high : most;
	high = high > usual ? high : usual;
	if (e->kind != DEPEND_LAUNCH)
		e->lag = usual;
	else if (n->call != LOOKUP_NONE)
		move_launch(d, n, e, usual);
	e->less = gt_saturate_u32(usual - low);
	e->more = gt_saturate_u32(high - usual);
}

static void estimate(struct lags *l, size_t i)
{
	struct depend *d = l->d;
	const struct depend_node *n = &d->nodes[i];
	size_t count;
	struct depend_edge *edges = (struct depend_edge *)depend_edges(d, i, &count);
	uint64_t waited = 0;

	for (size_t k = 0; k < count && count > 1; k++)
		waited = edges[k].binds ? edges[k].lag : waited;
	for (size_t k = 0; k < count && count > 1; k++) {
		struct depend_edge *e = &edges[k];
		const struct histogram *times = find_like(l, n, e);
		uint64_t most = total_lag(d, n, e);
		uint64_t usual = times ? histogram_percentile(times, 500) : 0;

		if (e->binds || e->is_known)
			continue;
		/* without a wait, the call takes no longer than it took after the wait */
		if (n->type != DEPEND_IS_ACTIVITY && e->kind == DEPEND_HOST) {
			usual = times ? usual : waited;
			most = waited < most ? waited : most;
		}
		set_estimate(d, n, e, times, usual, most);
	}
}

static void fini_lags(void *data)
{
	struct lags *l = data;

	for (size_t i = 0; i < l->count; i++)
		histogram_fini(&l->times[i]);
	free(l->times);
	idmap_fini(&l->numbers);
}

void depend_find_lags(struct depend *d)
{
	struct lags l = {.d = d};
	struct cleanup cleanup;

	cleanup_push(&cleanup, fini_lags, &l);
	for (size_t i = 0; i < d->node_count; i++)
		find_binding(&l, i);
	for (size_t i = 0; i < d->node_count; i++)
		estimate(&l, i);
	cleanup_pop(&cleanup);
}
