/* SPDX-License-Identifier: MIT */
/* From rings into the capture: see drain.h, and journal.h for what a batch is.
 *
 *   ring: slot.first -> block -> block -> block (still being filled)
 *         `at` bytes of the first are read; `next` is read before `committed`: once a block has a next one,
 *         its committed is final
 *
 * A mark says where a ring begins after the batch: one mark per ring and batch, so that a redo never
 * touches a block that was given back. */
#include "collector/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/guard.h"
#include "util/error.h"

#define BATCH_BYTES (UINT64_C(2) << 20)  /* of rings: what a flush is worth */
#define PARTIAL_BYTES 4096u              /* a block in use is read for this much .. */
#define PARTIAL_NS UINT64_C(1000000000)  /* .. or when it has lain for so long */
#define TURN_BLOCKS 64u                  /* of one ring, then others have their turn */

void gt_drain_init(struct gt_drain *d, struct gt_folder *folder, struct gt_capture_writer *writer)
{
	memset(d, 0, sizeof *d);
	d->folder = folder;
	d->writer = writer;
	d->journal.fd = -1;
}

void gt_drain_fini(struct gt_drain *d)
{
	for (size_t i = 0; i < d->image_count; i++) {
		gt_tracee_close(d->images[i]);
		free(d->images[i]);
	}
	free(d->images);
	free(d->give);
	gt_journal_close(&d->journal);
}

uint64_t gt_counts_sum(const uint64_t counts[GT_CLASS_COUNT][GT_DOMAIN_COUNT])
{
	uint64_t sum = 0;

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++)
			sum += counts[c][k];
	return sum;
}

uint64_t gt_counts_dropped(const struct gt_counts *counts)
{
	uint64_t sum = 0;

	for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
		sum += gt_counts_sum(counts->dropped[why]);
	return sum;
}

/* The batch ------------------------------------------------------------------- */

/* Recovering, nobody waits for us: what the file does not take stays in the rings for another try. */
static bool halted(const struct gt_drain *d)
{
	return d->recovering && d->output_error;
}

static void touch(struct gt_drain *d, struct gt_tracee *image)
{
	if (!image->touched) {
		image->touched = true;
		d->touched[d->touched_count++] = image; /* make_room() saw to it that it fits */
	}
}

/* Before a step of an image that needs one mark and one touch. False: the file takes nothing and the rings are to stay
 * as they are. */
static bool make_room(struct gt_drain *d, const struct gt_tracee *image)
{
	if (d->batch_bytes >= BATCH_BYTES || d->journal.file->head.mark_count == GT_JOURNAL_MARKS ||
	    (!image->touched && d->touched_count == GT_JOURNAL_REDOS))
		gt_drain_commit(d);
	return !halted(d);
}

static void set_mark(struct gt_drain *d, struct gt_tracee *image, uint32_t slot, struct gt_ring *ring)
{
	struct gt_journal_head *h = &d->journal.file->head;
	struct gt_mark *m;

	touch(d, image);
	if (ring->mark == UINT32_MAX) {
		ring->mark = h->mark_count;
		d->mark_image[h->mark_count++] = image;
	}
	m = &d->journal.file->marks[ring->mark];
	*m = (struct gt_mark){
		.account = image->account,
		.slot = slot,
		.ordinal = ring->ordinal,
		.first = ring->done ? GT_BLOCK_NONE : ring->block,
		.drained = ring->at,
		.free_slot = ring->done && !ring->broken,
	};
}

static void give_back_later(struct gt_drain *d, struct gt_tracee *image, uint32_t block)
{
	if (d->recovering)
		return;
	if (d->give_count == d->give_room) {
		size_t room = d->give_room ? 2 * d->give_room : 256;
		void *more = realloc(d->give, room * sizeof *d->give);

		if (!more)
			return; /* the pool loses a block */
		d->give = more;
		d->give_room = room;
	}
	d->give[d->give_count++] = (struct gt_give_back){ image, block };
}

