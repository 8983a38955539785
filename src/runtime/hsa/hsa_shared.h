/* SPDX-License-Identifier: MIT */
/* Program signals that are used for several copies in flight. Each such copy is submitted with a
 * signal of gputap (hsa_copy.h). When the copy completes, the program's signal is decremented here.
 *
 *   signal's address ─hash─► 8 consecutive entries: signal, copies in flight, latest times
 *
 * Steps:
 *   1. The thread that submits a copy calls gt_hsa_shared_add(), which counts one more copy in
 *      flight.
 *   2. The thread that finds the copy completed calls gt_hsa_shared_hand_on(). This stores the
 *      copy's times for hsa_amd_profiling_get_async_copy_time() and subtracts 1 from the signal
 *      (release), as the device would have done.
 *   3. hsa_signal_destroy() first calls gputap, which waits for threads in step 2, because after
 *      the subtraction these threads may still have to wake threads that wait for the signal.
 *
 * Locking: one lock, held briefly in each of these functions, but not during calls of the runtime.
 * The lock is not taken while no signal is shared. The child of a fork does not wait for threads of
 * its parent. */
#ifndef GPUTAP_RUNTIME_HSA_SHARED_H
#define GPUTAP_RUNTIME_HSA_SHARED_H

#include "runtime/hsa/hsa_runtime.h"

/* Do step 1. Return false if the table is full. */
bool gt_hsa_shared_add(struct gt_hsa_runtime *r, uint64_t signal);
/* Cancel a copy that the runtime refused and that is therefore not in flight. */
void gt_hsa_shared_cancel(uint64_t signal);
/* Do step 2. @times: end 0 if not known */
void gt_hsa_shared_hand_on(struct gt_hsa_runtime *r, uint64_t signal,
			   const struct gt_hsa_times *times);
/* Return true if completed copies will still decrement this signal. */
bool gt_hsa_shared_is_in_use(uint64_t signal);
/* Discard stored times, because a copy is submitted with the signal itself. The runtime provides
 * the times of that copy. */
void gt_hsa_shared_leave_times(uint64_t signal);
/* Discard all signals of a runtime that is about to be unloaded. */
void gt_hsa_shared_end(const struct gt_hsa_runtime *r);

#endif
