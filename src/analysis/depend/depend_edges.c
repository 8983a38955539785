/* SPDX-License-Identifier: MIT */
/* See depend_parts.h. Walks the nodes in order of time and adds the edges of each one. An edge that
 * the recorded times contradict, because the earlier node ended later, is left out and counted. */
#include <stdlib.h>
#include <string.h>

#include "analysis/depend/depend_parts.h"
#include "analysis/tables/histogram.h"

enum {
	RECENT = 8,
	SAME_MOST = 256, /* edges of a node among which another edge is searched */
	/* a launch that took this much longer than the median waited for room in its queue */
	FULL_TIMES = 8,
	FULL_LEAST_NS = 20000,
	/* delay of an activity that nothing else explains, and largest gap after an activity of
	 * another queue, for the device to have been busy with that one */
	BUSY_LEAST_NS = 15000,
	BUSY_GAP_NS = 20000,
	/* a thread that ended this long before the end of a gap may be what the gap waited for */
	JOIN_NS = 1000000,
	/* threads hand over to each other if they make at least this many calls at a time; the time
	 * from the last call of one to the first of the other */
	BURST_CALLS = 4,
	HANDOVER_NS = 100000,
	LOCK_READING_NS = 12000000, /* time between two readings of a thread's state */
};

/* The thread of a process that made the last calls. */
struct burst {
	uint32_t thread, node;   /* node: its last call; LOOKUP_NONE: none */
	uint64_t count;          /* calls since the thread changed */
	uint64_t calls, changes; /* of the whole capture */
};

/* The latest activities of a queue, a device or a launch. */
struct recent {
	uint32_t node[RECENT];
	unsigned count; /* of all so far; the newest is at (count - 1) % RECENT */
};

struct walk {
	struct depend *d;
	uint32_t *last; /* for each thread: its last node so far */
	struct recent *queues, *devices, *groups;
	bool *is_ordered;     /* for each queue: its activities do not overlap */
	bool *is_serial;      /* for each device: activities of different queues rarely overlap */
	struct burst *bursts; /* for each process */
	size_t process_count;
	size_t joint;    /* next of depend_reading.joints */
	uint64_t *usual; /* for each class of calls: median duration of their nodes */
	size_t device_count;
};

static void note_recent(struct recent *r, uint32_t node)
{
	r->node[r->count++ % RECENT] = node;
}

/* Return the activity that ended last, but not after @until; LOOKUP_NONE: none. @other: leave out
 * activities of this queue. */
static uint32_t find_ended(const struct walk *w, const struct recent *r, uint64_t until,
			   uint32_t other)
{
	const struct depend_node *nodes = w->d->nodes;
	uint32_t best = LOOKUP_NONE;

	for (unsigned i = 0; i < r->count && i < RECENT; i++) {
		const struct depend_node *n = &nodes[r->node[i]];

		if (n->end <= until + DEPEND_SLACK_NS && n->owner != other &&
		    (best == LOOKUP_NONE || n->end >= nodes[best].end))
			best = r->node[i];
	}
	return best;
}

/* Add an edge to node @to, the last node that has edges so far. */
static void add_edge(struct walk *w, uint32_t from, uint32_t to, enum depend_kind kind,
		     uint64_t inside)
{
	struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	uint64_t at;

	if (from == LOOKUP_NONE && kind != DEPEND_LAUNCH)
		return;
	at = (from == LOOKUP_NONE ? d->start : d->nodes[from].end) + inside;
	if (from != LOOKUP_NONE && (from >= to || at > depend_ready(n) + DEPEND_SLACK_NS)) {
		d->contradicted++;
		return;
	}
	/* a call may wait for very many activities; a second edge from a node changes no result */
	for (size_t i = d->edge_count; i > n->edge && d->edge_count - i < SAME_MOST; i--)
		if (d->edges[i - 1].from == from)
			return;
	GROW_LIST(d->edges, d->edge_count, d->edge_room);
	d->edges[d->edge_count++] =
		(struct depend_edge){.from = from,
				     .kind = (uint8_t)kind,
				     .inside = inside,
				     .lag = depend_ready(n) > at ? depend_ready(n) - at : 0};
}

static const struct depend_action *action_of(const struct depend_reading *r, uint32_t call)
{
	return call != LOOKUP_NONE && r->calls[call].action ? &r->actions[r->calls[call].action - 1]
							    : NULL;
}

static void add_needs(struct walk *w, uint32_t to, const struct depend_action *a,
		      enum depend_kind kind)
{
	const struct depend_reading *r = w->d->reading;

