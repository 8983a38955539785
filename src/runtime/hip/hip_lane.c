/* SPDX-License-Identifier: MIT */
/* HIP's streams as lanes of calls, for AMD_DIRECT_DISPATCH=0; runtime/lane.h says what for, and the rules.
 *
 *   lane: | oldest call | .. | newest |      a stream's; by its handle, and for default streams by device or thread
 *           ▲ taken by the stream's thread     ▲ pushed by the program's
 *
 * libgputap-audit.so sends the library's calls of pthread_create() here: a thread that is made while a call is open
 * works for the stream that the call creates, or for the default stream that the call is the first to use.
 *
 * A lane is used again when its stream is being destroyed, its thread has ended, no call is on it and no packet of it waits to be looked at.
 *
 * Locks: one a lane, one for unused entries (inside of it); gt_core_lock() for the table of lanes and who uses them, never together
 * with a lane's. This mode is not the fast one. */
#include "runtime/hip/hip_lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording.h"

int gt_hip_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument);

enum { BUCKETS = 64, OPEN_MOST = 16, WORDS_MOST = 24, ROW = 32, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };
#define UNEXPECTED "a kernel came that no call of its stream launched next"
#define NOBODY UINTPTR_MAX	 /* handle of a lane whose stream is not known */
#define PER_THREAD ((uintptr_t)2) /* hipStreamPerThread */

enum state { PENDING, TAKEN /* its kernel has come, or never will */ };

struct entry {
	struct entry *next;
	enum gt_lane_kind kind;
	enum state state;
	bool open;	 /* the call has not returned */
	bool plain;	 /* as in struct gt_lane_call */
	bool overlapped; /* another thread's call was open, too: their order is not known */
	bool doubtful;	 /* something came that may have been its, or another's */
	bool popped;	 /* out of the lane: to be freed when the call returns */
	const struct gt_thread *thread; /* calls of one thread have an order */
	uint32_t name, direction;
	uint64_t id, start, bytes, source, destination;
	struct gt_hip_shared_nodes *nodes; /* GRAPH; NULL: on several streams */
	uint64_t moved; /* what lies before this has its work */
	uint32_t graph, replay, at, last_part, last_place;
};

/* A thread that HIP has made. */
struct birth {
	struct birth *next; /* before it, in the same call */
	void *(*begin)(void *);
	void *argument;
	struct gt_lane *lane;
	_Atomic uint32_t ended;
};

struct gt_lane {
	struct gt_lane *next; /* of the bucket, or of those that nobody uses */
	struct birth birth;   /* of its thread */
	uint32_t users;       /* calls that are on it; its thread, until that has ended */
	_Atomic uintptr_t handle;
	uintptr_t whose;      /* of default streams: device, or thread */
	_Atomic uint32_t lock;
	bool bound;           /* has its thread */
	bool gone;            /* its stream is being destroyed; what it has submitted may still come */
	bool broken;          /* until the program has waited */
	bool lost;            /* for ever */
	struct entry *first, **last;
	struct entry *open[OPEN_MOST];
	uint32_t open_count;
	uint32_t calls_open;  /* also those without an entry */
	uint64_t pushes;
	uint32_t reserved;    /* packets, by its thread */
	_Atomic uint32_t handled;
};

/* The call that is open in this thread. */
static _Thread_local struct {
	struct gt_lane *lane;
	struct entry *entry;
	struct birth *born; /* newest first */
	uint64_t pushes;    /* of the lane, this one included */
	bool alone;         /* no other was open when it began */
	bool blocking;      /* when it returns, all that was in its lane has been submitted */
} call __attribute__((tls_model("initial-exec")));

static struct gt_lane *buckets[BUCKETS], *unused_lanes;
static _Atomic uint32_t confused;
static struct entry *unused;
static _Atomic uint32_t entries_lock;

static void take_lock(_Atomic uint32_t *lock)
{
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		sched_yield();
}

static void leave_lock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

