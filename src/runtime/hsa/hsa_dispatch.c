/* SPDX-License-Identifier: MIT */
/* The packet handler: runs in the thread that rings a queue's doorbell, between the program's
 * ring and the device's (hsa_ring.h).
 *
 * A kernel's packet gets what tells us its end (hsa_activity.h), and its record is filled in but
 * for the times; so does a barrier's in `--mode hsa`; every other packet goes on as it is.
 *
 * What cannot be followed (no slot free, nothing recorded now) runs as it would without us, and
 * is counted. Tools hear of a kernel before its packet is handed on, and after it. Meanwhile the
 * queue stands still: what the tool's function submits is handed on behind this one, what other
 * threads bring too, who wait for it no longer than ENTER_NS.
 *
 * A graph's launch (runtime/graph_nodes.h) rings for each packet that it passes over. These are
 * held back and handed on in runs: hold(). Whoever else rings, or handles packets for another
 * reason, takes them along, since all that is written goes in order; what completes a signal is
 * not held, so that nobody can wait for one that is; and the helper looks after the rest
 * (gt_hsa_face_look()).
 *
 * A tool's function that does not come back must not keep the queue. An exception or longjmp()
 * through us is noticed when the thread rings again, further up in its stack; else the helper
 * takes the packet after PATIENCE_NS, be it that the function only takes so long. (No cleanup of
 * the compiler's: that needs libgcc_s in every program.) Whoever comes exchanges `telling` for
 * 0: one of them, or the function's return.
 *
 * Never here: allocation, locks, creation of signals; system calls but for
 * gt_hsa_helper_hurry(). */
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_activity.h"

#define LIMIT_NS    (1000 * GT_HSA_MS)
#define ENTER_NS    (20 * GT_HSA_MS)
#define PATIENCE_NS (5000 * GT_HSA_MS) /* as for a callback of a context that is stopped */

enum {
	SPIN = 200,
	TRIES = 500,
	AT_ONCE = 16 /* packets that the device is told of together, at most */
};

/* One that was used before. NULL: none is at hand. */
static inline GT_IN_LINE struct gt_hsa_slot *slot_at_hand(struct gt_hsa_queue *q)
{
	if (gt_unlikely(q->freed_taken == q->freed_known))
		return NULL;
	return &q->slots[q->freed[q->freed_taken++ & (q->capacity - 1)]];
}

/* One that was used before, if there is one: it is in the cache. NULL: none is free. */
static struct gt_hsa_slot *find_slot(struct gt_hsa_queue *q)
{
	struct gt_hsa_slot *s;
	uint32_t fresh;

	if (gt_unlikely(q->freed_taken == q->freed_known))
		q->freed_known = atomic_load_explicit(&q->freed_put, memory_order_acquire);
	s = slot_at_hand(q);
	if (gt_likely(s != NULL))
		return s;
	fresh = atomic_load_explicit(&q->fresh, memory_order_relaxed);
	if (fresh == atomic_load_explicit(&q->armed, memory_order_acquire))
		return NULL;
	atomic_store_explicit(&q->fresh, fresh + 1, memory_order_relaxed);
	if (fresh % 512 == 511)
		gt_hsa_helper_hurry(q->agent); /* for new ones */
	return &q->slots[fresh];
}

/* The helper is behind. NULL: and does not come. */
static struct gt_hsa_slot *wait_for_slot(struct gt_hsa_queue *q, uint64_t tail)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_acquire),
		 since = gt_hsa_boottime_ns();
	struct gt_hsa_slot *s;

	if (head == q->stuck)
		return NULL;
	gt_hsa_ring_tell(&q->ring);
	for (uint32_t n = 0;; n++) {
		q->tail_known_head = atomic_load_explicit(&q->head, memory_order_acquire);
		if (tail - q->tail_known_head < q->capacity && (s = find_slot(q)) != NULL)
			return s;
		if (n % 16 == 0)
			gt_hsa_helper_hurry(q->agent);
		if (gt_hsa_boottime_ns() - since > LIMIT_NS) {
			q->stuck = head;
			return NULL;
		}
		sched_yield();
	}
}

/* By who is at work in the ring; then slot_put(). NULL: none is free. */
static struct gt_hsa_slot *slot_take(struct gt_hsa_queue *q)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	struct gt_hsa_slot *s = NULL;

	if (gt_unlikely(tail - q->tail_known_head >= q->capacity / 2)) {
		q->tail_known_head = atomic_load_explicit(&q->head, memory_order_acquire);
		if (tail - q->tail_known_head >= q->capacity / 2 && tail % 256 == 0)
			gt_hsa_helper_hurry(q->agent);
	}
	if (gt_likely(tail - q->tail_known_head < q->capacity))
		s = find_slot(q);
	return gt_likely(s != NULL) ? s : wait_for_slot(q, tail);
}

