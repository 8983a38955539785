/* SPDX-License-Identifier: MIT */
/* Delivers buffers in their readers' threads.
 *
 * Steps of one delivery of a buffer ("drain"):
 *   1. Note `committed` of the writers of `last` records.
 *   2. Note `committed` of all other writers. This covers all records written before any record of
 *      step 1.
 *   3. Deliver the records noted in step 2, one writer at a time, then the records noted in step 1,
 *      in batches. After each batch, return its chunks.
 * Records that threads write meanwhile belong to the next drain, so no thread can prolong a drain.
 *
 * `wanted` is cleared before step 1: a later writer that finds the watermark passed sets `wanted`
 * again. One thread at a time has `draining`: the thread of the buffer's delivery, or the thread of
 * the former delivery if the buffer was just reassigned.
 *
 * A delivery's thread blocks all signals and runs until the process ends. The first request in the
 * child of a fork restarts the thread. If a callback ends the thread (pthread_exit()), the thread
 * starts its successor. The thread may flush other buffers. It delivers buffers of the same
 * delivery itself, and waits for the thread of another delivery unless that thread is also waiting.
 * No thread waits for a thread that waits. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/thread.h"
#include "tool/tool.h"
#include "tool/tool_buffer.h"
#include "util/clock_ns.h"

static struct gputap_delivery *_Atomic shared;

/* One delivery -------------------------------------------------------------------- */

/* Note the current end of a writer. */
static void take_stop(struct gt_buffer_writer *l, uint64_t drain)
{
	struct gt_chunk *c = l->read, *next;

	while ((next = atomic_load_explicit(&c->next, memory_order_acquire)) != NULL)
		c = next;
	l->stop = c;
	l->stop_word = atomic_load_explicit(&c->committed, memory_order_acquire);
	l->drain = drain;
}

/* Advance to the next record before the stop. Return false if no record is left. */
static bool at_record(struct gt_buffer_writer *l)
{
	for (;;) {
		struct gt_chunk *c = l->read;
		/* every chunk before the stop has a successor, so its end is final */
		uint64_t end = c == l->stop
				       ? l->stop_word
				       : atomic_load_explicit(&c->committed, memory_order_acquire);

		if (end >> 32 > l->read_word >> 32)
			/* the chunk was restarted: the previous lap was read completely */
			l->read_word = end >> 32 << 32;
		if (l->read_word < end)
			return true;
		if (c == l->stop)
			return false;
		l->read = atomic_load_explicit(&c->next, memory_order_relaxed);
		l->read_word = 0;
	}
}

/* Return the chunks of a delivered batch to the writers. */
static void give_back(struct gputap_buffer *b)
{
	int64_t consumed = 0;
	struct gt_buffer_writer *l;

	while ((l = b->touched) != NULL) {
		struct gt_chunk *c = l->held;

		b->touched = l->touched_next;
		l->touched = false;
		consumed += (int64_t)l->consumed;
		l->consumed = 0;
		l->held = l->read;
		while (c != l->read) {
			struct gt_chunk *next =
				atomic_load_explicit(&c->next, memory_order_relaxed);

			gt_chunk_release(b, c);
			c = next;
		}
		atomic_store_explicit(&l->read->consumed, l->read_word, memory_order_release);
	}
	atomic_fetch_sub_explicit(&b->filled, consumed, memory_order_relaxed);
	atomic_fetch_add_explicit(&b->room, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&b->waiters, memory_order_seq_cst))
		gt_word_wake(&b->room);
	b->batch_count = 0;
}

static void wake_delivery(struct gputap_delivery *d)
{
	atomic_fetch_add_explicit(&d->signal, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&d->asleep, memory_order_seq_cst))
		gt_word_wake(&d->signal);
}

/* End a drain. The caller holds the lock, because destroy checks `draining` with the lock. */
static void end_drain(struct gputap_buffer *b)
{
	if (b->touched)
		give_back(b);
	atomic_store_explicit(&b->drainer, NULL, memory_order_relaxed);
	atomic_store_explicit(&b->draining, 0, memory_order_seq_cst);
	/* request another drain, because another delivery may have found the buffer claimed */
	if (atomic_load_explicit(&b->wanted, memory_order_seq_cst))
		wake_delivery(atomic_load_explicit(&b->delivery, memory_order_seq_cst));
	atomic_fetch_add_explicit(&b->done, 1, memory_order_seq_cst);
	gt_word_wake(&b->done);
}

