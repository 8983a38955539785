/* SPDX-License-Identifier: MIT */
/* The packet handler: runs in the thread that rings a queue's doorbell, between the packet and the device.
 *
 * A kernel's packet gets what tells us its end (activity.h), and its record is filled in but for the times; so does a barrier's in
 * `--mode hsa`; every other packet goes on as it is. Packets of one call are handed on together, at most BATCH at a time: more than a fixed number breaks
 * runtimes that copy them into a buffer of fixed size.
 *
 * What cannot be followed (no slot free, nothing recorded now) runs as it would without us, and is counted.
 * Tools hear of a kernel before its packet is handed on, and after it, with nothing held.
 * Never here: allocation, locks, creation of signals; system calls but for gt_hsa_helper_hurry(). */
#include <sched.h>
#include <string.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_activity.h"

enum { BATCH = 64 };

struct batch {
	struct gt_hsa_queue *queue;
	union gt_hsa_packet packets[BATCH];
	uint32_t count;
	gt_hsa_packet_writer *writer;
};

static void flush(struct batch *b)
{
	if (b->count) {
		gt_hsa_room(b->queue);
		b->writer(b->packets, b->count);
	}
	b->count = 0;
}

static union gt_hsa_packet *next(struct batch *b)
{
	if (gt_unlikely(b->count == BATCH))
		flush(b);
	b->queue->forwarded++;
	return &b->packets[b->count++];
}

/* The queue's `busy` is held. */
struct gt_hsa_slot *gt_hsa_slot_take(struct gt_hsa_queue *q, uint32_t reserve)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	struct gt_hsa_slot *s;

	if (gt_unlikely(tail - q->tail_known_head >= q->capacity / 2)) {
		q->tail_known_head = atomic_load_explicit(&q->head, memory_order_acquire);
		if (tail - q->tail_known_head >= q->capacity / 2 && tail % 256 == 0)
			gt_hsa_helper_hurry(q->agent);
		if (tail - q->tail_known_head >= q->capacity - reserve)
			return NULL;
	}
	s = gt_hsa_slot(q, tail);
	return gt_likely(__atomic_load_n(&s->ours, __ATOMIC_ACQUIRE) != NULL) ? s : NULL;
}


void gt_hsa_slot_put(struct gt_hsa_queue *q, struct gt_hsa_slot *s)
{
	s->watch.value = (int64_t)q->forwarded;
	q->tracked = q->forwarded;
	atomic_store_explicit(&s->watch.state, GT_HSA_SLOT_PENDING, memory_order_release);
	atomic_store_explicit(&q->tail, atomic_load_explicit(&q->tail, memory_order_relaxed) + 1, memory_order_release);
}

/* A packet that tells how far the queue has come, where many have passed that do not tell us. It holds up nothing. */
static void mark(struct batch *b)
{
	struct gt_hsa_queue *q = b->queue;
	struct gt_hsa_slot *s = gt_hsa_room_slot(q);
	struct gt_hsa_barrier_packet *p;

	if (!s)
		return;
	p = &next(b)->barrier;
	memset(p, 0, sizeof *p);
	p->header = GT_HSA_PACKET_BARRIER_AND;
	p->completion_signal = (uintptr_t)s->ours;
	s->watch.signal = s->ours;
	s->record.head.depth = GT_HSA_MARKER;
	gt_hsa_slot_put(q, s);
}

/* A kernel of HIP's own that copies or fills. What the call moves is counted with the first one of them. */
static void moves(struct gt_hsa_queue *q, const struct gt_hsa_owner *o, uint32_t class, struct gt_record_device *r)
{
	static const uint8_t copies[] = {GT_DEVICE_COPY, GT_DEVICE_WRITE, GT_DEVICE_READ, GT_DEVICE_COPY, GT_DEVICE_COPY};
	uint64_t *moved = &q->moved[GT_ID_ORDINAL(o->id) % GT_HSA_MOVERS]; /* between a call's kernels may lie another thread's */

	if (!o->bytes)
		return;
	r->head.depth = class == GT_HSA_KERNEL_FILL ? GT_DEVICE_FILL : copies[o->direction < sizeof copies ? o->direction : 0];
	r->bytes = *moved == o->id ? 0 : o->bytes;
	r->object[0] = o->source;
	r->object[1] = o->destination;
	*moved = o->id;
}

