/* SPDX-License-Identifier: MIT */
/* Iterates over the records of a capture: one stream after the other, and the blocks of a stream in
 * file order.
 *
 * Items are decoded several at a time, from one block, so that the loop's variables stay in
 * registers and the caller consumes the items in its own loop. An item is stored once and read much
 * later, so no load waits for a store.
 *
 * A call is written when it returns, so calls inside it come before it. A call at depth 0 with
 * nothing pending, by far the most frequent kind, is returned as soon as it is decoded, with its
 * arguments in `words`. Other calls are collected in `group` until their outermost call arrives.
 * Then they get their parents and are returned by id, which increases with the start. If the
 * outermost call never arrives (crash, drop), the group is returned without it.
 *
 * Parents: when a call of depth d arrives, it is compared with the deeper entries of `open`. An
 * entry with a higher id started later than the call, and so inside it. For any other entry, the
 * enclosing call was dropped, and the parent is unknown.
 *
 * External ids: pushes and pops lie between the records of the calls that enclose them. So the tops
 * of the stacks are kept with their times until the outermost call has arrived.
 *
 * The fast path matters, because the target is 30 million calls a second. Items are not cleared. No
 * clock is looked up while the timestamp lies on the same line as the last one. One byte of the
 * shape shows whether a row is of the usual kind. Compiled twice, see fastcpu.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cursor.h"
#include "capture/decode_row.h"
#include "util/error.h"
#include "util/grow.h"

/* Times --------------------------------------------------------------------- */

/* Convert a stamp that lies on another line than the last stamp, or on a line without a fast
 * conversion. */
static __attribute__((noinline)) uint64_t convert_anew(const struct gt_clock_line **line,
						       const struct gt_clock_lines *lines,
						       uint64_t stamp)
{
	if (!gt_clock_line_holds(*line, stamp))
		*line = gt_clock_lines_find(lines, stamp);
	return gt_clock_line_convert(*line, stamp);
}

static inline uint64_t host_ns(struct gt_cursor *k, uint64_t ticks)
{
	if (__builtin_expect(gt_clock_line_is_plain(k->host, ticks), 1))
		return gt_clock_line_convert_plain(k->host, ticks);
	return convert_anew(&k->host, k->host_lines, ticks);
}

/* @line: line of the last stamp of this kind, of @device */
static inline uint64_t device_ns(const struct device_stamps *device,
				 const struct gt_clock_line **line, uint64_t stamp)
{
	if (__builtin_expect(!stamp, 0))
		return 0; /* unknown */
	if (__builtin_expect(gt_clock_line_is_plain(*line, stamp), 1))
		return gt_clock_line_convert_plain(*line, stamp);
	return convert_anew(line, device->lines, stamp);
}

static __attribute__((noinline)) void choose_device(struct gt_cursor *k, uint32_t ref)
{
	static const struct gt_clock_line same = {.to = UINT64_MAX, .cap = UINT64_MAX, .mult = 1};
	static const struct gt_clock_lines identity = {(struct gt_clock_line *)(uintptr_t)&same, 1};
	struct device_stamps *device = &k->devices[GT_DEVICE_REF_NUMBER(ref) % DEVICE_CACHE];
	const struct gt_device_clock *clock;

	k->device = device;
	if (device->lines && device->ref == ref)
		return;
	clock = gt_device_clock_find(k->capture, k->process, GT_DEVICE_REF_NUMBER(ref));
	device->lines = clock ? gt_device_clock_lines(clock) : &identity;
	device->queued = device->running = &device->lines->list[0];
	device->ref = ref;
}

/* External ids -------------------------------------------------------------- */

static uint64_t top_external(const struct gt_cursor *k, unsigned stack)
{
	size_t depth = k->depth[stack];

	return !depth               ? 0
	       : depth <= STACK_MAX ? k->stack[stack][depth - 1]
				    : k->stack[stack][STACK_MAX - 1];
}

