/* SPDX-License-Identifier: MIT */
/* Computes bounds for device clocks that have no better source, from all GPU activities of the
 * processes with such a clock, and from all waits.
 *
 * An activity is queued after the start of its call, and before the end of its call. (The ends of
 * calls are known only for sampled activities.) The activity ended no later than the earliest of
 *   - the end of the call that launched it, if that call is a blocking copy;
 *   - the end of the next call in the same thread that finishes the activity's queue;
 *   - the end of the call whose record follows the activity in its stream: that call found the
 *     activity complete.
 *
 * A first pass reads all calls, for the waits. The number of waits is limited, because fewer waits
 * make the clock less precise, but not wrong. A second pass reads all activities. */
#include <errno.h>
#include <stdlib.h>

#include "capture/reader.h"
#include "record/operation.h"
#include "util/grow.h"

enum { WAITS_MAX = 1 << 18, PENDING_MAX = 4096 };

/* A blocking copy (looked up by its id) or a finish (looked up by thread and queue). */
struct wait {
	uint64_t key; /* copies: id; finishes: handle of the queue */
	uint64_t start, end;
	uint32_t process, ordinal; /* ordinal of the thread for finishes, else 0 */
};

struct wait_list {
	struct wait *list;
	size_t count, room;
};

/* An activity that a call found complete, until the record of that call arrives. */
struct pending {
	struct gt_device_clock *clock;
	uint64_t stamp, by;
};

typedef void bound_fn(struct gt_device_clock *clock, enum gt_clock_side side, uint64_t device,
		      uint64_t host_ticks);

struct bounding {
	struct gt_capture *capture;
	struct block_reader reader;
	struct gt_decoder decoder;
	struct wait_list copies, finishes;
	bound_fn *add_bound;
	size_t pending_count;
	struct pending pending[PENDING_MAX];
};

static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* Return the first wait at or after @key; NULL: none with the same process, thread and key. */
static const struct wait *find_wait(const struct wait_list *l, const struct wait *key)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_waits(&l->list[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == l->count || l->list[low].process != key->process ||
	    l->list[low].ordinal != key->ordinal || l->list[low].key != key->key)
		return NULL;
	return &l->list[low];
}

static void add_wait(struct wait_list *l, struct wait wait)
{
	struct wait *list =
		l->count < WAITS_MAX ? gt_grow(l->list, l->count, &l->room, sizeof *l->list) : NULL;

	if (!list)
		return;
	l->list = list;
	l->list[l->count++] = wait;
}

static void add_call(struct bounding *b, uint32_t process, const struct gt_row *row)
{
	uint32_t op = (uint32_t)(row->head >> 32);
	const struct gt_operation_info *info = gt_operation(op);
	const uint64_t *args =
		GT_OP_NARGS(op) && gt_row_count(row) > GT_OP_NARGS(op) ? row->words + 1 : NULL;
	const struct gt_call_view call = {.op = op, .args = args};
	uint64_t queue;
	int32_t status;

	if (!info || !args || !gt_call_status(op, row->words[0], args, &status) || status)
		return;
	if (info->finished == GT_FINISHED_QUEUE && gt_call_role(&call, GT_ROLE_STREAM, 0, &queue))
		add_wait(&b->finishes, (struct wait){queue, row->start, row->end, process,
						     GT_ID_ORDINAL(row->id)});
	else if (gt_call_blocking(op, args) == GT_BLOCKING_YES)
		add_wait(&b->copies, (struct wait){row->id, 0, row->end, process, 0});
}

static void flush_pending(struct bounding *b, uint64_t by)
{
	for (size_t i = 0; i < b->pending_count; i++) {
		const struct pending *p = &b->pending[i];

		if (p->by != UINT64_MAX || by != UINT64_MAX)
			b->add_bound(p->clock, GT_CLOCK_NOT_LATER, p->stamp,
				     by < p->by ? by : p->by);
	}
	b->pending_count = 0;
}

/* Return the end of the wait for an activity; UINT64_MAX: the program did not wait. */
static uint64_t find_end(const struct bounding *b, uint32_t process, const uint64_t *words)
{
	const struct gt_object_info *queue =
		gt_capture_object_find(b->capture, process, GT_OBJECT_QUEUE, (uint32_t)words[2]);
	struct wait key = {.key = words[0], .process = process};
	const struct wait *copy = find_wait(&b->copies, &key), *finish = NULL;
	uint64_t by = copy ? copy->end : UINT64_MAX;

	if (queue) {
		key = (struct wait){queue->handle, words[1], 0, process, GT_ID_ORDINAL(words[0])};
		finish = find_wait(&b->finishes, &key);
	}
	return finish && finish->end < by ? finish->end : by;
}

