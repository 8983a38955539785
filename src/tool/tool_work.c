/* SPDX-License-Identifier: MIT */
/* Device work that tools are told of, and correlation ids that retire.
 *
 *   reserved ── take ──► piece {cause, thread} ── enter ──► told, in flight ──┬─ exit ─┬──► done list ── deliver ──► pool
 *                                                                             └─ done ─┘
 *
 * A piece's EXIT (submitting thread) and its end (a helper) come in any order: each sets its bit, and who sets the second one
 * hands the piece on. COMPLETE is told from the list of what is done, by helpers that hold nothing: a callback may do
 * whatever it likes.
 *
 * A call that work hangs on has a gt_correlation: referred to by the call while it is open and by each piece; it retires when
 * the last one lets go. Who hears of that is collected meanwhile, a bit per place: those that were told the call, and those
 * that were told a piece of its work.
 *
 * Locking: none. Pool and lists are stacks with a count against reuse between load and exchange.
 * Never here: malloc. System calls only where a caller lets the pool grow. */
#include "tool/tool_work.h"
#include "tool/tool_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/external.h"
#include "core/recording.h"
#include "core/subscriber.h"

enum { CHUNK = 128, CHUNKS = 2048 };
enum { EXITED = 1, DONE = 2, DROPPED = 4 };
enum { BATCHES = 16 }; /* threads that tell at the same time; what others are at is lost if they jump out */
enum { LOOKS = 4, NAP_NS = 100000, PATIENCE = 20000 /* naps, 2 s */, GONE_EVERY = 64 };

struct gt_correlation {
	struct gt_tool_entry entry;
	_Atomic uint32_t references;
	_Atomic uint32_t retired;
	uint32_t epoch;                  /* image that it was made in; 0: none has written anything so far */
	uint64_t id;
	_Atomic uint64_t last;           /* ns: the latest time told of it */
	uint32_t call_domain;
	_Atomic uint32_t work_domain;
	_Atomic uint64_t called;         /* places: told by callback */
	_Atomic uint64_t call_recorded;  /* .. whose buffer for the call's domain has it */
	_Atomic uint64_t work_recorded;  /* .. whose buffer for the work's domain has it */
	_Atomic uint32_t generation[GT_TOOL_POOL];
};

/* Things of one size, each with its struct gt_tool_entry at the beginning. */
struct pool {
	_Atomic uint64_t free; /* index + 1 of the first, count of changes << 32 */
	_Atomic uint32_t chunk_count;
	size_t entry_bytes;
	_Atomic(char *) chunks[CHUNKS];
};

static struct pool pieces = {.entry_bytes = sizeof(struct gt_tool_piece)};
static struct pool correlations = {.entry_bytes = sizeof(struct gt_correlation)};
static _Atomic uint32_t done_list; /* index + 1 of the newest */
static _Atomic uint32_t delivering, ended;

/* What a delivery is at, so that a callback that jumps out of it does not take the rest with it. The same thread's next delivery
 * finds that it was left, as it stands higher in the stack; another one does when the process ends, of a thread that is gone. */
static struct batch {
	_Atomic uint64_t owner;   /* thread << 32 | image; 0: free */
	uintptr_t stack;          /* where the delivery stands */
	_Atomic uint32_t current; /* index + 1; the owner's, while its thread lives */
	_Atomic uint32_t rest;    /* index + 1 of the first of those behind it. Exchanged: who gets it tells it */
} batches[BATCHES];

static void (*_Atomic looks[LOOKS])(void);
static _Atomic uint64_t lost, lost_told;
static _Alignas(64) _Atomic uint64_t numbers[GT_DOMAIN_COUNT][2]; /* given; [1]: dispatches */
static _Thread_local uint32_t deliveries __attribute__((tls_model("initial-exec"))); /* this thread is in the middle of */

static uint64_t now_ns(void)
{
	return gt_ticks_boottime();
}

static void raise_to(_Atomic uint64_t *value, uint64_t to)
{
	uint64_t old = atomic_load_explicit(value, memory_order_relaxed);

	while (old < to && !atomic_compare_exchange_weak_explicit(value, &old, to, memory_order_relaxed, memory_order_relaxed))
		;
}

