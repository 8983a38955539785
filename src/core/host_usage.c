/* SPDX-License-Identifier: MIT */
/* The slow half of gap_edges.h: reads what a thread has used of the processor and writes it into
 * the thread's ring, as struct gt_record_host.
 *
 * A reading takes two system calls, clock_gettime() and getrusage(). The first also makes the
 * second current. Neither changes errno, because libc's wrappers are not used. After the program
 * has installed a seccomp filter, which may kill the process for these calls, nothing is read. If
 * the kernel refuses one of them, nothing is read any more.
 *
 * The counts of a thread only increase. They decrease only if a child of vfork() makes calls with
 * the state of its parent's thread.
 *
 * Never here: allocation, locks, changes to errno. */
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/bare.h"
#include "core/gap_edges.h"
#include "core/seccomp.h"
#include "core/stacks.h"

static uint64_t load(const _Atomic uint64_t *threshold)
{
	return atomic_load_explicit(threshold, memory_order_relaxed);
}

static bool read_usage(uint64_t value[8])
{
	struct timespec cpu;
	struct rusage used;

	if (bare_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&cpu, 0) != 0 ||
	    bare_syscall3(SYS_getrusage, RUSAGE_THREAD, (long)&used, 0) != 0)
		return false;
	value[0] = (uint64_t)cpu.tv_sec * UINT64_C(1000000000) + (uint64_t)cpu.tv_nsec;
	value[1] = (uint64_t)used.ru_nvcsw;
	value[2] = (uint64_t)used.ru_nivcsw;
	value[3] = (uint64_t)used.ru_minflt;
	value[4] = (uint64_t)used.ru_majflt;
	value[7] = (uint64_t)used.ru_stime.tv_sec * UINT64_C(1000000000) +
		   (uint64_t)used.ru_stime.tv_usec * 1000;
	return true;
}

static void record_usage(struct gt_thread *t, uint64_t ticks, enum gt_host_edge edge, uint64_t id)
{
	uint64_t value[8] = {0};
	struct gt_record_host *r;
	enum gt_drop_reason why;

	t->last_reading = ticks;
	if (!atomic_load_explicit(&gt_edges.reads, memory_order_relaxed) ||
	    gt_seccomp_is_filtered())
		return;
	if (!read_usage(value)) {
		atomic_store_explicit(&gt_edges.reads, false, memory_order_relaxed);
		return;
	}
	value[5] = edge;
	value[6] = id;
	r = gt_ring_try(t, sizeof *r, &why);
	if (!r)
		return;
	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_HOST, GT_HOST_USAGE, 0};
	r->start = r->end = ticks;
	memcpy(r->value, value, sizeof value);
	gt_ring_commit(t, sizeof *r);
}

/* Return true if the stack of call @id is to be recorded and no other service of the call has
 * recorded it. */
static bool wants_stack(uint32_t op, uint64_t id, uint64_t gap)
{
	return id && gap > load(&gt_edges.stack_ticks) &&
	       !(gt_stacks_services(op) & GT_SERVICE_STACK);
}

/* Return true if the last reading is long ago. */
static bool is_busy(const struct gt_thread *t, uint64_t now)
{
	uint64_t busy_ticks = load(&gt_edges.busy_ticks);

	return busy_ticks && now - t->last_reading > busy_ticks;
}

/* Return true if a call that starts or ends @now can have an edge. A call inside another call does
 * not move look_at, so that the end of the other call looks too. */
static bool begin_look(struct gt_thread *t, uint64_t now, uint64_t *gap_ticks)
{
	if (!gt_edges.is_wanted) {
		t->look_at = UINT64_MAX;
		return false;
	}
	if (t->depth > 1)
		return false;
	*gap_ticks = gt_edges_gap_ticks();
	t->look_at = now + *gap_ticks;
	return true;
}

uint64_t gt_edge_at_start(struct gt_thread *t, uint32_t op, uint64_t id, uint64_t start)
{
	const uint64_t gap = start - t->last_end;
	uint64_t gap_ticks;

	if (!begin_look(t, start, &gap_ticks))
		return start;
	/* the thread's first call ends a gap in any case */
	if (!t->last_end || (gap_ticks && gap > gap_ticks)) {
		record_usage(t, start, GT_HOST_EDGE_GAP, id);
		if (wants_stack(op, id, gap))
			gt_stacks_take(t, op, id);
	} else if (!is_busy(t, start)) {
		return start;
	} else {
		record_usage(t, start, GT_HOST_EDGE_BUSY, id);
	}
	/* again, so that the call does not include the time that this took */
	return gt_ticks();
}

void gt_edge_at_end(struct gt_thread *t, uint64_t id, uint64_t start, uint64_t end)
{
	uint64_t gap_ticks;

	if (!begin_look(t, end, &gap_ticks) || !gap_ticks)
		return;
	if (end - start > gap_ticks)
		record_usage(t, end, GT_HOST_EDGE_CALL, id);
	else if (is_busy(t, end))
		record_usage(t, end, GT_HOST_EDGE_BUSY, id);
}
