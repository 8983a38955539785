/* SPDX-License-Identifier: MIT */
/* The helpers: a thread per device that harvests what has completed, so that no program thread
 * does; and the end of the process.
 *
 *   busy   something in flight: looks every STEP, twice as late each time that too little had
 *          completed, earlier if it was much
 *   idle   nothing in flight: naps; after a second of that, longer ones (`deep`), from which the
 *          next work wakes it, and a queue that is half full (gt_hsa_helper_hurry())
 *
 * So what has completed is recorded some 2 ms later at most, if the helper gets a CPU: that is
 * what a SIGKILL of the program can cost. The collector counts it as unfinished. What the
 * program has waited for is recorded by then: calls that wait harvest before they return
 * (gt_work_waited()), and so do tools that flush or stop.
 *
 * Who harvests. An agent's `harvester` is had by one thread at a time, for as long as it takes
 * to look at what is in flight: none of the program's functions and none of a tool's run
 * meanwhile. Signals are blocked, so that no handler jumps out of it. Who wants it waits for
 * HARVEST_NS at most, since the other one may have lost its processor.
 *
 * A look goes along a queue from its oldest work, WINDOW pieces far: whatever is done is
 * recorded, in whatever order; a long kernel holds up nothing but the slots behind it. Nothing
 * is waited for: no other queue's or device's work comes late.
 *
 * All signals are blocked in the helpers; they are detached, and keep no process alive. At
 * exit() the end harvests what is done by then, once the helpers have left the runtime: ROCr
 * takes itself apart in later exit handlers. hsa_shut_down() comes through gt_hsa_helper_leave()
 * instead. What has not completed by then is counted as unfinished by the collector. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_activity.h"
#include "tool/tool.h"
#include "util/clock_ns.h"

#define STEP_NS         (GT_HSA_MS / 10)
#define STEP_MAX_NS     (2 * GT_HSA_MS)
#define DEEP_NS         (50 * GT_HSA_MS)
#define QUIET_NS        (1000 * GT_HSA_MS)
#define CLOCK_NS        (1000 * GT_HSA_MS)
#define LEAVE_NS        (5000 * GT_HSA_MS) /* for a helper to leave the runtime */
#define LEAVE_INSIDE_NS (50 * GT_HSA_MS)
#define HARVEST_NS      (200 * GT_HSA_MS) /* for another thread to end its look */

enum { SPINS = 100, YIELDS = 1000 };
enum { STACK_BYTES = 256 << 10, WINDOW = 256, ARM_AT_ONCE = 1024 };
/* What a look should find: fewer pieces are a sleep and a wake-up for each, more are memory that
 * no cache holds. With MANY there are more by now. */
enum { FEW = 128, ENOUGH = 384, MANY = 512 };

struct helper {
	_Atomic uint32_t epoch;   /* process that has this helper, or tried to */
	_Atomic uint32_t asleep;  /* futex: 1 while it naps with nothing in flight */
	_Atomic uint32_t at_work; /* inside the runtime, or about to be */
};

static struct helper helpers[GT_HSA_AGENTS_MAX];
static _Atomic uint32_t over;    /* the process ends, or the runtime goes: no call into it */
static _Atomic uint32_t waiting; /* somebody else harvests just now */
static _Atomic int32_t process;  /* that has helpers: no child of it */

static void nap(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / (1000 * GT_HSA_MS)),
				   (long)(ns % (1000 * GT_HSA_MS))};

	syscall(SYS_nanosleep, &t, NULL);
}

/* Both clocks; as close together as three tries give. */
static struct gt_hsa_clock_pair read_clocks(void)
{
	struct gt_hsa_clock_pair best = {0, 0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = gt_ticks(), ns = gt_hsa_boottime_ns(), after = gt_ticks();

		if (after - before < shortest) {
			shortest = after - before;
			best = (struct gt_hsa_clock_pair){before + shortest / 2, ns};
		}
	}
	return best;
}

void gt_hsa_helper_clock(struct gt_hsa_agent *a)
{
	a->before = a->middle = a->now = read_clocks();
}

/* Would a line through both readings do, a little further on? */
static bool clocks_are_fresh(const struct gt_hsa_agent *a)
{
	return a->now.ticks != a->before.ticks &&
	       gt_ticks() - a->now.ticks < a->now.ticks - a->before.ticks &&
	       a->now.ns - a->before.ns < 2 * CLOCK_NS;
}

/* Before a look. What is converted lies between the two readings, but for work that takes longer
 * than seconds. */