/* The open call; what lies deeper in the stack than we do was left by longjmp(). */
static struct gt_tool_frame *innermost(void)
{
	return gt_tool_frame_live(gt_tool_frame, __builtin_frame_address(0));
}

bool gt_tool_calling(bool calling)
{
	struct gt_tool_frame *f = innermost();
	bool before = f && f->calling;

	if (f)
		f->calling = calling;
	return before;
}

/* Pools ---------------------------------------------------------------------- */

static struct gt_tool_entry *entry_at(struct pool *pool, uint32_t index)
{
	char *chunk = atomic_load_explicit(&pool->chunks[index / CHUNK], memory_order_acquire);

	return (struct gt_tool_entry *)(void *)(chunk + (index % CHUNK) * pool->entry_bytes);
}

/* A chain of free entries from @first to @last. */
static void put_chain(struct pool *pool, const struct gt_tool_entry *first, struct gt_tool_entry *last)
{
	uint64_t head = atomic_load_explicit(&pool->free, memory_order_relaxed), fresh;

	do {
		atomic_store_explicit(&last->next, (uint32_t)head, memory_order_relaxed);
		fresh = ((head >> 32) + 1) << 32 | (first->index + 1);
	} while (!atomic_compare_exchange_weak_explicit(&pool->free, &head, fresh, memory_order_release, memory_order_relaxed));
}

static bool grow(struct pool *pool)
{
	uint32_t n = atomic_load_explicit(&pool->chunk_count, memory_order_relaxed);
	int saved = errno;
	char *chunk;

	do {
		if (n == CHUNKS)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&pool->chunk_count, &n, n + 1, memory_order_relaxed, memory_order_relaxed));
	chunk = mmap(NULL, CHUNK * pool->entry_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (chunk == MAP_FAILED)
		return false; /* and this chunk's numbers are gone */
	atomic_store_explicit(&pool->chunks[n], chunk, memory_order_release);
	for (uint32_t i = 0; i < CHUNK; i++) {
		struct gt_tool_entry *e = entry_at(pool, n * CHUNK + i);

		e->index = n * CHUNK + i;
		atomic_store_explicit(&e->next, i + 1 < CHUNK ? e->index + 2 : 0, memory_order_relaxed);
	}
	put_chain(pool, entry_at(pool, n * CHUNK), entry_at(pool, n * CHUNK + CHUNK - 1));
	return true;
}

static void *pool_take(struct pool *pool, bool may_grow)
{
	uint64_t head = atomic_load_explicit(&pool->free, memory_order_acquire), fresh;
	struct gt_tool_entry *e;

	do {
		while (!(uint32_t)head) {
			if (!may_grow || !grow(pool))
				return NULL;
			head = atomic_load_explicit(&pool->free, memory_order_acquire);
		}
		e = entry_at(pool, (uint32_t)head - 1);
		fresh = ((head >> 32) + 1) << 32 | atomic_load_explicit(&e->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&pool->free, &head, fresh, memory_order_acquire, memory_order_acquire));
	return e;
}

static void pool_give(struct pool *pool, struct gt_tool_entry *e)
{
	put_chain(pool, e, e);
}

/* Retirement ------------------------------------------------------------------ */

/* Who of these places is told, and how. */
struct retiring {
	uint64_t id, time;
	uint64_t called, call_recorded, work_recorded;
	uint32_t call_domain, work_domain;
};

static bool wants_retirement(const struct gt_tool_context *c)
{
	if (c->retired)
		return true;
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		if (c->buffered[d].retirement)
			return true;
	return false;
}

static bool is_wanted(void)
{
	uint8_t places[GT_TOOL_POOL];
	bool wanted = false;
	unsigned count;

	if (!gt_tool_look())
		return false;
	count = gt_tool_order(places);
	for (unsigned i = 0; i < count && !wanted; i++)
		wanted = wants_retirement(&gt_tool_pool[places[i]]);
	gt_tool_look_done();
	return wanted;
}