/* Clear the log. Call if no open call started before the entries of the log. */
static void close_log(struct gt_cursor *k)
{
	k->base[0] = top_external(k, 0);
	k->base[1] = top_external(k, 1);
	k->log_count = 0;
}

static_assert(GT_EXTERNAL_STACK_COUNT == 2, "the code names each stack");

static void change_stack(struct gt_cursor *k, unsigned stack, bool push, uint64_t value,
			 uint64_t time)
{
	if (push) {
		if (k->depth[stack] < STACK_MAX)
			k->stack[stack][k->depth[stack]] = value;
		k->depth[stack]++;
	} else if (k->depth[stack]) {
		k->depth[stack]--;
	}
	/* a thread that pushes ids without making calls does not need the older half */
	if (k->log_count == LOG_MAX) {
		size_t half = LOG_MAX / 2, i;

		for (i = 0; i < half; i++)
			k->base[k->log[i].stack] = k->log[i].top;
		memmove(k->log, k->log + half, (LOG_MAX - half) * sizeof *k->log);
		k->log_count -= half;
	}
	k->log[k->log_count++] = (struct external){time, top_external(k, stack), stack};
}

static inline void tops_at(const struct gt_cursor *k, uint64_t start, uint64_t *tops)
{
	size_t i;

	tops[0] = k->base[0];
	tops[1] = k->base[1];
	for (i = 0; __builtin_expect(i < k->log_count, 0); i++)
		if (k->log[i].time <= start)
			tops[k->log[i].stack] = k->log[i].top;
}

/* Items --------------------------------------------------------------------- */

static_assert(offsetof(struct gt_item, kind) == offsetof(struct gt_item_head, kind) &&
		      offsetof(struct gt_item, op) == offsetof(struct gt_item_head, op) &&
		      offsetof(struct gt_item, payload_bytes) ==
			      offsetof(struct gt_item_head, payload_bytes) &&
		      offsetof(struct gt_item, depth) == offsetof(struct gt_item_head, detail) &&
		      offsetof(struct gt_item, process) == sizeof(struct gt_item_head),
	      "one copy writes the item's head");

static inline void call_times(struct gt_cursor *k, struct gt_item *item, uint64_t start,
			      uint64_t end)
{
	item->start_ns = host_ns(k, start);
	item->end_ns = host_ns(k, end);
	/* a call ends before its start only in damaged data; readers subtract the times */
	if (__builtin_expect(item->end_ns < item->start_ns, 0))
		item->end_ns = item->start_ns;
}

/* @words: words of the row, which stay unchanged while the item is valid */
static inline void call_words(struct gt_item *item, const struct gt_decode_shape *shape,
			      const uint64_t *words)
{
	uint32_t payload_at = shape->payload_at;

	memcpy(item, &shape->item, sizeof shape->item);
	item->ret = words[0];
	item->args = payload_at ? words + 1 : NULL;
	item->payload = payload_at ? (const uint8_t *)(words + payload_at) : NULL;
}

static inline const struct gt_object_info *find_queue(struct gt_cursor *k, uint64_t number)
{
	const struct gt_object_info **slot = &k->queues[number % QUEUE_CACHE];

	if (!number)
		return NULL;
	if (!*slot || (*slot)->number != number || (*slot)->process != k->process)
		*slot = gt_capture_object_find(k->capture, k->process, GT_OBJECT_QUEUE, number);
	return *slot;
}

/* Size of the part, starting at `bytes`, that is copied unchanged from a device record to an
 * item. */
enum { DEVICE_TAIL = sizeof(struct gt_record_device) - offsetof(struct gt_record_device, bytes) };
#define SAME_PLACE(member)                                                     \
	(offsetof(struct gt_item, member) - offsetof(struct gt_item, bytes) == \
	 offsetof(struct gt_record_device, member) - offsetof(struct gt_record_device, bytes))
static_assert(SAME_PLACE(object) && SAME_PLACE(global) && SAME_PLACE(local) &&
		      offsetof(struct gt_item, replay) + sizeof(uint32_t) ==
			      offsetof(struct gt_item, bytes) + DEVICE_TAIL,
	      "the members are in the same order");