static void look_at_clocks(struct gt_hsa_agent *a)
{
	struct gt_hsa_clock_pair now = read_clocks();

	if (a->now.ns - a->before.ns >= 2 * CLOCK_NS)
		a->before = a->middle;
	if (a->now.ns - a->middle.ns >= CLOCK_NS)
		a->middle = a->now;
	a->now = now;
}

static uint64_t ns_of(const struct gt_hsa_agent *a, uint64_t ticks)
{
	uint64_t between = a->now.ticks - a->before.ticks;

	if (gt_host_clock == GT_HOST_CLOCK_BOOTTIME || !between)
		return gt_host_clock == GT_HOST_CLOCK_BOOTTIME ? ticks : a->now.ns;
	return a->now.ns +
	       (uint64_t)(int64_t)((double)(int64_t)(ticks - a->now.ticks) *
				   ((double)(a->now.ns - a->before.ns) / (double)between));
}

void gt_hsa_write_work(const struct gt_record_device *work, const struct gt_hsa_agent *a,
		       const struct gt_hsa_times *times, struct gt_thread *t)
{
	struct gt_graph_span *span = (struct gt_graph_span *)(uintptr_t)work->submitted;
	uint32_t device = GT_DEVICE_REF(GT_DOMAIN_HSA_CORE, a->number);
	struct gt_record_device *r;

	if (work->head.kind != GT_RECORD_DEVICE)
		return; /* only told */
	if (gt_unlikely(span != NULL)) {
		if (times)
			gt_graph_span_complete_part(span, t, device, work->queue & UINT32_MAX,
						    times->start, times->end);
		else
			gt_graph_span_lose_part(span, t);
		return;
	}
	if (!times) {
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_RUNTIME);
		return;
	}
	r = gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE);
	if (!r)
		return;
	*r = *work;
	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_DEVICE, work->head.depth, device};
	r->status = 0;
	r->submitted = 0;
	r->start = times->start;
	r->end = times->end;
	gt_ring_commit(t, sizeof *r);
}

void gt_hsa_count_unfinished(const struct gt_record_device *work, struct gt_thread *t)
{
	if (work->head.kind != GT_RECORD_DEVICE)
		return;
	if (work->submitted)
		gt_graph_span_lose_part((struct gt_graph_span *)(uintptr_t)work->submitted, t);
	else
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_UNFINISHED);
}

static void write_record(struct gt_hsa_queue *q, struct gt_hsa_slot *s, struct gt_thread *t)
{
	struct gt_hsa_times times = {0, 0};
	uint32_t state = atomic_load_explicit(&s->watch.state, memory_order_relaxed);
	int status = -1;

	if (state == GT_HSA_SLOT_SAVED) { /* the runtime translates what lies in a signal */
		atomic_store_explicit(&s->ours->start_ts, s->watch.times[0], memory_order_relaxed);
		atomic_store_explicit(&s->ours->end_ts, s->watch.times[1], memory_order_relaxed);
	}
	if (state != GT_HSA_SLOT_LOST)
		status =
			GT_HSA_AMD(q->agent->runtime,
				   hsa_amd_profiling_get_dispatch_time)(q->agent->handle,
									(uintptr_t)s->ours, &times);
	s->record.queued = ns_of(q->agent, s->record.queued);
	gt_hsa_write_work(&s->record, q->agent, status == GT_HSA_SUCCESS ? &times : NULL, t);
	if (gt_unlikely(s->record.end))
		gt_hsa_told_done((struct gt_work_item *)(uintptr_t)s->record.end, q->agent,
				 status == GT_HSA_SUCCESS ? &times : NULL);
}

/* Is it done, and are its times where they can be read? */
static bool completed(struct gt_hsa_slot *s)
{
	uint32_t state = atomic_load_explicit(&s->watch.state, memory_order_acquire);

	if (state != GT_HSA_SLOT_PENDING)
		return state == GT_HSA_SLOT_SAVED || state == GT_HSA_SLOT_LOST;
	if (gt_likely(!s->watch.entry))
		return atomic_load_explicit(&s->ours->value, memory_order_acquire) < 1;
	return gt_hsa_signal_harvest(&s->watch);
}

