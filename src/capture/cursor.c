/* SPDX-License-Identifier: MIT */
/* Making and ending cursors; cursor_next.c walks. */
#include "capture/cursor.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"

int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out)
{
	struct gt_cursor *k = calloc(1, sizeof *k);

	*out = NULL;
	if (!k)
		return gt_error(-ENOMEM, "cursor of capture %s", c->files[0].path);
	k->capture = c;
	k->next = gt_fast_cpu() ? gt_cursor_next_v3 : gt_cursor_next_any;
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

int gt_cursor_next(struct gt_cursor *k, const struct gt_item **out)
{
	return k->next(k, out);
}
