/* SPDX-License-Identifier: MIT */
/* Creates and destroys cursors; cursor_next.c iterates. */
#include "capture/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/fastcpu.h"
#include "record/describe.h"
#include "record/operation.h"
#include "util/error.h"

bool gt_capture_is_relayed(const struct gt_capture *c)
{
	for (uint32_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_counts *counts = gt_capture_counts(c, i);

		for (unsigned d = 0; counts && d < GT_DOMAIN_COUNT; d++)
			if (gt_domain_traits[d].relayed &&
			    (counts->seen[GT_CLASS_CALL][d] | counts->seen[GT_CLASS_DEVICE][d]))
				return true;
	}
	return false;
}

/* Replace a relayed call's operation with the operation that the call names. */
static void name_call(struct gt_item *item)
{
	const struct gt_operation_info *info = gt_operation(item->op);
	uint32_t nargs = GT_OP_NARGS(item->op);
	struct gt_payload head;
	const uint8_t *name;

	for (uint32_t i = 0; info && item->args && i < info->nargs && i < nargs; i++) {
		if (info->args[i].role == GT_ROLE_WITHIN)
			item->within = item->args[i];
		if (info->args[i].role != GT_ROLE_MESSAGE)
			continue;
		name = gt_payload_find(item->payload, item->payload_bytes, i, &head);
		if (name)
			item->op = gt_operation_named(item->op, (const char *)name,
						      strnlen((const char *)name, head.bytes));
	}
}

void gt_item_relay(struct gt_item *item)
{
	item->within = 0;
	if ((item->kind != GT_RECORD_CALL && item->kind != GT_RECORD_DEVICE) ||
	    !gt_domain_traits[GT_OP_DOMAIN(item->op) % GT_DOMAIN_COUNT].relayed)
		return;
	if (item->kind == GT_RECORD_CALL) {
		name_call(item);
	} else {
		item->within = item->object[0];
		item->object[0] = 0;
	}
}

int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out)
{
	struct gt_cursor *k = calloc(1, sizeof *k);

	*out = NULL;
	if (!k)
		return gt_error(-ENOMEM, "cannot read capture %s", c->files[0].path);
	k->capture = c;
	k->stream_end = c->stream_count;
	k->scope = c->scope;
	if (k->scope)
		atomic_fetch_add(&k->scope->users, 1);
	k->relayed = gt_capture_is_relayed(c);
	k->has_shared = gt_shared_texts_are_in(c);
	k->fill = GT_FOR_THIS_CPU(gt_cursor_fill);
	gt_decoder_init(&k->decoder);
	*out = k;
	return 0;
}

void gt_cursor_destroy(struct gt_cursor *k)
{
	if (!k)
		return;
	gt_scope_put(k->scope);
	gt_decoder_fini(&k->decoder);
	gt_block_reader_fini(&k->reader);
	gt_shared_texts_fini(&k->texts);
	free(k->group);
	free(k->order);
	free(k->group_words);
	free(k);
}

uint64_t gt_cursor_position(const struct gt_cursor *k)
{
	const struct gt_capture *c = k->capture;

	return c->health.bytes - c->stream_bytes + k->passed;
}

void gt_capture_filter(struct gt_capture *c, gt_item_filter_fn *wants, void *data)
{
	c->wants = wants;
	c->wants_data = data;
}

/* Return true if the cursor returns only some of the items. */
static bool is_filtered(const struct gt_cursor *k)
{
	return (k->wants || k->capture->wants || (k->capture->is_cut && !k->takes_context)) &&
	       !k->takes_all;
}

static int next_filled(struct gt_cursor *k, const struct gt_item **out)
{
	int count = k->filled - k->taken;

	if (!count) {
		count = k->filled = k->fill(k);
		k->taken = 0;
		if (count <= 0) {
			k->filled = k->unasked = 0;
			return count;
		}
		if (k->has_shared && gt_shared_texts_put(&k->texts, k->capture, k->item, count)) {
			k->filled = k->unasked = 0;
			return -ENOMEM;
		}
		k->unasked = is_filtered(k) ? 0 : count;
		for (int i = 0; k->relayed && i < count; i++)
			gt_item_relay(&k->item[i]);
	}
	*out = &k->item[k->taken];
	k->taken = k->filled;
	return count;
}

static bool is_item_wanted(gt_item_filter_fn *wants, void *data, const struct gt_item *item)
{
	return (item->kind != GT_RECORD_CALL && item->kind != GT_RECORD_DEVICE) ||
	       (!(item->context & GT_CONTEXT_ROW) && (!wants || wants(data, item)));
}

bool gt_capture_wants(const struct gt_capture *c, const struct gt_item *item)
{
	return is_item_wanted(c->wants, c->wants_data, item);
}

bool gt_capture_is_filtered(const struct gt_capture *c)
{
	return c->wants || c->is_cut;
}

void gt_cursor_take_all(struct gt_cursor *k)
{
	k->takes_all = true;
	gt_scope_put(k->scope);
	k->scope = NULL;
}

void gt_cursor_filter(struct gt_cursor *k, gt_item_filter_fn *wants, void *data)
{
	k->wants = wants;
	k->wants_data = data;
}

void gt_cursor_take_context(struct gt_cursor *k)
{
	k->takes_context = true;
}

void gt_cursor_take_host(struct gt_cursor *k)
{
	k->takes_host = true;
}

void gt_cursor_take_marks(struct gt_cursor *k)
{
	k->takes_marks = true;
	gt_cursor_take_all(k);
}

void gt_cursor_take_streams(struct gt_cursor *k, size_t first, size_t count)
{
	const size_t most = k->capture->stream_count;

	k->stream = first < most ? first : most;
	k->stream_end = count < most - k->stream ? k->stream + count : most;
}

void gt_cursor_skip_thread(struct gt_cursor *k)
{
	for (; k->block < k->block_end; k->block++) {
		const struct stream_block *b = &k->capture->blocks[k->block];

		k->passed += (uint64_t)b->head_bytes + b->stored_bytes;
	}
	k->in_block = k->going_out = false;
	k->group_count = k->group_next = k->word_count = k->open_count = 0;
	k->taken = k->filled;
}

uint64_t gt_cursor_bytes_read(const struct gt_cursor *k)
{
	return k->read;
}

/* Return the wanted items one at a time, because each slot of the array has fields that belong to
 * the stream. */
static int next_wanted(struct gt_cursor *k, const struct gt_item **out)
{
	const struct gt_capture *c = k->capture;
	int status;

	for (;;) {
		if (k->taken == k->filled) {
			status = next_filled(k, out);
			if (status <= 0)
				return status;
			k->taken = 0;
		}
		*out = &k->item[k->taken++];
		if (is_item_wanted(k->wants ? k->wants : c->wants,
				   k->wants ? k->wants_data : c->wants_data, *out))
			return 1;
	}
}

int gt_cursor_next_several(struct gt_cursor *k, const struct gt_item **out)
{
	return is_filtered(k) ? next_wanted(k, out) : next_filled(k, out);
}

static __attribute__((noinline)) int next_of_others(struct gt_cursor *k, const struct gt_item **out)
{
	int count;

	if (is_filtered(k))
		return next_wanted(k, out);
	count = next_filled(k, out);
	if (count <= 0)
		return count;
	k->taken -= count - 1;
	return 1;
}

int gt_cursor_next(struct gt_cursor *k, const struct gt_item **out)
{
	if (__builtin_expect(k->taken >= k->unasked, 0))
		return next_of_others(k, out);
	*out = &k->item[k->taken++];
	return 1;
}