/* Copy word by word, because reading recently written data in larger pieces is slow. */
static inline __attribute__((always_inline)) void device_item(struct gt_cursor *k,
							      struct gt_item *item,
							      const struct gt_row *row)
{
	const uint64_t *word = row->words - 1; /* the record */
	uint32_t ref = row->shape->item.op;
	struct device_stamps *device;
#define WORD(member) word[offsetof(struct gt_record_device, member) / 8]

	if (__builtin_expect(!k->device || k->device->ref != ref, 0))
		choose_device(k, ref);
	device = k->device;
	memcpy(item, &row->shape->item, sizeof row->shape->item);
	item->depth = 0;
	item->id = WORD(id);
	item->parent = item->ret = 0;
	item->external[0] = item->external[1] = 0;
	item->args = NULL;
	item->payload = NULL;
	item->device_op = (enum gt_device_op)row->shape->item.detail;
	item->status = (int32_t)(WORD(name) >> 32);
	item->name = (uint32_t)WORD(name);
	item->queue = find_queue(k, (uint32_t)WORD(queue));
	item->graph = (uint32_t)(WORD(queue) >> 32);
	item->call_start_ns = WORD(call_start) ? host_ns(k, WORD(call_start)) : 0;
	item->queued_ns = device_ns(device, &device->queued, WORD(queued));
	item->submitted_ns = device_ns(device, &device->queued, WORD(submitted));
	item->start_ns = device_ns(device, &device->running, WORD(start));
	item->end_ns = device_ns(device, &device->running, WORD(end));
	/* copied in the sizes in which the words were stored */
	memcpy((char *)item + offsetof(struct gt_item, bytes), &WORD(bytes), 32);
	memcpy((char *)item + offsetof(struct gt_item, bytes) + 32, &WORD(bytes) + 4, 16);
	memcpy((char *)item + offsetof(struct gt_item, bytes) + 48, &WORD(bytes) + 6, 8);
#undef WORD
}
static_assert(DEVICE_TAIL == 56, "three copies cover the tail");

/* Return false if the stack is not one of the known stacks. */
static __attribute__((noinline)) bool external_item(struct gt_cursor *k, struct gt_item *item,
						    const struct gt_row *row)
{
	uint32_t stack = row->shape->item.op;
	bool push = row->shape->item.detail;
	uint64_t value = row->words[1];

	if (stack >= GT_EXTERNAL_STACK_COUNT)
		return false;
	if (!push && !value)
		value = top_external(k, stack);
	change_stack(k, stack, push, row->words[1], row->words[0]);
	memcpy(item, &row->shape->item, sizeof row->shape->item);
	item->push = push;
	item->id = item->parent = 0;
	item->external[0] = top_external(k, 0);
	item->external[1] = top_external(k, 1);
	item->start_ns = item->end_ns = host_ns(k, row->words[0]);
	item->ret = value;
	item->args = NULL;
	item->payload = NULL;
	return true;
}

static __attribute__((noinline)) bool stack_item(struct gt_item *item, const struct gt_row *row)
{
	memcpy(item, &row->shape->item, sizeof row->shape->item);
	item->id = row->words[0];
	item->ret = row->words[1];
	item->start_ns = item->end_ns = 0;
	item->args = NULL;
	item->payload = NULL;
	return true;
}

static __attribute__((noinline)) bool host_item(struct gt_cursor *k, struct gt_item *item,
						const struct gt_row *row)
{
	memcpy(item, &row->shape->item, sizeof row->shape->item);
	item->push = row->shape->item.detail;
	item->id = item->parent = 0;
	item->start_ns = host_ns(k, row->words[0]);
	item->end_ns = host_ns(k, row->words[1]);
	if (item->end_ns < item->start_ns)
		item->end_ns = item->start_ns;
	item->args = row->words + 2;
	item->payload = NULL;
	item->context = k->context;
	return true;
}

