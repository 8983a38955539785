/* SPDX-License-Identifier: MIT */
/* The slow half of core/thread.h: a thread's slot, its blocks, what it could not record.
 *
 *   thread begins ── first recorded call ──► slot (TAKEN, ACTIVE) ── ring full ──► next block ..
 *                 ── thread ends ──► CLOSED
 *
 * A thread beyond the segment's slots has none. It counts in a page of its own, which is added to
 * slot 0 of the segment (nobody's ring: only counts) each time it drops, so that seen = recorded
 * + dropped stays exact.
 *
 * Where there are only tools, a slot is all a thread gets: no blocks, no counts.
 *
 * Never here: locks that a program's thread may hold when it is killed or forks, malloc,
 * cancellation points, errno changed. */
#include "core/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/callback.h"
#include "core/emit.h"
#include "core/exec_environment.h"
#include "core/external.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "ring/segment_writer.h"
#include "util/clock_ns.h"

enum { OVERFLOW_SLOT = 0, NAP_NS = 50000 };

_Alignas(64) _Thread_local struct gt_thread gt_thread = {.epoch = GT_EPOCH_NONE};
GT_HOT uint32_t gt_skip_nested[GT_DOMAIN_COUNT];
_Thread_local uint32_t gt_callback_depth;

static pthread_key_t key;
static bool key_there;
static _Atomic uint32_t slot_hint = 1;

/* A thread that the segment has no slot for: `slot` is this one's, `folded` is what slot 0 has of
 * it. */
