/* SPDX-License-Identifier: MIT */
/* See batch.h. journal.h explains the contents of the journal and their purpose. */
#include "collector/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/guard.h"
#include "util/error.h"
#include "util/grow.h"

#define BATCH_BYTES (UINT64_C(2) << 20) /* bytes of rings that make a flush worthwhile */

bool gt_batch_halted(const struct gt_drain *d)
{
	return d->recovering && d->output_error;
}

void gt_batch_touch(struct gt_drain *d, struct gt_process *process)
{
	if (!process->touched) {
		process->touched = true;
		/* gt_batch_make_room() ensured that there is room */
		d->touched[d->touched_count++] = process;
	}
}

bool gt_batch_make_room(struct gt_drain *d, const struct gt_process *process)
{
	if (d->batch_bytes >= BATCH_BYTES || d->journal.file->head.mark_count == GT_JOURNAL_MARKS ||
	    (!process->touched && d->touched_count == GT_JOURNAL_REDOS))
		gt_batch_commit(d);
	return !gt_batch_halted(d);
}

void gt_batch_set_mark(struct gt_drain *d, struct gt_process *process, uint32_t slot,
		       struct gt_ring *ring)
{
	struct gt_journal_head *h = &d->journal.file->head;
	struct gt_mark *m;

	gt_batch_touch(d, process);
	if (ring->mark == UINT32_MAX) {
		ring->mark = h->mark_count;
		d->mark_process[h->mark_count++] = process;
	}
	m = &d->journal.file->marks[ring->mark];
	*m = (struct gt_mark){
		.account = process->account,
		.slot = slot,
		.ordinal = ring->ordinal,
		.first = ring->done ? GT_BLOCK_NONE : ring->block,
		.drained = ring->at,
		.free_slot = ring->done && !ring->broken,
	};
}

void gt_batch_give_back_later(struct gt_drain *d, struct gt_process *process, uint32_t block)
{
	struct gt_give_back *more;

	if (d->recovering)
		return;
	more = gt_grow(d->give, d->give_count, &d->give_room, sizeof *more);
	if (!more)
		return; /* the block is lost to the pool */
	d->give = more;
	d->give[d->give_count++] = (struct gt_give_back){process, block};
}

void gt_batch_lose(struct gt_drain *d, struct gt_process *process)
{
	process->torn = true;
	process->lost = true;
	for (size_t i = 0; i < d->give_count;)
		if (d->give[i].process == process)
			d->give[i] = d->give[--d->give_count];
		else
			i++;
}

/* Carry out one mark in its segment. Repeating a mark changes nothing, even if the slot has another
 * owner in the meantime. */
static void apply_mark(struct gt_process *process, const struct gt_mark *m)
{
	struct gt_slot *slot = gt_process_slot(process, m->slot);

	if (slot->ordinal != m->ordinal)
		return;
	if (m->free_slot) {
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_CLOSED)
			gt_process_free_slot(process, m->slot);
		return;
	}
	if (gt_process_has_block(process, m->first))
		atomic_store_explicit(&gt_process_block(process, m->first)->drained, m->drained,
				      memory_order_relaxed);
	atomic_store_explicit(&slot->first, m->first, memory_order_release);
}

static void apply_marks(struct gt_drain *d)
{
	const struct gt_journal_file *f = d->journal.file;
	volatile uint32_t i;

	for (i = 0; i < f->head.mark_count; i++) {
		struct gt_process *process = d->mark_process[i];

		if (!process || process->lost)
			continue;
		if (!GT_GUARD()) {
			gt_batch_lose(d, d->mark_process[i]);
			continue;
		}
		apply_mark(process, &f->marks[i]);
		gt_guard_end();
	}
}

static void give_back(struct gt_drain *d)
{
	volatile size_t i;

	for (i = 0; i < d->give_count; i++) {
		if (!GT_GUARD()) {
			d->give[i].process->torn = true;
			d->give[i].process->lost = true;
			continue;
		}
		if (!d->give[i].process->lost)
			gt_process_give_back(d->give[i].process, d->give[i].block);
		gt_guard_end();
	}
	d->give_count = 0;
}

/* Reset rings that were drained to their end, so that they can serve the next thread. Clear all
 * marks. */