/* Groups -------------------------------------------------------------------- */

static int group_room(struct gt_cursor *k, uint32_t count)
{
	struct waiting_item *group =
		gt_grow(k->group, k->group_count, &k->group_room, sizeof *group);
	uint32_t *order = gt_grow(k->order, k->group_count, &k->order_room, sizeof *order);
	uint64_t *words =
		gt_grow(k->group_words, k->word_count + count, &k->word_room, sizeof *words);

	k->group = group ? group : k->group;
	k->order = order ? order : k->order;
	k->group_words = words ? words : k->group_words;
	if (group && order && words)
		return 0;
	return gt_error(-ENOMEM, "cannot store the nested calls of capture %s",
			k->capture->files[0].path);
}

/* Add a call to the group. The call becomes the parent of the calls on `open` that it encloses. */
static __attribute__((noinline)) int group_add(struct gt_cursor *k, const struct gt_row *row)
{
	uint32_t depth = row->shape->item.detail;
	uint32_t count = gt_row_count(row);
	struct waiting_item *n;
	int status = group_room(k, count);

	if (status)
		return status;
	while (k->open_count) {
		n = &k->group[k->order[k->open_count - 1]];
		if (n->item.detail <= depth)
			break;
		if (n->id > row->id)
			n->parent = row->id;
		k->open_count--;
	}
	n = &k->group[k->group_count];
	*n = (struct waiting_item){.start = row->start,
				   .end = row->end,
				   .id = row->id,
				   .words = k->word_count,
				   .item = row->shape->item,
				   .payload_at = row->shape->payload_at,
				   .context = k->context};
	tops_at(k, row->start, n->external);
	memcpy(k->group_words + k->word_count, row->words, count * sizeof *row->words);
	k->word_count += count;
	k->order[k->open_count++] = (uint32_t)k->group_count++;
	return 0;
}

/* Sort the group by id. Children come just before their parent, so the group is nearly sorted, and
 * Shell's sort in place needs no memory. */
static void group_go_out(struct gt_cursor *k)
{
	size_t n = k->group_count, gap, i, j;

	for (i = 0; i < n; i++)
		k->order[i] = (uint32_t)i;
	for (gap = n; gap > 1;) {
		gap = gap * 5 / 11 ? gap * 5 / 11 : 1;
		for (i = gap; i < n; i++) {
			uint32_t moved = k->order[i];
			uint64_t id = k->group[moved].id;

			for (j = i; j >= gap && k->group[k->order[j - gap]].id > id; j -= gap)
				k->order[j] = k->order[j - gap];
			k->order[j] = moved;
		}
	}
	k->group_next = 0;
	k->going_out = true;
	k->open_count = 0;
	close_log(k);
}

/* Output the next items of a complete group. Return the number of items; 0: all items were
 * returned, and the group is empty. */
static __attribute__((noinline)) int group_items(struct gt_cursor *k)
{
	int count;

	for (count = 0; count < ITEMS && k->group_next < k->group_count; count++) {
		const struct waiting_item *n = &k->group[k->order[k->group_next++]];
		const struct gt_decode_shape shape = {.item = n->item, .payload_at = n->payload_at};
		struct gt_item *item = &k->item[count];

		item->id = n->id;
		item->parent = n->parent;
		item->external[0] = n->external[0];
		item->external[1] = n->external[1];
		call_times(k, item, n->start, n->end);
		call_words(item, &shape, k->group_words + n->words);
		item->context = n->context;
	}
	if (count)
		return count;
	k->going_out = false;
	k->group_count = k->group_next = k->word_count = 0;
	return 0;
}

/* Blocks -------------------------------------------------------------------- */

static bool is_block_left_out(const struct gt_cursor *k, const struct stream_block *b)
{
	return (k->takes_marks && !gt_block_has_marks(b)) ||
	       (k->scope && !k->scope->read_all && !gt_scope_has_block(k->capture, k->scope, b));
}

/* Find the next readable block of the stream. Return 1, 0 at the end of the stream, or negative
 * errno. */
