/* SPDX-License-Identifier: MIT */
/* Step 3 of submit orders (runtime/submit_order.h): finds the call of a packet or copy.
 *
 *   kernel          the oldest call that may launch a kernel, if the names match; among concurrent
 *                   calls of several threads, the only call that fits
 *   copy, fill      the call before the next kernel whose memory the packet accesses
 *   graph           a launch with a list of nodes: the packet belongs to the next node of its kind
 *
 * The span of a graph's launch (`--mode lite`):
 *   1. The first packet that certainly belongs to the launch opens the span.
 *   2. The first node's packet and the last node's packet become parts of the span.
 *   3. The span is closed when no more packets of the launch can arrive: at the last kernel or,
 *      because a copy or fill may consist of several packets, when the order advances to the next
 *      call.
 * The span is written if all packets arrived in the order of the nodes. If the order breaks in
 * between, or a node with an activity has left no trace, the span is counted as lost. A launch
 * without any certain packet has no span; instead, each of its kernels has a record. */
#include "core/recording.h"
#include "runtime/hip/hip_order_parts.h"

enum { WORDS_MOST = 24, ALL_PARTS = (1 << GT_GRAPH_PARTS) - 1 };
#define UNEXPECTED "a kernel arrived that is not the next launch of its stream"

static bool is_within(uint64_t address, uint64_t from, uint64_t bytes)
{
	return from && address >= from && address < from + bytes;
}

/* Return the lowest offset in the @bytes bytes at @from at which this kernel may work, or
 * UINT64_MAX if it works elsewhere. Two arguments of HIP's own kernels are numbers: the address of
 * an allocation, and the offset of the range in the allocation, in elements of some size. All pairs
 * of arguments are tested as these two. */
static uint64_t offset_in(const struct gt_submitted_activity *w, uint64_t from, uint64_t bytes)
{
	uint64_t nearest = UINT64_MAX;

	for (uint32_t i = 0; i < w->word_count && i < WORDS_MOST; i++) {
		if (is_within(w->words[i], from, bytes))
			nearest = w->words[i] - from < nearest ? w->words[i] - from : nearest;
		for (uint32_t j = 0;
		     j < w->word_count && j < WORDS_MOST && w->words[i] && w->words[i] < from; j++)
			for (unsigned shift = 0; shift <= 4; shift++) {
				uint64_t address = w->words[i] + (w->words[j] << shift);

				if (is_within(address, from, bytes) && address - from < nearest)
					nearest = address - from;
			}
	}
	return nearest;
}

enum { CANNOT_FIT = -1 };

/* Rate how well the activity fits the call: CANNOT_FIT; 0 if it may fit but its addresses do not
 * confirm this; 1 if one of its ends lies in the call's memory; 2 if both ends do. */
static int fits_call(const struct gt_submitted_activity *w, const struct gt_ordered_call *e,
		     uint64_t *offset)
{
	uint64_t to, from;
	int fit;

	if ((w->part == GT_GRAPH_COPY) != (e->kind == GT_SUBMIT_COPY))
		return CANNOT_FIT;
	if (w->words) {
		to = offset_in(w, e->destination, e->bytes);
		from = offset_in(w, e->source, e->bytes);
	} else {
		to = is_within(w->destination, e->destination, e->bytes)
			     ? w->destination - e->destination
			     : UINT64_MAX;
		from = is_within(w->source, e->source, e->bytes) ? w->source - e->source
								 : UINT64_MAX;
	}
	fit = (to != UINT64_MAX) + (from != UINT64_MAX);
	*offset = to != UINT64_MAX ? to : from;
	if (!fit)
		return e->plain && (e->destination || e->source) ? CANNOT_FIT : 0;
	/* if only one end fits, the activity could be a copy through another buffer */
	return e->kind == GT_SUBMIT_COPY && e->direction == GT_HIP_DEVICE_TO_DEVICE && fit < 2
		       ? 0
		       : fit;
}

static void link_to_call(const struct gt_ordered_call *e, struct gt_submitter *o)
{
	o->id = e->id;
	o->node.graph = e->paused ? GT_NODE_NOT_RECORDED : 0;
	o->node.replay = 0;
	o->start = e->start;
	o->bytes = e->bytes;
	o->source = e->source;
	o->destination = e->destination;
	o->direction = e->direction;
}

/* Return true if the order of the launch's remaining activities is known. */
static bool is_order_known(const struct gt_ordered_call *e)
{
	return e->nodes && !e->overlapped && !atomic_load_explicit(&e->mixed, memory_order_relaxed);
}

/* Add the packet to the launch's single record if it is the launch's first packet or the packet of
 * the last node. */