static inline GT_IN_LINE void slot_put(struct gt_hsa_queue *q, struct gt_hsa_slot *s,
				       enum gt_hsa_slot_state state)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	q->order[tail & (q->capacity - 1)] = (uint32_t)(s - q->slots);
	atomic_store_explicit(&s->watch.state, state, memory_order_release);
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
}

/* A kernel of HIP's own that copies or fills. What the call moves is counted with the first one
 * of them. */
static void moves(struct gt_hsa_queue *q, const struct gt_hsa_owner *o, uint32_t class,
		  struct gt_record_device *r)
{
	static const uint8_t copies[] = {GT_DEVICE_COPY, GT_DEVICE_WRITE, GT_DEVICE_READ,
					 GT_DEVICE_COPY, GT_DEVICE_COPY};
	/* between a call's kernels may lie another thread's */
	uint64_t *moved = &q->moved[GT_ID_ORDINAL(o->id) % GT_HSA_MOVERS];

	if (!o->bytes)
		return;
	r->head.depth = class == GT_HSA_KERNEL_FILL
				? GT_DEVICE_FILL
				: copies[o->direction < sizeof copies ? o->direction : 0];
	r->bytes = *moved == o->id ? 0 : o->bytes;
	r->object[0] = o->source;
	r->object[1] = o->destination;
	*moved = o->id;
}

/* What is the same for all packets. */
static inline GT_IN_LINE void begin_for(const struct gt_hsa_queue *q, struct gt_record_device *r,
					enum gt_device_op op, uint64_t id, uint64_t call_start)
{
	r->head.depth = (uint8_t)op;
	r->id = id;
	r->call_start = call_start;
	r->queue = q->number;
	r->bytes = 0;
	r->replay = r->ordinal = 0;
	r->submitted = 0;
}

/* With the call that it is linked to. @o: NULL: who reserved the packet's number is not known. */
static void begin(const struct gt_hsa_queue *q, struct gt_record_device *r,
		  const struct gt_hsa_owner *o, enum gt_device_op op, const struct gt_thread *t)
{
	uint64_t id = o ? o->id : t->api_id, start = o ? o->start : t->api_start;

	if (!id) { /* HSA without HIP: the call that rings */
		id = t->depth ? t->id : 0;
		start = t->depth ? gt_ticks() : 0;
	}
	begin_for(q, r, op, id, start);
}

/* What is the same for all kernels. */
static inline GT_IN_LINE void describe(struct gt_record_device *r,
				       const struct gt_hsa_kernel_packet *p, uint32_t name,
				       uint64_t symbol)
{
	r->name = name;
	r->object[0] = p->kernel_object;
	r->object[1] = GT_KERNEL_DETAIL(symbol, p->group_bytes, p->private_bytes);
	for (int i = 0; i < 3; i++) {
		r->global[i] = p->grid[i];
		r->local[i] = p->local[i];
	}
}

static void fill(struct gt_hsa_queue *q, struct gt_hsa_slot *s,
		 const struct gt_hsa_kernel_packet *p, const struct gt_hsa_owner *o,
		 const struct gt_hsa_kernel *k, struct gt_thread *t)
{
	uint32_t class = k ? k->class : GT_HSA_KERNEL_USER;
	struct gt_record_device *r = &s->record;

	begin(q, r, o, GT_DEVICE_KERNEL, t);
	describe(r, p, k ? k->name : 0, k ? k->symbol : 0);
	if (gt_unlikely(class != GT_HSA_KERNEL_USER) && o)
		moves(q, o, class, r);
	if (gt_unlikely(o && o->stamp.replay))
		gt_hsa_stamp(r, &o->stamp, (enum gt_graph_part) class);
	r->queued = gt_ticks(); /* a third of what CLOCK_BOOTTIME costs */
}

static void fill_barrier(struct gt_hsa_queue *q, struct gt_hsa_slot *s,
			 const struct gt_hsa_barrier_packet *p, const struct gt_hsa_owner *o,
			 struct gt_thread *t)
{
	struct gt_record_device *r = &s->record;

	begin(q, r, o, GT_DEVICE_BARRIER, t);
	r->name = q->barrier_names[GT_HSA_PACKET_TYPE(p->header) == GT_HSA_PACKET_BARRIER_OR];
	r->object[0] = r->object[1] = 0;
	memset(r->global, 0, sizeof r->global);
	memset(r->local, 0, sizeof r->local);
	if (o && o->stamp.replay) {
		r->replay = o->stamp.replay;
		r->ordinal = GT_GRAPH_NO_NODE;
		r->queue |= (uint64_t)o->stamp.graph << 32;
	}
	r->queued = gt_ticks();
}

/* How a packet tells us of its completion. */
enum telling { TELLS, TELLS_SERVED, TELLS_NOT };

