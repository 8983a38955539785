/* SPDX-License-Identifier: MIT */
/* See depend_parts.h. Finds the calls in which a rank waits for a call of another rank, such as a
 * barrier or a receive (analysis/tables/rank_sums.h):
 *
 *   rank 0        | barrier =================|      the call ends after the start of the last
 *   rank 1                        | barrier =|      rank's call: after the end of the node before
 */
#include <stdlib.h>

#include "analysis/depend/depend_parts.h"
#include "analysis/tables/rank_sums.h"

/* Largest number of ranks for which each waits for each other, and not only for the last one. */
enum { GROUP_MOST = 32 };

/* A call that waited for the last call of another rank: positions among the nodes of threads. */
struct waiting_call {
	uint32_t waiting, last;
	bool all; /* true: no rank returns before all have called */
};

struct depend_ranks {
	struct ranks ranks;
	struct timeline_pool pool;
	struct depend *depend;
	struct depend_thread_nodes nodes;
	struct waiting_call *calls;
	size_t call_count, call_room;
};

void depend_begin_ranks(struct depend *d)
{
	struct depend_ranks *r = allocate_list(1, sizeof *r);

	d->reading->ranks = r;
	r->depend = d;
	r->ranks.capture = d->capture;
	r->ranks.pool = &r->pool;
	for (uint32_t i = 0; i < gt_capture_process_count(d->capture); i++) {
		const struct gt_process_info *p = gt_capture_process(d->capture, i);
		const struct gt_capture_session *s = gt_capture_session_at(d->capture, p->session);

		ranks_add_process(&r->ranks, i,
				  p->rank.rank < 0 ? LOOKUP_NONE : (uint32_t)p->rank.rank,
				  texts_put(&d->names, s->info.hostname ? s->info.hostname : ""));
	}
}

void depend_note_joint(struct depend *d, const struct gt_item *call)
{
	if (d->reading->ranks->ranks.count >= 2)
		ranks_add_call(&d->reading->ranks->ranks, call, false);
}

/* Return the position, among the nodes of its thread, of the call of a process that started at
 * @time; LOOKUP_NONE: not found. */
static uint32_t find_call_at(const struct depend_ranks *r, uint32_t process, uint64_t time)
{
	const struct depend *d = r->depend;

	for (size_t t = 0; t < d->thread_count; t++) {
		uint32_t at;

		if (d->threads[t].process != process)
			continue;
		at = depend_position(d, &r->nodes, (uint32_t)t, time);
		if (at != LOOKUP_NONE && d->nodes[r->nodes.list[at]].start == time &&
		    d->nodes[r->nodes.list[at]].type == DEPEND_IS_CALL)
			return at;
	}
	return LOOKUP_NONE;
}

static void add_joint(struct depend_ranks *r, uint32_t waiting, uint32_t other)
{
	struct depend *d = r->depend;
	struct depend_reading *reading = d->reading;
	const uint32_t *list = r->nodes.list;
	const uint32_t to = reading->calls[d->nodes[list[waiting]].call].last;

	if (!other || d->nodes[list[other - 1]].owner != d->nodes[list[other]].owner ||
	    list[other - 1] >= to)
		return;
	GROW_LIST(reading->joints, reading->joint_count, reading->joint_room);
	reading->joints[reading->joint_count++] = (struct depend_joint){to, list[other - 1]};
}

static void add_wait(void *to, const struct ranks_wait *wait)
{
	struct depend_ranks *r = to;
	struct waiting_call call = {.all = false};
	const struct gt_operation_info *info = wait->op ? gt_operation(wait->op) : NULL;

	if (wait->on_device)
		return;
	call.waiting = find_call_at(r, wait->process, wait->start_ns);
	call.last = find_call_at(r, wait->for_process, wait->end_ns);
	call.all = info && info->collective == GT_COLLECTIVE_ALL;
	if (call.waiting == LOOKUP_NONE || call.last == LOOKUP_NONE)
		return;
	GROW_LIST(r->calls, r->call_count, r->call_room);
	r->calls[r->call_count++] = call;
}

static int compare_calls(const void *a, const void *b)
{
	const struct waiting_call *x = a, *y = b;

	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return (x->waiting > y->waiting) - (x->waiting < y->waiting);
}

/* Calls that waited for the same call are parts of one collective call. If all ranks wait for all,
 * another rank may be the last one after a change. */
static void add_group(struct depend_ranks *r, const struct waiting_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add_joint(r, calls[i].waiting, calls[i].last);
		for (size_t k = 0; calls[i].all && count <= GROUP_MOST && k < count; k++)
			if (k != i)
				add_joint(r, calls[i].waiting, calls[k].waiting);
		if (calls[i].all && count <= GROUP_MOST)
			add_joint(r, calls[i].last, calls[i].waiting);
	}
}

static void add_groups(struct depend_ranks *r)
{
	size_t first = 0;

	if (r->call_count)
		qsort(r->calls, r->call_count, sizeof *r->calls, compare_calls);
	for (size_t i = 1; i <= r->call_count; i++)
		if (i == r->call_count || r->calls[i].last != r->calls[first].last) {
			add_group(r, r->calls + first, i - first);
			first = i;
		}
}

static int compare_joints(const void *a, const void *b)
{
	const struct depend_joint *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

int depend_find_joints(struct depend *d)
{
	struct depend_ranks *r = d->reading->ranks;
	int status = 0;

	if (r->ranks.count < 2)
		return 0;
	r->nodes = depend_list_nodes(d);
	r->ranks.each = add_wait;
	r->ranks.to = r;
	status = ranks_finish(&r->ranks);
	add_groups(r);
	free_scratch(r->nodes.first);
	free_scratch(r->nodes.list);
	if (d->reading->joint_count)
		qsort(d->reading->joints, d->reading->joint_count, sizeof *d->reading->joints,
		      compare_joints);
	return status;
}

void depend_end_ranks(struct depend *d)
{
	struct depend_ranks *r = d->reading->ranks;

	if (!r)
		return;
	ranks_fini(&r->ranks);
	timeline_pool_fini(&r->pool);
	free(r->calls);
	free(r);
	d->reading->ranks = NULL;
}
