/* SPDX-License-Identifier: MIT */
/* Signals of the program's that stand for several copies in flight. Such a copy is submitted with
 * a signal of ours (hsa_copy.h). When that completes, the program's is decremented here.
 *
 *   signal's address ─hash─► 8 entries in a row: signal, copies in flight, times of the last one
 *
 * Steps:
 *   1. The thread that submits a copy calls gt_hsa_shared_add(): one more is in flight.
 *   2. The thread that finds it completed calls gt_hsa_shared_hand_on(), which keeps its times for
 *      hsa_amd_profiling_get_async_copy_time() and subtracts 1 from the signal (release), as the
 *      device would have.
 *   3. hsa_signal_destroy() comes through here first. It waits for threads in
 *      step 2: after the subtraction they may still have to wake threads that wait for the signal.
 *
 * Locking: one lock, for an instant in each of these functions, and not while the runtime is
 * called. It is not taken while no signal is shared. A fork's child does not wait for threads of
 * its parent's. */
#ifndef GPUTAP_RUNTIME_HSA_SHARED_H
#define GPUTAP_RUNTIME_HSA_SHARED_H

#include "runtime/hsa/hsa_runtime.h"

/* Step 1. False: there is no room for another signal. */
bool gt_hsa_shared_add(struct gt_hsa_runtime *r, uint64_t signal);
/* The copy is not in flight any more: the runtime has refused it. */
void gt_hsa_shared_cancel(uint64_t signal);
/* Step 2. @times: end 0: they are not known. */
void gt_hsa_shared_hand_on(struct gt_hsa_runtime *r, uint64_t signal,
			   const struct gt_hsa_times *times);
/* Are copies in flight that are handed on to this signal? */
bool gt_hsa_shared_is_in_use(uint64_t signal);
/* A copy is submitted with the signal itself: the runtime has its times. */
void gt_hsa_shared_leave_times(uint64_t signal);
/* The runtime goes, and its signals with it. */
void gt_hsa_shared_end(const struct gt_hsa_runtime *r);

#endif
