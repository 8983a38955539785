/* SPDX-License-Identifier: MIT */
/* Reads one process's rings: see ring_reader.h. batch.h describes the handling of the records.
 *
 *   ring: slot.first -> block -> block -> block (still being filled)
 *         `at` bytes of the first block are read; `next` is read before `committed`: once a block
 *         has a next block, its `committed` is final */
#include "collector/ring_reader.h"

#include <errno.h>
#include <string.h>

#include "collector/announce.h"
#include "collector/batch.h"
#include "collector/guard.h"
#include "collector/no_progress_records.h"
#include "collector/triggers.h"
#include "util/error.h"

/* a block in use is read if it contains at least this many new bytes, .. */
#define PARTIAL_BYTES 4096u
/* .. or if the ring was not read for this long */
#define PARTIAL_NS    UINT64_C(1000000000)
/* number of blocks to read from one ring before other rings get their turn */
#define TURN_BLOCKS   64u

static void break_ring(struct gt_process *process, struct gt_ring *ring)
{
	ring->broken = true;
	process->torn = true;
}

/* Read the committed bytes of the ring's block, and the next block. If there is a next block, the
 * committed bytes are final. Return false if the block is corrupt. */
static bool look_at_block(struct gt_process *process, uint32_t slot, const struct gt_ring *ring,
			  uint32_t *committed, uint32_t *next)
{
	struct gt_block *b = gt_process_block(process, ring->block);

	*next = atomic_load_explicit(&b->next, memory_order_acquire);
	*committed = atomic_load_explicit(&b->committed, memory_order_acquire);
	return b->slot == slot && b->ordinal == ring->ordinal && *committed >= ring->at &&
	       *committed % 8 == 0 && *committed <= process->block_bytes - GT_BLOCK_HEADER_BYTES &&
	       (*next == GT_BLOCK_NONE ||
		(gt_process_has_block(process, *next) && *next != ring->block));
}

/* Touch every page once under the guard, because the capture's encoder runs without the guard and
 * must not touch a missing page. */
static void touch_pages(const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		(void)*(volatile const uint8_t *)(data + i);
	(void)*(volatile const uint8_t *)(data + bytes - 1);
}

/* Count the records of a batch that the file did not accept. */
static void count_lost_records(const uint8_t *data, size_t bytes, struct gt_counts *counts)
{
	size_t at = 0;

	while (at + sizeof(struct gt_record) <= bytes) {
		const volatile struct gt_record *head = (const void *)(data + at);
		uint32_t op = head->op, words = head->words;
		/* GT_DEVICE_REF() has the domain at the same offset */
		uint32_t domain = GT_OP_DOMAIN(op);

		if (head->kind == GT_RECORD_CALL && domain < GT_DOMAIN_COUNT)
			counts->dropped[GT_DROP_OUTPUT][GT_CLASS_CALL][domain]++;
		else if (head->kind == GT_RECORD_DEVICE && domain < GT_DOMAIN_COUNT)
			counts->dropped[GT_DROP_OUTPUT][GT_CLASS_DEVICE][domain]++;
		if (!words)
			return;
		at += 8 * (size_t)words;
	}
}

static uint64_t count_activities(const struct gt_counts *counts)
{
	uint64_t sum = 0;

	for (int k = 0; k < GT_DOMAIN_COUNT; k++)
		sum += counts->recorded[GT_CLASS_DEVICE][k];
	return sum;
}

static void read_records(struct gt_drain *d, struct gt_process *process, struct gt_ring *ring,
			 uint32_t committed, uint64_t now_ns)
{
	const uint8_t *data = gt_block_data(gt_process_block(process, ring->block)) + ring->at;
	size_t bytes = committed - ring->at;
	uint64_t activities;
	int status;

	gt_batch_touch(d, process);
	if (d->triggers)
		gt_triggers_look(d->triggers, process, data, bytes);
	if (d->progress)
		gt_progress_look(d->progress, process, data, bytes);
	activities = count_activities(&process->pending);
	status = gt_capture_write_records(ring->stream, data, bytes, &process->pending);
	if (count_activities(&process->pending) != activities)
		process->activity_ns = now_ns;
	if (gt_capture_stream_is_doubted(ring->stream, d->earliest_ticks, d->latest_ticks))
		/* the block was overwritten in a way that leaves readable records */
		process->torn = true;
	if (status == -EBADMSG)
		/* skip up to `committed`, where a later record starts */
		process->torn = true;
	else if (status)
		count_lost_records(data, bytes, &process->pending);
	if (status && status != -EBADMSG && !d->output_error)
		d->output_error = status;
	if (status)
		gt_error_clear();
	ring->at = committed;
	ring->read_ns = now_ns;
	process->active_ns = now_ns;
	d->batch_bytes += bytes;
	d->batch_dirty = true;
}