/* End this thread's abandoned drain before a new claim, with the lock. An exception or longjmp()
 * can leave a callback and end in an outer callback that flushed the buffer. The abandoned drain is
 * then deeper in the stack than the caller, and its batch counts as delivered. (The compiler's
 * cleanup would need libgcc_s in every program.) */
static __attribute__((noinline)) void end_abandoned(struct gputap_buffer *b)
{
	if (atomic_load_explicit(&b->drainer, memory_order_relaxed) == &gt_buffer_thread &&
	    b->frame < (uintptr_t)__builtin_frame_address(0))
		end_drain(b);
}

/* Pass the batch to the callback. Return false in the child if a callback forked: the buffer was
 * emptied. */
static bool hand_batch(struct gputap_buffer *b, uint32_t process)
{
	gt_tool_ticks_convert(b->batch, b->batch_count);
	b->fn(b, b->batch, b->batch_count, atomic_load_explicit(&b->lost, memory_order_relaxed),
	      b->user);
	if (gt_buffers_process() != process)
		return false;
	give_back(b);
	return true;
}

static bool hand_writer(struct gputap_buffer *b, struct gt_buffer_writer *l, uint32_t process)
{
	while (at_record(l)) {
		struct gt_buffered_head *h =
			(struct gt_buffered_head *)(void *)(l->read->data +
							    GT_LAP_BYTES(l->read_word));
		size_t bytes = sizeof *h + (((size_t)h->bytes + 7) & ~(size_t)7);

		if (!l->touched) {
			l->touched = true;
			l->touched_next = b->touched;
			b->touched = l;
		}
		b->batch[b->batch_count++] = (struct gputap_record){h->kind, h + 1, h->bytes};
		if (bytes > b->chunk_bytes)
			atomic_fetch_sub_explicit(&b->oversize, bytes, memory_order_relaxed);
		l->read_word += bytes;
		l->consumed += bytes;
		if (b->batch_count == GT_BATCH && !hand_batch(b, process))
			return false;
	}
	return true;
}

static bool drain_writers(struct gputap_buffer *b, uint32_t process)
{
	uint64_t number = ++b->drains;

	for (struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_acquire);
	     l; l = l->next)
		if (l->last)
			take_stop(l, number);
	for (struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_acquire);
	     l; l = l->next)
		if (!l->last)
			take_stop(l, number);
	for (int last = 0; last < 2; last++)
		for (struct gt_buffer_writer *l =
			     atomic_load_explicit(&b->writers, memory_order_acquire);
		     l; l = l->next)
			if (l->last == last && l->drain == number && !hand_writer(b, l, process))
				return false;
	return !b->batch_count || hand_batch(b, process);
}

/* Deliver a buffer's records. The caller has `draining`. */
static __attribute__((noinline)) void drain_buffer(struct gputap_buffer *b)
{
	uint32_t process = gt_buffers_process();
	sigset_t signals;
	uint64_t ticket;

	b->frame = (uintptr_t)__builtin_frame_address(0);
	atomic_store_explicit(&b->drainer, &gt_buffer_thread, memory_order_relaxed);
	atomic_exchange_explicit(&b->wanted, 0, memory_order_seq_cst);
	ticket = atomic_load_explicit(&b->flush_ticket, memory_order_seq_cst);
	if (!drain_writers(b, process))
		return;
	atomic_store_explicit(&b->flush_done, ticket, memory_order_release);
	gt_buffers_lock(&signals);
	end_drain(b);
	gt_buffers_unlock(&signals);
}

static bool claim_drain(struct gputap_buffer *b)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&b->draining, &nobody, 1,
						       memory_order_seq_cst, memory_order_relaxed);
}

/* The thread of a delivery ---------------------------------------------------------------- */

/* Claim the buffer of the delivery that has waited longest. */
static struct gputap_buffer *wanted_of(struct gputap_delivery *d)
{
	static uint64_t turns; /* requires the lock */
	struct gputap_buffer *found = NULL;
	sigset_t signals;

	gt_buffers_lock(&signals);
	for (struct gputap_buffer *b = gt_buffers; b; b = b->next) {
		end_abandoned(b);
		if (atomic_load_explicit(&b->delivery, memory_order_acquire) == d &&
		    (!found || b->served < found->served) &&
		    atomic_load_explicit(&b->wanted, memory_order_acquire) &&
		    !atomic_load_explicit(&b->draining, memory_order_acquire))
			found = b;
	}
	if (found && !claim_drain(found))
		found = NULL;
	if (found)
		found->served = ++turns;
	gt_buffers_unlock(&signals);
	return found;
}

