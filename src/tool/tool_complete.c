/* SPDX-License-Identifier: MIT */
/* Notifies subscribers of completed GPU activities (the COMPLETE phase), even when a tool is
 * finished or the process ends.
 *
 *   harvesting thread ─► gt_tool_done_list ─► batch: current, rest ─► subscribers of each activity
 *                        a stack, newest first  oldest first
 *
 * Steps of a delivery (gt_tool_deliver(), mostly in a helper thread):
 *   1. Take a free batch (compare and exchange of `owner`, acquire): thread << 32 | process.
 *   2. Take the whole stack (exchange, sequentially consistent), and reverse it.
 *   3. Make one activity `current` and the others `rest`, and notify the subscribers of `current`.
 *      Repeat until `rest` is empty.
 *   4. Free the batch: `owner` 0 (release).
 *
 * No lock is held in step 3, so a callback may do anything. A callback may also leave by a jump, or
 * end its thread. The batch then remains with its owner and contains the remaining activities:
 *   the owner lives      the owner's next delivery detects from the batch's stack position that a
 *                        callback left the earlier delivery, and completes that batch first
 *   the owner has ended  the next delivery of any thread takes the batch over */
#include "tool/tool_batch.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tool/tool_reader.h"
#include "util/clock_ns.h"

enum {
	LOOKS = 4,
	NAP_NS = 100000,
	PATIENCE = 20000 /* naps, 2 s */,
	SETTLE = 2000 /* naps, 0.2 s */,
	GONE_EVERY = 64
};

static _Atomic uint32_t delivering;

static void (*_Atomic looks[LOOKS])(void);

/* Notify the activity's subscribers, or the remaining subscribers after a callback jumped out. */
static void complete_item(struct gt_tool_activity *p)
{
	p->activity.phase = GPUTAP_ACTIVITY_PHASE_COMPLETE;
	p->activity.status = p->done_status;
	p->activity.start = p->done_start;
	p->activity.end = p->done_end;
	if (p->shared)
		gt_correlation_reaches(p->shared, p->activity.end);
	/* a callback that jumps out is not called again for the remaining subscribers */
	for (; p->count; p->count--) {
		struct gt_tool_subscriber *h = &p->subscribers[p->count - 1], once = *h;
		const struct gt_tool_context *c = &gt_tool_pool[h->place];

		h->how &= ~(uint32_t)GT_TOOL_CALLED;
		gt_tool_activity_notify(p, &once);
		if (!(h->how & GT_TOOL_BUFFERED) || !gt_tool_lock_in(h->place, h->generation, true))
			continue;
		gt_tool_buffer_write_ticks(c->buffered[p->activity.domain].buffer,
					   GPUTAP_RECORD_ACTIVITY, &p->activity, sizeof p->activity,
					   0, 0, false);
		gt_tool_lock_out();
	}
	gt_tool_activity_give(p);
}

