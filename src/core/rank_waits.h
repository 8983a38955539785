/* SPDX-License-Identifier: MIT */
/* Notes in a thread's slot for which processes an open collective call or message waits (struct
 * gt_slot_wait), so that the collector can report a call that never returns.
 *
 *   gt_call_begin() -> gt_waits_collective() or gt_waits_message() -> the real call
 *
 * Taps of all other calls do not include any of this code.
 * Never here: locks, allocation, system calls. */
#ifndef GPUTAP_CORE_RANK_WAITS_H
#define GPUTAP_CORE_RANK_WAITS_H

#include <stdint.h>

#include "core/thread.h"

/* Call after gt_call_begin() returned @id. gt_waits_collective() also counts the call.
 * @communicator: handle; @peer: rank of the root, or of the other process, negative: none or any;
 * @bytes: 0: unknown. */
void gt_waits_collective(struct gt_thread *t, uint64_t id, enum gt_domain domain,
			 uint64_t communicator, int64_t peer, uint64_t bytes)
	__attribute__((visibility("hidden")));
void gt_waits_message(struct gt_thread *t, uint64_t id, enum gt_domain domain,
		      uint64_t communicator, int64_t peer, uint64_t bytes)
	__attribute__((visibility("hidden")));
/* The call executes the collective calls and messages of a batch: it waits for the same processes
 * as the last of these calls of this thread. */
void gt_waits_batch(struct gt_thread *t, uint64_t id) __attribute__((visibility("hidden")));
/* The program got @handle for a new communicator, which has no calls yet. */
void gt_waits_created(enum gt_domain domain, uint64_t handle) __attribute__((visibility("hidden")));

#endif