static void call_retired(const struct retiring *r, const struct gt_tool_context *c)
{
	bool before = gt_tool_calling(true);

	c->retired(r->id, r->time, c->retired_user);
	gt_tool_calling(before);
}

static void retire_for(const struct retiring *r, uint32_t place, uint32_t generation)
{
	const struct gputap_record_retired record = {r->id, r->time};
	const struct gt_tool_context *c = &gt_tool_pool[place];
	struct gputap_buffer *of_call = NULL, *of_work = NULL;

	if (!gt_tool_lock_in(place, generation, true))
		return;
	if (r->call_recorded >> place & 1 && c->buffered[r->call_domain].retirement)
		of_call = c->buffered[r->call_domain].buffer;
	if (r->work_recorded >> place & 1 && c->buffered[r->work_domain].retirement)
		of_work = c->buffered[r->work_domain].buffer;
	if (of_call)
		gt_tool_buffer_write_ticks(of_call, GPUTAP_RECORD_RETIRED, &record, sizeof record, 0, 0, true);
	if (of_work && of_work != of_call)
		gt_tool_buffer_write_ticks(of_work, GPUTAP_RECORD_RETIRED, &record, sizeof record, 0, 0, true);
	if (r->called >> place & 1 && c->retired)
		call_retired(r, c);
	gt_tool_lock_out();
}

/* Last to first, then those that are only finishing. */
static void retire(const struct retiring *r, const _Atomic uint32_t *generations)
{
	uint64_t left = r->called | r->call_recorded | r->work_recorded;
	uint8_t places[GT_TOOL_POOL];
	int saved = errno;

	for (unsigned i = left ? gt_tool_order(places) : 0; i-- > 0;)
		if (left >> places[i] & 1) {
			left &= ~(UINT64_C(1) << places[i]);
			retire_for(r, places[i], atomic_load_explicit(&generations[places[i]], memory_order_relaxed));
		}
	for (; left; left &= left - 1) {
		uint32_t place = (uint32_t)__builtin_ctzll(left);

		retire_for(r, place, atomic_load_explicit(&generations[place], memory_order_relaxed));
	}
	errno = saved;
}

/* Nobody refers to it, or nobody ever will again. */
static void retire_shared(struct gt_correlation *c)
{
	struct retiring r = {.id = c->id, .time = now_ns(), .call_domain = c->call_domain};
	uint64_t last = atomic_load_explicit(&c->last, memory_order_relaxed);

	if (atomic_exchange_explicit(&c->retired, 1, memory_order_relaxed))
		return;
	r.time = r.time > last ? r.time : last + 1;
	r.called = atomic_load_explicit(&c->called, memory_order_acquire);
	r.call_recorded = atomic_load_explicit(&c->call_recorded, memory_order_acquire);
	r.work_recorded = atomic_load_explicit(&c->work_recorded, memory_order_acquire);
	r.work_domain = atomic_load_explicit(&c->work_domain, memory_order_relaxed);
	retire(&r, c->generation);
}

/* Whoever heard of the call. */
static void add_frame(const struct gt_tool_frame *f, struct retiring *r, _Atomic uint32_t generations[GT_TOOL_POOL])
{
	r->id = f->call.correlation;
	r->call_domain = f->call.domain;
	for (uint32_t i = 0; i < f->count; i++) {
		const struct gt_tool_heard *h = &f->heard[i];
		uint64_t bit = UINT64_C(1) << h->place;

		r->called |= bit;
		r->call_recorded |= h->how & GT_TOOL_BUFFERED ? bit : 0;
		atomic_store_explicit(&generations[h->place], h->generation, memory_order_relaxed);
	}
}

static struct gt_correlation *new_correlation(uint64_t id, bool may_grow)
{
	struct gt_correlation *c = is_wanted() ? pool_take(&correlations, may_grow) : NULL;

