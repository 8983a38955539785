/* SPDX-License-Identifier: MIT */
/* Encodes Chrome JSON in several threads: see parallel.h and chrome_notes.h. A piece is left to the
 * exporter if it refers to a thread or queue that the capture does not list, because the numbers of
 * these depend on the order of records. */
#include <errno.h>
#include <stdlib.h>

#include "export/chrome_notes.h"
#include "util/error.h"

int gt_chrome_begin(struct gt_chrome *x, const struct gt_capture *c,
		    const struct gt_view_options *options)
{
	int status = gt_view_init(&x->view, c, options);

	if (status)
		return status;
	x->options = options;
	x->clock = (struct gt_clock_digits)GT_CLOCK_DIGITS;
	x->known_threads = x->view.thread_count;
	x->memory.capture = c;
	x->device_named = calloc(gt_capture_device_count(c) + 1, sizeof *x->device_named);
	if (!x->device_named) {
		gt_view_fini(&x->view);
		return gt_error(-ENOMEM, "cannot export");
	}
	return 0;
}

void gt_chrome_fini(struct gt_chrome *x)
{
	gt_chrome_activity_fini(x);
	gt_chrome_calls_fini(x);
	free(x->device_named);
	gt_ranges_fini(&x->ranges);
	gt_replays_fini(&x->replays);
	gt_memory_use_fini(&x->memory);
	free(x->kernels);
	gt_view_fini(&x->view);
}

int gt_chrome_write_items(void *exporter, const struct gt_item *item, const struct gt_item *end)
{
	int status = 0;

	while (!status && item < end) {
		status = gt_chrome_write_calls(exporter, &item, end);
		if (!status)
			status = gt_chrome_write_activity(exporter, &item, end);
		while (item < end && item->kind != GT_RECORD_CALL && item->kind != GT_RECORD_DEVICE)
			item++;
	}
	return status;
}

/* Encoders --------------------------------------------------------------------- */

static void *create_encoder(void *exporter)
{
	const struct gt_chrome *main = exporter;
	struct gt_chrome *x = calloc(1, sizeof *x);

	if (!x || gt_chrome_begin(x, main->view.capture, main->options)) {
		free(x);
		return NULL;
	}
	x->cuda_names = main->cuda_names;
	x->shift_ns = main->shift_ns;
	x->base_ns = main->base_ns;
	x->innermost = main->innermost; /* shares the ranges */
	return x;
}

static void destroy_encoder(void *encoder)
{
	gt_chrome_fini(encoder);
	free(encoder);
}

static void begin_part(void *encoder, struct gt_part *part)
{
	struct gt_chrome *x = encoder;

	x->part = part;
	x->out = part->out;
	x->left = x->memory.is_full = false;
	x->noted = NULL;
	x->memory.count = 0;
}

static bool end_part(void *encoder, struct gt_part *part)
{
	struct gt_chrome *x = encoder;

	gt_chrome_note_memory(x);
	part->out = x->out;
	return !x->left && !x->memory.is_full;
}

/* Append parts ------------------------------------------------------------------ */

struct appending {
	struct gt_chrome *x;
	const char *base;
	uint32_t done; /* offset up to which the part was written */
};

static void write_up_to(struct appending *a, uint32_t at)
{
	gt_out_write(&a->x->out, a->base + a->done, at - a->done);
	a->done = at;
}

/* Write a text in place of @bytes of the part. */
static void replace_text(struct appending *a, uint32_t at, uint32_t bytes,
			 const struct gt_snippet *text)
{
	write_up_to(a, at);
	gt_out_write(&a->x->out, text->text, text->bytes);
	a->done += bytes;
}

static int append_thread(struct appending *a, const struct gt_chrome_thread_note *n)
{
	struct gt_view_thread *t = gt_view_thread(&a->x->view, n->process, n->ordinal);

	if (!t)
		return -ENOMEM;
	if (t->own)
		return 0;
	write_up_to(a, n->at);
	return gt_chrome_thread_row(a->x, t) ? 0 : -ENOMEM;
}

static int append_activity(struct appending *a, const struct gt_chrome_activity_note *n)
{
	const struct gt_item activity = {.process = n->process, .queue = n->queue};
	struct gt_view_queue *q = gt_view_queue(&a->x->view, &activity);
	const struct gt_snippet *first, *text;
	int row = 0;

	if (!q)
		return -ENOMEM;
	if (n->timed)
		row = gt_track_rows_place(&q->rows, n->start_ns, n->end_ns);
	if (row < 0)
		return gt_error(row, "export");
	if (__builtin_expect(!row && q->own, 1))
		return 0;
	write_up_to(a, n->place.at);
	text = gt_chrome_find_row(a->x, q, (unsigned)row); /* writes labels */
	first = text ? gt_chrome_find_row(a->x, q, 0) : NULL;
	if (!first)
		return -ENOMEM;
	if (!row)
		return 0;
	replace_text(a, n->place.row_at, first->bytes, text);
	if (n->place.flow_at)
		replace_text(a, n->place.flow_at, first->bytes, text);
	return 0;
}

static int append_replay(struct appending *a, const struct gt_chrome_replay_note *n)
{
	struct gt_view_queue *q = gt_view_queue(&a->x->view, &n->activity);

	return q ? gt_replays_add(&a->x->replays, q, &n->activity, n->correlation) : -ENOMEM;
}

static int append_mark(struct appending *a, const struct gt_chrome_mark_note *n)
{
	const char *rest = (const char *)(n + 1);
	struct gt_item call = n->call;

	if (call.args) {
		call.args = (const uint64_t *)(const void *)rest;
		rest += GT_OP_NARGS(call.op) * sizeof *call.args;
	}
	if (call.payload)
		call.payload = (const uint8_t *)rest;
	write_up_to(a, n->at);
	return gt_chrome_write_items(a->x, &call, &call + 1);
}

static int append_note(struct appending *a, const struct gt_chrome_note *note)
{
	const void *n = note;
	const struct gt_chrome_memory_note *memory = n;

	switch ((enum gt_chrome_note_kind)note->kind) {
	case GT_CHROME_NOTE_THREAD: return append_thread(a, n);
	case GT_CHROME_NOTE_ACTIVITY: return append_activity(a, n);
	case GT_CHROME_NOTE_REPLAY: return append_replay(a, n);
	case GT_CHROME_NOTE_MARK: return append_mark(a, n);
	case GT_CHROME_NOTE_MEMORY:
		gt_memory_use_add(&a->x->memory, (const void *)(memory + 1), memory->count);
		return 0;
	}
	return 0;
}

static int append_part(void *exporter, const struct gt_part *part)
{
	struct appending a = {exporter, part->out.base, 0};
	const char *p = part->notes, *end = p ? p + part->note_bytes : NULL;
	int status = 0;

	while (!status && p < end) {
		const struct gt_chrome_note *note = (const void *)p;

		status = append_note(&a, note);
		p += note->bytes;
	}
	write_up_to(&a, (uint32_t)(part->out.next - part->out.base));
	return status;
}

const struct gt_encoder_type gt_chrome_encoder = {
	.create = create_encoder,
	.destroy = destroy_encoder,
	.begin = begin_part,
	.encode = gt_chrome_write_items,
	.end = end_part,
	.append = append_part,
	.write = gt_chrome_write_items,
};
