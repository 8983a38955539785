/* SPDX-License-Identifier: MIT */
/* Making and ending cursors; cursor_next.c walks. */
#include "capture/cursor.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/fastcpu.h"
#include "util/error.h"

int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out)
{
	struct gt_cursor *k = calloc(1, sizeof *k);

	*out = NULL;
	if (!k)
		return gt_error(-ENOMEM, "cursor of capture %s", c->files[0].path);
	k->capture = c;
	k->fill = GT_FOR_THIS_CPU(gt_cursor_fill);
	gt_decoder_init(&k->decoder);
	*out = k;
	return 0;
}

void gt_cursor_destroy(struct gt_cursor *k)
{
	if (!k)
		return;
	gt_decoder_fini(&k->decoder);
	gt_block_reader_fini(&k->reader);
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

static int next_filled(struct gt_cursor *k, const struct gt_item **out)
{
	int count = k->filled - k->taken;

	if (!count) {
		count = k->filled = k->fill(k);
		k->taken = 0;
		if (count <= 0) {
			k->filled = 0;
			return count;
		}
	}
	*out = &k->item[k->taken];
	k->taken = k->filled;
	return count;
}

static bool is_wanted(const struct gt_capture *c, const struct gt_item *item)
{
	return (item->kind != GT_RECORD_CALL && item->kind != GT_RECORD_DEVICE) ||
	       c->wants(c->wants_data, item);
}

/* One by one: an item's place in the row has fields that are the stream's. */
static int next_wanted(struct gt_cursor *k, const struct gt_item **out)
{
	int status;

	for (;;) {
		if (k->taken == k->filled) {
			status = next_filled(k, out);
			if (status <= 0)
				return status;
			k->taken = 0;
		}
		*out = &k->item[k->taken++];
		if (is_wanted(k->capture, *out))
			return 1;
	}
}

int gt_cursor_next_several(struct gt_cursor *k, const struct gt_item **out)
{
	return k->capture->wants ? next_wanted(k, out) : next_filled(k, out);
}

int gt_cursor_next(struct gt_cursor *k, const struct gt_item **out)
{
	int status;

	if (__builtin_expect(k->capture->wants != NULL, 0))
		return next_wanted(k, out);
	if (__builtin_expect(k->taken == k->filled, 0)) {
		status = next_filled(k, out);
		if (status <= 0)
			return status;
		k->taken = 0;
	}
	*out = &k->item[k->taken++];
	return 1;
}