/* TELLS_SERVED: the program's signal has to be served behind it. */
static enum telling complete_with(struct gt_hsa_queue *q, struct gt_hsa_slot *s,
				  uint64_t *completion)
{
	struct gt_hsa_signal *theirs = (struct gt_hsa_signal *)(uintptr_t)*completion;

	if (theirs && gt_hsa_signal_watch(&s->watch, theirs))
		return TELLS;
	s->watch.signal = s->ours;
	if (gt_unlikely(theirs && !gt_hsa_ring_is_large(&q->ring)))
		return TELLS_NOT;
	*completion = (uintptr_t)s->ours;
	return theirs ? TELLS_SERVED : TELLS;
}

/* Behind everything that is in the queue, the program's signal. No dependency on ours: that is
 * used again soon. */
static void serve(struct gt_hsa_queue *q, uint16_t header, uint64_t signal)
{
	union gt_hsa_packet p = {
		.barrier = {
			.header = (uint16_t)(GT_HSA_PACKET_BARRIER_AND | GT_HSA_PACKET_BARRIER_BIT |
					     GT_HSA_FENCES(header)),
			.completion_signal = signal,
		}};

	gt_hsa_signal_release(signal);
	gt_hsa_ring_insert(&q->ring, &p);
}

/* Reserved by a thread of the runtime's: for whom? */
static void match_submitter(struct gt_hsa_owner *o, const struct gt_hsa_kernel *k,
			    const struct gt_hsa_kernel_packet *p)
{
	struct gt_submitted_work work = {.part = k ? (enum gt_graph_part)k->class : GT_GRAPH_KERNEL,
					 .name = k ? k->name : 0};
	struct gt_submit_order *order = o->order;

	o->order = NULL;
	/* HIP keeps its arguments where the host can read them */
	if (work.part != GT_GRAPH_KERNEL) {
		work.words = (const uint64_t *)(uintptr_t)p->kernarg;
		work.word_count = k->kernarg_bytes / 8;
	}
	gt_submit_order_match(order, k && k->internal ? NULL : &work, o->turn, o);
}

/* The slot that comes next: the helper had it last. */
static inline GT_IN_LINE void fetch_slot(const struct gt_hsa_queue *q)
{
	char *next = (char *)&q->slots[q->freed[q->freed_taken & (q->capacity - 1)]];

	for (size_t i = 0; i < sizeof(struct gt_hsa_slot); i += 64)
		gt_hsa_fetch(next + i);
}

/* Its record is filled in, and its copy in the device's ring has the signal that it needs: the
 * device may have it. */
static inline GT_IN_LINE void let_go(struct gt_hsa_queue *q, struct gt_hsa_slot *s,
				     union gt_hsa_packet *p, const union gt_hsa_packet *from,
				     enum telling how)
{
	gt_hsa_slot_index(s, q->ring.last - 1);
	slot_put(q, s, how == TELLS_NOT ? GT_HSA_SLOT_LOST : GT_HSA_SLOT_PENDING);
	gt_hsa_helper_rouse(q->agent);
	gt_hsa_ring_hand_on(&q->ring, p, from, how == TELLS_SERVED);
	fetch_slot(q);
}

/* A packet whose record is filled in goes to the device: whoever completes it tells us. */
static void follow(struct gt_hsa_queue *q, struct gt_hsa_slot *s, const union gt_hsa_packet *from)
{
	union gt_hsa_packet *p = gt_hsa_ring_copy(&q->ring, from);
	uint64_t theirs = p->barrier.completion_signal;
	uint16_t header = from->barrier.header;
	enum telling how = complete_with(q, s, &p->barrier.completion_signal);

	let_go(q, s, p, from, how);
	if (gt_unlikely(how == TELLS_SERVED))
		serve(q, header, theirs);
}

/* As it is. */
static inline GT_IN_LINE void pass(struct gt_hsa_queue *q, const union gt_hsa_packet *from)
{
	uint64_t signal = from->barrier.completion_signal; /* in the same place in all of them */

	if (gt_unlikely(signal))
		gt_hsa_signal_release(signal);
	gt_hsa_ring_pass(&q->ring, 1);
}

/* Is it recorded, and not only told? */
static bool is_recorded(const struct gt_hsa_kernel *k, const struct gt_hsa_owner *o)
{
	bool graph = o && o->stamp.replay;

	if (gt_unlikely(!gt_hsa_recorded() || gt_hsa_is_unrecorded(o)) ||
	    (gt_unlikely(graph) && o->stamp.unobserved >> (k ? k->class : 0) & 1))
		return false;
	return gt_likely(!k || !(k->unwanted || k->class)) || (graph && o->stamp.span) ||
	       (!k->unwanted && gt_session_wants_copies(gt_recording.session));
}

static void leave_to_helper(struct gt_hsa_queue *q)
{
	atomic_store_explicit(&q->behind, 1, memory_order_relaxed);
	gt_hsa_helper_hurry(q->agent);
}