static void *run_delivery(void *arg);

/* Replace a thread that a callback has ended. The thread's batch counts as delivered, and a new
 * thread continues. */
static void thread_left(void *arg)
{
	struct gputap_delivery *d = arg;
	sigset_t signals;

	gt_delivery_here = NULL;
	gt_buffers_lock(&signals);
	for (struct gputap_buffer *b = gt_buffers; b; b = b->next)
		if (atomic_load_explicit(&b->drainer, memory_order_relaxed) == &gt_buffer_thread)
			end_drain(b);
	gt_buffers_unlock(&signals);
	atomic_store_explicit(&d->waits, 0, memory_order_seq_cst);
	if (gt_tool_thread_start(run_delivery, d, 0)) /* the next request tries again */
		atomic_store_explicit(&d->process, 0, memory_order_release);
}

static void *run_delivery(void *arg)
{
	struct gputap_delivery *d = arg;

	gt_tool_thread_takes("gputap-buffers", thread_left, d);
	gt_delivery_here = d;
	atomic_store_explicit(&d->asleep, 0, memory_order_relaxed);
	for (;;) {
		uint32_t seen = atomic_load_explicit(&d->signal, memory_order_seq_cst);
		struct gputap_buffer *b = wanted_of(d);

		if (b) {
			drain_buffer(b);
			continue;
		}
		atomic_store_explicit(&d->asleep, 1, memory_order_seq_cst);
		if (atomic_load_explicit(&d->signal, memory_order_seq_cst) == seen)
			gt_word_sleep(&d->signal, seen);
		atomic_store_explicit(&d->asleep, 0, memory_order_seq_cst);
	}
	return NULL;
}

/* Start the delivery's thread if it does not exist in this process. Return 0 or -EAGAIN. */
static int start_delivery(struct gputap_delivery *d)
{
	uint32_t process = gt_buffers_process(), nobody;
	int rc = 0;

	while (rc == 0 && atomic_load_explicit(&d->process, memory_order_acquire) != process) {
		nobody = 0;
		if (!atomic_compare_exchange_strong_explicit(&d->starting, &nobody, 1,
							     memory_order_acquire,
							     memory_order_relaxed)) {
			gt_word_wait(&d->starting, 1);
			continue;
		}
		if (atomic_load_explicit(&d->process, memory_order_relaxed) != process) {
			rc = gt_tool_thread_start(run_delivery, d, 0);
			if (rc == 0)
				atomic_store_explicit(&d->process, process, memory_order_release);
		}
		atomic_store_explicit(&d->starting, 0, memory_order_release);
		gt_word_wake(&d->starting);
	}
	return rc ? -EAGAIN : 0;
}

int gputap_delivery_create(struct gputap_delivery **out)
{
	struct gputap_delivery *d, *head = atomic_load(&gt_deliveries);
	int rc;

	if (!out)
		return -EINVAL;
	*out = NULL;
	gt_buffers_init();
	d = calloc(1, sizeof *d);
	if (!d)
		return -ENOMEM;
	rc = start_delivery(d);
	if (rc) {
		free(d);
		return rc;
	}
	do {
		d->next = head;
	} while (!atomic_compare_exchange_weak(&gt_deliveries, &head, d));
	*out = d;
	return 0;
}

int gt_delivery_default(struct gputap_delivery **out)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	struct gputap_delivery *d;
	int rc = 0;

	*out = atomic_load(&shared);
	if (*out)
		return 0;
	pthread_mutex_lock(&making);
	d = atomic_load(&shared);
	if (!d && (rc = gputap_delivery_create(&d)) == 0)
		atomic_store(&shared, d);
	pthread_mutex_unlock(&making);
	*out = d;
	return rc;
}

void gt_tool_delivery_waits(bool waits)
{
	if (gt_delivery_here)
		atomic_fetch_add_explicit(&gt_delivery_here->waits, waits ? 1 : UINT32_MAX,
					  memory_order_seq_cst);
}

bool gt_tool_delivery_is_here(void)
{
	return gt_delivery_here != NULL;
}

bool gt_delivery_blocked(const struct gputap_delivery *d)
{
	return gt_delivery_here || atomic_load_explicit(&d->waits, memory_order_seq_cst) ||
	       atomic_load_explicit(&d->process, memory_order_acquire) != gt_buffers_process();
}