static bool start_ring(struct gt_drain *d, struct gt_process *process, uint32_t i)
{
	struct gt_slot *slot = gt_process_slot(process, i);
	struct gt_ring *ring = &process->rings[i];
	uint32_t first, ordinal, drained;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return false;
	}
	first = atomic_load_explicit(&slot->first, memory_order_acquire);
	ordinal = slot->ordinal;
	drained = gt_process_has_block(process, first)
			  ? atomic_load_explicit(&gt_process_block(process, first)->drained,
						 memory_order_relaxed)
			  : 0;
	gt_guard_end();
	if (first == GT_BLOCK_NONE)
		return false;
	ring->ordinal = ordinal;
	if (!gt_process_has_block(process, first) ||
	    gt_capture_stream_create(d->writer, process->index, ordinal, &ring->stream)) {
		gt_error_clear();
		break_ring(process, ring);
		return false;
	}
	ring->block = first;
	ring->at = drained;
	gt_announce_thread(d, process, i);
	d->batch_dirty = true;
	return true;
}

enum peek { PEEK_GOOD, PEEK_MAD, PEEK_LOST };

/* Run look_at_block() under the guard, and fault in all pages that will be read. */
static enum peek peek_block(struct gt_drain *d, struct gt_process *process, uint32_t slot,
			    const struct gt_ring *ring, uint32_t *committed, uint32_t *next)
{
	volatile bool sane;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return PEEK_LOST;
	}
	sane = look_at_block(process, slot, ring, committed, next);
	if (sane && *committed > ring->at)
		touch_pages(gt_block_data(gt_process_block(process, ring->block)) + ring->at,
			    *committed - ring->at);
	gt_guard_end();
	return sane ? PEEK_GOOD : PEEK_MAD;
}

/* Drain one ring, as far as @how requires. */
static uint64_t drain_ring(struct gt_drain *d, struct gt_process *process, uint32_t i,
			   enum gt_drain_how how, uint64_t now_ns)
{
	struct gt_ring *ring = &process->rings[i];
	/* an ended thread has at most as many blocks as exist; a running thread reuses blocks that
	 * are given back during the walk */
	uint32_t limit = how == GT_DRAIN_ALL ? process->block_count + 1 : TURN_BLOCKS;
	uint64_t read = 0;

	for (uint32_t walked = 0; walked < limit; walked++) {
		uint32_t committed, next, fresh;
		enum peek found;

		if (!gt_batch_make_room(d, process))
			return read;
		found = peek_block(d, process, i, ring, &committed, &next);
		if (found == PEEK_MAD)
			break_ring(process, ring);
		if (found != PEEK_GOOD)
			return read;
		fresh = committed - ring->at;
		if (next == GT_BLOCK_NONE && (!fresh || how == GT_DRAIN_FULL ||
					      (how == GT_DRAIN_PARTIAL && fresh < PARTIAL_BYTES &&
					       now_ns - ring->read_ns < PARTIAL_NS)))
			return read;
		if (fresh)
			read_records(d, process, ring, committed, now_ns);
		read += fresh;
		if (next != GT_BLOCK_NONE) {
			gt_batch_give_back_later(d, process, ring->block);
			ring->block = next;
			ring->at = 0;
		}
		gt_batch_set_mark(d, process, i, ring);
		if (next == GT_BLOCK_NONE)
			return read;
	}
	if (how == GT_DRAIN_ALL)
		break_ring(process, ring); /* a cycle */
	else
		process->full_seen = UINT64_MAX; /* return to this process soon */
	return read;
}