static void add_activity(struct bounding *b, uint32_t process, const struct gt_row *row)
{
	struct gt_device_clock *clock =
		gt_device_clock_find(b->capture, process,
				     GT_DEVICE_REF_NUMBER((uint32_t)(row->head >> 32)));
	const uint64_t *w = row->words;
	uint64_t first = w[GT_DEVICE_WORD_QUEUED]      ? w[GT_DEVICE_WORD_QUEUED]
			 : w[GT_DEVICE_WORD_SUBMITTED] ? w[GT_DEVICE_WORD_SUBMITTED]
						       : w[GT_DEVICE_WORD_START];

	if (!clock || !gt_device_clock_wants_bounds(clock))
		return;
	if (first && w[1])
		b->add_bound(clock, GT_CLOCK_NOT_EARLIER, first, w[1]);
	if (!w[GT_DEVICE_WORD_END])
		return;
	if (b->pending_count == PENDING_MAX)
		flush_pending(b, UINT64_MAX);
	b->pending[b->pending_count++] =
		(struct pending){clock, w[GT_DEVICE_WORD_END],
				 w[0] ? find_end(b, process, w) : UINT64_MAX};
}

/* Return 0 (even for a damaged block) or negative errno. */
static int read_block(struct bounding *b, struct stream_block *block, bool activity)
{
	struct gt_file_stream base = gt_block_base(block);
	const uint8_t *payload;
	struct gt_row row;
	int status = gt_block_read(&b->reader, b->capture, block, &payload);

	if (status)
		return status == -EBADMSG ? 0 : status;
	gt_decoder_begin(&b->decoder, &base, payload, block->raw_bytes);
	while ((status = gt_decoder_next(&b->decoder, &row)) > 0) {
		enum gt_record_kind kind = (enum gt_record_kind)(row.head >> 16 & 0xff);

		if (!activity && kind == GT_RECORD_CALL)
			add_call(b, block->process, &row);
		else if (activity && kind == GT_RECORD_CALL && b->pending_count)
			flush_pending(b, row.end);
		else if (activity && kind == GT_RECORD_DEVICE)
			add_activity(b, block->process, &row);
	}
	flush_pending(b, UINT64_MAX);
	return status == -ENOMEM ? status : 0;
}

/* Read all blocks of processes that have a clock without a better source. */
static int read_blocks(struct bounding *b, bool activity)
{
	struct gt_capture *c = b->capture;
	size_t clock = 0;
	int status = 0;

	for (size_t i = 0; i < c->block_count && !status; i++) {
		struct stream_block *block = &c->blocks[i]; /* sorted by process, like the clocks */
		bool wanted = false;

		while (clock < c->clock_count && c->clocks[clock].process < block->process)
			clock++;
		for (size_t k = clock; k < c->clock_count && c->clocks[k].process == block->process;
		     k++)
			wanted |= gt_device_clock_wants_bounds(c->clocks[k].clock);
		if (wanted && (!activity || block->flags & GT_BLOCK_DEVICE))
			status = read_block(b, block, activity);
	}
	return status;
}

static int bound_clocks(struct bounding *b)
{
	struct gt_capture *c = b->capture;
	bool violated = false;
	int status = read_blocks(b, false);

	if (status)
		return status;
	if (b->copies.count) /* qsort() requires a list even for 0 entries */
		qsort(b->copies.list, b->copies.count, sizeof *b->copies.list, compare_waits);
	if (b->finishes.count)
		qsort(b->finishes.list, b->finishes.count, sizeof *b->finishes.list, compare_waits);
	b->add_bound = gt_device_clock_add_bound;
	status = read_blocks(b, true);
	for (size_t i = 0; i < c->clock_count && !status; i++)
		if (gt_device_clock_wants_bounds(c->clocks[i].clock))
			violated |= gt_device_clock_settle_bounds(c->clocks[i].clock);
	b->add_bound = gt_device_clock_check_bound;
	return status || !violated ? status : read_blocks(b, true);
}

int gt_device_clocks_bound(struct gt_capture *c)
{
	struct bounding *b;
	bool wanted = false;
	int status;

	for (size_t i = 0; i < c->clock_count; i++)
		wanted |= gt_device_clock_wants_bounds(c->clocks[i].clock);
	if (!wanted)
		return 0;
	b = calloc(1, sizeof *b);
	if (!b)
		return -ENOMEM;
	b->capture = c;
	gt_decoder_init(&b->decoder);
	status = bound_clocks(b);
	gt_decoder_fini(&b->decoder);
	gt_block_reader_fini(&b->reader);
	free(b->copies.list);
	free(b->finishes.list);
	free(b);
	return status;
}
