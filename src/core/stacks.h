/* SPDX-License-Identifier: MIT */
/* Call stacks of recorded calls (`gputap run --stacks`), taken in the calling thread.
 *
 *   call ─► gt_stacks_take() ─► unwind (core/unwind.h) ─► hash ─► number in the process's table
 *             STACK: call's id, number                             └─ new: FRAMES, and CODE
 *
 * A stack's content is written once per process; a STACK record links a call to its number. The
 * table is in memory that the kernel wipes in a fork's child: there all stacks are new.
 * Locking: none; an entry of the table is claimed with compare and exchange. If a signal handler
 * interrupts this and makes a call in the same thread, that call has no stack.
 * Never here: allocation (but for a thread's first stack: mmap()), locks, errno changed. */
#ifndef GPUTAP_CORE_STACKS_H
#define GPUTAP_CORE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "ring/session.h"

/* Initialise from the session, before the first call. */
void gt_stacks_init(const struct gt_session *session);

/* Return which of GT_SERVICE_STACK, GT_SERVICE_SLOW the session requests for this operation. */
uint32_t gt_stacks_services(uint32_t op);

/* Record the calling thread's stack as that of the call @id. */
void gt_stacks_take(struct gt_thread *t, uint32_t op, uint64_t id);

/* gt_stacks_take() in two steps, for a call whose record another thread writes later: get the
 * number of the calling thread's stack (0: none), and write it as the stack of the call @id. */
uint32_t gt_stacks_number(struct gt_thread *t);
void gt_stacks_write(struct gt_thread *t, uint32_t op, uint64_t id, uint32_t number);

/* State for gt_stacks_enter() of a call with a tap. Lies on the tap's stack. */
struct gt_stacks_call {
	uint64_t id;       /* id of the call; 0: it is not recorded */
	uint64_t start_ns; /* 0: its duration is not needed */
};

/* Call before the tap's call in this thread. @services: of its operation. */
void gt_stacks_enter(struct gt_stacks_call *call, const struct gt_table *table, uint32_t op,
		     uint32_t services);
/* Call after it has returned. */
void gt_stacks_leave(const struct gt_stacks_call *call, uint32_t op);

/* Return true if a call of this duration counts as slow. */
bool gt_stacks_is_slow(uint64_t ns);

#endif