struct overflow {
	struct gt_slot slot;
	uint64_t folded[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

static bool slot_in_segment(const struct gt_segment *r, const struct gt_slot *s)
{
	return (const char *)s >= (const char *)r &&
	       (const char *)s < (const char *)r + r->block_offset;
}

static struct gt_segment *current_segment(void)
{
	return atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
}

/* The thread's own state, or a closed shell: nothing of a former process is touched. */
static void forget(struct gt_thread *t)
{
	t->cur = NULL;
	t->end = 0;
	t->block = NULL;
	t->slot = NULL;
	t->api_id = 0;
	t->epoch = GT_EPOCH_NONE;
}

static void count32(_Atomic uint32_t *counter)
{
#if defined(__x86_64__)
	__asm__ volatile("incl %0" : "+m"(*counter) : : "cc"); /* as gt_count() */
#else
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
#endif
}

/* What an overflow thread has seen since the last time, into the counts that the collector
 * reads. */
static void fold_counts(struct gt_segment *r, struct overflow *o, enum gt_class class,
			enum gt_domain domain)
{
	uint64_t seen =
		atomic_load_explicit(&o->slot.domains[domain].seen[class], memory_order_relaxed);

	atomic_fetch_add_explicit(&gt_segment_slot(r, OVERFLOW_SLOT)->domains[domain].seen[class],
				  seen - o->folded[class][domain], memory_order_relaxed);
	o->folded[class][domain] = seen;
}

void gt_drop(struct gt_thread *t, enum gt_class class, enum gt_domain domain,
	     enum gt_drop_reason reason)
{
	struct gt_segment *r = current_segment();

	if (!t || !t->slot || t->epoch != atomic_load_explicit(gt_epoch, memory_order_relaxed) ||
	    !r->block_count)
		return;
	t->lost++;
	t->lost_domain = domain;
	if (slot_in_segment(r, t->slot)) {
		if (class == GT_CLASS_CALL) /* it may be the newest, and is not open any more */
			atomic_store_explicit(&t->slot->domains[domain].newest, 0,
					      memory_order_relaxed);
		count32(&t->slot->dropped[reason][class][domain]);
		return;
	}
	atomic_fetch_add_explicit(
		&gt_segment_slot(r, OVERFLOW_SLOT)->dropped[reason][class][domain], 1,
		memory_order_relaxed);
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		fold_counts(r, (struct overflow *)t->slot, (enum gt_class)c, domain);
}

void *gt_ring_reserve_slow(struct gt_thread *t, size_t bytes, enum gt_class class,
			   enum gt_domain domain)
{
	enum gt_drop_reason why = GT_DROP_FULL;
	void *p = gt_ring_try(t, bytes, &why);

	if (!p)
		gt_drop(t, class, domain, why);
	return p;
}

uint64_t gt_ticks_boottime(void)
{
	return gt_clock_ns(CLOCK_BOOTTIME);
}

/* At the end of a thread; runs again when a later destructor of the program makes calls. */
static void thread_ends(void *arg)
{
	struct gt_thread *t = arg;
	struct gt_slot *slot = t->slot;
	struct gt_segment *r = current_segment();
	bool mine = t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed);

	forget(t);
	gt_external_release(t);
	if (gt_ranges_release)
		gt_ranges_release(t);
	if (t->exec_area)
		munmap(t->exec_area, GT_EXEC_AREA_BYTES);
	t->exec_area = NULL;
	if (!slot || !mine) /* slots of a former process are the parent's */
		return;
	if (!slot_in_segment(r, slot)) {
		munmap(slot, sizeof(struct overflow));
		return;
	}
	atomic_store_explicit(&slot->end_ticks, gt_ticks(), memory_order_relaxed);
	/* a segment without blocks has no collector, which frees the slots of others */
	atomic_store_explicit(&slot->state, r->block_count ? GT_SLOT_CLOSED : GT_SLOT_FREE,
			      memory_order_release);
}

/* The key is one of the first: its value needs no allocation. */
void gt_thread_keep_exec_area(struct gt_thread *t, void *area)
{
	t->exec_area = area;
	if (key_there)
		pthread_setspecific(key, t);
}

void gt_threads_init(void)
{
	/* early, so that the key is one of the few whose values need no allocation */
	key_there = pthread_key_create(&key, thread_ends) == 0;
}

static struct gt_slot *overflow_slot(void)
{
	struct overflow *o =
		mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return o == MAP_FAILED ? NULL : &o->slot;
}

/* Wait until what the collector has given back can be taken, or session.wait_ns is over. A
 * collector that has given no block back during a whole wait is taken for dead or stuck: no
 * waiting again until its count moves. @take: false: not yet; *hope: false: never. */
static bool wait_for(struct gt_segment *r,
		     bool (*take)(struct gt_segment *r, uint32_t *number, bool *hope),
		     uint32_t *number)
{
	static _Atomic uint64_t stuck_at = UINT64_MAX;
	uint64_t drained = atomic_load_explicit(&r->drain_count, memory_order_relaxed);
	uint64_t limit_ns = gt_recording.session->wait_ns, begin_ns;
	struct timespec nap = {0, NAP_NS};
	bool hope = true;

	if (atomic_load_explicit(&stuck_at, memory_order_relaxed) == drained || limit_ns == 0)
		return false;
	begin_ns = gt_clock_ns(CLOCK_MONOTONIC);
	do {
		if (take(r, number, &hope))
			return true;
		if (!hope || atomic_load_explicit(&r->stop, memory_order_relaxed))
			return false;
		syscall(SYS_nanosleep, &nap, NULL);
	} while (gt_clock_ns(CLOCK_MONOTONIC) - begin_ns < limit_ns);
	if (take(r, number, &hope))
		return true;
	if (atomic_load_explicit(&r->drain_count, memory_order_relaxed) == drained)
		atomic_store_explicit(&stuck_at, drained, memory_order_relaxed);
	return false;
}

static bool take_block(struct gt_segment *r, uint32_t *number, bool *hope)
{
	(void)hope;
	*number = gt_block_take(r);
	return *number != GT_BLOCK_NONE;
}

/* Those of threads that have ended come back. */
static bool take_slot(struct gt_segment *r, uint32_t *index, bool *hope)
{
	uint32_t used = atomic_load_explicit(&r->slots_used, memory_order_acquire);

	*hope = false;
	for (uint32_t i = 0; i < used && !*hope; i++)
		*hope = atomic_load_explicit(&gt_segment_slot(r, i)->state, memory_order_relaxed) ==
			GT_SLOT_CLOSED;
	/* after that look: what was closed then may be free now */
	*index = gt_slot_take(r, &slot_hint);
	return *index != UINT32_MAX;
}

static struct gt_slot *slot_for(struct gt_segment *r)
{
	uint32_t index = gt_slot_take(r, &slot_hint), ordinal;
	struct gt_slot *slot;