/* What is the same for all packets; the call that it is linked to. @o: NULL: who reserved the packet's number is not known. */
static void begin(struct gt_hsa_queue *q, struct gt_record_device *r, const struct gt_hsa_owner *o, enum gt_device_op op,
		  const struct gt_thread *t)
{
	r->head.depth = (uint8_t)op;
	r->id = o ? o->id : t->api_id;
	r->call_start = o ? o->start : t->api_start;
	if (!r->id) { /* HSA without HIP: the call that rings */
		r->id = t->depth ? t->id : 0;
		r->call_start = t->depth ? gt_ticks() : 0;
	}
	r->queue = q->number;
	r->bytes = 0;
	r->replay = r->ordinal = 0;
	r->submitted = 0;
}

static void fill(struct gt_hsa_queue *q, struct gt_hsa_slot *s, const struct gt_hsa_kernel_packet *p, const struct gt_hsa_owner *o,
		 const struct gt_hsa_kernel *k, struct gt_thread *t)
{
	uint32_t class = k ? k->class : GT_HSA_KERNEL_USER;
	struct gt_record_device *r = &s->record;

	begin(q, r, o, GT_DEVICE_KERNEL, t);
	r->name = k ? k->name : 0;
	r->object[0] = p->kernel_object;
	r->object[1] = GT_KERNEL_DETAIL(k ? k->symbol : 0, p->group_bytes, p->private_bytes);
	for (int i = 0; i < 3; i++) {
		r->global[i] = p->grid[i];
		r->local[i] = p->local[i];
	}
	if (gt_unlikely(class != GT_HSA_KERNEL_USER) && o)
		moves(q, o, class, r);
	if (gt_unlikely(o && o->stamp.replay))
		gt_hsa_stamp(r, &o->stamp, (enum gt_graph_part)class);
	r->queued = gt_hsa_boottime_ns();
}

static void fill_barrier(struct gt_hsa_queue *q, struct gt_hsa_slot *s, const struct gt_hsa_barrier_packet *p,
			 const struct gt_hsa_owner *o, struct gt_thread *t)
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
	r->queued = gt_hsa_boottime_ns();
}

/* The packet's completion tells us. False: the program's signal has to be served behind it. */
static bool complete_with(struct gt_hsa_slot *s, uint64_t *completion)
{
	struct gt_hsa_signal *theirs = (struct gt_hsa_signal *)(uintptr_t)*completion;

	if (theirs && gt_hsa_signal_watch(&s->watch, theirs))
		return true;
	s->watch.signal = s->ours;
	*completion = (uintptr_t)s->ours;
	return !theirs;
}

/* Behind everything that is in the queue, the program's signal. No dependency on ours: that is used again soon. */
static void serve(struct batch *b, uint16_t header, uint64_t signal)
{
	struct gt_hsa_barrier_packet *p = &next(b)->barrier;

	memset(p, 0, sizeof *p);
	p->header = (uint16_t)(GT_HSA_PACKET_BARRIER_AND | GT_HSA_PACKET_BARRIER_BIT | GT_HSA_FENCES(header));
	p->completion_signal = signal;
	gt_hsa_signal_release(signal);
}

/* Reserved by a thread of the runtime's: for whom? */
static void ask_lane(struct gt_hsa_owner *o, const struct gt_hsa_kernel *k, const struct gt_hsa_kernel_packet *p)
{
	struct gt_lane_work work = {.part = k ? (enum gt_graph_part)k->class : GT_GRAPH_KERNEL, .name = k ? k->name : 0};
	struct gt_lane *lane = o->lane;

	o->lane = NULL;
	if (work.part != GT_GRAPH_KERNEL) { /* HIP keeps its arguments where the host can read them */
		work.words = (const uint64_t *)(uintptr_t)p->kernarg;
		work.word_count = k->kernarg_bytes / 8;
	}
	gt_lane_take(lane, k && k->internal ? NULL : &work, o->turn, o);
}

