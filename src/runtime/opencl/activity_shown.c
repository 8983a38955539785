/* SPDX-License-Identifier: MIT */
/* Events that the program sees before the call returns.
 *
 * A blocking call may take forever, and another thread of the program may wait for the event that
 * the runtime writes before it blocks. A native kernel may read its own event. For such calls the
 * runtime therefore writes directly to the program's variable. Other calls return immediately, so
 * their events go into a variable of gputap first, and gputap takes a reference before the program
 * sees the event.
 *
 *   calling thread   1. opens a slot of places[]
 *                    2. makes the real call; the runtime writes *where
 *                    3. holding the slot's lock, takes a reference to that event for gputap and
 *                       closes the slot
 *   other threads    when they release an event that is at an open slot, they first take that
 *                    reference, holding the slot's lock
 *
 * Other threads must do that because one of them may see the event, wait for it and release it
 * before the call returns. The event would then be gone when the calling thread reaches step 3.
 *
 * A call may be left with longjmp(), or end with its thread. Its slot stays open until that thread
 * makes such a call again, and `where` may be unmapped by then. Therefore memory at `where` is read
 * only after the kernel has confirmed that it is readable. */
#include "runtime/opencl/activity.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACES = 64, KERNEL_SIGSET_BYTES = 8 };

struct gt_cl_shown {
	_Alignas(64) struct gt_cl_lock lock;
	uint32_t epoch; /* process in which the slot was opened */
	const struct gt_thread *thread;
	uintptr_t stack; /* address in the stack of the calling thread */
	cl_event *where; /* NULL: closed */
	/* event at `where` that was released last, to which gputap has a reference; NULL: none */
	cl_event retained;
};

static struct gt_cl_shown places[PLACES];
static _Atomic uint64_t open_places; /* one bit per slot */

/* Open a free slot. Return NULL if all slots are taken. */
static struct gt_cl_shown *take_place(const struct gt_thread *t, uintptr_t stack)
{
	uint32_t first = (uint32_t)((uintptr_t)t >> 12) % PLACES;
	const struct gt_cl_shown *s = &places[first];
	uint64_t open = atomic_load_explicit(&open_places, memory_order_relaxed);

	/* An earlier call of this thread, deeper in the stack, has ended and left the slot open. */
	if (open >> first & 1 && s->thread == t && s->epoch == t->epoch && s->stack <= stack)
		return &places[first];
	for (uint32_t i = 0; i < PLACES; i++) {
		uint64_t bit = UINT64_C(1) << (first + i) % PLACES;

		if (!(open & bit) && !(atomic_fetch_or(&open_places, bit) & bit))
			return &places[(first + i) % PLACES];
	}
	return NULL;
}

static void give_place(const struct gt_cl_shown *s)
{
	atomic_fetch_and(&open_places, ~(UINT64_C(1) << (s - places)));
}

void gt_cl_shown_begin(struct gt_cl_activity *w)
{
	const struct gt_thread *t = w->thread;
	struct gt_cl_shown *s = take_place(t, (uintptr_t)w);

	if (!s || !gt_cl_lock_take(&s->lock, t->epoch)) {
		if (s)
			give_place(s);
		return;
	}
	s->epoch = t->epoch;
	s->thread = t;
	s->stack = (uintptr_t)w;
	s->where = w->wanted;
	s->retained = NULL;
	gt_cl_lock_release(&s->lock);
	w->shown = s;
}

void gt_cl_shown_end(struct gt_cl_activity *w, cl_int ret)
{
	struct gt_cl_shown *s = w->shown;
	bool locked = gt_cl_lock_take(&s->lock, w->thread->epoch);
	cl_event other = s->retained;

	if (ret == CL_SUCCESS) {
		w->event = __atomic_load_n(w->wanted, __ATOMIC_RELAXED);
		w->retained =
			w->event && (w->event == other || gt_cl_event_retain(w->table, w->event));
		if (w->event == other)
			other = NULL;
	}
	s->where = NULL;
	s->retained = NULL;
	if (locked)
		gt_cl_lock_release(&s->lock);
	give_place(s);
	if (other) /* *where contained this event before the call, or the call failed */
		gt_cl_event_release(w->table, other);
}

/* Return true if @address is readable. Uses a system call that changes the signal mask, with an
 * invalid operation, so the kernel reads the memory or returns EFAULT, and changes nothing. */
static bool can_be_read(const void *address)
{
	int saved = errno;
	bool readable;

	errno = 0;
	syscall(SYS_rt_sigprocmask, -1, address, NULL, KERNEL_SIGSET_BYTES);
	readable = errno != EFAULT;
	errno = saved;
	return readable;
}

/* Take a reference to @event if it is at the slot. Return the event to which the slot had a
 * reference before; NULL: none. */
static cl_event keep_event(struct gt_cl_shown *s, const struct gt_table *table, cl_event event,
			   uint32_t epoch)
{
	cl_event former = NULL;

	if (s->where && s->epoch == epoch && can_be_read(s->where) &&
	    __atomic_load_n(s->where, __ATOMIC_RELAXED) == event && s->retained != event &&
	    gt_cl_event_retain(table, event)) {
		former = s->retained;
		s->retained = event;
	}
	return former;
}

static __attribute__((noinline, cold)) void keep_shown(const struct gt_call *call, cl_event event,
						       uint64_t open)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const struct gt_table *table = gt_cl_table_find(call);
	struct gt_cl_shown *s;
	cl_event former;

	for (; table && epoch && open; open &= open - 1) {
		s = &places[__builtin_ctzll(open)];
		if (gt_cl_lock_take(&s->lock, epoch) == GT_CL_LOCK_FAILED)
			continue;
		former = keep_event(s, table, event, epoch);
		gt_cl_lock_release(&s->lock);
		if (former)
			gt_cl_event_release(table, former);
	}
}

cl_int gt_opencl_wrap_clReleaseEvent(const struct gt_call *call, cl_event event)
{
	uint64_t open = atomic_load_explicit(&open_places, memory_order_seq_cst);

	if (gt_unlikely(open) && !gt_thread.internal)
		keep_shown(call, event, open);
	return GT_CL_REAL(call, clReleaseEvent)(event);
}