	if (index == UINT32_MAX && !wait_for(r, take_slot, &index))
		return overflow_slot();
	slot = gt_segment_slot(r, index);
	ordinal = atomic_fetch_add_explicit(&r->next_ordinal, 1, memory_order_relaxed) + 1;
	slot->ordinal = ordinal;
	slot->tid = (uint32_t)syscall(SYS_gettid);
	atomic_store_explicit(&slot->first, GT_BLOCK_NONE, memory_order_relaxed);
	memset(slot->name, 0, sizeof slot->name);
	prctl(PR_GET_NAME, slot->name);
	slot->start_ticks = gt_ticks();
	atomic_store_explicit(&slot->end_ticks, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->state, GT_SLOT_ACTIVE, memory_order_release);
	return slot;
}

static struct gt_thread *attach(struct gt_thread *t)
{
	uint32_t epoch = gt_recording_epoch();

	if (!epoch)
		return NULL;
	if (gt_recording_stop_asked()) {
		gt_recording_stop();
		if (!atomic_load_explicit(&gt_recording.tools, memory_order_relaxed))
			return NULL;
	}
	if (t->epoch == epoch)
		return t;
	forget(t);
	t->slot = slot_for(current_segment());
	if (!t->slot)
		return NULL;
	t->depth = 0;
	t->next_id = GT_ID(t->slot->ordinal, 1);
	t->epoch = epoch;
	if (key_there)
		pthread_setspecific(key, t);
	return t;
}

void gt_signals_block(uint64_t *before)
{
	const uint64_t all = ~UINT64_C(0);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof all);
}

void gt_signals_restore(const uint64_t *before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof *before);
}

/* A signal waits until the thread's state is made: what its handler calls is recorded then,
 * where it could not even be counted. */
static struct gt_thread *attach_undisturbed(struct gt_thread *t)
{
	uint64_t before;

	gt_signals_block(&before);
	t->writing = 1;
	t = attach(t);
	gt_thread.writing = 0;
	gt_signals_restore(&before);
	return t;
}

struct gt_thread *gt_thread_attach(struct gt_thread *t)
{
	int saved = errno;

	if (t->internal || t->writing) /* gputap's own call */
		return NULL;
	if (atomic_load_explicit(&gt_recording.off, memory_order_relaxed) &&
	    !atomic_load_explicit(&gt_recording.tools, memory_order_relaxed))
		return NULL;
	/* A call that began in the parent of a fork is still open here: its end must not look
	 * like one of ours. Until it has returned, this thread is not recorded. */
	if (t->epoch != GT_EPOCH_NONE && t->depth)
		return NULL;
	t = attach_undisturbed(t);
	if (t) {
		gt_emit_renew(t);
		gt_external_renew(t);
	} else if (gt_tap_options.submit_orders) {
		gt_submit_order_miss_call();
	}
	errno = saved;
	return t;
}

static bool is_on_signal_stack(void)
{
	stack_t now;

	return syscall(SYS_sigaltstack, NULL, &now) == 0 && now.ss_flags & SS_ONSTACK;
}

/* The outermost open call, and all in it, were left by a jump. (But a signal handler's own stack
 * may lie anywhere.) */