/* As it was made. */
static void recycle(struct gt_hsa_slot *s)
{
	atomic_store_explicit(&s->ours->value, 1, memory_order_relaxed);
	atomic_store_explicit(&s->ours->start_ts, 0, memory_order_relaxed);
	atomic_store_explicit(&s->ours->end_ts, 0, memory_order_relaxed);
	s->watch.signal = s->ours;
	atomic_store_explicit(&s->watch.state, GT_HSA_SLOT_FREE, memory_order_relaxed);
}

static void give_slot(struct gt_hsa_queue *q, uint64_t position)
{
	uint32_t *slot = &q->order[position & (q->capacity - 1)];
	uint64_t put = atomic_load_explicit(&q->freed_put, memory_order_relaxed);

	q->freed[put & (q->capacity - 1)] = *slot;
	*slot = GT_HSA_NO_SLOT;
	atomic_store_explicit(&q->freed_put, put + 1, memory_order_release);
}

/* Return: how much is in flight. */
static uint32_t look_at_queue(struct gt_hsa_queue *q, struct gt_thread *t, uint32_t *done)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_acquire), i;
	uint32_t missed = 0;

	for (i = head; i < tail && missed < WINDOW; i++) {
		struct gt_hsa_slot *s = gt_hsa_slot(q, i);

		if (s && !completed(s)) {
			missed++;
			continue;
		}
		if (s) {
			write_record(q, s, t);
			recycle(s);
			give_slot(q, i);
			++*done;
		}
		if (i == head)
			atomic_store_explicit(&q->head, ++head, memory_order_release);
	}
	return (uint32_t)(tail - head);
}

/* The program has destroyed it: what has not completed never will. */
static void end_queue(struct gt_hsa_queue *q, struct gt_thread *t)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_acquire);

	for (uint64_t i = q->head; i < tail; i++) {
		struct gt_hsa_slot *s = gt_hsa_slot(q, i);

		if (!s)
			continue;
		gt_hsa_signal_forget(&s->watch);
		gt_hsa_count_unfinished(&s->record, t);
		if (s->record.end)
			gt_work_item_drop((struct gt_work_item *)(uintptr_t)s->record.end, true);
	}
	gt_hsa_queue_bury(q);
}

/* False: another thread is at it, and does not end. */
static bool begin_harvest(struct gt_hsa_agent *a, uint32_t epoch)
{
	uint64_t since = 0;

	for (uint32_t n = 0;; n++) {
		uint32_t holder = atomic_load_explicit(&a->harvester, memory_order_relaxed);

		if (holder != epoch && /* else nobody's, or a parent's of a fork */
		    atomic_compare_exchange_strong_explicit(&a->harvester, &holder, epoch,
							    memory_order_acquire,
							    memory_order_relaxed))
			return true;
		if (n < SPINS)
			continue;
		since = since ? since : gt_hsa_boottime_ns();
		if (gt_hsa_boottime_ns() - since > HARVEST_NS)
			return false;
		if (n < YIELDS)
			sched_yield();
		else
			nap(STEP_NS);
	}
}

static void end_harvest(struct gt_hsa_agent *a)
{
	atomic_store_explicit(&a->harvester, 0, memory_order_release);
}

/* Of queues that the program has destroyed, only @ends, who buries them. Return: how much is in
 * flight. */
static uint32_t harvest(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done, bool ends)
{
	uint32_t left = 0;

	for (struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire); q;
	     q = q->agent_next) {
		uint32_t state = atomic_load_explicit(&q->state, memory_order_acquire), mine;

		if (state >= GT_HSA_QUEUE_ENDING || q->epoch != t->epoch ||
		    (state == GT_HSA_QUEUE_DESTROYED && !ends))
			continue;
		mine = look_at_queue(q, t, done);
		if (state == GT_HSA_QUEUE_DESTROYED)
			atomic_store_explicit(&q->state, GT_HSA_QUEUE_ENDING, memory_order_release);
		else
			left += mine;
	}
	return left + gt_hsa_copies_look(a, t, done);
}

/* One round over an agent's queues. @last: nobody else looks any more */
static uint32_t look(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done, bool last)
{
	struct gt_hsa_queue *first = atomic_load_explicit(&a->queues, memory_order_acquire);
	uint32_t left = 0;

	for (struct gt_hsa_queue *q = last ? NULL : first; q; q = q->agent_next) {
		uint32_t state = atomic_load_explicit(&q->state, memory_order_acquire);

		if (state >= GT_HSA_QUEUE_ENDING || q->epoch != t->epoch)
			continue;
		if (gt_hsa_queue_arm(q, ARM_AT_ONCE))
			++*done; /* come again soon */
		if (state == GT_HSA_QUEUE_LIVE)
			left += gt_hsa_face_look(q);
	}
	if (!begin_harvest(a, t->epoch))
		return left + 1;
	look_at_clocks(a);
	left += harvest(a, t, done, true);
	end_harvest(a);
	for (struct gt_hsa_queue *q = first; q; q = q->agent_next)
		if (atomic_load_explicit(&q->state, memory_order_acquire) == GT_HSA_QUEUE_ENDING &&
		    q->epoch == t->epoch)
			end_queue(q, t);
	return left;
}