/* By a thread that is at work. */
static void telling_begin(struct gt_hsa_queue *q, struct gt_hsa_guard *g, struct gt_hsa_telling at)
{
	gt_hsa_ring_tell(&q->ring); /* the device need not wait for the tool */
	q->at = at;
	q->at.guard = g;
	g->number = ++q->tellings;
	g->q = q;
	atomic_store_explicit(&q->telling, g->number, memory_order_release);
}

/* Return: false: somebody else has gone on with the packet, and the ring is his. */
static bool telling_end(struct gt_hsa_queue *q, uint64_t number)
{
	return atomic_compare_exchange_strong_explicit(&q->telling, &number, 0,
						       memory_order_acq_rel, memory_order_relaxed);
}

/* It will not come back (@left), or is not waited for any more: then what was told is its own to
 * finish. */
static bool telling_take(struct gt_hsa_queue *q, uint64_t number, bool left)
{
	if (!telling_end(q, number))
		return false;
	q->resume = q->at;
	q->resume.left = left;
	return true;
}

/* ENTER. Return: false: the ring is not ours any more. *piece: NULL: nobody asks for it. */
static __attribute__((noinline)) bool tell_enter(struct gt_hsa_queue *q,
						 struct gt_work_item **piece)
{
	struct gt_hsa_guard g;
	bool heard;

	telling_begin(q, &g, (struct gt_hsa_telling){.piece = *piece, .enter = true});
	heard = gt_work_item_enter(*piece);
	g.q = NULL;
	if (gt_unlikely(!telling_end(q, g.number))) {
		if (heard) {
			gt_work_item_exit(*piece);
			gt_work_item_drop(*piece, false); /* counted already */
		}
		return false;
	}
	*piece = heard ? *piece : NULL;
	return true;
}

/* EXIT, and the piece is the helper's, if it is followed. Return: false: the ring is not ours
 * any more. */
static __attribute__((noinline)) bool tell_exit(struct gt_hsa_queue *q, struct gt_work_item *piece,
						bool followed)
{
	struct gt_hsa_guard g;
	bool ours;

	telling_begin(q, &g, (struct gt_hsa_telling){.piece = piece, .followed = followed});
	gt_work_item_exit(piece);
	g.q = NULL;
	ours = telling_end(q, g.number);
	if (!followed)
		gt_work_item_drop(piece, true);
	return ours;
}

/* The packet was handed on, EXIT was being told. */
static void resume_exit(struct gt_hsa_queue *q)
{
	const struct gt_hsa_telling was = q->resume;

	q->resume.piece = NULL;
	if (!was.left)
		return; /* whoever tells it finishes it */
	gt_work_item_left(was.piece);
	if (!was.followed)
		gt_work_item_drop(was.piece, true);
}

/* ENTER was being told of the packet that comes next. Return: its piece; NULL: it goes without. */
static struct gt_work_item *resume_enter(struct gt_hsa_queue *q)
{
	const struct gt_hsa_telling was = q->resume;

	q->resume.piece = NULL;
	if (was.left) {
		gt_work_item_left(was.piece);
		return was.piece;
	}
	gt_work_item_abandon();
	return NULL;
}

/* Return: false: it is not followed to its end. */
static bool kernel(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
		   const struct gt_hsa_owner *o, const struct gt_hsa_kernel *k,
		   struct gt_work_item *piece, struct gt_thread *t)
{
	bool recorded = is_recorded(k, o),
	     span = gt_unlikely(o && o->stamp.replay) && o->stamp.span;
	struct gt_hsa_slot *s;

	if (gt_unlikely(!recorded && !piece)) {
		pass(q, from);
		return false;
	}
	if (gt_likely(recorded && !span))
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	s = slot_take(q);
	if (gt_unlikely(!s)) {
		if (recorded && span)
			gt_graph_span_lose_part(o->stamp.span, t);
		else if (recorded)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
		pass(q, from);
		return false;
	}
	fill(q, s, &from->kernel, o, k, t);
	s->record.head.kind = recorded ? GT_RECORD_DEVICE : GT_RECORD_PAD;
	s->record.end = (uintptr_t)piece;
	follow(q, s, from);
	return true;
}

/* A barrier packet of the program's (or of HIP's for it): `--mode hsa` records it. Return:
 * false: it is not followed to its end. */
static bool barrier(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
		    const struct gt_hsa_owner *o, bool recorded, struct gt_work_item *piece,
		    struct gt_thread *t)
{
	struct gt_hsa_slot *s;

	if (recorded)
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	s = slot_take(q);
	if (gt_unlikely(!s)) {
		if (recorded)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
		pass(q, from);
		return false;
	}
	fill_barrier(q, s, &from->barrier, o, t);
	s->record.head.kind = recorded ? GT_RECORD_DEVICE : GT_RECORD_PAD;
	s->record.end = (uintptr_t)piece;
	follow(q, s, from);
	return true;
}

/* These four return false when the ring is not ours any more. */

/* Its packet has been handed on. @resumed: its functions have been told what they are told of
 * that. */
