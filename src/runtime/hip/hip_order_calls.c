/* SPDX-License-Identifier: MIT */
/* Allocates, inserts and removes the calls of a submit order, which are listed oldest first (see
 * the picture in hip_order.c). Two files use these functions: hip_order.c, in which the program's
 * threads add calls, and hip_order_match.c, in which the stream's thread finds the call of a
 * packet.
 *
 * Unused entries form one list for all orders, under a separate lock, which is taken inside an
 * order's lock. An entry is freed once it has been removed from its order and its call has
 * returned. */
#include "runtime/hip/hip_order_parts.h"

#include <string.h>

#include "core/recording.h"

enum { ROW = 32 }; /* number of entries allocated at a time */

_Atomic uint32_t gt_submit_order_given_up;

static struct gt_ordered_call *unused;
static _Atomic uint32_t unused_lock;

uint32_t gt_ordered_call_next_kernel(const struct gt_ordered_call *e)
{
	uint32_t issued = atomic_load_explicit(&e->issued, memory_order_acquire);

	return e->no_kernels
		       ? e->nodes->count
		       : e->nodes->order[issued > e->at ? issued : e->at].next[GT_GRAPH_KERNEL];
}

bool gt_ordered_call_is_whole(const struct gt_ordered_call *e)
{
	const uint32_t *next = e->nodes->order[e->at].next;

	return gt_ordered_call_next_kernel(e) == e->nodes->count &&
	       next[GT_GRAPH_COPY] == e->nodes->count && next[GT_GRAPH_FILL] == e->nodes->count;
}

void gt_ordered_call_end_span(struct gt_ordered_call *e, bool whole)
{
	struct gt_graph_span *span = e->span;

	if (!span)
		return;
	e->span = NULL;
	if (!whole || !gt_ordered_call_is_whole(e)) {
		gt_graph_span_add_part(span);
		gt_graph_span_lose_part(span, gt_thread_own());
	}
	gt_graph_span_close(span, gt_thread_own());
}

struct gt_ordered_call *gt_ordered_call_take(void)
{
	struct gt_ordered_call *e;

	gt_submit_order_lock(&unused_lock);
	if (!unused && (e = gt_arena_take(ROW * sizeof *e)) != NULL)
		for (int i = 0; i < ROW; i++) {
			e[i].next = unused;
			unused = &e[i];
		}
	e = unused;
	if (e)
		unused = e->next;
	gt_submit_order_unlock(&unused_lock);
	if (e)
		memset(e, 0, sizeof *e);
	return e;
}

void gt_ordered_call_free(struct gt_ordered_call *e)
{
	gt_hip_shared_nodes_put(e->nodes);
	gt_submit_order_lock(&unused_lock);
	e->next = unused;
	unused = e;
	gt_submit_order_unlock(&unused_lock);
}

void gt_submit_order_drop_before(struct gt_submit_order *l, const struct gt_ordered_call *e)
{
	while (l->first && l->first != e) {
		struct gt_ordered_call *gone = l->first;

		gt_ordered_call_end_span(gone, true);
		l->waiting--;
		l->first = gone->next;
		if (!l->first)
			l->last = &l->first;
		gone->popped = true;
		if (!gone->open)
			gt_ordered_call_free(gone);
	}
}

void gt_submit_order_report_unlinked(struct gt_thread *t, const char *text)
{
	static _Atomic uint32_t written;

	if (!atomic_exchange_explicit(&written, 1, memory_order_relaxed))
		gt_event_write(t, GT_EVENT_UNLINKED, GT_DOMAIN_HIP, 0, text);
}

void gt_submit_order_break(struct gt_submit_order *l, const char *why)
{
	l->broken = true;
	for (struct gt_ordered_call *e = l->first; e; e = e->next)
		gt_ordered_call_end_span(e, false);
	gt_submit_order_drop_before(l, NULL);
	gt_submit_order_report_unlinked(gt_thread_own(), why);
}

bool gt_submit_order_append(struct gt_submit_order *l, struct gt_ordered_call *e)
{
	if (l->open_count == GT_ORDER_OPEN_MAX) {
		gt_submit_order_break(l, "too many threads use one stream at once");
		return false;
	}
	/* another thread submits the stream's activities, or the program never waits for them */
	if (l->waiting == GT_ORDER_WAITING_MAX) {
		gt_submit_order_break(l, "too many calls of a stream wait for their activities");
		return false;
	}
	l->waiting++;
	e->open = true;
	l->open[l->open_count++] = e;
	for (uint32_t i = 0; l->open_count > 1 && i < l->open_count; i++)
		l->open[i]->overlapped = true;
	*l->last = e;
	l->last = &e->next;
	return true;
}

void gt_submit_order_remove_open(struct gt_submit_order *l, const struct gt_ordered_call *e)
{
	for (uint32_t i = 0; i < l->open_count; i++)
		if (l->open[i] == e)
			l->open[i] = l->open[--l->open_count];
}

void gt_ordered_call_close(struct gt_ordered_call *e)
{
	e->open = false;
	if (e->popped)
		gt_ordered_call_free(e);
}