void gt_delivery_want(struct gputap_buffer *b)
{
	struct gputap_delivery *d;

	if (atomic_exchange_explicit(&b->wanted, 1, memory_order_seq_cst))
		return;
	d = atomic_load_explicit(&b->delivery, memory_order_seq_cst);
	if (atomic_load_explicit(&d->process, memory_order_acquire) != gt_buffers_process())
		start_delivery(d);
	wake_delivery(d);
}

/* Assignment and destruction ------------------------------------------------------------ */

int gputap_buffer_assign(struct gputap_buffer *b, struct gputap_delivery *d)
{
	if (!b || !d)
		return -EINVAL;
	atomic_store_explicit(&b->delivery, d, memory_order_seq_cst);
	if (atomic_load_explicit(&b->wanted, memory_order_seq_cst))
		wake_delivery(d);
	return 0;
}

/* Return true if a wait for the delivery's thread might never end, because the thread does not run
 * in this process or waits for other threads, possibly for the caller. */
static bool is_stuck(struct gputap_buffer *b)
{
	const struct gputap_delivery *d = atomic_load_explicit(&b->delivery, memory_order_acquire);

	return atomic_load_explicit(&d->process, memory_order_acquire) != gt_buffers_process() ||
	       ((gt_delivery_here || gt_tool_frame) &&
		atomic_load_explicit(&d->waits, memory_order_seq_cst));
}

bool gt_buffer_hand_over(struct gputap_buffer *b, uint64_t deadline)
{
	bool complete = true;
	sigset_t signals;
	uint64_t ticket;

	gt_buffers_look();
	if ((gt_delivery_here || gt_tool_frame) &&
	    atomic_load_explicit(&b->delivery, memory_order_acquire) == gt_delivery_here) {
		/* if the claim fails, this thread's callback or the buffer's former thread delivers
		 * the rest */
		gt_buffers_lock(&signals);
		end_abandoned(b);
		complete = claim_drain(b);
		gt_buffers_unlock(&signals);
		if (complete)
			drain_buffer(b);
		return complete;
	}
	ticket = atomic_fetch_add_explicit(&b->flush_ticket, 1, memory_order_seq_cst) + 1;
	gt_delivery_want(b);
	gt_tool_delivery_waits(true);
	while (complete && atomic_load_explicit(&b->flush_done, memory_order_acquire) < ticket) {
		uint32_t seen = atomic_load_explicit(&b->done, memory_order_seq_cst);

		gt_delivery_want(b);
		complete = !is_stuck(b) &&
			   (deadline == GT_NO_DEADLINE || gt_clock_ns(CLOCK_MONOTONIC) < deadline);
		if (complete && atomic_load_explicit(&b->flush_done, memory_order_acquire) < ticket)
			gt_word_wait(&b->done, seen);
	}
	gt_tool_delivery_waits(false);
	return complete;
}

/* Wait until all records are delivered and no drain runs. Remove the buffer from the list. */
static int retire(struct gputap_buffer *b)
{
	struct gputap_buffer **p;
	sigset_t signals;
	uint32_t seen;

	for (;;) {
		bool complete = atomic_load_explicit(&b->drainer, memory_order_relaxed) !=
					&gt_buffer_thread &&
				gt_buffer_hand_over(b, GT_NO_DEADLINE);

		gt_buffers_lock(&signals);
		if (complete && !atomic_load_explicit(&b->draining, memory_order_acquire))
			break;
		seen = atomic_load_explicit(&b->done, memory_order_seq_cst);
		gt_buffers_unlock(&signals);
		if (atomic_load_explicit(&b->drainer, memory_order_relaxed) == &gt_buffer_thread ||
		    is_stuck(b))
			return -EDEADLK;
		gt_tool_delivery_waits(true);
		gt_word_wait(&b->done, seen);
		gt_tool_delivery_waits(false);
	}
	for (p = &gt_buffers; *p && *p != b;)
		p = &(*p)->next;
	if (*p)
		*p = b->next;
	gt_buffers_unlock(&signals);
	return 0;
}

int gputap_buffer_destroy(struct gputap_buffer *b)
{
	int saved = errno, rc = b ? retire(b) : 0;

	if (b && rc == 0)
		gt_buffer_free(b);
	errno = saved;
	return rc;
}
