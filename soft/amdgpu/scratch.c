/* SPDX-License-Identifier: MIT */
/* Scratch memory for spilled registers. The packet processor requests scratch, and the runtime
 * provides and reclaims it.
 *
 *   a packet needs more per work-item than the queue has
 *     └─► inactive signal := NO_SCRATCH
 *         └─► ROCr allocates memory, writes the queue's structure, stores 0 ─► the packet runs
 *   the structure has USE_SCRATCH_ONCE set
 *     └─► after the packet: inactive signal := SCRATCH_DONE
 *         └─► ROCr reclaims the memory, clears the bit ─► the next packet
 *
 * The interpreter uses separate memory for its waves. The runtime's memory is accounted for as on
 * hardware, but never accessed. */
#include "soft/amdgpu/queue.h"

static int64_t inactive(const struct soft_queue *q)
{
	const amd_signal_t *signal = (const amd_signal_t *)q->aql->queue_inactive_signal.handle;

	return signal ? __atomic_load_n((const int64_t *)&signal->value, __ATOMIC_ACQUIRE) : 0;
}

/* Return true if the runtime has suspended the queue. */
static bool suspended(const struct soft_queue *q)
{
	return __atomic_load_n(&q->suspended, __ATOMIC_ACQUIRE);
}

static bool is_ending(const struct soft_queue *q)
{
	return soft_queue_stopped(q) || suspended(q);
}

static uint32_t properties(const struct soft_queue *q)
{
	return __atomic_load_n(&q->aql->queue_properties, __ATOMIC_ACQUIRE);
}

bool soft_scratch_need(struct soft_queue *q, uint32_t bytes, uint64_t packet)
{
	struct soft_idle idle = {0};
	uint32_t has;

	while (bytes >
	       (has = __atomic_load_n(&q->aql->scratch_wave64_lane_byte_size, __ATOMIC_ACQUIRE))) {
		soft_trace(1,
			   "GPU %u queue %u: packet %llu requests %u bytes of scratch per "
			   "work-item, but %u are available",
			   q->node, q->number, (unsigned long long)packet, bytes, has);
		soft_queue_raise(q, SOFT_QUEUE_NO_SCRATCH);
		while (inactive(q) && !is_ending(q))
			soft_value_wait(&idle);
		if (suspended(q))
			soft_say("GPU %u queue %u stops: packet %llu requests %u bytes of scratch "
				 "per work-item, which the runtime does not provide",
				 q->node, q->number, (unsigned long long)packet, bytes);
		if (is_ending(q))
			return false;
	}
	return true;
}

bool soft_scratch_done(struct soft_queue *q)
{
	struct soft_idle idle = {0};

	if (!(properties(q) & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE))
		return true;
	soft_trace(1, "GPU %u queue %u: its scratch is released", q->node, q->number);
	soft_queue_raise(q, SOFT_QUEUE_SCRATCH_DONE);
	while (properties(q) & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE) {
		if (is_ending(q))
			return false;
		soft_value_wait(&idle);
	}
	return true;
}
