/* SPDX-License-Identifier: MIT */
/* Recording of calls of `cold` domains (api/README.md): matrix libraries, system management, MPI.
 * Their taps are many and their calls few, or long, so the taps share these functions instead of
 * having the same code in line, as taps of other domains do. A recorded call costs some 3 ns more,
 * and its function takes half of the memory.
 *
 *   gt_cold_begin() -> the real call -> gt_cold_end() -> gt_cold_record() */
#ifndef GPUTAP_CORE_COLD_CALL_H
#define GPUTAP_CORE_COLD_CALL_H

#include "core/tap.h"

/* An open call, on the stack of the function that a tap jumped to. */
struct gt_cold_call {
	struct gt_thread *thread; /* NULL: nothing of this call is recorded */
	uint64_t id, start, end;
};

/* Begin a call. @op: GT_OP(). If nothing of the call is recorded, call->thread is NULL. */
#define gt_cold_begin(call, op) gt_cold_begin_at(call, op, GT_HERE(), GT_RETURN())
void gt_cold_begin_at(struct gt_cold_call *call, uint32_t op, uintptr_t here, uint32_t back)
	__attribute__((visibility("hidden")));

/* Take the time after the real call. Return true if gt_cold_record() must write the call with its
 * arguments. Otherwise the call is complete: it is not recorded, or its record has no arguments but
 * the return word @ret. */
bool gt_cold_end(struct gt_cold_call *call, uint32_t op, uint64_t ret)
	__attribute__((visibility("hidden")));

/* Write a call's record. @words: one word per argument; @blobs: payload, as for gt_blobs_put(). */
void gt_cold_record(const struct gt_cold_call *call, uint32_t op, uint64_t ret,
		    const uint64_t *words, const struct gt_blob *blobs, unsigned count)
	__attribute__((visibility("hidden")));

#endif