static bool packet_told(struct gt_hsa_queue *q, struct gt_work_item *piece, bool resumed,
			bool followed)
{
	if (!resumed)
		return tell_exit(q, piece, followed);
	if (!followed)
		gt_work_item_drop(piece, true);
	return true;
}

/* Most packets: a kernel of the program's, of a call of HIP's, that is recorded and nothing
 * else, with no signal of its own. The same as kernel_packet() does with it, but without a
 * question what else it might be. False: it is not, or no slot is at hand. */
static inline GT_IN_LINE bool plain_kernel(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
					   const struct gt_hsa_owner *o,
					   const struct gt_hsa_kernel *k, struct gt_thread *t)
{
	union gt_hsa_packet *p;
	struct gt_hsa_slot *s;

	if (gt_unlikely(!o || !k || k->class | k->unwanted || (!o->id && t->depth) ||
			(uintptr_t)o->order | o->stamp.replay | o->stamp.graph |
				from->kernel.completion_signal | (uintptr_t)q->resume.piece) ||
	    gt_unlikely(!gt_hsa_recorded() || gt_tool_work_asked(GT_DOMAIN_HSA_CORE)) ||
	    gt_unlikely(atomic_load_explicit(&q->tail, memory_order_relaxed) - q->tail_known_head >=
			q->capacity / 2))
		return false;
	s = slot_at_hand(q);
	if (gt_unlikely(!s))
		return false;
	gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	begin_for(q, &s->record, GT_DEVICE_KERNEL, o->id, o->id ? o->start : 0);
	describe(&s->record, &from->kernel, k->name, k->symbol);
	s->record.head.kind = GT_RECORD_DEVICE;
	s->record.end = 0;
	s->watch.signal = s->ours;
	p = gt_hsa_ring_copy(&q->ring, from);
	p->kernel.completion_signal = (uintptr_t)s->ours;
	s->record.queued = gt_ticks();
	let_go(q, s, p, from, TELLS);
	return true;
}

static bool kernel_packet(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			  struct gt_hsa_owner *o, const struct gt_hsa_kernel *k,
			  struct gt_thread *t)
{
	struct gt_work_item *piece = NULL;
	bool resumed = gt_unlikely(q->resume.piece != NULL), followed;

	if (gt_unlikely(o && o->order))
		match_submitter(o, k, &from->kernel);
	if (resumed) {
		piece = resume_enter(q);
	} else if (gt_unlikely(gt_tool_work_asked(GT_DOMAIN_HSA_CORE))) {
		piece = gt_hsa_told_kernel(q, o, k, &from->kernel);
		if (piece && !tell_enter(q, &piece))
			return false;
	}
	followed = kernel(q, from, o, k, piece, t);
	if (gt_likely(!piece))
		return true;
	return packet_told(q, piece, resumed, followed);
}

/* *handed_on: false: nobody asks for barriers. */
static bool barrier_packet(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			   struct gt_hsa_owner *o, struct gt_thread *t, bool *handed_on)
{
	bool recorded = gt_unlikely(q->barriers) && gt_hsa_recorded() && !gt_hsa_is_unrecorded(o);
	bool resumed = gt_unlikely(q->resume.piece != NULL), followed;
	struct gt_work_item *piece = NULL;

	if (resumed) {
		piece = resume_enter(q);
	} else if (gt_unlikely(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) &
			       GPUTAP_WORK_BIT(GPUTAP_WORK_BARRIER))) {
		piece = gt_hsa_told_barrier(q, o);
		if (piece && !tell_enter(q, &piece))
			return false;
	}
	*handed_on = recorded || piece;
	if (gt_likely(!*handed_on))
		return true;
	followed = barrier(q, from, o, recorded, piece, t);
	if (!piece)
		return true;
	return packet_told(q, piece, resumed, followed);
}

static bool packet(struct gt_hsa_queue *q, const union gt_hsa_packet *from, struct gt_hsa_owner *o,
		   struct gt_thread *t)
{
	uint32_t type = GT_HSA_PACKET_TYPE(from->kernel.header);
	bool handed_on = false;

	if (gt_likely(type == GT_HSA_PACKET_KERNEL)) {
		const struct gt_hsa_kernel *k = gt_hsa_kernel_find(from->kernel.kernel_object);

		return gt_likely(plain_kernel(q, from, o, k, t)) || kernel_packet(q, from, o, k, t);
	}
	if (gt_unlikely(o && o->order)) {
		gt_submit_order_match(o->order, NULL, o->turn, NULL);
		o->order = NULL;
	}
	if (type == GT_HSA_PACKET_BARRIER_AND || type == GT_HSA_PACKET_BARRIER_OR)
		if (!barrier_packet(q, from, o, t, &handed_on))
			return false;
	if (handed_on)
		return true;
	if (gt_unlikely(atomic_load_explicit(&q->has_pieces, memory_order_relaxed)) && o)
		gt_hsa_told_reserve(q, o, false);
	pass(q, from);
	return true;
}

