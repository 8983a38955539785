/* SPDX-License-Identifier: MIT */
/* Call stacks of recorded calls (`gputap run --stacks`), taken in the calling thread.
 *
 *   call ─► gt_stacks_take() ─► unwind (core/unwind.h) ─► hash ─► number in the process's table
 *             STACK: call's id, number                             └─ new: FRAMES, and CODE
 *
 * A stack's content is written once per process; a STACK record links a call to the number of its
 * stack. The table is in memory that the kernel wipes in a fork's child, where all stacks are new.
 * Locking: none; a thread claims an entry of the table with compare and exchange. If a signal
 * handler interrupts this code and makes a call in the same thread, that call has no stack.
 * Never here: allocation (except mmap() for a thread's first stack), locks, changes to errno. */
#ifndef GPUTAP_CORE_STACKS_H
#define GPUTAP_CORE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "ring/session.h"

/* Initialise from the session, before the first call. */
void gt_stacks_init(const struct gt_session *session);

/* Return the services among GT_SERVICE_STACK and GT_SERVICE_SLOW that the session requests for this
 * operation. */
uint32_t gt_stacks_services(uint32_t op);

/* Record the calling thread's stack as the stack of call @id. */
void gt_stacks_take(struct gt_thread *t, uint32_t op, uint64_t id);

/* gt_stacks_take() in two steps, for a call whose record another thread writes later.
 * gt_stacks_number() returns the number of the calling thread's stack (0: none); gt_stacks_write()
 * writes that stack as the stack of call @id. */
uint32_t gt_stacks_number(struct gt_thread *t);
void gt_stacks_write(struct gt_thread *t, uint32_t op, uint64_t id, uint32_t number);

/* State that the tap of a call passes to gt_stacks_enter(). Located on the tap's stack. */
struct gt_stacks_call {
	uint64_t id;       /* id of the call; 0: the call is not recorded */
	uint64_t start_ns; /* 0: the duration is not measured */
};

/* Call before the tap makes the real call, in the same thread. @services: services of the
 * operation. */
void gt_stacks_enter(struct gt_stacks_call *call, const struct gt_table *table, uint32_t op,
		     uint32_t services);
/* Call after the tap's real call has returned. */
void gt_stacks_leave(const struct gt_stacks_call *call, uint32_t op);

/* Return true if a call of this duration counts as slow. */
bool gt_stacks_is_slow(uint64_t ns);

#endif