static int next_block(struct gt_cursor *k)
{
	const struct gt_capture *c = k->capture;

	k->in_block = false;
	k->context = 0;
	while (k->block < k->block_end) {
		struct stream_block *b = &c->blocks[k->block++];
		struct gt_file_stream base = gt_block_base(b);
		const uint8_t *payload;
		int status;

		k->passed += (uint64_t)b->head_bytes + b->stored_bytes;
		if (is_block_left_out(k, b))
			continue;
		k->read += (uint64_t)b->head_bytes + b->stored_bytes;
		status = gt_block_read(&k->reader, c, b, &payload);
		if (status == -EBADMSG)
			continue;
		if (status)
			return status;
		gt_decoder_begin(&k->decoder, &base, payload, b->raw_bytes);
		k->in_block = true;
		k->status = 1;
		return 1;
	}
	return 0;
}

static bool next_stream(struct gt_cursor *k)
{
	const struct ring_stream *s;

	while (k->stream < k->stream_end &&
	       !gt_scope_has_process(k->scope, k->capture->streams[k->stream].process))
		k->passed += gt_stream_bytes(k->capture, k->stream++);
	if (k->stream >= k->stream_end)
		return false;
	s = &k->capture->streams[k->stream++];
	k->block = k->in_piece ? k->piece_first : s->first;
	k->block_end = k->in_piece ? k->piece_end : s->first + s->count;
	k->process = s->process;
	for (size_t i = 0; i < ITEMS; i++) {
		k->item[i].process = s->process;
		k->item[i].ordinal = s->ordinal;
	}
	k->depth[0] = k->depth[1] = 0;
	k->device = NULL;
	memset(k->devices, 0, sizeof k->devices);
	k->host_lines = gt_host_clock_lines(gt_session_of(k->capture, s->process)->host);
	k->host = gt_clock_lines_find(k->host_lines, 0);
	close_log(k);
	return true;
}

/* Output a call at depth 0 with nothing pending. */
static inline void lone_call(struct gt_cursor *k, struct gt_item *item, const struct gt_row *row)
{
	item->id = row->id;
	item->parent = 0;
	if (__builtin_expect(k->log_count, 0)) {
		tops_at(k, row->start, item->external);
		close_log(k);
	} else {
		memcpy(item->external, k->base, sizeof item->external);
	}
	call_times(k, item, row->start, row->end);
	call_words(item, row->shape, row->words);
}

static inline bool is_call_taken(const struct gt_cursor *k, const struct gt_item *call)
{
	return __builtin_expect(!k->scope, 1) || gt_scope_has_call(k->scope, call);
}

static inline bool is_activity_taken(const struct gt_cursor *k, const struct gt_item *activity)
{
	return __builtin_expect(!k->scope, 1) || gt_scope_has_activity(k->scope, activity);
}

/* Handle a call that contains other calls, or that another call contains. Return 0 or -ENOMEM with
 * a cause. */
static int nested_call(struct gt_cursor *k, const struct gt_row *row)
{
	int status;

	if (k->scope) {
		struct gt_item times = {.op = row->shape->item.op};

		call_times(k, &times, row->start, row->end);
		if (!gt_scope_has_call(k->scope, &times))
			return 0;
	}
	status = group_add(k, row);
	if (!status && (row->shape->item.detail == 0 || k->group_count >= GROUP_NODES ||
			k->word_count >= GROUP_WORDS)) {
		k->has_overflow |= row->shape->item.detail != 0;
		group_go_out(k);
	}
	return status;
}

/* Decode any row, after its first byte. Return 1 for an item, 0 for no item (yet), -EBADMSG or
 * -ENOMEM. */
static __attribute__((noinline)) int any_item(struct gt_cursor *k, struct gt_decode_at *at,
					      const struct gt_decode_shape *shape, uint64_t *words,
					      struct gt_item *item)
{
	struct gt_row row;
	int status = gt_decode_row(&k->decoder, at, shape, words, &row);