	for (uint32_t n = a->need; n; n = r->needs[n - 1].next)
		add_edge(w, r->calls[r->needs[n - 1].call].activity, to, kind, 0);
}

/* Threads ---------------------------------------------------------------------------- */

static void add_wait_for_all(struct walk *w, uint32_t to)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];

	for (size_t q = 0; q < d->queue_count; q++)
		if (d->queues[q].process == n->process)
			add_edge(w, find_ended(w, &w->queues[q], n->end, LOOKUP_NONE), to,
				 DEPEND_WAIT, 0);
}

/* In OpenCL, launches do not name a stream, but the call that waits names the queue. */
static void add_wait_for_queue(struct walk *w, uint32_t to, uint64_t handle)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];

	for (size_t q = 0; q < d->queue_count; q++)
		if (d->queues[q].process == n->process && d->queues[q].object &&
		    d->queues[q].object->handle == handle)
			add_edge(w, find_ended(w, &w->queues[q], n->end, LOOKUP_NONE), to,
				 DEPEND_WAIT, 0);
}

/* A launch takes long while its queue is full, until an activity of the queue ends. */
static void add_full(struct walk *w, uint32_t to, const struct depend_call *call)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	const uint64_t ns = n->end - n->start, usual = w->usual[n->class];
	const uint32_t before = call->before;
	uint32_t activity =
		before == LOOKUP_NONE ? LOOKUP_NONE : d->reading->calls[before].activity;

	if (ns < FULL_LEAST_NS || ns < FULL_TIMES * usual)
		return;
	/* the call before may not have run yet: any activity of the stream names its queue */
	for (unsigned i = 0; activity == LOOKUP_NONE && before != LOOKUP_NONE && i < d->queue_count;
	     i++) {
		const struct recent *q = &w->queues[i];

		if (d->queues[i].process == n->process && q->count)
			activity = q->node[(q->count - 1) % RECENT];
	}
	if (activity == LOOKUP_NONE)
		return;
	activity = find_ended(w, &w->queues[d->nodes[activity].owner], n->end, LOOKUP_NONE);
	if (activity != LOOKUP_NONE && d->nodes[activity].end > n->start)
		add_edge(w, activity, to, DEPEND_FULL, 0);
}

/* Return the last node of a thread that ended at or before @time; LOOKUP_NONE: none. */
static uint32_t find_before(const struct walk *w, uint32_t thread, uint64_t time)
{
	const struct depend *d = w->d;
	uint32_t node = w->last[thread];

	while (node != LOOKUP_NONE && d->nodes[node].end > time) {
		size_t count;
		const struct depend_edge *edges = depend_edges(d, node, &count);

		node = count && edges->kind == DEPEND_HOST ? edges->from : LOOKUP_NONE;
	}
	return node;
}

/* The first node of a thread: the process's first thread, or its only other one, started it. */
static void add_thread_start(struct walk *w, uint32_t to)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	const uint64_t start = d->threads[n->owner].start;

	if (!start || start <= d->start)
		return;
	for (uint32_t t = 0; t < d->thread_count; t++) {
		const struct depend_thread *other = &d->threads[t];

		if (t == n->owner || other->process != n->process || other->start >= start)
			continue;
		add_edge(w, find_before(w, t, start), to, DEPEND_THREAD, 0);
		return;
	}
}

/* Time outside any call, at whose end another thread had just ended, was a wait for that thread. So
 * was time in which another thread made several calls, up to just before its end. */
static void add_gap(struct walk *w, uint32_t to)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	const struct burst *b = &w->bursts[n->process];
	const uint64_t length = n->end - n->start;
	bool joins = false;

	for (uint32_t t = 0; t < d->thread_count && length > JOIN_NS / 10; t++) {
		const struct depend_thread *other = &d->threads[t];

		if (other->process == n->process && other->end > n->start && other->end <= n->end &&
		    n->end - other->end < JOIN_NS + length / 20)
			joins = true;
	}
	for (uint32_t t = 0; t < d->thread_count && joins; t++) {
		const struct depend_thread *other = &d->threads[t];
		const uint32_t last = w->last[t];

		if (other->process == n->process && t != n->owner && last != LOOKUP_NONE &&
		    other->end > n->start && other->end <= n->end)
			add_edge(w, last, to, DEPEND_THREAD,
				 other->end > d->nodes[last].end ? other->end - d->nodes[last].end
								 : 0);
	}
	if (!joins && b->node != LOOKUP_NONE && b->thread != n->owner && b->count >= BURST_CALLS &&
	    b->changes * BURST_CALLS < b->calls && d->nodes[b->node].end > n->start &&
	    n->end - d->nodes[b->node].end < HANDOVER_NS + length / 5)
		add_edge(w, b->node, to, DEPEND_THREAD, 0);
}