/* By other threads than the helper ------------------------------------------------ */

static bool has_work(const struct gt_hsa_agent *a)
{
	for (const struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire);
	     q; q = q->agent_next)
		if (atomic_load_explicit(&q->head, memory_order_relaxed) !=
			    atomic_load_explicit(&q->tail, memory_order_relaxed) &&
		    atomic_load_explicit(&q->state, memory_order_relaxed) < GT_HSA_QUEUE_ENDING)
			return true;
	return false;
}

/* The end may have begun: then the runtime takes itself apart. */
static void harvest_quickly(struct gt_hsa_agent *a, struct gt_thread *t)
{
	uint32_t done = 0;

	if (!begin_harvest(a, t->epoch))
		return;
	if (!atomic_load_explicit(&over, memory_order_seq_cst)) {
		if (!clocks_are_fresh(a))
			look_at_clocks(a);
		harvest(a, t, &done, false);
	}
	end_harvest(a);
}

/* All that has completed, of all agents. */
static __attribute__((noinline)) void harvest_all(void)
{
	struct gt_thread *t = gt_thread_own();
	uint64_t all = UINT64_MAX, before;
	struct gt_hsa_agent *a;
	int saved = errno;

	if (!t || t->writing || atomic_load_explicit(&over, memory_order_relaxed))
		return;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		if (a->gpu && a->runtime->tables && (has_work(a) || gt_hsa_copies_there()))
			harvest_quickly(a, t);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
	errno = saved;
}

void gt_work_waited(void)
{
	bool there = gt_hsa_copies_there();
	const struct gt_hsa_agent *a;

	for (uint32_t i = 0; !there && (a = gt_hsa_agent_at(i)) != NULL; i++)
		there = a->gpu && has_work(a);
	if (gt_unlikely(there))
		harvest_all();
}

/* A wait of the program's, not one in the middle of HIP's calls, which harvest when they are
 * over. */
static inline void wait_is_over(bool met)
{
	if (met && !gt_thread.api_id && !gt_thread.submit_order)
		gt_work_waited();
}

static bool is_met(unsigned int condition, int64_t value, int64_t compared)
{
	switch (condition) {
	case GT_HSA_CONDITION_EQ: return value == compared;
	case GT_HSA_CONDITION_NE: return value != compared;
	case GT_HSA_CONDITION_LT: return value < compared;
	default: return value >= compared;
	}
}