/* Nothing of this region is looked at again. */
static void lose(struct gt_drain *d, struct gt_tracee *image)
{
	image->torn = image->lost = true;
	for (size_t i = 0; i < d->give_count;)
		if (d->give[i].image == image)
			d->give[i] = d->give[--d->give_count];
		else
			i++;
}

/* Carry out one mark in its region. Again and again the same, whoever owns the slot meanwhile. */
static void apply_mark(struct gt_tracee *image, const struct gt_mark *m)
{
	struct gt_slot *slot = gt_tracee_slot(image, m->slot);

	if (slot->ordinal != m->ordinal)
		return;
	if (m->free_slot) {
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == GT_SLOT_CLOSED)
			gt_tracee_free_slot(image, m->slot);
		return;
	}
	if (gt_tracee_has_block(image, m->first))
		atomic_store_explicit(&gt_tracee_block(image, m->first)->drained, m->drained, memory_order_relaxed);
	atomic_store_explicit(&slot->first, m->first, memory_order_release);
}

static void apply_marks(struct gt_drain *d)
{
	const struct gt_journal_file *f = d->journal.file;
	volatile uint32_t i;

	for (i = 0; i < f->head.mark_count; i++) {
		struct gt_tracee *image = d->mark_image[i];

		if (!image || image->lost)
			continue;
		if (!GT_GUARD()) {
			lose(d, d->mark_image[i]);
			continue;
		}
		apply_mark(image, &f->marks[i]);
		gt_guard_end();
	}
}

static void give_back(struct gt_drain *d)
{
	volatile size_t i;

	for (i = 0; i < d->give_count; i++) {
		if (!GT_GUARD()) {
			d->give[i].image->torn = d->give[i].image->lost = true;
			continue;
		}
		if (!d->give[i].image->lost)
			gt_tracee_give_back(d->give[i].image, d->give[i].block);
		gt_guard_end();
	}
	d->give_count = 0;
}

/* Rings that were drained to their end can serve the next thread; marks are used up. */
static void settle_rings(struct gt_drain *d)
{
	for (uint32_t i = 0; i < d->journal.file->head.mark_count; i++) {
		struct gt_tracee *image = d->mark_image[i];
		struct gt_ring *ring = &image->rings[d->journal.file->marks[i].slot];

		ring->mark = UINT32_MAX;
		if (!ring->done)
			continue;
		if (ring->stream)
			gt_capture_stream_destroy(ring->stream);
		*ring = (struct gt_ring){ .mark = UINT32_MAX, .ordinal = ring->ordinal };
	}
}

/* The accounts as they are with this batch, into the redo area. */
static void fill_redos(struct gt_drain *d)
{
	struct gt_journal_file *f = d->journal.file;

	for (uint32_t i = 0; i < d->touched_count; i++) {
		struct gt_tracee *image = d->touched[i];
		struct gt_redo *redo = &f->redos[i];

		redo->number = image->account;
		redo->account = f->accounts[image->account];
		redo->account.state = image->ended ? GT_ACCOUNT_ENDED : GT_ACCOUNT_OPEN;
		redo->account.pid = image->name_pid;
		redo->account.start_ticks = image->name_ticks;
		redo->account.index = image->index;
		redo->account.torn = image->torn;
		gt_counts_add(&redo->account.counts, &image->pending);
		memset(&image->pending, 0, sizeof image->pending);
		image->touched = false;
	}
	f->head.redo_count = d->touched_count;
	d->touched_count = 0;
}

/* What should have been recorded is lost to the disk. */
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

static void announce_process(struct gt_drain *d, struct gt_tracee *image)
{
	struct gt_process_info info;
	struct gt_tracee_text text;

	if (image->lost)
		return;
	if (!GT_GUARD()) {
		lose(d, image);
		return;
	}
	gt_tracee_info(image, &info, &text);
	gt_guard_end();
	gt_capture_write_process(d->writer, &info);
}

