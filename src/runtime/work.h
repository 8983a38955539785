/* SPDX-License-Identifier: MIT */
/* GPU activities of a runtime that reports their completion, through a callback or an event that is
 * polled.
 *
 *   the wrap, in the submitting thread:
 *     w = gt_work_begin(call, &what)      tools get ENTER; NULL: not wanted
 *     the runtime's function, which gets w on its way to the completion
 *     gt_work_submitted(w)                tools get EXIT
 *     or gt_work_refused(w)               the runtime's function failed: no completion will come
 *   the thread that learns of the completion, any thread, also before gt_work_submitted():
 *     gt_work_completed(w, status, times) the record is written, tools get COMPLETE; w is gone
 *
 * A record goes into the ring of the thread that learns of the completion. Tokens are allocated
 * from a pool that grows by a chunk in gt_work_begin() and is never freed. In the child of a fork,
 * completions of the parent's GPU activities are not reported. */
#ifndef GPUTAP_RUNTIME_WORK_H
#define GPUTAP_RUNTIME_WORK_H

#include "core/tap.h"
#include "record/record.h"

struct gt_work;

/* A submitted GPU activity. Zero means: not known, or there is none. */
struct gt_work_what {
	enum gt_domain domain;
	enum gt_device_op op;
	uint32_t name;                        /* gt_string_id() of a kernel's name */
	uint64_t device, queue;               /* numbers of the objects */
	uint64_t device_handle, queue_handle; /* the same, as the runtime knows them */
	uint64_t bytes, source, destination;  /* copies and sets: bytes, addresses */
	uint32_t grid[3], block[3];           /* kernels: work-items in all, and per group */
	/* kernels of a domain with `symbols`: number of the object, memory per group and per
	 * work-item */
	uint32_t symbol, group_bytes, private_bytes;
	uint32_t graph;           /* number of the launched graph's object */
	uint32_t replay, ordinal; /* which launch of it, from 1; which node, from 0 */
};

/* Raw times of the device's clock; 0: not known. */
struct gt_work_times {
	uint64_t queued, submitted, start, end;
};

/**
 * gt_work_begin() - announce that this thread is about to submit a GPU activity
 * @call: the wrap's call, whose real function has not been called yet
 * Return: a token for the functions below; NULL if it is not wanted, or out of memory, which is
 * counted as lost.
 * Thread: the call's. May map memory.
 */
struct gt_work *gt_work_begin(const struct gt_call *call, const struct gt_work_what *what);

/* Report that the runtime has accepted it. @w may be NULL here and below, and may be gone already.
 * Thread: the call's. */
void gt_work_submitted(struct gt_work *w);

/* Report that the runtime's function failed, so nothing was submitted. Thread: the call's. */
void gt_work_refused(struct gt_work *w);

/**
 * gt_work_completed() - report that it has ended
 * @status: 0; below 0: the runtime's error
 * @times:  raw times, which go into the record
 * @start_ns, @end_ns: the same in CLOCK_BOOTTIME ns, for tools; 0: not known
 * Thread: any, once. Signal: not safe. Tools' functions may be called here, so the attach code must
 * hold no lock.
 */
void gt_work_completed(struct gt_work *w, int32_t status, const struct gt_work_times *times,
		       uint64_t start_ns, uint64_t end_ns);

#endif