/* The packet's record is filled in: whoever completes it tells us. @completion: in the packet. */
static void follow(struct batch *b, struct gt_hsa_slot *s, uint16_t header, uint64_t *completion)
{
	uint64_t theirs = *completion;
	bool served = complete_with(s, completion);

	gt_hsa_slot_put(b->queue, s);
	gt_hsa_helper_rouse(b->queue->agent);
	if (gt_unlikely(!served))
		serve(b, header, theirs);
}

/* Is it recorded, and not only told? */
static bool is_recorded(const struct gt_hsa_kernel *k, const struct gt_hsa_owner *o)
{
	bool graph = o && o->stamp.replay;

	if (gt_unlikely(!gt_hsa_recorded()) || (gt_unlikely(graph) && o->stamp.unobserved >> (k ? k->class : 0) & 1))
		return false;
	return gt_likely(!k || !(k->unwanted || k->class)) || (graph && o->stamp.envelope) ||
	       (!k->unwanted && gt_session_wants_copies(gt_recording.session));
}

/* Outside of our own lock: what a tool's function does may come back here, or never return. */
static bool tell(struct batch *b, struct gt_tool_piece *piece, bool enter)
{
	bool told = true;

	flush(b);
	atomic_store_explicit(&b->queue->busy, 0, memory_order_release);
	if (enter)
		told = gt_tool_piece_enter(piece);
	else
		gt_tool_piece_exit(piece);
	while (gt_unlikely(atomic_exchange_explicit(&b->queue->busy, 1, memory_order_acquire)))
		sched_yield(); /* of two threads in here, which none of the runtimes lets in */
	return told;
}

/* Return: false: it is not followed to its end. */
static bool kernel(struct batch *b, struct gt_hsa_queue *q, const struct gt_hsa_kernel_packet *from, const struct gt_hsa_owner *o,
		   const struct gt_hsa_kernel *k, struct gt_tool_piece *piece, struct gt_thread *t)
{
	struct gt_hsa_kernel_packet *p = &next(b)->kernel;
	bool recorded = is_recorded(k, o), envelope = gt_unlikely(o && o->stamp.replay) && o->stamp.envelope;
	uint64_t theirs = from->completion_signal;
	struct gt_hsa_slot *s;

	*p = *from;
	if (gt_unlikely(!recorded && !piece))
		goto unobserved;
	if (gt_likely(recorded && !envelope))
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	s = gt_hsa_slot_take(q, GT_HSA_MARKERS);
	if (gt_unlikely(!s)) {
		if (recorded && envelope)
			gt_graph_envelope_lost(o->stamp.envelope, t);
		else if (recorded)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
		goto unobserved;
	}
	fill(q, s, p, o, k, t);
	s->record.head.kind = recorded ? GT_RECORD_DEVICE : GT_RECORD_PAD;
	q->told[s - q->slots] = piece;
	follow(b, s, from->header, &p->completion_signal);
	return true;
unobserved:
	if (theirs)
		gt_hsa_signal_release(theirs);
	if (q->room && q->forwarded - q->tracked > q->room / 4)
		mark(b);
	return false;
}

/* A barrier packet of the program's (or of HIP's for it): `--mode hsa` records it. Return: false: it is not followed to its end. */
static bool barrier(struct batch *b, struct gt_hsa_queue *q, const struct gt_hsa_barrier_packet *from, const struct gt_hsa_owner *o,
		    bool recorded, struct gt_tool_piece *piece, struct gt_thread *t)
{
	struct gt_hsa_barrier_packet *p = &next(b)->barrier;
	struct gt_hsa_slot *s;

	*p = *from;
	if (recorded)
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	s = gt_hsa_slot_take(q, GT_HSA_MARKERS);
	if (gt_likely(s != NULL)) {
		fill_barrier(q, s, p, o, t);
		s->record.head.kind = recorded ? GT_RECORD_DEVICE : GT_RECORD_PAD;
		q->told[s - q->slots] = piece;
		follow(b, s, from->header, &p->completion_signal);
		return true;
	}
	if (recorded)
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
	if (p->completion_signal)
		gt_hsa_signal_release(p->completion_signal);
	if (q->room && q->forwarded - q->tracked > q->room / 4)
		mark(b);
	return false;
}

/* The piece behind its packet: from now on it is the helper's, if it is followed. */
static void told(struct batch *b, struct gt_tool_piece *piece, bool followed)
{
	tell(b, piece, false);
	if (!followed)
		gt_tool_piece_drop(piece, true);
}