/* Time outside any call in which the thread waited for a lock. The readings of its state start late
 * and end early, so up to LOCK_READING_NS at each end may have been a part of the wait. */
static void add_lock(struct walk *w, uint32_t to)
{
	struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	const size_t count = d->edge_count;
	struct depend_lock wait;
	uint32_t from;
	uint64_t began, released;

	if (!d->reading->lock_count || !depend_find_lock(d, n, &wait))
		return;
	began = wait.start - n->start < LOCK_READING_NS ? n->start : wait.start - LOCK_READING_NS;
	released = n->end - wait.end < LOCK_READING_NS ? n->end : wait.end;
	from = find_before(w, wait.holder, released);
	if (from == LOOKUP_NONE)
		return;
	add_edge(w, from, to, DEPEND_THREAD,
		 wait.end > d->nodes[from].end ? wait.end - d->nodes[from].end : 0);
	if (d->edge_count > count && d->edges[n->edge].kind == DEPEND_HOST) {
		struct depend_edge *host = &d->edges[n->edge];

		host->lag -= released - began;
		host->more = gt_saturate_u32(wait.start - began + released - wait.end);
		host->is_known = true;
	}
}

static void note_call(struct walk *w, uint32_t node)
{
	const struct depend_node *n = &w->d->nodes[node];
	struct burst *b = &w->bursts[n->process];

	b->count = b->thread == n->owner ? b->count + n->ends_call : n->ends_call;
	b->thread = n->owner;
	b->node = node;
}

static void step_thread(struct walk *w, uint32_t to)
{
	struct depend *d = w->d;
	struct depend_node *n = &d->nodes[to];
	const struct depend_action *a;

	n->edge = (uint32_t)d->edge_count;
	if (w->last[n->owner] != LOOKUP_NONE)
		add_edge(w, w->last[n->owner], to, DEPEND_HOST, 0);
	else
		add_thread_start(w, to);
	if (n->type == DEPEND_IS_HOST && w->last[n->owner] != LOOKUP_NONE) {
		add_gap(w, to);
		add_lock(w, to);
	} else if (n->type == DEPEND_IS_CALL) {
		note_call(w, to);
	}
	w->last[n->owner] = to;
	while (w->joint < d->reading->joint_count && d->reading->joints[w->joint].to < to)
		w->joint++;
	while (w->joint < d->reading->joint_count && d->reading->joints[w->joint].to == to)
		add_edge(w, d->reading->joints[w->joint++].from, to, DEPEND_COLLECTIVE, 0);
	a = action_of(d->reading, n->call);
	if (!a)
		return;
	if (n->ends_call && a->role & DEPEND_WAITS) {
		const struct depend_call *call = &d->reading->calls[n->call];

		if (a->role & DEPEND_WAITS_OWN)
			add_edge(w, call->activity, to, DEPEND_COPY, 0);
		if (a->role & (DEPEND_WAITS_EVENTS | DEPEND_WAITS_STREAM))
			add_needs(w, to, a, DEPEND_WAIT);
		if (a->role & DEPEND_WAITS_STREAM && !a->need)
			add_wait_for_queue(w, to, a->stream);
		if (a->role & DEPEND_WAITS_ALL)
			add_wait_for_all(w, to);
	} else if (a->role & DEPEND_LAUNCHES) {
		add_full(w, to, &d->reading->calls[n->call]);
	}
}

/* Activities ------------------------------------------------------------------------- */

static void add_launch(struct walk *w, uint32_t to)
{
	struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	const struct depend_call *call;
	uint32_t before = LOOKUP_NONE;
	size_t count;
	const struct depend_edge *edges;

	if (n->call == LOOKUP_NONE)
		return;
	call = &d->reading->calls[n->call];
	if (n->start >= d->nodes[call->last].end) {
		add_edge(w, call->last, to, DEPEND_LAUNCH, 0);
		return;
	}
	/* the activity started before the call returned: count from the start of the call */
	if (call->first < to) {
		edges = depend_edges(d, call->first, &count);
		if (count && edges->kind == DEPEND_HOST)
			before = edges->from;
	} else {
		before = w->last[d->nodes[call->first].owner];
	}
	if (before == LOOKUP_NONE)
		add_edge(w, before, to, DEPEND_LAUNCH, n->start - d->start);
	else
		add_edge(w, before, to, DEPEND_LAUNCH, n->start - d->nodes[before].end);
}