	if (status < 0)
		return status;
	switch (shape->item.kind) {
	case GT_RECORD_CALL:
		if (shape->item.detail || k->group_count)
			return nested_call(k, &row);
		lone_call(k, item, &row); /* the row has a tail */
		item->context = k->context;
		return is_call_taken(k, item);
	case GT_RECORD_DEVICE:
		device_item(k, item, &row);
		item->context = k->context;
		return is_activity_taken(k, item);
	case GT_RECORD_CONTEXT: k->context = row.shape->item.detail & 3; return 0;
	case GT_RECORD_EXTERNAL: return external_item(k, item, &row);
	case GT_RECORD_STACK: return k->only_stacks && stack_item(item, &row);
	case GT_RECORD_HOST: return k->takes_host && host_item(k, item, &row);
	default: return 0;
	}
}

/* Decode rows of the block into items, until the array is full or a group is complete. Return the
 * number of items. k->status receives the reason for stopping: 0 at the end of the block, -EBADMSG,
 * -ENOMEM, else 1. @plain: a constant; true if there is no scope, so that rows count until a
 * context record says otherwise. */
static inline __attribute__((always_inline)) int block_items(struct gt_cursor *k, const bool plain)
{
	struct gt_decode_at at = k->decoder.at;
	uint64_t *words = gt_decode_place(k->words), *const words_end = k->words + ITEM_WORDS;
	struct gt_item *item = k->item, *const end = k->item + ITEMS;
	const uint8_t *const bytes_end = k->decoder.end;
	int status = 1;

	while (item < end && words < words_end) {
		const struct gt_decode_shape *shape;
		struct gt_row row;

		if (__builtin_expect(at.p >= bytes_end, 0)) {
			status = 0;
			break;
		}
		shape = gt_decode_next_shape(&k->decoder, &at);
		if (__builtin_expect(!shape, 0)) {
			status = -EBADMSG;
			break;
		}
		row.shape = shape;
		if (__builtin_expect(shape->way == GT_DECODE_LONE_CALL && !k->group_count, 1)) {
			row.words = words;
			at.p = gt_decode_call(&at, shape, words, &row);
			if (__builtin_expect(at.p > bytes_end, 0)) {
				status = -EBADMSG;
				break;
			}
			lone_call(k, item, &row);
			if (!plain)
				item->context = k->context;
			item += plain || is_call_taken(k, item);
			/* keep arguments in the middle of 32 bytes */
			words += 4 + shape->code_bytes * 4u;
		} else if (shape->way == GT_DECODE_DEVICE) {
			row.words = words + 1;
			at.p = gt_decode_device(&at, shape, words + 1);
			if (__builtin_expect(at.p > bytes_end, 0)) {
				status = -EBADMSG;
				break;
			}
			device_item(k, item, &row);
			if (!plain)
				item->context = k->context;
			item += plain || is_activity_taken(k, item);
		} else {
			struct gt_decode_at slow = at;

			status = any_item(k, &slow, shape, words, item);
			at = slow;
			if (status < 0)
				break;
			item += status;
			words += 4 + shape->code_bytes * 4u;
			status = 1;
			/* the tail of the next row would overwrite this one */
			if (shape->tail || k->going_out || (plain && k->context))
				break;
		}
	}
	k->decoder.at = at;
	k->status = status;
	return (int)(item - k->item);
}

/* Not inlined, so that all registers are available to this loop. */
static __attribute__((noinline)) int plain_items(struct gt_cursor *k)
{
	return block_items(k, true);
}

static __attribute__((noinline)) int any_items(struct gt_cursor *k)
{
	return block_items(k, false);
}

/* Skip rows before the piece, up to the end of an outermost call. Sets k->status as block_items()
 * does. */