static void announce_thread(struct gt_drain *d, struct gt_tracee *image, uint32_t i)
{
	const struct gt_slot *slot = gt_tracee_slot(image, i);
	char name[sizeof slot->name + 1];
	struct gt_thread_info info = { .process = image->index, .ordinal = image->rings[i].ordinal, .name = name };

	if (image->lost)
		return;
	if (!GT_GUARD()) {
		lose(d, image);
		return;
	}
	memcpy(name, slot->name, sizeof slot->name);
	name[sizeof slot->name] = '\0';
	info.tid = slot->tid;
	info.start_ticks = slot->start_ticks;
	info.end_ticks = atomic_load_explicit(&slot->end_ticks, memory_order_relaxed);
	gt_guard_end();
	gt_capture_write_thread(d->writer, &info);
}

void gt_drain_commit(struct gt_drain *d)
{
	struct gt_journal_head *h = &d->journal.file->head;
	int status;

	if (halted(d) || (!d->batch_dirty && !h->mark_count && !d->touched_count))
		return;
	status = gt_capture_flush(d->writer);
	if (status) {
		if (!d->output_error)
			d->output_error = status;
		gt_error_clear(); /* told at the end, once */
		if (halted(d))
			return;
		count_as_lost(d); /* the writer keeps what is not of records for the next flush */
	}
	fill_redos(d);
	gt_journal_redo_begin(&d->journal, gt_capture_writer_bytes(d->writer), d->next_index);
	gt_journal_redo_accounts(&d->journal);
	apply_marks(d);
	settle_rings(d);
	gt_journal_redo_end(&d->journal);
	give_back(d);
	d->batch_bytes = 0;
	d->batch_dirty = false;
}

/* Rings ----------------------------------------------------------------------- */

static void break_ring(struct gt_tracee *image, struct gt_ring *ring)
{
	ring->broken = true;
	image->torn = true;
}

/* Committed bytes of the ring's block, and whether they are final. False: it makes no sense. */
static bool look_at_block(struct gt_tracee *image, uint32_t slot, const struct gt_ring *ring, uint32_t *committed, uint32_t *next)
{
	struct gt_block *b = gt_tracee_block(image, ring->block);

	*next = atomic_load_explicit(&b->next, memory_order_acquire);
	*committed = atomic_load_explicit(&b->committed, memory_order_acquire);
	return b->slot == slot && b->ordinal == ring->ordinal && *committed >= ring->at && *committed % 8 == 0 &&
	       *committed <= image->block_bytes - GT_BLOCK_HEADER_BYTES &&
	       (*next == GT_BLOCK_NONE || (gt_tracee_has_block(image, *next) && *next != ring->block));
}

/* Every page once, while the guard is up: the capture's encoder must not meet a hole. */
static void touch_pages(const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		(void)*(volatile const uint8_t *)(data + i);
	(void)*(volatile const uint8_t *)(data + bytes - 1);
}

/* The file took nothing of a batch: what was in it? */
static void count_lost_records(const uint8_t *data, size_t bytes, struct gt_counts *counts)
{
	size_t at = 0;

	while (at + sizeof(struct gt_record) <= bytes) {
		const volatile struct gt_record *head = (const void *)(data + at);
		uint32_t op = head->op, words = head->words;
		uint32_t domain = GT_OP_DOMAIN(op); /* stands at the same place in GT_DEVICE_REF() */

		if (head->kind == GT_RECORD_CALL && domain < GT_DOMAIN_COUNT)
			counts->dropped[GT_DROP_OUTPUT][GT_CLASS_CALL][domain]++;
		else if (head->kind == GT_RECORD_DEVICE && domain < GT_DOMAIN_COUNT)
			counts->dropped[GT_DROP_OUTPUT][GT_CLASS_DEVICE][domain]++;
		if (!words)
			return;
		at += 8 * (size_t)words;
	}
}

static void read_records(struct gt_drain *d, struct gt_tracee *image, struct gt_ring *ring, uint32_t committed, uint64_t now_ns)
{
	const uint8_t *data = gt_block_data(gt_tracee_block(image, ring->block)) + ring->at;
	size_t bytes = committed - ring->at;
	int status;

	touch(d, image);
	status = gt_capture_write_records(ring->stream, data, bytes, &image->pending);
	if (status == -EBADMSG)
		image->torn = true; /* what follows is skipped up to `committed`: a later record begins there */
	else if (status)
		count_lost_records(data, bytes, &image->pending);
	if (status && status != -EBADMSG && !d->output_error)
		d->output_error = status;
	if (status)
		gt_error_clear();
	ring->at = committed;
	ring->read_ns = now_ns;
	image->active_ns = now_ns;
	d->batch_bytes += bytes;
	d->batch_dirty = true;
}