/* More is in flight than the program's ring holds. A program that lets its first packet go only
 * when its queue is full would wait for ever in here: without any progress for LIMIT_NS it goes
 * on. Return: false: the rest is the helper's. */
static bool wait_for_room(struct gt_hsa_queue *q, bool wait)
{
	struct gt_hsa_ring *ring = &q->ring;
	uint64_t known = ring->read_known, since = gt_hsa_boottime_ns();

	if (!wait || atomic_load_explicit(&q->behind, memory_order_relaxed))
		return false;
	gt_hsa_ring_tell(ring);
	for (uint32_t n = 0; !gt_hsa_ring_has_room(ring); n++) {
		if (n < SPIN)
			continue;
		if (ring->read_known != known) {
			known = ring->read_known;
			since = gt_hsa_boottime_ns();
		} else if (gt_hsa_boottime_ns() - since > LIMIT_NS) {
			return false;
		}
		sched_yield();
	}
	return true;
}

/* Nothing is recorded, or told: this is a fork's child, or the end. */
static void pass_untold(struct gt_hsa_queue *q, const union gt_hsa_packet *from)
{
	struct gt_work_item *piece = q->resume.piece ? resume_enter(q) : NULL;

	if (piece)
		gt_work_item_drop(piece, true);
	pass(q, from);
}

/* For the helper, who cannot wait for itself. Not for ever: there may be no signals to be had. */
static bool has_slot(struct gt_hsa_queue *q)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	if (tail - atomic_load_explicit(&q->head, memory_order_relaxed) < q->capacity &&
	    (q->freed_taken != atomic_load_explicit(&q->freed_put, memory_order_acquire) ||
	     atomic_load_explicit(&q->fresh, memory_order_relaxed) !=
		     atomic_load_explicit(&q->armed, memory_order_acquire))) {
		q->tries = 0;
		return true;
	}
	return q->tries++ >= TRIES;
}

/* Whatever is written, as far as there is room. Return: false: the ring is not ours any more. */
static bool move(struct gt_hsa_queue *q, uint64_t index, bool wait, struct gt_thread *t)
{
	struct gt_hsa_ring *ring = &q->ring;
	const union gt_hsa_packet *from;
	struct gt_hsa_owner *o;
	uint64_t marks;

	if (gt_unlikely(q->resume.piece && !q->resume.enter))
		resume_exit(q);
	gt_hsa_ring_look(ring, index);
	while ((from = gt_hsa_ring_next(ring)) != NULL) {
		if (gt_unlikely(!gt_hsa_ring_has_room(ring)) && !wait_for_room(q, wait))
			break;
		if (gt_unlikely(!wait) && t && !has_slot(q))
			break;
		o = gt_hsa_owner_of(q, ring->taken, &marks);
		if (gt_unlikely(!t)) {
			pass_untold(q, from);
		} else if (gt_likely(!marks)) {
			if (gt_unlikely(!packet(q, from, o, t)))
				return false;
		} else if (marks & GT_HSA_LATER) {
			from = NULL; /* who has written it makes its stamp, then rings */
			break;
		} else {
			pass(q, from);
		}
		if (ring->last - ring->told >= AT_ONCE)
			gt_hsa_ring_tell(ring);
	}
	gt_hsa_ring_tell(ring);
	if (gt_unlikely(from != NULL))
		leave_to_helper(q);
	return true;
}

/* Another thread is at work. BUSY: for so long that this packet is left to the helper. */
static enum gt_hsa_ring_entry wait_to_enter(struct gt_hsa_queue *q, uintptr_t me)
{
	uint64_t since = gt_hsa_boottime_ns();
	enum gt_hsa_ring_entry how;

	for (uint32_t n = 0; (how = gt_hsa_ring_enter(&q->ring, me)) == GT_HSA_RING_BUSY; n++) {
		if (n < SPIN)
			continue;
		if (gt_hsa_boottime_ns() - since > ENTER_NS)
			break;
		sched_yield();
	}
	return how;
}

/* On a stack of its own a signal handler's frames say nothing of the thread's. */
static bool on_signal_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

/* The ring seems to be this thread's: has a tool's function been left by an exception or
 * longjmp(), in the middle of a packet? Then it is. The guard tells, by where it lay, or because
 * something else lies there. */
static bool was_left(struct gt_hsa_queue *q, const void *here)
{
	uint64_t number = atomic_load_explicit(&q->telling, memory_order_acquire);
	const volatile struct gt_hsa_guard *g = q->at.guard;

	return number && ((uintptr_t)g < (uintptr_t)here || g->q != q || g->number != number) &&
	       !on_signal_stack() && telling_take(q, number, true);
}