static void kernel_packet(struct batch *b, struct gt_hsa_queue *q, const struct gt_hsa_kernel_packet *from, struct gt_hsa_owner *o,
			  struct gt_thread *t)
{
	const struct gt_hsa_kernel *k = gt_hsa_kernel_find(from->kernel_object);
	struct gt_tool_piece *piece = NULL;
	bool followed;

	if (gt_unlikely(o && o->lane))
		ask_lane(o, k, from);
	if (gt_unlikely(gt_tool_work_asked(GT_DOMAIN_HSA_CORE))) {
		piece = gt_hsa_told_kernel(q, o, k, from);
		if (piece && !tell(b, piece, true))
			piece = NULL;
	}
	followed = kernel(b, q, from, o, k, piece, t);
	if (gt_unlikely(piece != NULL))
		told(b, piece, followed);
}

/* Return: false: nobody asks for barriers. */
static bool barrier_packet(struct batch *b, struct gt_hsa_queue *q, const struct gt_hsa_barrier_packet *from, struct gt_hsa_owner *o,
			   struct gt_thread *t)
{
	bool recorded = gt_unlikely(q->barriers) && gt_hsa_recorded(), followed;
	struct gt_tool_piece *piece = NULL;

	if (gt_unlikely(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_WORK_BIT(GPUTAP_WORK_BARRIER))) {
		piece = gt_hsa_told_barrier(q, o);
		if (piece && !tell(b, piece, true))
			piece = NULL;
	}
	if (gt_likely(!recorded && !piece))
		return false;
	followed = barrier(b, q, from, o, recorded, piece, t);
	if (piece)
		told(b, piece, followed);
	return true;
}

void gt_hsa_handle_packets(const void *packets, uint64_t count, uint64_t index, void *data, gt_hsa_packet_writer *writer)
{
	struct gt_hsa_queue *q = data;
	struct gt_thread *t = gt_hsa_thread();
	const union gt_hsa_packet *from = packets;
	struct batch b;

	if (gt_unlikely(!t || q->epoch != t->epoch ||
			atomic_exchange_explicit(&q->busy, 1, memory_order_acquire))) {
		/* nothing is recorded; or the runtime let two threads in here, which none is known to do */
		for (uint64_t i = 0; t && q->epoch == t->epoch && gt_hsa_recorded() && i < count; i++)
			if (GT_HSA_PACKET_TYPE(from[i].kernel.header) == GT_HSA_PACKET_KERNEL) {
				gt_device_seen(t, GT_DOMAIN_HSA_CORE);
				gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
			}
		writer(packets, count);
		return;
	}
	b.queue = q;
	b.count = 0;
	b.writer = writer;
	for (uint64_t i = 0; i < count; i++) {
		uint32_t type = GT_HSA_PACKET_TYPE(from[i].kernel.header);
		struct gt_hsa_owner *o = &q->owners[(index + i) & q->owner_mask];

		if (gt_unlikely(o->packet != index + i + 1))
			o = NULL;
		if (gt_likely(type == GT_HSA_PACKET_KERNEL)) {
			kernel_packet(&b, q, &from[i].kernel, o, t);
			continue;
		}
		if (gt_unlikely(o && o->lane)) {
			gt_lane_take(o->lane, NULL, o->turn, NULL);
			o->lane = NULL;
		}
		if ((type == GT_HSA_PACKET_BARRIER_AND || type == GT_HSA_PACKET_BARRIER_OR) && barrier_packet(&b, q, &from[i].barrier, o, t))
			continue;
		if (gt_unlikely(atomic_load_explicit(&q->has_pieces, memory_order_relaxed)) && o)
			gt_hsa_told_reserve(q, o, false);
		/* all of them have their signal in the same place */
		if (from[i].barrier.completion_signal && type != GT_HSA_PACKET_INVALID)
			gt_hsa_signal_release(from[i].barrier.completion_signal);
		*next(&b) = from[i];
		if (q->room && gt_unlikely(q->forwarded - q->tracked > q->room / 4))
			mark(&b);
	}
	flush(&b);
	atomic_store_explicit(&q->busy, 0, memory_order_release);
}