#define WAIT(f)                                                                               \
	int64_t gt_hsa_core_wrap_##f(const struct gt_tap *tap, uint64_t signal,               \
				     unsigned int condition, int64_t compare_value,           \
				     uint64_t timeout_hint, unsigned int wait_state_hint)     \
	{                                                                                     \
		int64_t value =                                                               \
			((gt_hsa_core_##f##_fn *)tap->real)(signal, condition, compare_value, \
							    timeout_hint, wait_state_hint);   \
                                                                                              \
		wait_is_over(is_met(condition, value, compare_value));                        \
		return value;                                                                 \
	}
WAIT(hsa_signal_wait_relaxed)
WAIT(hsa_signal_wait_scacquire)

uint32_t gt_hsa_amd_ext_wrap_hsa_amd_signal_wait_any(const struct gt_tap *tap,
						     uint32_t signal_count, uint64_t *signals,
						     unsigned int *conds, int64_t *values,
						     uint64_t timeout_hint, unsigned int wait_hint,
						     int64_t *satisfying_value)
{
	uint32_t which = ((gt_hsa_amd_ext_hsa_amd_signal_wait_any_fn *)tap->real)(
		signal_count, signals, conds, values, timeout_hint, wait_hint, satisfying_value);

	wait_is_over(which != UINT32_MAX);
	return which;
}

uint32_t gt_hsa_amd_ext_wrap_hsa_amd_signal_wait_all(const struct gt_tap *tap,
						     uint32_t signal_count, uint64_t *signals,
						     unsigned int *conds, int64_t *values,
						     uint64_t timeout_hint, unsigned int wait_hint,
						     int64_t *satisfying_values)
{
	uint32_t which = ((gt_hsa_amd_ext_hsa_amd_signal_wait_all_fn *)tap->real)(
		signal_count, signals, conds, values, timeout_hint, wait_hint, satisfying_values);

	wait_is_over(which != UINT32_MAX);
	return which;
}

/* How long to wait after a look. */
static uint64_t next_step(uint64_t step, uint32_t done)
{
	if (done < FEW)
		return 2 * step < STEP_MAX_NS ? 2 * step : STEP_MAX_NS;
	return done > ENOUGH && step / 2 > STEP_NS ? step / 2 : step;
}

/* Until that time has gone by, or gt_hsa_helper_hurry(). */
static void doze(struct helper *h, uint64_t ns)
{
	const struct timespec wait = {0, (long)ns};

	atomic_store_explicit(&h->asleep, 1, memory_order_seq_cst);
	syscall(SYS_futex, &h->asleep, FUTEX_WAIT_PRIVATE, 1, &wait, NULL, 0);
	atomic_store_explicit(&h->asleep, 0, memory_order_relaxed);
}

static void start(struct gt_hsa_agent *a);

/* A tool's function has ended the thread. */
static void thread_left(void *arg)
{
	struct gt_hsa_agent *a = arg;

	if (!atomic_load_explicit(&over, memory_order_seq_cst))
		start(a);
}

static void *run(void *arg)
{
	struct gt_hsa_agent *a = arg;
	struct helper *h = &helpers[a - gt_hsa_agent_at(0)];
	uint64_t step = STEP_NS, worked = 0;

	gt_tool_thread_takes("gputap", thread_left, a);
	for (;;) {
		struct gt_thread *t;
		uint32_t left, done = 0;
		uint64_t now;
		bool deep;

		atomic_store_explicit(&h->at_work, 1, memory_order_seq_cst);
		if (atomic_load_explicit(&waiting, memory_order_seq_cst)) {
			atomic_store_explicit(&h->at_work, 0, memory_order_release);
			nap(STEP_NS);
			continue;
		}
		t = atomic_load_explicit(&over, memory_order_seq_cst) ? NULL : gt_thread_get();
		if (!t)
			break;
		left = look(a, t, &done, false);
		now = gt_hsa_boottime_ns();
		if (now - a->clock_read_ns >= CLOCK_NS && (left || done))
			gt_hsa_agent_clock(a, t);
		atomic_store_explicit(&h->at_work, 0, memory_order_release);
		if (gt_tool_deliver())
			worked = now; /* others harvest, too */
		step = next_step(step, done);
		if (done >= MANY)
			continue; /* there is more by now */
		if (left || done) {
			worked = now;
			atomic_store_explicit(&a->deep, 0, memory_order_relaxed);
			doze(h, step);
			continue;
		}
		deep = now - worked > QUIET_NS;
		if (deep && !atomic_exchange_explicit(&a->deep, 1, memory_order_seq_cst))
			continue; /* one more look: what came just now woke nobody */
		doze(h, deep ? DEEP_NS : step);
	}
	atomic_store_explicit(&h->at_work, 0, memory_order_release);
	atomic_store_explicit(&h->epoch, 0, memory_order_release);
	gt_tool_thread_leaves();
	return NULL;
}

/* Let the helpers leave the runtime, for @ns: on a busy machine they may have no processor for
 * long, but what they wait for may be what this thread holds, inside of the runtime. @why:
 * `over` or `waiting`. A fork's child has none, whatever it inherits. False: one does not leave. */
static bool hold_helpers(_Atomic uint32_t *why, uint64_t ns)
{
	bool held = true, here = atomic_load_explicit(&process, memory_order_relaxed) == getpid();
	uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + ns;

	atomic_store_explicit(why, 1, memory_order_seq_cst);
	for (uint32_t i = 0; i < GT_HSA_AGENTS_MAX; i++) {
		while (here && atomic_load_explicit(&helpers[i].at_work, memory_order_seq_cst) &&
		       gt_clock_ns(CLOCK_MONOTONIC) < until)
			nap(GT_HSA_MS / 2);
		held = held && !atomic_load_explicit(&helpers[i].at_work, memory_order_seq_cst);
	}
	return held;
}

static void look_last(const struct gt_hsa_runtime *only)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_agent *a;
	uint32_t done = 0;

	for (uint32_t i = 0; t && (a = gt_hsa_agent_at(i)); i++)
		if ((!only || a->runtime == only) && a->runtime->tables && a->gpu)
			look(a, t, &done, true);
}