static void work(struct gt_hsa_queue *q, uint64_t index, bool wait, enum gt_hsa_ring_entry how)
{
	struct gt_thread *t = gt_hsa_thread();
	uintptr_t me = (uintptr_t)&gt_thread;

	if (gt_unlikely(t && q->epoch != t->epoch))
		t = NULL;
	for (;; how = gt_hsa_ring_enter(&q->ring, me)) {
		if (gt_unlikely(how == GT_HSA_RING_BUSY) && wait)
			how = wait_to_enter(q, me);
		if (gt_unlikely(how == GT_HSA_RING_NOTED) &&
		    was_left(q, __builtin_frame_address(0)))
			how = GT_HSA_RING_ENTERED;
		if (gt_unlikely(how != GT_HSA_RING_ENTERED)) {
			if (how == GT_HSA_RING_BUSY)
				leave_to_helper(q);
			return;
		}
		if (gt_unlikely(!move(q, index, wait, t)) || gt_likely(gt_hsa_ring_leave(&q->ring)))
			return;
	}
}

static __attribute__((noinline)) void tell_and_leave(struct gt_hsa_queue *q, uint64_t index,
						     bool wait)
{
	gt_hsa_ring_tell(&q->ring);
	if (gt_unlikely(!gt_hsa_ring_leave(&q->ring)))
		work(q, index, wait, gt_hsa_ring_enter(&q->ring, (uintptr_t)&gt_thread));
}

/* Not one of those that are handled soon, or reserved with others. */
static __attribute__((noinline)) bool is_quiet(const struct gt_hsa_queue *q, uint64_t number)
{
	uint64_t quiet = (number + 1) | GT_HSA_QUIET;

	return __atomic_load_n(&q->near[number % GT_HSA_NEAR].packet, __ATOMIC_ACQUIRE) == quiet ||
	       __atomic_load_n(&q->owners[number & q->owner_mask].packet, __ATOMIC_ACQUIRE) ==
		       quiet;
}

/* So many packets, of @most, come next that are written, that nobody asks for, and that complete
 * no signal. */
static inline GT_IN_LINE uint64_t quiet_run(const struct gt_hsa_queue *q, uint64_t most)
{
	const struct gt_hsa_ring *ring = &q->ring;
	uint64_t from = ring->taken, end = ring->limit - from < most ? ring->limit : from + most, i;

	for (i = from; i < end; i++) {
		const struct gt_hsa_kernel_packet *p = &ring->theirs[i & ring->theirs_mask].kernel;

		if (gt_unlikely(GT_HSA_PACKET_TYPE(__atomic_load_n(&p->header, __ATOMIC_ACQUIRE)) ==
				GT_HSA_PACKET_INVALID) ||
		    (gt_unlikely(__atomic_load_n(&q->quiet[i % GT_HSA_QUIETS], __ATOMIC_RELAXED) !=
				 i + 1) &&
		     !is_quiet(q, i)) ||
		    gt_unlikely(p->completion_signal))
			break;
	}
	return i - from;
}

/* By a thread that launches a graph. What that passes over goes on as move() does it, but
 * without the questions that it asks of other packets; whatever else comes is work()'s, and so
 * is what is rare: hence no call here but as the last thing. */
static __attribute__((noinline)) void handle_for_graph(struct gt_hsa_queue *q, uint64_t index,
						       bool wait,
						       const struct gt_graph_quiet *graph)
{
	struct gt_hsa_ring *ring = &q->ring;
	enum gt_hsa_ring_entry how = gt_hsa_ring_enter(ring, (uintptr_t)&gt_thread);
	uint64_t room, run;

	if (gt_unlikely(how != GT_HSA_RING_ENTERED) || graph->queue != q->handle ||
	    gt_unlikely(q->resume.piece != NULL)) {
		work(q, index, wait, how);
		return;
	}
	gt_hsa_ring_look(ring, index);
	room = gt_hsa_ring_had_room(ring, AT_ONCE);
	run = quiet_run(q, room);
	if (gt_likely(run))
		gt_hsa_ring_pass(ring, run);
	if (gt_unlikely(gt_hsa_ring_next(ring) != NULL)) {
		work(q, index, wait, how);
		return;
	}
	tell_and_leave(q, index, wait);
}

/* What was reserved together is written. */
static __attribute__((noinline)) void handle_written(struct gt_hsa_queue *q, uint64_t index,
						     bool wait)
{
	gt_graph_assign_deferred(gt_thread.graph, false);
	handle_for_graph(q, index, wait, (const struct gt_graph_quiet *)gt_thread.graph);
}

void gt_hsa_handle_packets(struct gt_hsa_queue *q, uint64_t index, bool wait)
{
	struct gt_graph_quiet *graph = (struct gt_graph_quiet *)gt_thread.graph;

	if (gt_likely(!graph))
		work(q, index, wait, gt_hsa_ring_enter(&q->ring, (uintptr_t)&gt_thread));
	else if (gt_likely(!graph->later))
		handle_for_graph(q, index, wait, graph);
	else
		handle_written(q, index, wait);
}