/* Return the latest end of the nodes from which the edges of @to come. */
static uint64_t latest_end(const struct depend *d, uint32_t to)
{
	uint64_t latest = 0;

	for (size_t i = d->nodes[to].edge; i < d->edge_count; i++) {
		const struct depend_edge *e = &d->edges[i];
		const uint64_t end =
			(e->from == LOOKUP_NONE ? d->start : d->nodes[e->from].end) + e->inside;

		latest = end > latest ? end : latest;
	}
	return latest;
}

static void add_busy(struct walk *w, uint32_t to)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	const uint32_t device = d->queues[n->owner].device;
	const uint64_t latest = latest_end(d, to);
	uint32_t from;

	if (device >= w->device_count || n->is_marker || !w->is_serial[device] ||
	    n->start < latest + BUSY_LEAST_NS)
		return;
	from = find_ended(w, &w->devices[device], n->start, n->owner);
	if (from != LOOKUP_NONE && d->nodes[from].end > latest + BUSY_LEAST_NS / 2 &&
	    d->nodes[from].end + BUSY_GAP_NS > n->start)
		add_edge(w, from, to, DEPEND_BUSY, 0);
}

static void add_stream(struct walk *w, uint32_t to, const struct depend_call *call)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes[to];
	uint32_t before;

	if (w->is_ordered[n->owner])
		add_edge(w, find_ended(w, &w->queues[n->owner], depend_ready(n), LOOKUP_NONE), to,
			 DEPEND_STREAM, 0);
	/* activities of a graph may run in other queues than the stream's other activities */
	if (!call || call->before == LOOKUP_NONE)
		return;
	before = d->reading->calls[call->before].activity;
	if (before != LOOKUP_NONE && d->nodes[before].owner != n->owner)
		add_edge(w, before, to, DEPEND_STREAM, 0);
}

static void step_activity(struct walk *w, uint32_t to)
{
	struct depend *d = w->d;
	struct depend_node *n = &d->nodes[to];
	struct depend_reading *r = d->reading;
	struct depend_call *call = n->call == LOOKUP_NONE ? NULL : &r->calls[n->call];
	struct recent *group = call && call->group ? &w->groups[call->group - 1] : NULL;
	const struct depend_action *a = action_of(r, n->call);
	const uint32_t device = d->queues[n->owner].device;

	n->edge = (uint32_t)d->edge_count;
	add_launch(w, to);
	if (group && group->count)
		add_edge(w, find_ended(w, group, depend_ready(n), LOOKUP_NONE), to, DEPEND_GRAPH,
			 0);
	else
		add_stream(w, to, call);
	if (a)
		add_needs(w, to, a, DEPEND_EVENT);
	add_busy(w, to);
	note_recent(&w->queues[n->owner], to);
	if (device < w->device_count && !n->is_marker)
		note_recent(&w->devices[device], to);
	if (group)
		note_recent(group, to);
	if (call && (call->activity == LOOKUP_NONE || d->nodes[call->activity].end <= n->end))
		call->activity = to;
}

/* Preparation ------------------------------------------------------------------------ */

/* A histogram for each class. */
struct class_times {
	struct histogram *times;
	size_t count;
};

static void fini_times(void *data)
{
	struct class_times *c = data;

	for (size_t i = 0; i < c->count; i++)
		histogram_fini(&c->times[i]);
	free(c->times);
}

static void find_usual(struct walk *w)
{
	const struct depend *d = w->d;
	struct histogram *times = allocate_list(d->class_count, sizeof *times);
	struct class_times all = {times, d->class_count};
	struct cleanup cleanup;

	cleanup_push(&cleanup, fini_times, &all);
	for (size_t i = 0; i < d->node_count; i++)
		if (d->nodes[i].type == DEPEND_IS_CALL)
			histogram_add(&times[d->nodes[i].class],
				      d->nodes[i].end - d->nodes[i].start);
	for (size_t c = 0; c < d->class_count; c++)
		w->usual[c] = histogram_percentile(&times[c], 500);
	cleanup_pop(&cleanup);
}