static void add_to_span(struct gt_ordered_call *e, const struct gt_submitted_activity *w,
			uint32_t place, struct gt_submitter *o)
{
	const struct gt_hip_node *n = &e->nodes->order[place];
	bool first = !e->begun;

	if (e->apart || atomic_load_explicit(&e->issued, memory_order_acquire))
		return; /* not all packets pass through this file */
	if (first && e->doubtful)
		return; /* the launch's first packet may have arrived already */
	if (first) {
		struct gt_thread *t = gt_thread_own();

		e->begun = true;
		e->span = gt_graph_span_open(&(struct gt_graph_span_head){.id = e->id,
									  .start = e->start,
									  .graph = e->graph,
									  .replay = e->replay,
									  .name = e->name,
									  .nodes = e->nodes->count,
									  .handle = e->handle,
									  .domain = GT_DOMAIN_HIP});
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
		if (!e->span)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
	}
	o->node.span = e->span;
	o->node.unobserved = ALL_PARTS;
	if (e->span && (first || n->last)) {
		gt_graph_span_add_part(e->span);
		o->node.unobserved = ALL_PARTS & ~(1u << w->part);
	}
}

static void link_to_node(struct gt_ordered_call *e, const struct gt_submitted_activity *w,
			 uint32_t place, struct gt_submitter *o)
{
	link_to_call(e, o);
	o->node.graph = e->graph;
	o->node.replay = e->replay;
	o->node.unobserved = 0;
	o->node.span = NULL;
	for (int p = 0; p < GT_GRAPH_PARTS; p++)
		o->node.ordinal[p] = e->nodes->order[place].ordinal;
	if (e->paused)
		o->node.unobserved = ALL_PARTS;
	else if (gt_recording.session->mode == GT_MODE_LITE)
		add_to_span(e, w, place, o);
}

/* Return the place of the graph's next node of that kind, or nodes.count if no such node
 * follows. */
static uint32_t get_next_node(const struct gt_ordered_call *e,
			      const struct gt_submitted_activity *w)
{
	return w->part == GT_GRAPH_KERNEL ? gt_ordered_call_next_kernel(e)
					  : e->nodes->order[e->at].next[w->part];
}

static void reach_node(struct gt_ordered_call *e, const struct gt_submitted_activity *w,
		       uint32_t place, struct gt_submitter *o)
{
	e->at = place + 1;
	e->last_part = w->part;
	e->last_place = place;
	link_to_node(e, w, place, o);
	if (w->part == GT_GRAPH_KERNEL && gt_ordered_call_is_whole(e))
		gt_ordered_call_end_span(e, true);
}

static bool may_be_call(const struct gt_ordered_call *e, const struct gt_submitted_activity *w)
{
	return e->kind == GT_SUBMIT_LAUNCH && e->state == GT_CALL_PENDING && e->name == w->name;
}

/* Match a kernel that one of several overlapping calls may have launched. The order of these calls
 * is unknown. Let n calls fit (they may launch a kernel of that name).
 *   all n from one thread   a thread's calls are in order: the kernel belongs to the oldest call
 *   otherwise               the kernel belongs to an unknown call of the n; n - 1 kernels of that
 *                           name are still to arrive. A later call that also fits cannot be
 *                           distinguished from these n until all n kernels have arrived. */
static void match_overlapped(struct gt_submit_order *l, struct gt_ordered_call *first,
			     const struct gt_submitted_activity *w, struct gt_submitter *o)
{
	struct gt_ordered_call *found = NULL;
	bool doubtful = false, known = w->name != 0;

	for (struct gt_ordered_call *e = first; e && e->overlapped; e = e->next) {
		known &= e->kind != GT_SUBMIT_GRAPH &&
			 (e->kind != GT_SUBMIT_LAUNCH || e->state == GT_CALL_MATCHED || e->name);
		if (!may_be_call(e, w))
			continue;
		found = found ? found : e;
		doubtful |= e->doubtful || e->thread != found->thread;
	}
	first = l->first;
	if (!found || !known) {
		gt_submit_order_break(l, UNEXPECTED);
		return;
	}
	while (!first->overlapped)
		first = first->next;
	gt_submit_order_drop_before(l, first); /* activities of all earlier calls have arrived */
	for (struct gt_ordered_call *e = found; doubtful && e && e->overlapped; e = e->next)
		e->doubtful |= may_be_call(e, w);
	found->state = GT_CALL_MATCHED;
	if (!doubtful)
		link_to_call(found, o);
}