static bool start_ring(struct gt_drain *d, struct gt_tracee *image, uint32_t i)
{
	struct gt_slot *slot = gt_tracee_slot(image, i);
	struct gt_ring *ring = &image->rings[i];
	uint32_t first, ordinal, drained;

	if (!GT_GUARD()) {
		lose(d, image);
		return false;
	}
	first = atomic_load_explicit(&slot->first, memory_order_acquire);
	ordinal = slot->ordinal;
	drained = gt_tracee_has_block(image, first)
			  ? atomic_load_explicit(&gt_tracee_block(image, first)->drained, memory_order_relaxed)
			  : 0;
	gt_guard_end();
	if (first == GT_BLOCK_NONE)
		return false;
	ring->ordinal = ordinal;
	if (!gt_tracee_has_block(image, first) ||
	    gt_capture_stream_create(d->writer, image->index, ordinal, &ring->stream)) {
		gt_error_clear();
		break_ring(image, ring);
		return false;
	}
	ring->block = first;
	ring->at = drained;
	announce_thread(d, image, i);
	d->batch_dirty = true;
	return true;
}

enum peek { PEEK_GOOD, PEEK_MAD, PEEK_LOST };

/* look_at_block() under the guard, with everything that will be read made present. */
static enum peek peek(struct gt_drain *d, struct gt_tracee *image, uint32_t slot, const struct gt_ring *ring, uint32_t *committed,
		      uint32_t *next)
{
	volatile bool sane;

	if (!GT_GUARD()) {
		lose(d, image);
		return PEEK_LOST;
	}
	sane = look_at_block(image, slot, ring, committed, next);
	if (sane && *committed > ring->at)
		touch_pages(gt_block_data(gt_tracee_block(image, ring->block)) + ring->at, *committed - ring->at);
	gt_guard_end();
	return sane ? PEEK_GOOD : PEEK_MAD;
}

/* One ring, as far as @how wants. */
static uint64_t drain_ring(struct gt_drain *d, struct gt_tracee *image, uint32_t i, enum gt_drain_how how, uint64_t now_ns)
{
	struct gt_ring *ring = &image->rings[i];
	/* a thread that is over has no more blocks than there are; one that runs gets them again as we go */
	uint32_t limit = how == GT_DRAIN_ALL ? image->block_count + 1 : TURN_BLOCKS;
	uint64_t read = 0;

	for (uint32_t walked = 0; walked < limit; walked++) {
		uint32_t committed, next, fresh;
		enum peek found;

		if (!make_room(d, image))
			return read;
		found = peek(d, image, i, ring, &committed, &next);
		if (found == PEEK_MAD)
			break_ring(image, ring);
		if (found != PEEK_GOOD)
			return read;
		fresh = committed - ring->at;
		if (next == GT_BLOCK_NONE && (!fresh || how == GT_DRAIN_FULL ||
					      (how == GT_DRAIN_PARTIAL && fresh < PARTIAL_BYTES &&
					       now_ns - ring->read_ns < PARTIAL_NS)))
			return read;
		if (fresh)
			read_records(d, image, ring, committed, now_ns);
		read += fresh;
		if (next != GT_BLOCK_NONE) {
			give_back_later(d, image, ring->block);
			ring->block = next;
			ring->at = 0;
		}
		set_mark(d, image, i, ring);
		if (next == GT_BLOCK_NONE)
			return read;
	}
	if (how == GT_DRAIN_ALL)
		break_ring(image, ring); /* a circle */
	else
		image->full_seen = UINT64_MAX; /* come back soon */
	return read;
}