static void skip_margin(struct gt_cursor *k)
{
	uint64_t *words = gt_decode_place(k->words);

	for (k->status = 1; k->status > 0 && k->margin == GT_MARGIN_BEFORE;) {
		const struct gt_decode_shape *shape;
		struct gt_row row;

		if (k->decoder.at.p >= k->decoder.end) {
			k->status = 0;
			return;
		}
		shape = gt_decode_next_shape(&k->decoder, &k->decoder.at);
		k->status = shape ? gt_decode_row(&k->decoder, &k->decoder.at, shape, words, &row)
				  : -EBADMSG;
		if (k->status <= 0)
			return;
		if (shape->item.kind == GT_RECORD_CONTEXT)
			k->context = shape->item.detail & 3;
		if (shape->item.kind == GT_RECORD_CALL && !shape->item.detail)
			k->margin = GT_MARGIN_NONE;
	}
}

/* Return one item of the rows after the piece, up to the end of an outermost call. Return 0 if
 * there is none, and set k->status as block_items() does. */
static int margin_item(struct gt_cursor *k)
{
	uint64_t *words = gt_decode_place(k->words);
	int status;

	do {
		const struct gt_decode_shape *shape;

		k->status = 0;
		if (k->decoder.at.p >= k->decoder.end)
			return 0;
		shape = gt_decode_next_shape(&k->decoder, &k->decoder.at);
		status = shape ? any_item(k, &k->decoder.at, shape, words, k->item) : -EBADMSG;
		k->status = status < 0 ? status : 1;
		if (status >= 0 && shape->item.kind == GT_RECORD_CALL && !shape->item.detail) {
			k->block = k->block_end;
			k->in_block = false; /* the rest of the block belongs to the next piece */
			return status;
		}
	} while (!status && !k->going_out);
	return status < 0 ? 0 : status;
}

static __attribute__((noinline)) int margin_items(struct gt_cursor *k)
{
	if (k->margin == GT_MARGIN_AFTER)
		return margin_item(k);
	skip_margin(k);
	return 0;
}

/* At the end of a piece, continue with the next one if a call is open. Return 1 if so. */
static int enter_margin(struct gt_cursor *k)
{
	int status = k->group_count > 0;
	const struct ring_stream *s;
	size_t end;

	if (k->margin != GT_MARGIN_NONE || !k->stream)
		return 0;
	s = &k->capture->streams[k->stream - 1];
	end = s->first + s->count;
	if (k->block_end == end)
		return 0;
	if (!status && k->has_overflow)
		status = gt_cursor_is_call_open(k, s->first, k->block_end);
	if (status > 0) {
		k->margin = GT_MARGIN_AFTER;
		k->block_end = end;
	}
	return status;
}

int GT_CURSOR_FILL(struct gt_cursor *k)
{
	for (;;) {
		int status, count;

		if (__builtin_expect(k->going_out, 0)) {
			count = group_items(k);
			if (count)
				return count;
		}
		if (__builtin_expect(k->in_block, 1)) {
			if (k->status <= 0)
				count = 0;
			else if (__builtin_expect(k->margin != GT_MARGIN_NONE, 0))
				count = margin_items(k);
			else if (__builtin_expect(!k->scope && !k->context, 1))
				count = plain_items(k);
			else
				count = any_items(k);
			if (count)
				return count;
			/* a group is complete, or no row was an item */
			if (k->status > 0)
				continue;
			if (k->status == -ENOMEM)
				return gt_error(k->status, "capture %s", k->capture->files[0].path);
			/* a good checksum with bad rows is a defect of the writer, whose other
			 * blocks may be good */
			if (k->status < 0)
				gt_block_bad(k->capture, &k->capture->blocks[k->block - 1]);
			else
				gt_block_check_counts(&k->reader, k->capture,
						      &k->capture->blocks[k->block - 1],
						      &k->decoder);
		}
		status = next_block(k);
		if (status < 0)
			return status;
		if (status)
			continue;
		if (k->in_piece) {
			status = enter_margin(k);
			if (status < 0)
				return status;
			if (status)
				continue;
		}
		if (k->group_count) { /* the stream ends inside a call */
			group_go_out(k);
			continue;
		}
		if (!next_stream(k))
			return 0;
	}
}
