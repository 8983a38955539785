/* SPDX-License-Identifier: MIT */
/* See hsa_ring.h. */
#include "runtime/hsa/hsa_ring.h"

static void begin_ring(struct gt_hsa_ring *r)
{
	r->theirs_mask = r->theirs_size - 1;
	r->device_mask = r->device_size - 1;
	r->origin_mask = 2 * r->device_size - 1;
	r->taken = r->gone = atomic_load_explicit(r->theirs_write, memory_order_relaxed);
	atomic_store_explicit(&r->shown, r->gone, memory_order_relaxed);
	r->read_known = atomic_load_explicit(r->read, memory_order_relaxed);
	r->last = r->notified = atomic_load_explicit(r->write, memory_order_relaxed);
}

void gt_hsa_ring_begin(struct gt_hsa_ring *r)
{
	for (uint64_t i = 0; i < r->theirs_size; i++)
		r->theirs[i].kernel.header = GT_HSA_PACKET_INVALID;
	begin_ring(r);
}

void gt_hsa_ring_begin_in_place(struct gt_hsa_ring *r)
{
	begin_ring(r);
}

void gt_hsa_ring_skip(struct gt_hsa_ring *r, uint64_t index)
{
	r->taken = r->last = r->notified = index;
	atomic_store_explicit(r->theirs_read, index, memory_order_release);
	atomic_store_explicit(r->write, index, memory_order_release);
}

void gt_hsa_ring_insert(struct gt_hsa_ring *r, const union gt_hsa_packet *packet)
{
	union gt_hsa_packet *p = gt_hsa_ring_copy(r, packet);

	gt_hsa_ring_publish(r, p, packet, r->taken);
}