/* The thread has ended and its ring is read to the end. */
static void end_ring(struct gt_drain *d, struct gt_tracee *image, uint32_t i)
{
	struct gt_ring *ring = &image->rings[i];

	if (!make_room(d, image))
		return;
	touch(d, image);
	if (!GT_GUARD()) {
		lose(d, image);
		return;
	}
	gt_tracee_add_slot_counts(image, i, &image->pending);
	ring->ordinal = gt_tracee_slot(image, i)->ordinal;
	gt_guard_end();
	if (ring->stream) {
		announce_thread(d, image, i);
		give_back_later(d, image, ring->block);
		d->batch_dirty = true;
	}
	ring->done = true;
	set_mark(d, image, i, ring);
}

/* Is there anything to do for this slot? No more than a few loads: most have nothing. */
static bool wants_work(struct gt_tracee *image, uint32_t i, enum gt_drain_how how)
{
	const struct gt_ring *ring = &image->rings[i];
	struct gt_slot *slot = gt_tracee_slot(image, i);
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
	if (atomic_load_explicit(&gt_tracee_block(image, ring->block)->next, memory_order_relaxed) != GT_BLOCK_NONE)
		return true;
	return how != GT_DRAIN_FULL &&
	       atomic_load_explicit(&gt_tracee_block(image, ring->block)->committed, memory_order_relaxed) != ring->at;
}

/* The next slot from @i on that wants work, and its state; @used when there is none. */
static uint32_t next_slot(struct gt_drain *d, struct gt_tracee *image, uint32_t i, uint32_t used, enum gt_drain_how how,
			  uint32_t *state)
{
	volatile uint32_t k = i;

	*state = GT_SLOT_FREE;
	if (!GT_GUARD()) {
		lose(d, image);
		return used;
	}
	while (k < used && !wants_work(image, k, how))
		k++;
	if (k < used) /* before the ring is read: what a closed thread wrote will be seen */
		*state = atomic_load_explicit(&gt_tracee_slot(image, k)->state, memory_order_acquire);
	gt_guard_end();
	return k;
}

static uint64_t drain_slot(struct gt_drain *d, struct gt_tracee *image, uint32_t i, uint32_t state, enum gt_drain_how how,
			   uint64_t now_ns)
{
	struct gt_ring *ring = &image->rings[i];
	bool closed = state == GT_SLOT_CLOSED;
	uint64_t bytes = 0;

	if (ring->block != GT_BLOCK_NONE || start_ring(d, image, i))
		bytes = drain_ring(d, image, i, closed ? GT_DRAIN_ALL : how, now_ns);
	if (closed && !ring->broken && !image->lost && !halted(d))
		end_ring(d, image, i);
	return bytes;
}

/* Is there anything to look for, and in how many slots? */
static bool look_at_region(struct gt_drain *d, struct gt_tracee *image, enum gt_drain_how how, uint32_t *used)
{
	uint64_t full;

	if (!GT_GUARD()) {
		lose(d, image);
		return false;
	}
	full = atomic_load_explicit(&image->region->full_count, memory_order_acquire);
	*used = gt_tracee_slots_used(image);
	gt_guard_end();
	if (how == GT_DRAIN_FULL && full == image->full_seen)
		return false;
	image->full_seen = full;
	return true;
}

uint64_t gt_drain_image(struct gt_drain *d, struct gt_tracee *image, enum gt_drain_how how, uint64_t now_ns)
{
	uint32_t used, state;
	uint64_t bytes = 0;

	if (!image->region || image->lost || !look_at_region(d, image, how, &used))
		return 0;
	if (gt_tracee_know_rings(image, used)) {
		gt_error_clear();
		used = image->rings_known;
	}
	for (uint32_t i = 0; !image->lost && !halted(d); i++) {
		i = next_slot(d, image, i, used, how, &state);
		if (i >= used)
			break;
		bytes += drain_slot(d, image, i, state, how, now_ns);
	}
	return bytes;
}

/* Images ---------------------------------------------------------------------- */

static struct gt_tracee *find_image(const struct gt_drain *d, uint32_t pid, uint64_t ticks)
{
	for (size_t i = d->image_count; i-- > 0;)
		if (d->images[i]->name_pid == pid && d->images[i]->name_ticks == ticks)
			return d->images[i];
	return NULL;
}