	if (!c)
		return NULL;
	c->epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	c->id = id;
	c->call_domain = 0;
	atomic_store_explicit(&c->retired, 0, memory_order_relaxed);
	atomic_store_explicit(&c->last, 0, memory_order_relaxed);
	atomic_store_explicit(&c->work_domain, 0, memory_order_relaxed);
	atomic_store_explicit(&c->called, 0, memory_order_relaxed);
	atomic_store_explicit(&c->call_recorded, 0, memory_order_relaxed);
	atomic_store_explicit(&c->work_recorded, 0, memory_order_relaxed);
	atomic_store_explicit(&c->references, 1, memory_order_release);
	return c;
}

struct gt_correlation *gt_correlation_get(struct gt_tool_frame *f)
{
	struct retiring r = {0};

	if (!f->shared) {
		f->shared = new_correlation(f->call.correlation, true);
		if (!f->shared)
			return NULL;
		add_frame(f, &r, f->shared->generation);
		f->shared->call_domain = r.call_domain;
		atomic_store_explicit(&f->shared->called, r.called, memory_order_relaxed);
		atomic_store_explicit(&f->shared->call_recorded, r.call_recorded, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&f->shared->references, 1, memory_order_relaxed);
	return f->shared;
}

void gt_correlation_put(struct gt_correlation *c)
{
	if (atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
		return;
	retire_shared(c);
	pool_give(&correlations, &c->entry);
}

struct gputap_hold *gputap_correlation_hold(void)
{
	struct gt_tool_frame *f = innermost();

	while (f && !f->numbered)
		f = gt_tool_frame_live(f->outer, f);
	return (struct gputap_hold *)(f ? gt_correlation_get(f) : NULL);
}

void gputap_correlation_release(struct gputap_hold *hold)
{
	struct gt_correlation *c = (struct gt_correlation *)hold;

	if (!c)
		return;
	raise_to(&c->last, now_ns());
	gt_correlation_put(c);
}

void gt_correlation_leave(struct gt_tool_frame *f)
{
	_Atomic uint32_t generations[GT_TOOL_POOL];
	struct gt_correlation *shared = f->shared;
	struct retiring r = {0};

	if (shared) {
		f->shared = NULL;
		raise_to(&shared->last, now_ns());
		gt_correlation_put(shared);
		return;
	}
	add_frame(f, &r, generations);
	r.time = now_ns();
	retire(&r, generations);
}

/* Pieces ------------------------------------------------------------------------ */

/* The call that causes what this thread submits now: HIP's, if it is in the middle of one; else, or where a context wants it, the
 * innermost. */
static struct gt_tool_frame *cause(void)
{
	struct gt_tool_frame *first = innermost(), *f;

	while (first && !first->numbered)
		first = first->outer;
	if (atomic_load_explicit(&gt_tool_innermost, memory_order_relaxed))
		return first;
	for (f = first; f && !(f->numbered && f->call.domain == GT_DOMAIN_HIP); f = gt_tool_frame_live(f->outer, f))
		;
	return f ? f : first;
}

/* Without a call the work will have a number of its own, once somebody is told of it. */
static void set_cause(struct gt_tool_piece *p, struct gt_tool_frame *f, bool may_grow)
{
	p->shared = f ? gt_correlation_get(f) : new_correlation(0, may_grow);
	p->work.correlation = f ? f->call.correlation : 0;
	p->api = f && f->call.domain == GT_DOMAIN_HIP && !atomic_load_explicit(&gt_tool_innermost, memory_order_relaxed);
}

struct gt_tool_piece *gt_tool_piece_take(enum gt_domain domain, bool may_grow)
{
	struct gt_tool_piece *p = pool_take(&pieces, may_grow);

	if (gt_unlikely(!p)) {
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
		return NULL;
	}
	p->epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	p->count = 0;
	atomic_store_explicit(&p->state, 0, memory_order_relaxed);
	p->work = (struct gputap_work){.size = sizeof p->work, .domain = domain, .thread = gt_tool_thread()};
	gt_external_tops(p->work.external);
	set_cause(p, cause(), may_grow);
	return p;
}

void gt_tool_piece_submitting(struct gt_tool_piece *p)
{
	struct gt_correlation *old = p->shared;
	struct gt_tool_frame *f;

	if (p->api || p->work.thread != gt_tool_thread() || !(f = cause()) || f->call.correlation == p->work.correlation)
		return;
	set_cause(p, f, false);
	if (old)
		gt_correlation_put(old);
}

void gt_tool_piece_give(struct gt_tool_piece *p)
{
	if (p->shared)
		gt_correlation_put(p->shared);
	pool_give(&pieces, &p->entry);
}

/* Return: false: nobody wants to hear of it. */
static bool choose(struct gt_tool_piece *p)
{
	uint64_t bit = GPUTAP_WORK_BIT(p->work.type);
	uint32_t domain = p->work.domain;
	uint8_t places[GT_TOOL_POOL];
	bool told = false;
	unsigned count;

	if (atomic_load_explicit(&ended, memory_order_relaxed) || !gt_tool_look())
		return false;
	count = gt_tool_order(places);
	for (unsigned i = 0; i < count; i++) {
		const struct gt_tool_context *c = &gt_tool_pool[places[i]];
		uint32_t how = (c->work[domain].fn && c->work[domain].types & bit ? GT_TOOL_CALLED : 0) |
			       (c->buffered[domain].buffer && c->buffered[domain].types & bit ? GT_TOOL_BUFFERED : 0);

		told |= how != 0;
		how |= gt_tool_hears_all_retired(c);
		if (how && p->count < GT_TOOL_HEARERS)
			p->heard[p->count++] = (struct gt_tool_heard){
				places[i], atomic_load_explicit(&c->generation, memory_order_acquire), 0, how};
		else if (how)
			atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	}
	gt_tool_look_done();
	return told;
}

/* They hear of its retirement, too. */
static void add_hearers(const struct gt_tool_piece *p)
{
	struct gt_correlation *c = p->shared;
	uint64_t called = 0, recorded = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		const struct gt_tool_heard *h = &p->heard[i];

		atomic_store_explicit(&c->generation[h->place], h->generation, memory_order_relaxed);
		called |= UINT64_C(1) << h->place;
		if (h->how & GT_TOOL_BUFFERED)
			recorded |= UINT64_C(1) << h->place;
	}
	atomic_store_explicit(&c->work_domain, p->work.domain, memory_order_relaxed);
	atomic_fetch_or_explicit(&c->called, called, memory_order_release);
	if (recorded)
		atomic_fetch_or_explicit(&c->work_recorded, recorded, memory_order_release);
}

static void tell_one(struct gt_tool_piece *p, struct gt_tool_heard *h)
{
	const struct gt_tool_work *to = &gt_tool_pool[h->place].work[p->work.domain];
	uint32_t phase = p->work.phase;
	bool before;

	if (!(h->how & GT_TOOL_CALLED))
		return;
	if (gt_unlikely(!gt_tool_lock_in(h->place, h->generation, phase != GPUTAP_PHASE_ENTER))) {
		h->how &= ~(uint32_t)GT_TOOL_CALLED;
		return;
	}
	before = gt_tool_calling(true);
	to->fn(&p->work, &h->data, to->user);
	gt_tool_calling(before);
	gt_tool_lock_out();
}

bool gt_tool_piece_enter(struct gt_tool_piece *p)
{
	int saved = errno;

	if (!choose(p)) {
		gt_tool_piece_give(p);
		return false;
	}
	if (!p->work.correlation) {
		p->work.correlation = gt_tool_new_correlation();
		if (p->shared)
			p->shared->id = p->work.correlation;
	}
	if (p->shared)
		add_hearers(p);
	p->work.number = atomic_fetch_add_explicit(&numbers[p->work.domain][p->dispatch], 1, memory_order_relaxed) + 1;
	p->began = now_ns();
	p->work.phase = GPUTAP_PHASE_ENTER;
	for (uint32_t i = 0; i < p->count; i++) {
		p->entering = i + 1;
		tell_one(p, &p->heard[i]);
	}
	p->entered = now_ns();
	errno = saved;
	return true;
}

static void push_done(struct gt_tool_piece *p)
{
	uint32_t head = atomic_load_explicit(&done_list, memory_order_relaxed);

	do
		atomic_store_explicit(&p->entry.next, head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&done_list, &head, p->entry.index + 1, memory_order_release, memory_order_relaxed));
}