/* A queue whose activities overlap is not in order. Activities of one launch may overlap. */
static void find_ordered(struct walk *w)
{
	const struct depend *d = w->d;
	uint32_t *last = allocate_scratch(d->queue_count + 1, sizeof *last);
	uint64_t *overlaps = allocate_scratch(d->queue_count + 1, sizeof *overlaps);
	uint64_t *counts = allocate_scratch(d->queue_count + 1, sizeof *counts);

	for (size_t i = 0; i < d->node_count; i++) {
		const struct depend_node *n = &d->nodes[i];
		const struct depend_node *before;

		if (n->type != DEPEND_IS_ACTIVITY || n->is_marker)
			continue;
		before = last[n->owner] ? &d->nodes[last[n->owner] - 1] : NULL;
		overlaps[n->owner] += before &&
				      (before->call == LOOKUP_NONE || before->call != n->call) &&
				      before->end > n->start + DEPEND_SLACK_NS;
		counts[n->owner]++;
		last[n->owner] = (uint32_t)i + 1;
	}
	for (size_t q = 0; q < d->queue_count; q++)
		w->is_ordered[q] = overlaps[q] * 50 <= counts[q];
	free_scratch(last);
	free_scratch(overlaps);
	free_scratch(counts);
}

/* A device that often runs activities of different queues at the same time does not wait for them
 * to end. */
static void find_serial(struct walk *w)
{
	const struct depend *d = w->d;
	uint32_t *last = allocate_scratch(w->device_count + 1, sizeof *last);
	uint64_t *overlaps = allocate_scratch(w->device_count + 1, sizeof *overlaps);
	uint64_t *counts = allocate_scratch(w->device_count + 1, sizeof *counts);

	for (size_t i = 0; i < d->node_count; i++) {
		const struct depend_node *n = &d->nodes[i], *before;
		const uint32_t device =
			n->type == DEPEND_IS_ACTIVITY ? d->queues[n->owner].device : UINT32_MAX;

		if (device >= w->device_count || n->is_marker)
			continue;
		before = last[device] ? &d->nodes[last[device] - 1] : NULL;
		if (before && before->owner != n->owner) {
			overlaps[device] += before->end > n->start + DEPEND_SLACK_NS;
			counts[device]++;
		}
		last[device] = (uint32_t)i + 1;
	}
	for (size_t k = 0; k < w->device_count; k++)
		w->is_serial[k] = overlaps[k] * 10 <= counts[k];
	free_scratch(last);
	free_scratch(overlaps);
	free_scratch(counts);
}

static void find_bursts(struct walk *w)
{
	const struct depend *d = w->d;

	for (size_t p = 0; p < w->process_count; p++)
		w->bursts[p] = (struct burst){.thread = LOOKUP_NONE, .node = LOOKUP_NONE};
	for (size_t i = 0; i < d->node_count; i++) {
		const struct depend_node *n = &d->nodes[i];
		struct burst *b = &w->bursts[n->process];

		if (n->type != DEPEND_IS_CALL || !n->ends_call)
			continue;
		b->calls++;
		b->changes += b->thread != n->owner;
		b->thread = n->owner;
	}
	for (size_t p = 0; p < w->process_count; p++)
		w->bursts[p].thread = LOOKUP_NONE;
}

static size_t number_groups(struct depend_reading *r)
{
	size_t groups = 0;

	for (size_t i = 0; i < r->call_count; i++)
		if (r->calls[i].activity_count > 1)
			r->calls[i].group = (uint32_t)++groups;
	return groups;
}

void depend_find_edges(struct depend *d)
{
	struct walk w = {.d = d, .device_count = gt_capture_device_count(d->capture)};

	w.last = allocate_scratch(d->thread_count + 1, sizeof *w.last);
	memset(w.last, 0xff, d->thread_count * sizeof *w.last);
	w.queues = allocate_scratch(d->queue_count + 1, sizeof *w.queues);
	w.devices = allocate_scratch(w.device_count + 1, sizeof *w.devices);
	w.groups = allocate_scratch(number_groups(d->reading) + 1, sizeof *w.groups);
	w.is_ordered = allocate_scratch(d->queue_count + 1, sizeof *w.is_ordered);
	w.usual = allocate_scratch(d->class_count, sizeof *w.usual);
	w.is_serial = allocate_scratch(w.device_count + 1, sizeof *w.is_serial);
	w.process_count = gt_capture_process_count(d->capture);
	w.bursts = allocate_scratch(w.process_count + 1, sizeof *w.bursts);
	find_usual(&w);
	find_serial(&w);
	find_bursts(&w);
	find_ordered(&w);
	for (size_t i = 0; i < d->node_count; i++) {
		if (d->nodes[i].type == DEPEND_IS_ACTIVITY)
			step_activity(&w, (uint32_t)i);
		else
			step_thread(&w, (uint32_t)i);
	}
	free_scratch(w.last);
	free_scratch(w.queues);
	free_scratch(w.devices);
	free_scratch(w.groups);
	free_scratch(w.is_ordered);
	free_scratch(w.is_serial);
	free_scratch(w.bursts);
	free_scratch(w.usual);
}