/* Finish the ring of an ended thread after reading the ring to its end. */
static void end_ring(struct gt_drain *d, struct gt_process *process, uint32_t i)
{
	struct gt_ring *ring = &process->rings[i];

	if (!gt_batch_make_room(d, process))
		return;
	gt_batch_touch(d, process);
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return;
	}
	gt_process_add_slot_counts(process, i, &process->pending);
	ring->ordinal = gt_process_slot(process, i)->ordinal;
	gt_guard_end();
	if (ring->stream) {
		gt_announce_thread(d, process, i);
		gt_batch_give_back_later(d, process, ring->block);
		d->batch_dirty = true;
	}
	ring->done = true;
	gt_batch_set_mark(d, process, i, ring);
}

/* Return true if the slot needs work. Takes only a few loads, because most slots need no work. */
static bool wants_activity(struct gt_process *process, uint32_t i, enum gt_drain_how how)
{
	const struct gt_ring *ring = &process->rings[i];
	struct gt_slot *slot = gt_process_slot(process, i);
	uint32_t state;

	if (ring->done || ring->broken)
		return false;
	state = atomic_load_explicit(&slot->state, memory_order_acquire);
	if (state == GT_SLOT_FREE)
		return false;
	if (state == GT_SLOT_CLOSED)
		return true;
	if (ring->block == GT_BLOCK_NONE)
		return atomic_load_explicit(&slot->first, memory_order_relaxed) != GT_BLOCK_NONE;
	if (atomic_load_explicit(&gt_process_block(process, ring->block)->next,
				 memory_order_relaxed) != GT_BLOCK_NONE)
		return true;
	return how != GT_DRAIN_FULL &&
	       atomic_load_explicit(&gt_process_block(process, ring->block)->committed,
				    memory_order_relaxed) != ring->at;
}

/* Return the next slot from @i on that needs work, and store its state in *state. Return @used if
 * there is none. */
static uint32_t next_slot(struct gt_drain *d, struct gt_process *process, uint32_t i, uint32_t used,
			  enum gt_drain_how how, uint32_t *state)
{
	volatile uint32_t k = i;
	/* volatile like k, so that the value survives the guard's jump */
	const volatile uint32_t end = used;

	*state = GT_SLOT_FREE;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return end;
	}
	while (k < end && !wants_activity(process, k, how))
		k++;
	/* load the state before reading the ring, so that all records of a closed thread are
	 * seen */
	if (k < end)
		*state = atomic_load_explicit(&gt_process_slot(process, k)->state,
					      memory_order_acquire);
	gt_guard_end();
	return k;
}

static uint64_t drain_slot(struct gt_drain *d, struct gt_process *process, uint32_t i,
			   uint32_t state, enum gt_drain_how how, uint64_t now_ns)
{
	struct gt_ring *ring = &process->rings[i];
	bool closed = state == GT_SLOT_CLOSED;
	uint64_t bytes = 0;

	if (ring->block != GT_BLOCK_NONE || start_ring(d, process, i))
		bytes = drain_ring(d, process, i, closed ? GT_DRAIN_ALL : how, now_ns);
	if (closed && !ring->broken && !process->lost && !gt_batch_halted(d))
		end_ring(d, process, i);
	return bytes;
}

/* Return true if there may be records to read. *used: number of slots to examine. */
static bool look_at_segment(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
			    uint32_t *used)
{
	uint64_t full;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return false;
	}
	full = atomic_load_explicit(&process->segment->full_count, memory_order_acquire);
	*used = gt_process_slots_used(process);
	gt_guard_end();
	if (how == GT_DRAIN_FULL && full == process->full_seen)
		return false;
	process->full_seen = full;
	return true;
}

uint64_t gt_rings_read(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
		       uint64_t now_ns)
{
	uint32_t used, state;
	uint64_t bytes = 0;

	if (!process->segment || process->lost || !look_at_segment(d, process, how, &used))
		return 0;
	if (used > process->slots_used)
		process->slots_used = used;
	if (gt_process_know_rings(process, used)) {
		gt_error_clear();
		used = process->rings_known;
	}
	for (uint32_t i = 0; !process->lost && !gt_batch_halted(d); i++) {
		i = next_slot(d, process, i, used, how, &state);
		if (i >= used)
			break;
		bytes += drain_slot(d, process, i, state, how, now_ns);
	}
	return bytes;
}