/* Both sides have come by. */
static void settle(struct gt_tool_piece *p, uint32_t state)
{
	if (state & DROPPED)
		gt_tool_piece_give(p);
	else
		push_done(p);
}

void gt_tool_piece_exit(struct gt_tool_piece *p)
{
	int saved = errno;
	uint32_t before;

	p->work.phase = GPUTAP_PHASE_EXIT;
	for (uint32_t i = p->count; i-- > 0;)
		tell_one(p, &p->heard[i]);
	before = atomic_fetch_or_explicit(&p->state, EXITED, memory_order_acq_rel);
	if (before)
		settle(p, before);
	errno = saved;
}

void gt_tool_piece_left(struct gt_tool_piece *p)
{
	uint32_t before;

	if (p->work.phase == GPUTAP_PHASE_ENTER) {
		for (uint32_t i = p->entering; i < p->count; i++)
			p->heard[i].how &= ~(uint32_t)GT_TOOL_CALLED;
		p->entered = now_ns();
	}
	before = atomic_fetch_or_explicit(&p->state, EXITED, memory_order_acq_rel);
	if (before)
		settle(p, before);
}

void gt_tool_piece_abandon(void)
{
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

void gt_tool_piece_drop(struct gt_tool_piece *p, bool counted)
{
	if (counted)
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	if (atomic_fetch_or_explicit(&p->state, DROPPED, memory_order_acq_rel) & EXITED)
		gt_tool_piece_give(p);
}

/* Never before it was submitted, never in the future: where the runtime's conversion of its clock is off by a little. */
static void clamp(const struct gt_tool_piece *p, uint64_t *start, uint64_t *end)
{
	uint64_t now = now_ns();

	if (!*start && !*end)
		return;
	if (*end > now) {
		*start -= *end - now < *start ? *end - now : *start;
		*end = now;
	}
	if (*start < p->entered) {
		*end += p->entered - *start;
		*start = p->entered;
		*end = *end < now ? *end : now;
	}
	if (*end <= *start)
		*end = *start + 1;
}

void gt_tool_piece_done(struct gt_tool_piece *p, int32_t status, uint64_t start, uint64_t end)
{
	clamp(p, &start, &end);
	p->done_status = status;
	p->done_start = start;
	p->done_end = end;
	if (atomic_fetch_or_explicit(&p->state, DONE, memory_order_acq_rel) & EXITED)
		push_done(p);
}

/* COMPLETE, also the rest of it after a callback jumped out. */
static void complete(struct gt_tool_piece *p)
{
	p->work.phase = GPUTAP_PHASE_COMPLETE;
	p->work.status = p->done_status;
	p->work.start = p->done_start;
	p->work.end = p->done_end;
	if (p->shared)
		raise_to(&p->shared->last, p->work.end);
	for (; p->count; p->count--) { /* a callback that jumps out is not called again when the others are told */
		struct gt_tool_heard *h = &p->heard[p->count - 1], once = *h;
		const struct gt_tool_context *c = &gt_tool_pool[h->place];

		h->how &= ~(uint32_t)GT_TOOL_CALLED;
		tell_one(p, &once);
		if (!(h->how & GT_TOOL_BUFFERED) || !gt_tool_lock_in(h->place, h->generation, true))
			continue;
		gt_tool_buffer_write_ticks(c->buffered[p->work.domain].buffer, GPUTAP_RECORD_WORK, &p->work, sizeof p->work, 0, 0, false);
		gt_tool_lock_out();
	}
	gt_tool_piece_give(p);
}

static void tell_loss(void)
{
	uint64_t n = atomic_load_explicit(&lost, memory_order_relaxed), told = atomic_exchange_explicit(&lost_told, n, memory_order_relaxed);

	if (n > told)
		gt_subscribers_event(GT_EVENT_LOSS, GT_DOMAIN_NONE, n - told, "device work that tools are not told of, or not to its end");
}

static struct batch *take_batch(uint64_t owner, const void *here)
{
	for (struct batch *b = batches; b < batches + BATCHES; b++) {
		uint64_t old = atomic_load_explicit(&b->owner, memory_order_relaxed);

		if ((old && (uint32_t)old == (uint32_t)owner) ||
		    !atomic_compare_exchange_strong_explicit(&b->owner, &old, owner, memory_order_acquire, memory_order_relaxed))
			continue; /* else free, or of the parent's of a fork */
		b->stack = (uintptr_t)here;
		atomic_store_explicit(&b->current, 0, memory_order_relaxed);
		atomic_store_explicit(&b->rest, 0, memory_order_relaxed);
		return b;
	}
	return NULL;
}

/* COMPLETE of a list. Return: how many there were. */
static uint32_t tell_list(struct batch *b, uint32_t list)
{
	uint32_t count = 0, epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	for (; list; count++) {
		struct gt_tool_piece *p = (struct gt_tool_piece *)(void *)entry_at(&pieces, list - 1);
		uint32_t next = atomic_load_explicit(&p->entry.next, memory_order_relaxed);

		if (b) {
			atomic_store_explicit(&b->current, list, memory_order_release);
			atomic_store_explicit(&b->rest, next, memory_order_release);
		}
		if (gt_likely(p->epoch == epoch)) /* else the parent's, of a fork */
			complete(p);
		if (b)
			atomic_store_explicit(&b->current, 0, memory_order_release);
		list = b ? atomic_exchange_explicit(&b->rest, 0, memory_order_acquire) : next;
	}
	return count;
}

/* A batch that is this thread's now, and was left: that piece's last hearers, and what was behind it. Return: how many. */
static uint32_t tell_rest(struct batch *b, const void *here)
{
	uint32_t count = 0, current = atomic_load_explicit(&b->current, memory_order_acquire);

	b->stack = (uintptr_t)here;
	if (current)
		count = tell_list(b, current);
	deliveries--;
	atomic_fetch_sub_explicit(&delivering, 1, memory_order_release);
	atomic_store_explicit(&b->owner, 0, memory_order_release);
	return count;
}

/* What this thread was at when a callback jumped out. */
static uint32_t tell_left(uint64_t owner, const void *here)
{
	uint32_t count = 0;

	for (struct batch *b = batches; b < batches + BATCHES; b++)
		if (atomic_load_explicit(&b->owner, memory_order_relaxed) == owner && b->stack <= (uintptr_t)here)
			count += tell_rest(b, here);
	return count;
}

static bool thread_is_gone(uint32_t thread)
{
	return syscall(SYS_tgkill, getpid(), thread, 0) == -1 && errno == ESRCH;
}

/* The process ends: what threads were at that are gone. */
static void tell_of_gone(uint64_t owner, const void *here)
{
	for (struct batch *b = batches; b < batches + BATCHES; b++) {
		uint64_t whose = atomic_load_explicit(&b->owner, memory_order_relaxed);

		if (!whose || whose == owner || (uint32_t)whose != (uint32_t)owner || !thread_is_gone((uint32_t)(whose >> 32)) ||
		    !atomic_compare_exchange_strong_explicit(&b->owner, &whose, owner, memory_order_acquire, memory_order_relaxed))
			continue;
		deliveries++;
		tell_rest(b, here);
	}
}

/* .. and what is behind that which threads are at that live: they were waited for. */
static void tell_behind(uint64_t owner)
{
	for (struct batch *b = batches; b < batches + BATCHES; b++) {
		uint64_t whose = atomic_load_explicit(&b->owner, memory_order_relaxed);

		if (whose && whose != owner && (uint32_t)whose == (uint32_t)owner)
			tell_list(NULL, atomic_exchange_explicit(&b->rest, 0, memory_order_acquire));
	}
}

uint32_t gt_tool_deliver(void)
{
	const uint64_t owner = (uint64_t)gt_tool_thread() << 32 | atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const void *here = __builtin_frame_address(0);
	uint32_t head, reversed = 0, count = 0;
	struct gt_tool_piece *p;
	struct batch *b;
	int saved = errno;

	if (gt_unlikely(atomic_load_explicit(&lost, memory_order_relaxed) != atomic_load_explicit(&lost_told, memory_order_relaxed)))
		tell_loss();
	if (gt_unlikely(deliveries))
		count = tell_left(owner, here);
	if (!atomic_load_explicit(&done_list, memory_order_relaxed))
		return count;
	atomic_fetch_add_explicit(&delivering, 1, memory_order_seq_cst);
	deliveries++;
	b = take_batch(owner, here);
	head = atomic_exchange_explicit(&done_list, 0, memory_order_seq_cst);
	while (head) { /* oldest first */
		p = (struct gt_tool_piece *)(void *)entry_at(&pieces, head - 1);
		head = atomic_load_explicit(&p->entry.next, memory_order_relaxed);
		atomic_store_explicit(&p->entry.next, reversed, memory_order_relaxed);
		reversed = p->entry.index + 1;
	}
	count += tell_list(b, reversed);
	if (b)
		atomic_store_explicit(&b->owner, 0, memory_order_release);
	deliveries--;
	atomic_fetch_sub_explicit(&delivering, 1, memory_order_release);
	errno = saved;
	return count;
}

bool gt_tool_has_done(void)
{
	return atomic_load_explicit(&done_list, memory_order_seq_cst) != 0;
}

uint64_t gt_tool_work_lost(void)
{
	return atomic_load_explicit(&lost, memory_order_relaxed);
}

/* The end ------------------------------------------------------------------------ */

/* Other threads that are in the middle of telling what is done; not those that wait for this one. */
static void wait_for_deliveries(uint64_t owner, const void *here)
{
	const struct timespec nap = {0, NAP_NS};

	for (unsigned n = 0; n < PATIENCE && atomic_load_explicit(&delivering, memory_order_seq_cst) > deliveries; n++) {
		if (n % GONE_EVERY == 0)
			tell_of_gone(owner, here);
		else
			syscall(SYS_nanosleep, &nap, NULL);
	}
}

static void retire_open_calls(void)
{
	for (struct gt_tool_frame *f = innermost(); f; f = gt_tool_frame_live(f->outer, f)) {
		_Atomic uint32_t generations[GT_TOOL_POOL];
		struct retiring r = {.time = now_ns()};

		if (f->shared || !f->numbered)
			continue; /* with the others, or with the call around it */
		add_frame(f, &r, generations);
		f->count = 0;
		retire(&r, generations);
	}
}

void gt_tool_work_looks(void (*look)(void))
{
	for (int i = 0; i < LOOKS; i++) {
		void (*none)(void) = NULL;

		if (atomic_compare_exchange_strong(&looks[i], &none, look) || none == look)
			return;
	}
}

void gt_tool_work_end(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const uint64_t owner = (uint64_t)gt_tool_thread() << 32 | epoch;
	const void *here = __builtin_frame_address(0);
	int saved = errno;

	if (atomic_load_explicit(&ended, memory_order_relaxed))
		return;
	for (int i = 0; i < LOOKS; i++) {
		void (*look)(void) = atomic_load(&looks[i]);

		if (look)
			look();
	}
	gt_tool_deliver();
	wait_for_deliveries(owner, here);
	tell_left(owner, here);
	tell_behind(owner);
	gt_tool_deliver();
	if (atomic_exchange_explicit(&ended, 1, memory_order_relaxed))
		return;
	gt_tool_objects_end();
	for (uint32_t i = 0; i < atomic_load_explicit(&correlations.chunk_count, memory_order_acquire) * CHUNK; i++) {
		struct gt_correlation *c;

		if (!atomic_load_explicit(&correlations.chunks[i / CHUNK], memory_order_acquire))
			continue;
		c = (struct gt_correlation *)(void *)entry_at(&correlations, i);
		if (atomic_load_explicit(&c->references, memory_order_acquire) && (!c->epoch || c->epoch == epoch))
			retire_shared(c); /* else it hangs on work of the parent's, of a fork */
	}
	retire_open_calls();
	errno = saved;
}
