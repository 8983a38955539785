/* SPDX-License-Identifier: MIT */
/* See thread_calls.h. A thread's newest call of a domain is open as long as no record has its id
 * (ring/segment.h). */
#include "collector/thread_calls.h"

#include "collector/batch.h"
#include "collector/guard.h"

enum { WALK_MOST = 256 };

static uint64_t id_of(uint64_t word, uint32_t ordinal)
{
	const uint64_t rest = word - GT_ID(ordinal, 0);

	return GT_ID(ordinal, rest & ((UINT64_C(1) << GT_CALL_NUMBER_SHIFT) - 1));
}

/* Note the ids of the calls among the records of a block from @at to @committed. */
static void note_records(const uint8_t *data, uint32_t at, uint32_t committed,
			 struct gt_thread_calls *calls)
{
	while (at + sizeof(struct gt_record_call) <= committed) {
		const volatile struct gt_record_call *r = (const void *)(data + at);
		const uint32_t words = r->head.words, domain = GT_OP_DOMAIN(r->head.op);

		if (r->head.kind == GT_RECORD_CALL && domain < GT_DOMAIN_COUNT &&
		    r->id > calls->done[domain])
			calls->done[domain] = r->id;
		if (!words)
			return;
		at += 8 * words;
	}
}

/* Walk along the blocks of the ring, from where the last walk ended. The guard is set. */
static void walk_ring(const struct gt_process *process, uint32_t i, const struct gt_ring *ring,
		      struct gt_thread_calls *calls)
{
	if (calls->first != ring->block) {
		calls->first = calls->block = ring->block;
		calls->at = 0;
	}
	if (calls->block == ring->block && calls->at < ring->at)
		calls->at = ring->at;
	for (unsigned walked = 0; walked < WALK_MOST; walked++) {
		struct gt_block *b = gt_process_block(process, calls->block);
		uint32_t next = atomic_load_explicit(&b->next, memory_order_acquire);
		uint32_t committed = atomic_load_explicit(&b->committed, memory_order_acquire);

		if (b->slot != i || b->ordinal != ring->ordinal ||
		    committed > process->block_bytes - GT_BLOCK_HEADER_BYTES) {
			calls->first = GT_BLOCK_NONE;
			return;
		}
		if (calls->at < committed)
			note_records(gt_block_data(b), calls->at, committed, calls);
		calls->at = committed;
		if (next == GT_BLOCK_NONE || !gt_process_has_block(process, next))
			return;
		calls->block = next;
		calls->at = 0;
	}
}

/* Return true if no domain's newest call is missing among the records. */
static bool have_returned(const struct gt_process *process, uint32_t i, const struct gt_ring *ring,
			  struct gt_thread_calls *calls)
{
	bool is_open = false;

	for (unsigned k = 0; k < GT_DOMAIN_COUNT; k++) {
		uint64_t drained = ring->stream ? gt_capture_stream_newest_call(ring->stream,
										(enum gt_domain)k)
						: 0;

		if (drained > calls->done[k])
			calls->done[k] = drained;
		is_open |=
			calls->newest[k] && id_of(calls->newest[k], ring->ordinal) > calls->done[k];
	}
	if (!is_open)
		return true;
	if (ring->block == GT_BLOCK_NONE)
		return false;
	walk_ring(process, i, ring, calls);
	for (unsigned k = 0; k < GT_DOMAIN_COUNT; k++)
		if (calls->newest[k] && id_of(calls->newest[k], ring->ordinal) > calls->done[k])
			return false;
	return true;
}

enum gt_thread_calls_state gt_thread_calls_look(struct gt_drain *d, struct gt_process *process,
						uint32_t i, struct gt_thread_calls *calls)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	const struct gt_ring *ring = &process->rings[i];
	volatile bool any = false, changed = false;
	volatile enum gt_thread_calls_state state;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return GT_CALLS_NONE;
	}
	for (unsigned k = 0; k < GT_DOMAIN_COUNT; k++) {
		uint64_t word =
			atomic_load_explicit(&slot->domains[k].newest, memory_order_relaxed);

		any |= word != 0;
		changed |= word != calls->newest[k];
		calls->newest[k] = word;
	}
	state = !any                                     ? GT_CALLS_NONE
		: changed                                ? GT_CALLS_STARTED
		: have_returned(process, i, ring, calls) ? GT_CALLS_RETURNED
							 : GT_CALLS_OPEN;
	gt_guard_end();
	return state;
}