/* Rung for by a launch that passes it over: may it be handed on with the next ones? Not if
 * somebody may wait for it, or for one behind it: who reserves that just now may have rung
 * already, and waits for this run. The device is to have what it needs to go on: so these runs
 * are an eighth of what has gone before, and of what comes. */
static inline GT_IN_LINE bool hold(struct gt_hsa_queue *q, uint64_t index,
				   struct gt_graph_quiet *graph)
{
	struct gt_hsa_ring *ring = &q->ring;
	uint64_t runs;

	if (graph->queue != q->handle)
		return false;
	if (graph->held < graph->most && graph->left && !graph->later &&
	    gt_likely(atomic_load_explicit(ring->theirs_write, memory_order_relaxed) ==
		      index + 1) &&
	    gt_likely(!ring->theirs[index & ring->theirs_mask].kernel.completion_signal)) {
		gt_hsa_fetch(&ring->theirs[(index + 1) & ring->theirs_mask]);
		gt_hsa_fetch(
			&ring->device[(atomic_load_explicit(ring->write, memory_order_relaxed) +
				       graph->held) &
				      ring->device_mask]);
		graph->held++;
		if (gt_unlikely(!graph->holder)) {
			graph->holder = q;
			atomic_fetch_add_explicit(&q->holders, 1, memory_order_relaxed);
		}
		return true;
	}
	graph->held = 0;
	runs = graph->all - graph->left < graph->left ? graph->all - graph->left : graph->left;
	graph->most = runs / 8 < AT_ONCE - 1 ? (uint32_t)(runs / 8) : AT_ONCE - 1;
	return false;
}

void gt_hsa_rung(struct gt_hsa_queue *q, uint64_t index)
{
	struct gt_graph_quiet *graph = (struct gt_graph_quiet *)gt_thread.graph;

	gt_hsa_turn.asks = GT_HSA_NOTHING;
	if (gt_unlikely(graph != NULL) && hold(q, index, graph))
		return;
	gt_hsa_handle_packets(q, index, true);
}

void gt_graph_flush_held(struct gt_graph_launch *launch)
{
	struct gt_graph_quiet *graph = (struct gt_graph_quiet *)launch;
	struct gt_hsa_queue *q = graph->holder;

	if (!q)
		return;
	graph->holder = NULL;
	if (graph->held &&
	    atomic_load_explicit(&q->state, memory_order_relaxed) == GT_HSA_QUEUE_LIVE) {
		graph->held = 0;
		gt_hsa_handle_packets(q, 0, true);
	}
	atomic_fetch_sub_explicit(&q->holders, 1, memory_order_relaxed);
}

void gt_hsa_look_at_telling(struct gt_hsa_queue *q)
{
	uint64_t number = atomic_load_explicit(&q->telling, memory_order_acquire),
		 now = gt_hsa_boottime_ns();

	if (number != q->telling_seen) {
		q->telling_seen = number;
		q->telling_since = now;
	}
	if (!number || now - q->telling_since < PATIENCE_NS || !telling_take(q, number, false))
		return;
	atomic_store_explicit(&q->ring.worker, (uintptr_t)&gt_thread, memory_order_relaxed);
	work(q, 0, false, GT_HSA_RING_ENTERED);
}

void gt_graph_mark_end(const void *queue, const struct gt_node_ref *stamp)
{
	struct gt_hsa_queue *q = gt_hsa_queue_find(queue);
	struct gt_thread *t = gt_hsa_thread();
	union gt_hsa_packet p = {.barrier.header =
					 GT_HSA_PACKET_BARRIER_AND | GT_HSA_PACKET_BARRIER_BIT};
	struct gt_hsa_slot *s = NULL;

	if (q && t && gt_hsa_ring_is_large(&q->ring) &&
	    wait_to_enter(q, (uintptr_t)&gt_thread) == GT_HSA_RING_ENTERED) {
		if (gt_hsa_ring_has_room(&q->ring))
			s = slot_take(q);
		if (s) {
			fill_barrier(q, s, &p.barrier,
				     &(struct gt_hsa_owner){.id = t->api_id,
							    .start = t->api_start,
							    .stamp = *stamp},
				     t);
			s->record.submitted = (uintptr_t)stamp->span;
			s->record.head.kind = GT_RECORD_DEVICE;
			s->record.end = 0;
			s->watch.signal = s->ours;
			p.barrier.completion_signal = (uintptr_t)s->ours;
			slot_put(q, s, GT_HSA_SLOT_PENDING);
			gt_hsa_ring_insert(&q->ring, &p);
			gt_hsa_ring_tell(&q->ring);
			gt_hsa_helper_rouse(q->agent);
		}
		if (!gt_hsa_ring_leave(&q->ring))
			gt_hsa_handle_packets(q, 0, true);
	}
	if (!s)
		gt_graph_span_lose_part(stamp->span, t);
}