static void settle_rings(struct gt_drain *d)
{
	for (uint32_t i = 0; i < d->journal.file->head.mark_count; i++) {
		struct gt_process *process = d->mark_process[i];
		struct gt_ring *ring = &process->rings[d->journal.file->marks[i].slot];

		ring->mark = UINT32_MAX;
		if (!ring->done)
			continue;
		if (ring->stream)
			gt_capture_stream_destroy(ring->stream);
		*ring = (struct gt_ring){.mark = UINT32_MAX, .ordinal = ring->ordinal};
	}
}

/* Copy the accounts, including the counts of this batch, into the redo area. */
static void fill_redos(struct gt_drain *d)
{
	struct gt_journal_file *f = d->journal.file;

	for (uint32_t i = 0; i < d->touched_count; i++) {
		struct gt_process *process = d->touched[i];
		struct gt_redo *redo = &f->redos[i];

		redo->number = process->account;
		redo->account = f->accounts[process->account];
		redo->account.state = process->ended ? GT_ACCOUNT_ENDED : GT_ACCOUNT_OPEN;
		redo->account.pid = process->name_pid;
		redo->account.start_ticks = process->name_ticks;
		redo->account.index = process->index;
		redo->account.torn = process->torn;
		gt_counts_add(&redo->account.counts, &process->pending);
		memset(&process->pending, 0, sizeof process->pending);
		process->touched = false;
	}
	f->head.redo_count = d->touched_count;
	d->touched_count = 0;
}

/* Count all records of the batch as lost, because the file could not take them. */
static void count_as_lost(struct gt_drain *d)
{
	for (uint32_t i = 0; i < d->touched_count; i++) {
		struct gt_counts *p = &d->touched[i]->pending;

		for (int c = 0; c < GT_CLASS_COUNT; c++)
			for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
				p->dropped[GT_DROP_OUTPUT][c][k] += p->recorded[c][k];
				p->recorded[c][k] = 0;
			}
	}
}

void gt_batch_commit(struct gt_drain *d)
{
	struct gt_journal_head *h = &d->journal.file->head;
	struct gt_keep_position kept;
	int status;

	if (gt_batch_halted(d) || (!d->batch_dirty && !h->mark_count && !d->touched_count))
		return;
	status = gt_capture_flush(d->writer);
	if (status) {
		if (!d->output_error)
			d->output_error = status;
		gt_error_clear(); /* the error is reported once, at the end */
		if (gt_batch_halted(d))
			return;
		/* the writer keeps all data for the next flush, except the records */
		count_as_lost(d);
	}
	fill_redos(d);
	gt_capture_writer_retained(d->writer, &kept);
	gt_journal_redo_begin(&d->journal, gt_capture_writer_bytes(d->writer), &kept,
			      d->next_index);
	gt_journal_redo_accounts(&d->journal);
	apply_marks(d);
	settle_rings(d);
	gt_journal_redo_end(&d->journal);
	give_back(d);
	d->batch_bytes = 0;
	d->batch_dirty = false;
}

/* Carry out the marks of one account in its segment. */
static void redo_marks(struct gt_drain *d, const struct gt_redo *redo)
{
	const struct gt_journal_file *f = d->journal.file;
	struct gt_process process;
	char name[64];

	snprintf(name, sizeof name, "%u-%llu" GT_SEGMENT_SUFFIX, redo->account.pid,
		 (unsigned long long)redo->account.start_ticks);
	memset(&process, 0, sizeof process);
	process.fd = -1;
	process.pidfd = -1;
	if (GT_GUARD()) { /* false if the segment was truncated in the meantime */
		if (gt_process_open(d->folder, name, &process))
			gt_error_clear(); /* the segment was removed already, or was never valid */
		for (uint32_t i = 0; process.segment && i < f->head.mark_count; i++)
			if (f->marks[i].account == redo->number &&
			    f->marks[i].slot < process.slot_count)
				apply_mark(&process, &f->marks[i]);
		gt_guard_end();
	}
	gt_process_close(&process);
}

void gt_batch_redo(struct gt_drain *d)
{
	struct gt_journal_file *f = d->journal.file;

	if (atomic_load_explicit(&f->head.phase, memory_order_acquire) == GT_JOURNAL_REDO) {
		gt_journal_redo_accounts(&d->journal);
		for (uint32_t i = 0; i < f->head.redo_count && i < GT_JOURNAL_REDOS; i++)
			redo_marks(d, &f->redos[i]);
	}
	gt_journal_redo_end(&d->journal);
	d->next_index = f->head.next_index;
}
