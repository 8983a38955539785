/* SPDX-License-Identifier: MIT */
/* The program's signals that are used for several copies in flight. Such a copy is submitted with a
 * signal of gputap (hsa_copy.h). When that completes, the program's is decremented here.
 *
 *   signal's address ─hash─► 8 entries in a row: signal, copies in flight, times of the last one
 *
 * Steps:
 *   1. The thread that submits a copy calls gt_hsa_shared_add(): one more is in flight.
 *   2. The thread that finds it completed calls gt_hsa_shared_hand_on(), which keeps its times for
 *      hsa_amd_profiling_get_async_copy_time() and subtracts 1 from the signal (release), as the
 *      device would have.
 *   3. hsa_signal_destroy() first calls here. It waits for threads in step 2: after the subtraction
 *      they may still have to wake threads that wait for the signal.
 *
 * Locking: one lock, held briefly in each of these functions, and not while the runtime is called.
 * It is not taken while no signal is shared. A fork's child does not wait for its parent's
 * threads. */
#ifndef GPUTAP_RUNTIME_HSA_SHARED_H
#define GPUTAP_RUNTIME_HSA_SHARED_H

#include "runtime/hsa/hsa_runtime.h"

/* Do step 1. Return false if the table is full. */
bool gt_hsa_shared_add(struct gt_hsa_runtime *r, uint64_t signal);
/* Cancel a copy that the runtime has refused: it is not in flight. */
void gt_hsa_shared_cancel(uint64_t signal);
/* Do step 2. @times: end 0: they are not known. */
void gt_hsa_shared_hand_on(struct gt_hsa_runtime *r, uint64_t signal,
			   const struct gt_hsa_times *times);
/* Return true if copies in flight will be handed on to this signal. */
bool gt_hsa_shared_is_in_use(uint64_t signal);
/* Forget kept times, because a copy is submitted with the signal itself: the runtime has its
 * times. */
void gt_hsa_shared_leave_times(uint64_t signal);
/* Forget the runtime's signals, because it is going away. */
void gt_hsa_shared_end(const struct gt_hsa_runtime *r);

#endif