static int push_image(struct gt_drain *d, const struct gt_tracee *image, struct gt_tracee **out)
{
	struct gt_tracee *copy = malloc(sizeof *copy);

	if (copy && d->image_count == d->image_room) {
		size_t room = d->image_room ? 2 * d->image_room : 64;
		void *more = realloc(d->images, room * sizeof *d->images);

		if (!more) {
			free(copy);
			copy = NULL;
		} else {
			d->images = more;
			d->image_room = room;
		}
	}
	if (!copy)
		return gt_error(-EAGAIN, "no memory for another process");
	*copy = *image;
	d->images[d->image_count++] = copy;
	*out = copy;
	return 0;
}

int gt_drain_add(struct gt_drain *d, const char *name, struct gt_tracee **out)
{
	struct gt_tracee fresh;
	uint32_t pid, account;
	uint64_t ticks;
	int status;

	*out = NULL;
	if (!gt_ring_name_parse(name, &pid, &ticks) || find_image(d, pid, ticks))
		return 0;
	account = d->recovering ? gt_journal_find(&d->journal, pid, ticks) : UINT32_MAX;
	if (account != UINT32_MAX && d->journal.file->accounts[account].state == GT_ACCOUNT_ENDED)
		return 0; /* all of it is in the capture; only the file was not removed yet */
	if (!GT_GUARD())
		return gt_error(-EBADMSG, "%s was cut", name);
	status = gt_tracee_open(d->folder, name, &fresh); /* no region when it fails */
	gt_guard_end();
	if (status == -EAGAIN)
		return status;
	if (!status && account == UINT32_MAX) {
		account = gt_journal_take(&d->journal);
		if (account == UINT32_MAX) {
			gt_tracee_close(&fresh);
			return gt_error(-EAGAIN, "too many processes at one time");
		}
		fresh.index = d->next_index++;
	} else if (!status) {
		fresh.index = d->journal.file->accounts[account].index;
		fresh.torn = d->journal.file->accounts[account].torn;
	}
	fresh.account = account;
	if (status)
		d->refused++;
	status = push_image(d, &fresh, out);
	if (status) {
		if (account != UINT32_MAX && d->journal.file->accounts[account].state == GT_ACCOUNT_FREE)
			gt_journal_release(&d->journal, account);
		gt_tracee_close(&fresh);
	}
	if (status || !(*out)->region)
		return status;
	d->processes++;
	if (!make_room(d, *out))
		return 0;
	touch(d, *out);
	announce_process(d, *out);
	d->batch_dirty = true;
	return 0;
}

/* seen = recorded + dropped, always: what is open, or was damaged, makes up the difference. */
static void balance(struct gt_tracee *image, struct gt_counts *counts)
{
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
			uint64_t known = counts->recorded[c][k];

			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				known += counts->dropped[why][c][k];
			if (known > counts->seen[c][k]) { /* the counters themselves were written over */
				image->torn = true;
				counts->seen[c][k] = known;
			}
			counts->dropped[image->torn ? GT_DROP_TORN : GT_DROP_UNFINISHED][c][k] += counts->seen[c][k] - known;
		}
}

static void sum_counts(struct gt_drain *d, struct gt_tracee *image, struct gt_counts *out)
{
	volatile uint32_t i = 0, used = 0;

	*out = d->journal.file->accounts[image->account].counts;
	gt_counts_add(out, &image->pending);
	if (!image->lost) {
		if (GT_GUARD()) {
			used = gt_tracee_slots_used(image);
			for (i = 0; i < used; i++) /* those that are done stand in `pending` */
				if (i >= image->rings_known || !image->rings[i].done)
					gt_tracee_add_slot_counts(image, i, out);
			gt_guard_end();
		} else {
			lose(d, image);
		}
	}
	balance(image, out);
}

void gt_drain_write_counts(struct gt_drain *d, struct gt_tracee *image)
{
	struct gt_counts counts;

	if (!image->region)
		return;
	sum_counts(d, image, &counts);
	gt_capture_write_counts(d->writer, image->index, &counts);
	d->batch_dirty = true;
}