static struct gt_tool_batch *take_batch(uint64_t owner, const void *here)
{
	for (struct gt_tool_batch *b = gt_tool_batches; b < gt_tool_batches + GT_TOOL_BATCHES;
	     b++) {
		uint64_t old = atomic_load_explicit(&b->owner, memory_order_relaxed);

		if ((old && (uint32_t)old == (uint32_t)owner) ||
		    !atomic_compare_exchange_strong_explicit(&b->owner, &old, owner,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue; /* otherwise free, or owned by the parent of a fork */
		b->stack = (uintptr_t)here;
		atomic_store_explicit(&b->current, 0, memory_order_relaxed);
		atomic_store_explicit(&b->rest, 0, memory_order_relaxed);
		return b;
	}
	return NULL;
}

/* Notify of COMPLETE for a list. Return the length of the list. */
static uint32_t complete_list(struct gt_tool_batch *b, uint32_t list)
{
	uint32_t count = 0, epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	for (; list; count++) {
		struct gt_tool_activity *p = gt_tool_activity_at(list - 1);
		uint32_t next = atomic_load_explicit(&p->entry.next, memory_order_relaxed);

		if (b) {
			atomic_store_explicit(&b->current, list, memory_order_release);
			atomic_store_explicit(&b->rest, next, memory_order_release);
		}
		if (gt_likely(atomic_load_explicit(&p->epoch, memory_order_relaxed) ==
			      epoch)) /* otherwise the activity belongs to the parent of a fork */
			complete_item(p);
		if (b)
			atomic_store_explicit(&b->current, 0, memory_order_release);
		list = b ? atomic_exchange_explicit(&b->rest, 0, memory_order_acquire) : next;
	}
	return count;
}

/* Complete a batch that this thread has taken over: notify the remaining subscribers of the current
 * activity, then those of the activities in `rest`. Return the number of activities. */
static uint32_t complete_rest(struct gt_tool_batch *b, const void *here)
{
	uint32_t count = 0, current = atomic_load_explicit(&b->current, memory_order_acquire);

	b->stack = (uintptr_t)here;
	if (current)
		count = complete_list(b, current);
	gt_tool_deliveries--;
	atomic_fetch_sub_explicit(&delivering, 1, memory_order_release);
	atomic_store_explicit(&b->owner, 0, memory_order_release);
	return count;
}

/* Complete this thread's batches that a callback has jumped out of. */
static uint32_t complete_left(uint64_t owner, const void *here)
{
	uint32_t count = 0;

	for (struct gt_tool_batch *b = gt_tool_batches; b < gt_tool_batches + GT_TOOL_BATCHES; b++)
		if (atomic_load_explicit(&b->owner, memory_order_relaxed) == owner &&
		    b->stack <= (uintptr_t)here)
			count += complete_rest(b, here);
	return count;
}

static bool thread_is_gone(uint32_t thread)
{
	return thread == GT_TOOL_NO_THREAD ||
	       (syscall(SYS_tgkill, getpid(), thread, 0) == -1 && errno == ESRCH);
}

/* Take over and complete the batches of threads that have ended. */
static uint32_t complete_of_gone(uint64_t owner, const void *here)
{
	uint32_t count = 0;

	for (struct gt_tool_batch *b = gt_tool_batches; b < gt_tool_batches + GT_TOOL_BATCHES;
	     b++) {
		uint64_t whose = atomic_load_explicit(&b->owner, memory_order_relaxed);

		if (!whose || whose == owner || (uint32_t)whose != (uint32_t)owner ||
		    !thread_is_gone((uint32_t)(whose >> 32)) ||
		    !atomic_compare_exchange_strong_explicit(&b->owner, &whose, owner,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		gt_tool_deliveries++;
		count += complete_rest(b, here);
	}
	return count;
}

/* Complete the batches of other live threads, except the current activity of each batch. The caller
 * has already waited for these threads. */
static void complete_behind(uint64_t owner)
{
	for (struct gt_tool_batch *b = gt_tool_batches; b < gt_tool_batches + GT_TOOL_BATCHES;
	     b++) {
		uint64_t whose = atomic_load_explicit(&b->owner, memory_order_relaxed);

		if (whose && whose != owner && (uint32_t)whose == (uint32_t)owner)
			complete_list(NULL,
				      atomic_exchange_explicit(&b->rest, 0, memory_order_acquire));
	}
}

uint32_t gt_tool_deliver(void)
{
	const uint64_t owner = (uint64_t)gt_tool_thread() << 32 |
			       atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const void *here = __builtin_frame_address(0);
	uint32_t head, reversed = 0, count = 0;
	struct gt_tool_activity *p;
	struct gt_tool_batch *b;
	int saved = errno;

	gt_tool_notify_loss();
	if (gt_unlikely(gt_tool_deliveries))
		count = complete_left(owner, here);
	if (gt_unlikely(atomic_load_explicit(&gt_tool_orphans, memory_order_relaxed)) &&
	    atomic_exchange_explicit(&gt_tool_orphans, 0, memory_order_acquire))
		count += complete_of_gone(owner, here);
	if (!atomic_load_explicit(&gt_tool_done_list, memory_order_relaxed))
		return count;
	atomic_fetch_add_explicit(&delivering, 1, memory_order_seq_cst);
	gt_tool_deliveries++;
	b = take_batch(owner, here);
	head = atomic_exchange_explicit(&gt_tool_done_list, 0, memory_order_seq_cst);
	while (head) { /* oldest first */
		p = gt_tool_activity_at(head - 1);
		head = atomic_load_explicit(&p->entry.next, memory_order_relaxed);
		atomic_store_explicit(&p->entry.next, reversed, memory_order_relaxed);
		reversed = p->entry.index + 1;
	}
	count += complete_list(b, reversed);
	if (b)
		atomic_store_explicit(&b->owner, 0, memory_order_release);
	gt_tool_deliveries--;
	atomic_fetch_sub_explicit(&delivering, 1, memory_order_release);
	errno = saved;
	return count;
}

bool gt_tool_has_done(void)
{
	return atomic_load_explicit(&gt_tool_done_list, memory_order_seq_cst) != 0;
}

/* End of the process ------------------------------------------------------------- */

/* Wait for other threads that are delivering, except for threads that wait for this thread. */
static void wait_for_deliveries(uint64_t owner, const void *here)
{
	const struct timespec nap = {0, NAP_NS};

	for (unsigned n = 0;
	     n < PATIENCE &&
	     atomic_load_explicit(&delivering, memory_order_seq_cst) > gt_tool_deliveries;
	     n++) {
		if (n % GONE_EVERY == 0)
			complete_of_gone(owner, here);
		else
			syscall(SYS_nanosleep, &nap, NULL);
	}
}

void gt_tool_activity_looks(void (*look)(void))
{
	for (int i = 0; i < LOOKS; i++) {
		void (*none)(void) = NULL;

		if (atomic_compare_exchange_strong(&looks[i], &none, look) || none == look)
			return;
	}
}

static void look_all(void)
{
	for (int i = 0; i < LOOKS; i++) {
		void (*look)(void) = atomic_load(&looks[i]);

		if (look)
			look();
	}
}

/* Let other threads notify, because this thread may hold a lock that the tool's callback takes. */
void gt_tool_activity_settle(void)
{
	const struct timespec nap = {0, NAP_NS};
	int saved = errno;

	if (!atomic_load(&looks[0]) || atomic_load_explicit(&gt_tool_ended, memory_order_relaxed))
		return;
	look_all();
	if (gt_tool_deliveries || gt_tool_delivery_is_here())
		return;
	gt_tool_delivery_waits(true);
	for (unsigned n = 0;
	     n < SETTLE &&
	     (gt_tool_has_done() || atomic_load_explicit(&delivering, memory_order_seq_cst));
	     n++)
		syscall(SYS_nanosleep, &nap, NULL);
	gt_tool_delivery_waits(false);
	errno = saved;
}

uint64_t gt_tool_activity_drain(uint32_t place, uint64_t deadline)
{
	const struct timespec nap = {0, NAP_NS};
	uint64_t open = gt_tool_activity_open(place);
	int saved = errno;

	look_all();
	if (open && !gt_tool_deliveries && !gt_tool_delivery_is_here()) {
		gt_tool_delivery_waits(true);
		while ((open = gt_tool_activity_open(place)) != 0 &&
		       gt_clock_ns(CLOCK_MONOTONIC) < deadline) {
			syscall(SYS_nanosleep, &nap, NULL);
			look_all();
		}
		gt_tool_delivery_waits(false);
	}
	errno = saved;
	return open;
}

void gt_tool_activity_end(void)
{
	const uint64_t owner = (uint64_t)gt_tool_thread() << 32 |
			       atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const void *here = __builtin_frame_address(0);
	int saved = errno;

	if (atomic_load_explicit(&gt_tool_ended, memory_order_relaxed))
		return;
	look_all();
	gt_tool_deliver();
	wait_for_deliveries(owner, here);
	complete_left(owner, here);
	complete_behind(owner);
	gt_tool_deliver();
	if (atomic_exchange_explicit(&gt_tool_ended, 1, memory_order_relaxed))
		return;
	gt_tool_objects_end();
	gt_correlations_end();
	errno = saved;
}