static void notice_jump(struct gt_thread *t, uintptr_t here)
{
	int saved = errno;

	if (!gt_thread_is_inside(t, here) && !is_on_signal_stack()) {
		/* nor is the process in them when it dies */
		for (int k = 0;
		     t->slot && t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed) &&
		     k < GT_DOMAIN_COUNT;
		     k++)
			atomic_store_explicit(&t->slot->domains[k].newest, 0, memory_order_relaxed);
		t->depth = 0;
		gt_callback_depth = 0;
		t->api_id = 0;
		t->graph = NULL;
		/* in the middle of something of ours: a record that was not committed is none */
		t->internal = t->writing = 0;
	}
	errno = saved;
}

struct gt_thread *gt_thread_attach_call(struct gt_thread *t, enum gt_domain domain, uintptr_t here)
{
	notice_jump(t, here);
	if (t->depth & gt_skip_nested[domain] && t->depth != gt_callback_depth)
		return NULL;
	return gt_thread_ready(t) ? t : gt_thread_attach(t);
}

struct gt_thread *gt_thread_attach_api(struct gt_thread *t, uintptr_t here)
{
	notice_jump(t, here);
	if (t->api_id)
		return NULL;
	return gt_thread_ready(t) ? t : gt_thread_attach(t);
}

/* `writing` is held by the caller. */
static void *next_block(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	struct gt_segment *r = current_segment();
	uint32_t number, index;

	*why = GT_DROP_FULL;
	if (!t->slot || t->epoch != atomic_load_explicit(gt_epoch, memory_order_relaxed))
		return NULL;
	if (!r->block_count)
		return NULL;
	if (gt_recording_stop_asked()) {
		*why = GT_DROP_UNFINISHED; /* the session ended before this call did */
		gt_recording_stop();
		return NULL;
	}
	if (bytes > r->block_bytes - GT_BLOCK_HEADER_BYTES) {
		*why = GT_DROP_TOO_LONG;
		return NULL;
	}
	if (!slot_in_segment(r, t->slot))
		return NULL;
	number = gt_block_take(r);
	if (number == GT_BLOCK_NONE && !wait_for(r, take_block, &number)) {
		if (gt_recording_stop_asked())
			*why = GT_DROP_UNFINISHED;
		return NULL;
	}
	index = (uint32_t)((size_t)((char *)t->slot - (char *)gt_segment_slot(r, 0)) /
			   r->slot_bytes);
	gt_block_link(r, index, t->block, number);
	t->block = gt_segment_block(r, number);
	t->cur = gt_block_data(t->block);
	t->end = (uint32_t)((uintptr_t)t->block + r->block_bytes);
	return t->cur;
}

/* There is room again: say how much was lost meanwhile. Return: where the caller's record goes
 * now. */
static void *report_loss(struct gt_thread *t, size_t bytes)
{
	uint32_t lost = t->lost;
	enum gt_domain domain = (enum gt_domain)t->lost_domain;
	struct gt_record_event *e = (struct gt_record_event *)t->cur;

	if (gt_ring_room(t, t->cur) < bytes + sizeof *e)
		return t->cur; /* with the next block */
	t->lost = 0;
	e->head =
		(struct gt_record){sizeof *e / 8, GT_RECORD_EVENT, (uint8_t)domain, GT_EVENT_LOSS};
	e->time = gt_ticks();
	e->value = lost;
	e->bytes = 0;
	gt_ring_commit(t, sizeof *e);
	/* `writing` is off now: a subscriber may make calls, whose records come first */
	gt_subscribers_event(GT_EVENT_LOSS, domain, lost, NULL);
	t->writing = 1;
	/* a signal handler may have moved the end before that, not after */
	__asm__ volatile("" ::: "memory");
	return gt_ring_room(t, t->cur) >= bytes ? t->cur : NULL;
}

void *gt_ring_next(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	int saved = errno;
	void *p = next_block(t, bytes, why);

	if (p && t->lost)
		p = report_loss(t, bytes);
	errno = saved;
	return p;
}