static void match_kernel(struct gt_submit_order *l, const struct gt_submitted_activity *w,
			 struct gt_submitter *o)
{
	for (struct gt_ordered_call *e = l->first; e; e = e->next) {
		if (e->state == GT_CALL_MATCHED || e->kind == GT_SUBMIT_COPY ||
		    e->kind == GT_SUBMIT_FILL || e->kind == GT_SUBMIT_SYNC)
			continue; /* possibly, these calls needed no packet */
		if (e->kind == GT_SUBMIT_GRAPH) {
			uint32_t place = is_order_known(e) ? get_next_node(e, w) : 0;

			if (e->no_kernels)
				continue;
			if (!is_order_known(e))
				break;
			if (place == e->nodes->count)
				continue; /* all kernels of the graph have arrived */
			if (!w->name || e->nodes->order[place].name != w->name)
				break;
			gt_submit_order_drop_before(l, e);
			reach_node(e, w, place, o);
			return;
		}
		if (e->overlapped) {
			match_overlapped(l, e, w, o);
			return;
		}
		if (!e->name || e->name != w->name)
			break;
		gt_submit_order_drop_before(l, e);
		e->state = GT_CALL_MATCHED;
		link_to_call(e, o);
		return;
	}
	gt_submit_order_break(l, UNEXPECTED);
}

/* Result of the search, from the oldest call on, for the call that a copy or fill may be part
 * of. */
struct claim {
	struct gt_ordered_call *first; /* the oldest call that fits */
	int fit;
	uint64_t offset;
	/* true if both ends lie in the program's memory and neither lies in a buffer of the
	 * runtime */
	bool direct;
	bool doubtful;                 /* true if another call fits as well */
	bool over;                     /* true if no later call can fit */
	struct gt_ordered_call *graph; /* a graph whose last node may have more parts, or NULL */
	bool unknown; /* true if a graph with an unknown order of nodes was found */
};

static bool is_untouched_call(const struct gt_ordered_call *e)
{
	return !e->moved && !e->doubtful;
}

static bool is_direct(const struct gt_submit_order *l, const struct gt_submitted_activity *w)
{
	uint64_t offset;

	for (const struct gt_ordered_call *e = l->first; e; e = e->next)
		if (e->plain && e->kind == GT_SUBMIT_COPY && fits_call(w, e, &offset) == 2)
			return true;
	return false;
}

/* Check whether the copy or fill may be a part of call @e. The parts of one copy arrive in the
 * order of their addresses, so a part of memory that the call has already copied belongs to a later
 * call. This rule is not applied to fills, because offset_in() may misread a fill's offset in the
 * memory. */
static void claim_call(struct claim *c, struct gt_ordered_call *e,
		       const struct gt_submitted_activity *w)
{
	uint64_t offset = 0;
	int fit = fits_call(w, e, &offset);
	const struct gt_ordered_call *before = c->first;

	if (fit == CANNOT_FIT || (c->direct && e->plain && fit < 2) ||
	    (e->kind == GT_SUBMIT_COPY && fit > 0 && offset < e->moved && !e->doubtful))
		return;
	if (!before) {
		c->first = e;
		c->fit = fit;
		c->offset = offset;
		return;
	}
	if (e->kind == GT_SUBMIT_COPY && is_untouched_call(e) && fit > 0 && offset)
		return; /* the first part of that call must come first */
	/* activities of the oldest call come first */
	if (c->fit > 0 && is_untouched_call(before) && c->fit >= fit &&
	    (!before->overlapped || !e->overlapped || before->thread == e->thread))
		return;
	c->doubtful = true;
}

/* Note that the call of the copy or fill is unknown. The packet may have been the first part of
 * each call of its kind, so none of these calls can be matched through their parts any more. */
static void doubt_calls(struct gt_submit_order *l, const struct gt_submitted_activity *w)
{
	for (struct gt_ordered_call *e = l->first;
	     e && (e->kind != GT_SUBMIT_LAUNCH || e->state == GT_CALL_MATCHED || e->overlapped);
	     e = e->next)
		if (e->kind == GT_SUBMIT_GRAPH) {
			e->doubtful = true;
			gt_ordered_call_end_span(e, false);
		} else
			e->doubtful |= e->kind ==
				       (w->part == GT_GRAPH_COPY ? GT_SUBMIT_COPY : GT_SUBMIT_FILL);
}

/* Check whether graph launch @e has a node of that kind before its next kernel. If @e has a further
 * kernel, no call after @e can have submitted the activity. Return false if the search is over. */