void gt_hsa_helper_fault(uint64_t value, const char *text)
{
	static _Atomic uint32_t told;
	int saved = errno;

	if (!atomic_exchange_explicit(&told, 1, memory_order_relaxed))
		gt_event_write(gt_thread_own(), GT_EVENT_FAULT, GT_DOMAIN_HSA_CORE, value, text);
	if (hold_helpers(&waiting, LEAVE_INSIDE_NS))
		look_last(NULL);
	atomic_store_explicit(&waiting, 0, memory_order_seq_cst);
	errno = saved;
}

/* Tools flush, stop or are finished. The helpers tell them. */
static void look_for_tools(void)
{
	struct gt_hsa_agent *a;

	if (gt_thread.depth)
		return; /* the runtime may hold locks of its own */
	harvest_all();
	for (uint32_t i = 0; gt_tool_has_done() && (a = gt_hsa_agent_at(i)) != NULL; i++)
		gt_hsa_helper_hurry(a);
}

static void at_end(void)
{
	/* exit() from inside a call: the runtime may hold locks of its own */
	bool inside = gt_thread.depth;

	if (hold_helpers(&over, inside ? LEAVE_INSIDE_NS : LEAVE_NS) && !inside) {
		look_last(NULL);
		if (atomic_load_explicit(&process, memory_order_relaxed) == getpid())
			gt_hsa_handlers_pass();
	}
	gt_tool_deliver();
}

/* A runtime that is being shut down answers nothing any more, ROCr 7 not even when it tells its
 * tools so: what has completed is read before, and signals go back. (If it is not the last one
 * who leaves, that was one look more.) */
int gt_hsa_core_wrap_hsa_shut_down(const struct gt_call *call)
{
	if (hold_helpers(&waiting, LEAVE_NS))
		look_last(gt_hsa_runtime_of(call));
	atomic_store_explicit(&waiting, 0, memory_order_seq_cst);
	return ((gt_hsa_core_hsa_shut_down_fn *)call->tap->real)();
}

void gt_hsa_helper_leave(struct gt_hsa_runtime *runtime)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_agent *a;

	hold_helpers(&over, LEAVE_NS);
	look_last(runtime);
	for (uint32_t i = 0; t && (a = gt_hsa_agent_at(i)); i++)
		for (struct gt_hsa_queue *q = a->runtime == runtime ? a->queues : NULL; q;
		     q = q->agent_next)
			if (atomic_load_explicit(&q->state, memory_order_acquire) !=
				    GT_HSA_QUEUE_GONE &&
			    q->epoch == t->epoch)
				end_queue(q, t);
	gt_hsa_copies_end(runtime, t);
	gt_tool_deliver();
	atomic_store_explicit(&over, 0, memory_order_seq_cst);
}

static void start(struct gt_hsa_agent *a)
{
	static _Atomic uint32_t registered;

	atomic_store_explicit(&process, getpid(), memory_order_relaxed);
	if (!atomic_exchange_explicit(&registered, 1, memory_order_relaxed)) {
		atexit(at_end);
		at_quick_exit(at_end);
		gt_tool_work_looks(look_for_tools);
	}
	gt_tool_thread_start(run, a, STACK_BYTES);
}

void gt_hsa_helper_want(struct gt_hsa_agent *a, struct gt_thread *t)
{
	struct helper *h = &helpers[a - gt_hsa_agent_at(0)];
	uint32_t known = atomic_load_explicit(&h->epoch, memory_order_relaxed);
	int saved = errno;

	if (known != t->epoch && !atomic_load_explicit(&over, memory_order_relaxed) &&
	    atomic_compare_exchange_strong_explicit(&h->epoch, &known, t->epoch,
						    memory_order_relaxed, memory_order_relaxed)) {
		atomic_store_explicit(&h->asleep, 0, memory_order_relaxed);
		atomic_store_explicit(&h->at_work, 0, memory_order_relaxed);
		start(a);
	}
	errno = saved;
}

void gt_hsa_helper_hurry(struct gt_hsa_agent *a)
{
	struct helper *h = &helpers[a - gt_hsa_agent_at(0)];
	int saved = errno;

	if (atomic_exchange_explicit(&h->asleep, 0, memory_order_relaxed))
		syscall(SYS_futex, &h->asleep, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}
