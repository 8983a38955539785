/* SPDX-License-Identifier: MIT */
/* Where calls are made from (`gputap run --stacks`): the stack of the thread that calls.
 *
 *   call ─► gt_stacks_take() ─► unwind (core/unwind.h) ─► hash ─► number in the process's table
 *             STACK: call's id, number                             └─ new: FRAMES, and CODE
 *
 * A stack's content is written once a process, a call's record says its number. The table lies in
 * memory that the kernel wipes in a fork's child: there all are new.
 * Locking: none; an entry of the table is claimed by compare and exchange. A signal handler's call
 * that interrupts this in its own thread has no stack.
 * Never here: allocation (but for a thread's first stack: mmap()), locks, errno changed. */
#ifndef GPUTAP_CORE_STACKS_H
#define GPUTAP_CORE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "ring/session.h"

/* Before the first call, from what the session says. */
void gt_stacks_init(const struct gt_session *session);

/* GT_SERVICE_STACK, GT_SERVICE_SLOW: those that the session wants of this operation. */
uint32_t gt_stacks_services(uint32_t op);

/* The calling thread's stack is that of the call @id. */
void gt_stacks_take(struct gt_thread *t, uint32_t op, uint64_t id);

/* The two halves of it, for a call whose record another thread writes later: the number of the
 * calling thread's stack (0: none), and that number as the stack of the call @id. */
uint32_t gt_stacks_number(struct gt_thread *t);
void gt_stacks_write(struct gt_thread *t, uint32_t op, uint64_t id, uint32_t number);

/* Of a call with a tap, in front of it: see gt_stacks_enter(). Lies on the tap's stack. */
struct gt_stacks_call {
	uint64_t id;       /* of the call, if it is recorded; 0: it is not */
	uint64_t start_ns; /* 0: nobody asks whether it takes long */
};

/* The tap's call comes next in this thread. @services: of its operation. */
void gt_stacks_enter(struct gt_stacks_call *call, const struct gt_table *table, uint32_t op,
		     uint32_t services);
/* It has returned. */
void gt_stacks_leave(const struct gt_stacks_call *call, uint32_t op);

/* Does a call that has taken so long count as slow? */
bool gt_stacks_is_slow(uint64_t ns);

#endif