static bool claim_graph_node(struct gt_submit_order *l, struct claim *c, struct gt_ordered_call *e,
			     const struct gt_submitted_activity *w, struct gt_submitter *o)
{
	uint32_t place, kernel;

	if (!is_order_known(e)) {
		c->over = c->unknown = true;
		c->doubtful |= c->first && (c->fit <= 0 || !is_untouched_call(c->first) ||
					    c->first->overlapped);
		return true;
	}
	place = get_next_node(e, w);
	kernel = gt_ordered_call_next_kernel(e);
	c->over = kernel != e->nodes->count;
	if (place >= kernel || (c->first && c->fit > 0 && is_untouched_call(c->first)))
		return true;
	if (c->first) {
		gt_submit_order_break(l, "a copy or fill arrived that may belong to a graph or to "
					 "an earlier call");
	} else if (c->graph) {
		doubt_calls(l, w);
	} else {
		gt_submit_order_drop_before(l, e);
		reach_node(e, w, place, o);
	}
	return false;
}

/* Match a copy or fill to a call among the calls before the next kernel, if only one of them can
 * have submitted it. */
static void match_transfer(struct gt_submit_order *l, const struct gt_submitted_activity *w,
			   struct gt_submitter *o)
{
	struct claim c = {.direct = is_direct(l, w)};
	struct gt_ordered_call *only = NULL;
	uint32_t candidates = 0;
	bool launched = false;

	for (struct gt_ordered_call *e = l->first; e && !c.over; e = e->next) {
		if (e->state == GT_CALL_MATCHED || e->kind == GT_SUBMIT_SYNC)
			continue;
		if (!e->overlapped && (launched || e->kind == GT_SUBMIT_LAUNCH))
			break; /* a kernel must come first */
		if (e->kind == GT_SUBMIT_GRAPH) {
			if (!claim_graph_node(l, &c, e, w, o))
				return;
			/* one node may have several parts */
			c.graph = is_order_known(e) && e->last_part == w->part ? e : c.graph;
		} else if (e->kind == GT_SUBMIT_LAUNCH) {
			launched = true;
		} else {
			claim_call(&c, e, w);
			only = e;
			candidates++;
		}
	}
	if (c.graph && !c.first && !c.unknown) {
		link_to_node(c.graph, w, c.graph->last_place, o);
	} else if (c.first && c.fit > 0 && !c.doubtful && !c.graph) {
		if (!c.first->overlapped)
			gt_submit_order_drop_before(l, c.first);
		c.first->moved = c.offset + (w->bytes ? w->bytes : 1);
		link_to_call(c.first, o);
	} else if (candidates == 1 && !c.graph && !c.unknown && only->open && !only->overlapped &&
		   (w->part == GT_GRAPH_COPY) == (only->kind == GT_SUBMIT_COPY)) {
		/* a copy to a symbol: the call and the packet have no address in common */
		link_to_call(only, o);
		only->moved = only->moved ? only->moved : 1;
	} else {
		doubt_calls(l, w);
	}
}

/* Before a copy without a packet is matched, wait until earlier packets are handled. They may be
 * unhandled if they follow a packet that another thread has reserved but not yet written. */
static void wait_for_packets(const struct gt_submit_order *l)
{
	for (int i = 0;
	     i < 1000 && atomic_load_explicit(&l->handled, memory_order_relaxed) != l->reserved;
	     i++)
		sched_yield();
}

/* Return true if all packets before this packet passed through this file. If a packet had not
 * passed through this file, its call would still be in the order. */
static bool is_in_sequence(struct gt_submit_order *l, uint32_t sequence)
{
	uint32_t handled = atomic_load_explicit(&l->handled, memory_order_relaxed);

	if (!sequence)
		return handled == l->reserved;
	atomic_store_explicit(&l->handled, sequence, memory_order_relaxed);
	return sequence == handled + 1;
}

static void match_activity(struct gt_submit_order *l, const struct gt_submitted_activity *w,
			   uint32_t sequence, struct gt_submitter *o)
{
	if (atomic_load_explicit(&gt_submit_order_given_up, memory_order_relaxed))
		return;
	if (!sequence)
		wait_for_packets(l);
	gt_submit_order_lock(&l->lock);
	if (!is_in_sequence(l, sequence) && !l->broken)
		gt_submit_order_break(l, "a packet arrived out of sequence");
	if (w && !l->broken && l->handle != GT_ORDER_NO_STREAM) {
		if (w->part == GT_GRAPH_KERNEL)
			match_kernel(l, w, o);
		else
			match_transfer(l, w, o);
	}
	gt_submit_order_unlock(&l->lock);
}

static uint32_t reserve_packet(struct gt_submit_order *l)
{
	l->reserved = l->reserved == UINT32_MAX ? 1 : l->reserved + 1;
	return l->reserved;
}

GT_PROVIDE(gt_submit_orders) = {.reserve_packet = reserve_packet, .match = match_activity};
