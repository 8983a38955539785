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

int gt_cursor_next_several(struct gt_cursor *k, const struct gt_item **out)
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

int gt_cursor_next(struct gt_cursor *k, const struct gt_item **out)
{
	int status;

	if (__builtin_expect(k->taken == k->filled, 0)) {
		status = gt_cursor_next_several(k, out);
		if (status <= 0)
			return status;
		k->taken = 0;
	}
	*out = &k->item[k->taken++];
	return 1;
}