void gt_drain_write_clock(struct gt_drain *d, const struct gt_clock_tuple *tuple)
{
	gt_capture_write_clock(d->writer, tuple);
	d->batch_dirty = true;
}

void gt_drain_stop(struct gt_drain *d)
{
	volatile size_t i;

	for (i = 0; i < d->image_count; i++) {
		if (!d->images[i]->region || d->images[i]->lost)
			continue;
		if (!GT_GUARD()) {
			lose(d, d->images[i]);
			continue;
		}
		atomic_store_explicit(&d->images[i]->region->stop, 1, memory_order_release);
		gt_guard_end();
	}
}

static void forget_image(struct gt_drain *d, struct gt_tracee *image)
{
	char name[64];

	for (size_t i = 0; i < d->image_count; i++)
		if (d->images[i] == image) {
			d->images[i] = d->images[--d->image_count];
			break;
		}
	snprintf(name, sizeof name, "%u-%llu" GT_REGION_SUFFIX, image->name_pid, (unsigned long long)image->name_ticks);
	unlinkat(d->folder->fd, name, 0);
	if (image->account != UINT32_MAX)
		gt_journal_release(&d->journal, image->account);
	gt_tracee_close(image);
	free(image);
}

static void end_threads(struct gt_drain *d, struct gt_tracee *image)
{
	for (uint32_t i = 0; i < image->rings_known && !image->lost; i++)
		if (image->rings[i].stream && !image->rings[i].done)
			announce_thread(d, image, i);
}

static void final_info(struct gt_drain *d, struct gt_tracee *image, struct gt_process_info *info, struct gt_tracee_text *text)
{
	memset(info, 0, sizeof *info);
	info->exe = info->argv = "";
	if (!image->lost) {
		if (GT_GUARD()) {
			gt_tracee_info(image, info, text);
			gt_guard_end();
		} else {
			lose(d, image);
		}
	}
	info->index = image->index;
	info->wait_status = image->wait_status;
	info->ended = image->exited || image->wait_status != -1;
	if (info->ended && !d->recovering) { /* when we noticed; after the collector's death nobody knows */
		struct timespec now;
		clock_gettime(CLOCK_BOOTTIME, &now);
		info->end_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
}

void gt_drain_end_image(struct gt_drain *d, struct gt_tracee *image, uint64_t now_ns)
{
	struct gt_process_info info;
	struct gt_tracee_text text;
	struct gt_counts counts;

	if (!image->region) {
		forget_image(d, image);
		return;
	}
	gt_drain_image(d, image, GT_DRAIN_ALL, now_ns);
	gt_drain_commit(d); /* a failed flush moves what was recorded: sum only after it */
	if (halted(d))
		return;
	end_threads(d, image);
	final_info(d, image, &info, &text);
	sum_counts(d, image, &counts);
	gt_capture_write_process_end(d->writer, &info);
	gt_capture_write_counts(d->writer, info.index, &counts);
	d->batch_dirty = true;
	image->ended = true;
	touch(d, image);
	gt_drain_commit(d);
	if (halted(d)) {
		image->ended = false;
		return;
	}
	d->runtimes |= info.runtimes;
	d->torn += image->torn;
	gt_counts_add(&d->totals, &counts);
	forget_image(d, image);
}

/* The marks of one account, in its region. */
static void redo_marks(struct gt_drain *d, const struct gt_redo *redo)
{
	const struct gt_journal_file *f = d->journal.file;
	struct gt_tracee image;
	char name[64];

	snprintf(name, sizeof name, "%u-%llu" GT_REGION_SUFFIX, redo->account.pid,
		 (unsigned long long)redo->account.start_ticks);
	if (gt_tracee_open(d->folder, name, &image)) {
		gt_error_clear(); /* removed already, or never good */
		return;
	}
	for (uint32_t i = 0; i < f->head.mark_count && i < GT_JOURNAL_MARKS; i++)
		if (f->marks[i].account == redo->number && f->marks[i].slot < image.slot_count)
			apply_mark(&image, &f->marks[i]);
	gt_tracee_close(&image);
}

void gt_drain_redo(struct gt_drain *d)
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
