/* SPDX-License-Identifier: MIT */
/* Records GPU activities of a runtime that reports their completion through a callback or through
 * an event that is polled.
 *
 *   the wrap, in the submitting thread:
 *     w = gt_activity_begin(call, &what)   tools get ENTER; NULL: not wanted
 *     the runtime's function               w is passed along to the completion
 *     gt_activity_submitted(w)             tools get EXIT
 *     or gt_activity_refused(w)            the runtime's function failed: no completion will come
 *   the thread that detects the completion, any thread, possibly before gt_activity_submitted():
 *     gt_activity_completed(w, status, times)
 *                                          the record is written, tools get COMPLETE; w is freed
 *
 * The record goes into the ring of the thread that detects the completion. Tokens are allocated
 * from a pool that grows by a chunk in gt_activity_begin() and is never freed. In a forked child,
 * completions of the parent's GPU activities are not reported. */
#ifndef GPUTAP_RUNTIME_ACTIVITY_TOKEN_H
#define GPUTAP_RUNTIME_ACTIVITY_TOKEN_H

#include "core/tap.h"
#include "record/record.h"

struct gt_activity;

/* A submitted GPU activity. Zero means not known or none. */
struct gt_activity_info {
	enum gt_domain domain;
	enum gt_device_op op;
	uint32_t name;                        /* gt_string_id() of a kernel's name */
	uint64_t device, queue;               /* numbers of the objects */
	uint64_t device_handle, queue_handle; /* handles of the same objects in the runtime */
	uint64_t bytes, source, destination;  /* memcpy and memset: bytes, addresses */
	uint32_t grid[3], block[3];           /* kernels: work-items in total, and per group */
	/* kernels of a domain with `symbols`: number of the symbol object, memory per group and per
	 * work-item */
	uint32_t symbol, group_bytes, private_bytes;
	uint32_t graph; /* number of the launched graph's object */
	/* number of the graph's launch, from 1; number of the node, from 0 */
	uint32_t replay, ordinal;
};

/* Raw device clock times; 0: not known. */
struct gt_activity_times {
	uint64_t queued, submitted, start, end;
};

/**
 * gt_activity_begin() - announce that this thread is about to submit a GPU activity
 * @call: call of the wrap, whose real function has not been called yet
 * Return: a token for the functions below. NULL if the activity is not wanted, or if out of memory,
 *         which is counted as lost.
 * Thread: that of the call. May map memory.
 */
struct gt_activity *gt_activity_begin(const struct gt_call *call,
				      const struct gt_activity_info *what);

/* Report that the runtime has accepted the activity. @w: may be NULL, here and in the functions
 * below; may already be freed. Thread: that of the call. */
void gt_activity_submitted(struct gt_activity *w);

/* Report that the runtime's function failed, so no activity was submitted. Thread: that of the
 * call. */
void gt_activity_refused(struct gt_activity *w);

/**
 * gt_activity_completed() - report that an activity has completed
 * @status: 0, or the runtime's error if negative
 * @times:  raw times for the record
 * @start_ns, @end_ns: start and end in CLOCK_BOOTTIME ns, for tools; 0: not known
 * Thread: any, once. Signal: not safe. Tools' functions may be called here, so the caller must hold
 *         no lock.
 */
void gt_activity_completed(struct gt_activity *w, int32_t status,
			   const struct gt_activity_times *times, uint64_t start_ns,
			   uint64_t end_ns);

#endif