static struct gt_lane **bucket_of(uintptr_t handle, uintptr_t whose)
{
	return &buckets[(handle ^ whose << 7) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

/* With the core lock held. */
static struct gt_lane *make(uintptr_t handle, uintptr_t whose)
{
	struct gt_lane *l = unused_lanes, **bucket = bucket_of(handle, whose);

	if (l)
		unused_lanes = l->next;
	else
		l = gt_arena_take(sizeof *l);
	if (!l)
		return NULL;
	memset(l, 0, sizeof *l);
	l->handle = handle;
	l->whose = whose;
	l->last = &l->first;
	if (handle != NOBODY) {
		l->next = *bucket;
		*bucket = l;
	}
	return l;
}

/* With one user more, until free_if_unused(). */
static struct gt_lane *find(uintptr_t handle, uintptr_t whose)
{
	struct gt_lane *l;

	gt_core_lock();
	for (l = *bucket_of(handle, whose); l && (l->gone || l->handle != handle || l->whose != whose); l = l->next)
		;
	if (!l)
		l = make(handle, whose);
	if (l)
		l->users++;
	gt_core_unlock();
	return l;
}

/* Below: with the lane's lock held. */

static struct entry *new_entry(void)
{
	struct entry *e;

	take_lock(&entries_lock);
	if (!unused && (e = gt_arena_take(ROW * sizeof *e)) != NULL)
		for (int i = 0; i < ROW; i++) {
			e[i].next = unused;
			unused = &e[i];
		}
	e = unused;
	if (e)
		unused = e->next;
	leave_lock(&entries_lock);
	if (e)
		memset(e, 0, sizeof *e);
	return e;
}

static void free_entry(struct entry *e)
{
	gt_hip_shared_nodes_put(e->nodes);
	take_lock(&entries_lock);
	e->next = unused;
	unused = e;
	leave_lock(&entries_lock);
}

/* The oldest ones, until @e is the oldest; NULL: all. */
static void pop_until(struct gt_lane *l, const struct entry *e)
{
	while (l->first && l->first != e) {
		struct entry *gone = l->first;

		l->first = gone->next;
		if (!l->first)
			l->last = &l->first;
		gone->popped = true;
		if (!gone->open)
			free_entry(gone);
	}
}

static void tell(struct gt_thread *t, const char *text)
{
	static _Atomic uint32_t told;

	if (!atomic_exchange_explicit(&told, 1, memory_order_relaxed))
		gt_event_write(t, GT_EVENT_UNLINKED, GT_DOMAIN_HIP, 0, text);
}

static void break_lane(struct gt_lane *l, const char *text)
{

	l->broken = true;
	pop_until(l, NULL);
	tell(gt_thread_own(), text);
}

/* Another call on this stream is open: neither has a place in the order. */
static void enter(struct gt_lane *l, struct entry *e)
{
	if (l->open_count == OPEN_MOST) {
		break_lane(l, "too many threads use one stream at a time");
		return;
	}
	e->open = true;
	l->open[l->open_count++] = e;
	for (uint32_t i = 0; l->open_count > 1 && i < l->open_count; i++)
		l->open[i]->overlapped = true;
	*l->last = e;
	l->last = &e->next;
}

static void leave_open(struct gt_lane *l, const struct entry *e)
{
	for (uint32_t i = 0; i < l->open_count; i++)
		if (l->open[i] == e)
			l->open[i] = l->open[--l->open_count];
}

static void leave(struct entry *e)
{
	e->open = false;
	if (e->popped)
		free_entry(e);
}

/* A lane has lost @users of its users. */
static void free_if_unused(struct gt_lane *l, uint32_t users)
{
	struct gt_lane **at;
	bool nobodys;

	gt_core_lock();
	l->users -= users;
	nobodys = l->gone && !l->users;
	for (at = bucket_of(l->handle, l->whose); nobodys && *at && *at != l; at = &(*at)->next)
		;
	nobodys = nobodys && *at == l; /* else somebody else has seen it so, too */
	if (nobodys)
		*at = l->next;
	gt_core_unlock();
	if (!nobodys)
		return;
	take_lock(&l->lock);
	nobodys = atomic_load_explicit(&l->handled, memory_order_relaxed) == l->reserved;
	if (nobodys)
		pop_until(l, NULL);
	leave_lock(&l->lock);
	if (!nobodys)
		return; /* a packet still names it */
	gt_core_lock();
	l->next = unused_lanes;
	unused_lanes = l;
	gt_core_unlock();
}

/* The program's side -------------------------------------------------------------- */

static bool is_capturing(const struct gt_table *table, uintptr_t stream)
{
	unsigned int status = 0;

	return stream > PER_THREAD && GT_HIP(table, hipStreamIsCapturing) &&
	       GT_HIP(table, hipStreamIsCapturing)((void *)stream, &status) == 0 && status != 0;
}

static struct gt_lane *lane_of(const struct gt_table *table, struct gt_thread *t, uintptr_t stream, bool own)
{
	int device = 0;

	if (stream == PER_THREAD || (own && !stream))
		return find(PER_THREAD, (uintptr_t)t);
	if (stream > PER_THREAD)
		return find(stream, 0);
	if (GT_HIP(table, hipGetDevice) && GT_HIP(table, hipGetDevice)(&device) != 0)
		return NULL;
	return find(0, (uintptr_t)device);
}

static struct entry *push(const struct gt_table *table, struct gt_thread *t, struct gt_lane_call c)
{
	struct gt_lane *l;
	struct entry *e = NULL;

	call.lane = NULL;
	call.entry = NULL;
	call.born = NULL;
	if (atomic_load_explicit(&confused, memory_order_relaxed))
		tell(t, "some calls were not seen, or launched kernels on streams that are not known");
	if (is_capturing(table, c.stream))
		return NULL;
	l = lane_of(table, t, c.stream, c.own);
	if (!l)
		return NULL;
	take_lock(&l->lock);
	call.lane = l;
	call.pushes = ++l->pushes;
	call.alone = !l->calls_open++;
	if (!l->broken) {
		e = new_entry();
		if (!e)
			break_lane(l, "no memory for calls of a stream");
	}
	if (e) {
		e->kind = c.kind;
		e->plain = c.plain;
		e->id = t->api_id;
		e->start = t->api_start;
		e->thread = t;
		enter(l, e);
	}
	call.entry = l->broken ? NULL : e;
	call.blocking = c.kind == GT_LANE_SYNC || (c.blocking && c.kind == GT_LANE_COPY && t->api_bytes && t->api_direction == DEVICE_TO_HOST);
	return call.entry;
}

void gt_lane_push(struct gt_thread *t, const struct gt_table *table, struct gt_lane_call c)
{
	uint32_t name = c.kind == GT_LANE_LAUNCH ? gt_hip_function_name(table, t, (const void *)c.function, c.by_pointer) : 0;
	struct entry *e = push(table, t, c);

	if (e) {
		e->name = name;
		e->bytes = t->api_bytes;
		e->source = t->api_source;
		e->destination = t->api_destination;
		e->direction = t->api_direction;
	}
	if (call.lane)
		leave_lock(&call.lane->lock);
}

void gt_hip_lane_graph(struct gt_thread *t, const struct gt_table *table, void *stream, bool own, uint32_t graph, uint32_t replay,
		       struct gt_hip_shared_nodes *nodes)
{
	struct entry *e = push(table, t, (struct gt_lane_call){GT_LANE_GRAPH, false, own, false, false, 0, (uintptr_t)stream});

	if (e) {
		e->nodes = nodes;
		e->graph = graph;
		e->replay = replay;
		e->last_part = GT_GRAPH_PARTS;
	} else {
		gt_hip_shared_nodes_put(nodes);
	}
	if (call.lane)
		leave_lock(&call.lane->lock);
}

/* The call has waited for its stream: what came before has all been submitted, unless it was open when the wait began. */
static void settle(struct gt_lane *l, const struct entry *e)
{
	if (!call.alone || l->pushes != call.pushes)
		return;
	if (e && !e->popped)
		pop_until(l, e->next);
	l->broken = l->lost;
}

void gt_lane_pushed(struct gt_thread *t, uint64_t status)
{
	struct gt_lane *l = call.lane;

	(void)t;
	if (l) {
		take_lock(&l->lock);
		l->calls_open--;
		if (call.entry)
			leave_open(l, call.entry);
		if (call.blocking && !status)
			settle(l, call.entry);
		if (call.entry && status && call.entry->kind != GT_LANE_SYNC) /* has it submitted something, or nothing? */
			break_lane(l, "a call failed");
		if (call.entry)
			leave(call.entry);
		leave_lock(&l->lock);
		free_if_unused(l, 1);
	}
	call.entry = NULL;
	call.lane = NULL;
}

void gt_lane_unseen(void)
{
	atomic_store_explicit(&confused, 1, memory_order_relaxed);
}

void gt_lane_confuse(struct gt_thread *t)
{
	atomic_store_explicit(&confused, 1, memory_order_relaxed);
	tell(t, "a call launched kernels on streams that are not known");
}

/* HIP's threads -------------------------------------------------------------------- */

static void *begin_thread(void *data)
{
	struct birth *b = data;
	void *result;

	gt_thread.lane = b->lane;
	result = b->begin(b->argument);
	gt_thread.lane = NULL;
	atomic_store_explicit(&b->ended, 1, memory_order_release);
	if (b->lane)
		free_if_unused(b->lane, 1);
	return result;
}

/* The one thread of this call that lives. (HIP's first one is not a stream's: it measures something, and is joined at once.) */
static struct birth *only_born(void)
{
	struct birth *only = NULL;

	for (struct birth *b = call.born; b; b = b->next)
		if (!atomic_load_explicit(&b->ended, memory_order_acquire)) {
			if (only)
				return NULL;
			only = b;
		}
	return only;
}

/* The default stream's, which this call is the first to use? */
static struct gt_lane *lane_of_new(void)
{
	struct gt_lane *l = call.lane && call.lane->handle <= PER_THREAD ? call.lane : NULL;

	if (l && (!l->bound || (call.born && call.born->lane == l))) {
		if (call.born && !atomic_load_explicit(&call.born->ended, memory_order_acquire))
			l->broken = l->lost = true; /* two threads, and nobody knows which */
		l->bound = true;
		return l;
	}
	gt_core_lock();
	l = make(NOBODY, 0);
	gt_core_unlock();
	return l;
}

/* What the library calls in the place of pthread_create(). A default stream's thread is made by the first call that uses the stream, any
 * other by the call that makes the stream. */
__attribute__((visibility("hidden"), used)) int gt_hip_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
								      void *(*begin)(void *), void *argument)
{
	struct gt_lane *lane = gt_tap_options.lanes && gt_thread.api_id ? lane_of_new() : NULL;
	struct birth *b = lane && !lane->birth.begin ? &lane->birth : lane ? gt_arena_take(sizeof *b) : NULL;
	int status;

	if (!b)
		return pthread_create(thread, attributes, begin, argument);
	*b = (struct birth){.next = call.born, .begin = begin, .argument = argument, .lane = lane};
	gt_core_lock();
	lane->users++;
	gt_core_unlock();
	status = pthread_create(thread, attributes, begin_thread, b);
	if (!status)
		call.born = b;
	else
		free_if_unused(lane, 1);
	return status;
}

void gt_hip_lane_begin(void)
{
	call.lane = NULL;
	call.entry = NULL;
	call.born = NULL;
}

void gt_hip_lane_stream(void *handle)
{
	struct birth *b = only_born();
	struct gt_lane **bucket = bucket_of((uintptr_t)handle, 0);

	call.born = NULL;
	if (!b || !b->lane)
		return;
	gt_hip_lane_destroyed(handle); /* one that was destroyed without our knowing */
	gt_core_lock();
	b->lane->handle = (uintptr_t)handle;
	b->lane->next = *bucket;
	*bucket = b->lane;
	gt_core_unlock();
}

void gt_hip_lane_destroyed(void *handle)
{
	struct gt_lane *found = NULL;

	gt_core_lock();
	for (struct gt_lane *l = *bucket_of((uintptr_t)handle, 0); l; l = l->next)
		if (l->handle == (uintptr_t)handle && !l->gone) {
			l->gone = true;
			l->users++;
			found = l;
		}
	gt_core_unlock();
	if (found)
		free_if_unused(found, 1);
}

/* The streams' side ----------------------------------------------------------------- */

static bool within(uint64_t address, uint64_t from, uint64_t bytes)
{
	return from && address >= from && address < from + bytes;
}

/* Does this kernel work on the entry's memory? How far in; UINT64_MAX: no. A kernel of HIP's has among its arguments the beginning of an
 * allocation, and how far into that it is to begin, in elements of some size: what can be understood so, is. */
static uint64_t offset_in(const struct gt_lane_work *w, uint64_t from, uint64_t bytes)
{
	uint64_t nearest = UINT64_MAX;

	for (uint32_t i = 0; i < w->word_count && i < WORDS_MOST; i++) {
		if (within(w->words[i], from, bytes))
			nearest = w->words[i] - from < nearest ? w->words[i] - from : nearest;
		for (uint32_t j = 0; j < w->word_count && j < WORDS_MOST && w->words[i] && w->words[i] < from; j++)
			for (unsigned shift = 0; shift <= 4; shift++) {
				uint64_t address = w->words[i] + (w->words[j] << shift);

				if (within(address, from, bytes) && address - from < nearest)
					nearest = address - from;
			}
	}
	return nearest;
}

enum { CANNOT_FIT = -1 };

/* 0: it may, but its addresses do not say so; 1: with one end, 2: with both. */
static int fits(const struct gt_lane_work *w, const struct entry *e, uint64_t *offset)
{
	uint64_t to, from;
	int fit;

	if ((w->part == GT_GRAPH_COPY) != (e->kind == GT_LANE_COPY))
		return CANNOT_FIT;
	if (w->words) {
		to = offset_in(w, e->destination, e->bytes);
		from = offset_in(w, e->source, e->bytes);
	} else {
		to = within(w->destination, e->destination, e->bytes) ? w->destination - e->destination : UINT64_MAX;
		from = within(w->source, e->source, e->bytes) ? w->source - e->source : UINT64_MAX;
	}
	fit = (to != UINT64_MAX) + (from != UINT64_MAX);
	*offset = to != UINT64_MAX ? to : from;
	if (!fit)
		return e->plain && (e->destination || e->source) ? CANNOT_FIT : 0;
	return e->kind == GT_LANE_COPY && e->direction == DEVICE_TO_DEVICE && fit < 2 ? 0 : fit; /* 1: by way of another buffer? */
}

static void link_to(const struct entry *e, struct gt_hsa_owner *o)
{
	o->id = e->id;
	o->start = e->start;
	o->bytes = e->bytes;
	o->source = e->source;
	o->destination = e->destination;
	o->direction = e->direction;
}

static void stamp(const struct entry *e, uint32_t place, struct gt_hsa_owner *o)
{
	link_to(e, o);
	o->stamp.graph = e->graph;
	o->stamp.replay = e->replay;
	o->stamp.unobserved = 0;
	o->stamp.envelope = NULL;
	for (int p = 0; p < GT_GRAPH_PARTS; p++)
		o->stamp.ordinal[p] = e->nodes->order[place].ordinal;
}

/* The graph's next node that is such work; nodes.count: none. */
static uint32_t node_of(const struct entry *e, const struct gt_lane_work *w)
{
	return e->nodes->order[e->at].next[w->part];
}

static void reach(struct entry *e, const struct gt_lane_work *w, uint32_t place, struct gt_hsa_owner *o)
{
	e->at = place + 1;
	e->last_part = w->part;
	e->last_place = place;
	stamp(e, place, o);
}

static bool may_be(const struct entry *e, const struct gt_lane_work *w)
{
	return e->kind == GT_LANE_LAUNCH && e->state == PENDING && e->name == w->name;
}

/* Of calls of several threads, whose order is not known: the one that fits, if all that do are of one thread. Of @n calls that fit and are
 * not of one thread, n - 1 are left behind the kernel, and nobody knows which; so none of them can be told from one that
 * fits and is made later, until as many kernels have come as there were calls. */
static void take_overlapped(struct gt_lane *l, struct entry *first, const struct gt_lane_work *w, struct gt_hsa_owner *o)
{
	struct entry *found = NULL;
	bool doubtful = false, known = w->name != 0;

	for (struct entry *e = first; e && e->overlapped; e = e->next) {
		known &= e->kind != GT_LANE_GRAPH && (e->kind != GT_LANE_LAUNCH || e->state == TAKEN || e->name);
		if (!may_be(e, w))
			continue;
		found = found ? found : e;
		doubtful |= e->doubtful || e->thread != found->thread;
	}
	if (!found || !known) {
		break_lane(l, UNEXPECTED);
		return;
	}
	for (struct entry *e = found; doubtful && e && e->overlapped; e = e->next)
		e->doubtful |= may_be(e, w);
	found->state = TAKEN;
	if (!doubtful)
		link_to(found, o);
}

static void take_kernel(struct gt_lane *l, const struct gt_lane_work *w, struct gt_hsa_owner *o)
{
	for (struct entry *e = l->first; e; e = e->next) {
		if (e->state == TAKEN || e->kind == GT_LANE_COPY || e->kind == GT_LANE_FILL || e->kind == GT_LANE_SYNC)
			continue; /* those may have needed no packet */
		if (e->kind == GT_LANE_GRAPH) {
			uint32_t place = e->nodes && !e->overlapped ? node_of(e, w) : 0;

			if (!e->nodes || e->overlapped)
				break;
			if (place == e->nodes->count)
				continue; /* all its kernels have come */
			if (e->nodes->order[place].name != w->name)
				break;
			pop_until(l, e);
			reach(e, w, place, o);
			return;
		}
		if (e->overlapped) {
			take_overlapped(l, e, w, o);
			return;
		}
		if (!e->name || e->name != w->name)
			break;
		pop_until(l, e);
		e->state = TAKEN;
		link_to(e, o);
		return;
	}
	break_lane(l, UNEXPECTED);
}

/* Whose a copy's or fill's piece may be. */
struct claim {
	struct entry *owner; /* the oldest */
	int fit;
	uint64_t offset;
	bool direct;	     /* both ends are a program's: it is no piece by way of a buffer of the runtime's */
	bool doubtful;	     /* it may as well be another's */
	bool over;	     /* nothing behind can be meant */
};

static bool is_fresh(const struct entry *e)
{
	return !e->moved && !e->doubtful;
}

static bool is_direct(const struct gt_lane *l, const struct gt_lane_work *w)
{
	uint64_t offset;

	for (const struct entry *e = l->first; e; e = e->next)
		if (e->plain && e->kind == GT_LANE_COPY && fits(w, e, &offset) == 2)
			return true;
	return false;
}

/* Pieces of a copy come in the order of their addresses, so that a copy of the same memory anew is the next entry's. Of a fill, how far in
 * they are may be misread. */
static void claim(struct claim *c, struct entry *e, const struct gt_lane_work *w)
{
	uint64_t offset = 0;
	int fit = fits(w, e, &offset);
	const struct entry *before = c->owner;

	if (fit == CANNOT_FIT || (c->direct && e->plain && fit < 2) || (e->kind == GT_LANE_COPY && fit > 0 && offset < e->moved && !e->doubtful))
		return;
	if (!before) {
		c->owner = e;
		c->fit = fit;
		c->offset = offset;
		return;
	}
	if (e->kind == GT_LANE_COPY && is_fresh(e) && fit > 0 && offset)
		return; /* its first piece comes first */
	/* the work of the oldest call comes first */
	if (c->fit > 0 && is_fresh(before) && c->fit >= fit && (!before->overlapped || !e->overlapped || before->thread == e->thread))
		return;
	c->doubtful = true;
}

/* A graph among the calls: has it such a node before its next kernel? Nothing behind that can be meant. False: all is said. */
static bool claim_node(struct gt_lane *l, struct claim *c, struct entry *e, const struct gt_lane_work *w, struct gt_hsa_owner *o)
{
	uint32_t place, kernel;

	if (!e->nodes || e->overlapped) {
		c->over = true;
		return true;
	}
	place = node_of(e, w);
	kernel = e->nodes->order[e->at].next[GT_GRAPH_KERNEL];
	c->over = kernel != e->nodes->count;
	if (place >= kernel || (c->owner && c->fit > 0 && is_fresh(c->owner)))
		return true;
	if (c->owner) {
		break_lane(l, "a copy or fill came that may be a graph's, or that of a call before it");
		return false;
	}
	pop_until(l, e);
	reach(e, w, place, o);
	return false;
}

/* Nobody knows whose piece that was: it may have been the first one of each. */
static void doubt(struct gt_lane *l, const struct gt_lane_work *w)
{
	for (struct entry *e = l->first; e && (e->kind != GT_LANE_LAUNCH || e->state == TAKEN || e->overlapped); e = e->next)
		e->doubtful |= e->kind == (w->part == GT_GRAPH_COPY ? GT_LANE_COPY : GT_LANE_FILL);
}

/* Of the calls before the next kernel's: the one that can have asked for it, if there is one such. */
static void take_transfer(struct gt_lane *l, const struct gt_lane_work *w, struct gt_hsa_owner *o)
{
	struct claim c = {.direct = is_direct(l, w)};
	struct entry *only = NULL, *graph = NULL;
	uint32_t candidates = 0;

	for (struct entry *e = l->first; e && !c.over; e = e->next) {
		if (e->state == TAKEN || e->kind == GT_LANE_SYNC)
			continue;
		if (e->kind == GT_LANE_LAUNCH && !e->overlapped)
			break; /* its kernel comes first */
		if (e->kind == GT_LANE_GRAPH) {
			if (!claim_node(l, &c, e, w, o))
				return;
			graph = e->nodes && e->last_part == w->part ? e : graph; /* one node in several pieces */
		} else if (e->kind != GT_LANE_LAUNCH) {
			claim(&c, e, w);
			only = e;
			candidates++;
		}
	}
	if (graph && !c.owner) {
		stamp(graph, graph->last_place, o);
	} else if (c.owner && c.fit > 0 && !c.doubtful && !graph) {
		if (!c.owner->overlapped)
			pop_until(l, c.owner);
		c.owner->moved = c.offset + (w->bytes ? w->bytes : 1);
		link_to(c.owner, o);
	} else if (candidates == 1 && !graph && only->open && !only->overlapped && (w->part == GT_GRAPH_COPY) == (only->kind == GT_LANE_COPY)) {
		link_to(only, o); /* a copy to a symbol: the call has no address that the packet has */
		only->moved = only->moved ? only->moved : 1;
	} else {
		doubt(l, w);
	}
}

/* The lane's thread goes on with something that is no packet. Its packets may still be behind one that another thread is about to write. */
static void wait_for_packets(const struct gt_lane *l)
{
	for (int i = 0; i < 1000 && atomic_load_explicit(&l->handled, memory_order_relaxed) != l->reserved; i++)
		sched_yield();
}

/* Have all packets before this one been seen here? What was not seen has taken no call from the lane. */
static bool in_turn(struct gt_lane *l, uint32_t turn)
{
	uint32_t handled = atomic_load_explicit(&l->handled, memory_order_relaxed);

	if (!turn)
		return handled == l->reserved;
	atomic_store_explicit(&l->handled, turn, memory_order_relaxed);
	return turn == handled + 1;
}

void gt_lane_take(struct gt_lane *l, const struct gt_lane_work *w, uint32_t turn, struct gt_hsa_owner *o)
{
	if (atomic_load_explicit(&confused, memory_order_relaxed))
		return;
	if (!turn)
		wait_for_packets(l);
	take_lock(&l->lock);
	if (!in_turn(l, turn) && !l->broken)
		break_lane(l, "a packet came that was not seen in its turn");
	if (w && !l->broken && l->handle != NOBODY) {
		if (w->part == GT_GRAPH_KERNEL)
			take_kernel(l, w, o);
		else
			take_transfer(l, w, o);
	}
	leave_lock(&l->lock);
}

uint32_t gt_lane_reserve(struct gt_lane *l)
{
	l->reserved = l->reserved == UINT32_MAX ? 1 : l->reserved + 1;
	return l->reserved;
}

/* Is every call recorded that makes work? Work of others would be taken for theirs. */
static bool all_are_seen(const struct gt_session *session)
{
	const struct gt_table *table = &gt_hip_tables[0];

	for (uint32_t i = 0; i < table->operation_count; i++) {
		const struct gt_operation *o = &table->operations[i];

		if ((strstr(o->name, "Launch") || strncmp(o->name, "hipMemcpy", 9) == 0 || strncmp(o->name, "hipMemset", 9) == 0) &&
		    !gt_session_wants(session, GT_DOMAIN_HIP, GT_OP_NUMBER(o->op)))
			return false;
	}
	return true;
}

void gt_hip_lane_settle(void)
{
	const char *value = getenv("AMD_DIRECT_DISPATCH");
	uint32_t mode = gt_recording.session ? gt_recording.session->mode : GT_MODE_LITE;

	if (value && *value && !atoi(value) && strcmp(value, "true") && mode != GT_MODE_LITE && mode != GT_MODE_STANDARD &&
	    all_are_seen(gt_recording.session))
		gt_tap_options.lanes = 1;
}
