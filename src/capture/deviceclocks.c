/* SPDX-License-Identifier: MIT */
/* Determines the clock of every device when a capture is opened. Uses all clock readings, and a
 * bounded sample of GPU activities from blocks spread over the whole file. The call of a sampled
 * activity is in the stream of its thread. The tick ranges of the blocks identify the block that
 * contains it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"

enum {
	SAMPLE_BLOCKS = 1024, /* maximum number for all sessions together */
	SAMPLE_BLOCKS_LOW = 8,
	/* maximum number per session, but at least one block per process, so that each device is
	 * included */
	SAMPLE_BLOCKS_HIGH = 64,
	SAMPLE_BLOCKS_MAX = 512, /* absolute maximum number per session */
	SAMPLE_ACTIVITY = 1024,  /* per block */
};

struct clock_sample {
	uint64_t id, call_start, call_end, stamp;
	uint32_t device;
};

struct sampler {
	struct gt_capture *capture;
	struct block_reader reader;
	struct gt_decoder decoder;
	size_t count;
	struct clock_sample samples[SAMPLE_ACTIVITY];
};

static int compare_samples(const void *a, const void *b)
{
	const struct clock_sample *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int add_clock(struct gt_capture *c, uint32_t process, uint32_t device)
{
	struct device_clock *k;
	int status = GT_LIST_ADD(c, clocks, clock_count, clock_room);

	if (status)
		return status;
	k = &c->clocks[c->clock_count];
	k->process = process;
	k->device = device;
	status = gt_device_clock_create(gt_session_of(c, process)->host, &k->clock);
	if (status)
		return gt_error(status, "cannot read the device clock of capture %s",
				c->files[0].path);
	c->clock_count++;
	return 0;
}

/* Make a clock for every device that has an object or readings. Also make a clock per process, for
 * activities whose device is unknown or whose device object is lost. */
static int make_clocks(struct gt_capture *c)
{
	size_t i, n = 0;
	uint32_t last = UINT32_MAX;
	int status = 0;

	for (i = 0; i < c->object_count && !status; i++)
		if (c->objects[i].type == GT_OBJECT_DEVICE && c->objects[i].number <= UINT32_MAX)
			status =
				add_clock(c, c->objects[i].process, (uint32_t)c->objects[i].number);
	for (i = 0; i < c->reading_count && !status; i++)
		if (!i || c->readings[i].process != c->readings[i - 1].process ||
		    c->readings[i].device != c->readings[i - 1].device)
			status = add_clock(c, c->readings[i].process, c->readings[i].device);
	for (i = 0; i < c->block_count && !status; i++) {
		if (!(c->blocks[i].flags & GT_BLOCK_DEVICE) || c->blocks[i].process == last)
			continue;
		last = c->blocks[i].process;
		status = add_clock(c, last, 0);
	}
	if (status || !c->clock_count)
		return status;
	qsort(c->clocks, c->clock_count, sizeof *c->clocks, gt_compare_device_clocks);
	for (i = 0; i < c->clock_count; i++)
		if (n && !gt_compare_device_clocks(&c->clocks[n - 1], &c->clocks[i]))
			gt_device_clock_destroy(c->clocks[i].clock);
		else
			c->clocks[n++] = c->clocks[i];
	c->clock_count = n;
	return 0;
}

/* Set the rates that devices declare. */
static void set_rates(struct gt_capture *c)
{
	for (size_t i = 0; i < c->object_count; i++) {
		const struct gt_object_info *o = &c->objects[i];
		const char *hz = o->type == GT_OBJECT_DEVICE ? gt_object_value(o, "hz") : NULL;
		struct gt_device_clock *clock =
			hz ? gt_device_clock_find(c, o->process, (uint32_t)o->number) : NULL;

		if (clock)
			gt_device_clock_set_rate(clock, strtoull(hz, NULL, 10));
	}
}

/* Sample the GPU activities of one block. Return 0 (even for a damaged block) or negative errno. */
static int sample_block(struct sampler *s, struct stream_block *b)
{
	struct gt_file_stream base = gt_block_base(b);
	const uint8_t *payload;
	struct gt_row row;
	int status = gt_block_read(&s->reader, s->capture, b, &payload);

	s->count = 0;
	if (status)
		return status == -EBADMSG ? 0 : status;
	gt_decoder_begin(&s->decoder, &base, payload, b->raw_bytes);
	while (s->count < SAMPLE_ACTIVITY && (status = gt_decoder_next(&s->decoder, &row)) > 0) {
		const uint64_t *w = row.words;
		uint64_t stamp;

		if ((row.head >> 16 & 0xff) != GT_RECORD_DEVICE)
			continue;
		stamp = w[GT_DEVICE_WORD_QUEUED]      ? w[GT_DEVICE_WORD_QUEUED]
			: w[GT_DEVICE_WORD_SUBMITTED] ? w[GT_DEVICE_WORD_SUBMITTED]
						      : w[GT_DEVICE_WORD_START];
		s->samples[s->count++] = (struct clock_sample){.id = w[0],
							       .call_start = w[1],
							       .stamp = stamp,
							       .device = GT_DEVICE_REF_NUMBER(
								       (uint32_t)(row.head >> 32))};
	}
	return status == -ENOMEM ? status : 0;
}

/* Return the block of a stream with calls at @ticks; NULL: none. */
static struct stream_block *find_block(struct gt_capture *c, uint32_t process, uint32_t ordinal,
				       uint64_t ticks)
{
	size_t low = 0, high = c->stream_count, i;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ring_stream *s = &c->streams[middle];

		if (s->process < process || (s->process == process && s->ordinal < ordinal))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == c->stream_count || c->streams[low].process != process ||
	    c->streams[low].ordinal != ordinal)
		return NULL;
	for (i = 0; i < c->streams[low].count; i++) {
		struct stream_block *b = &c->blocks[c->streams[low].first + i];

		if (b->first_ticks <= ticks && ticks <= b->last_ticks)
			return b;
	}
	return NULL;
}

/* Find the ends of the sampled calls, in the block that contains the call of the middle sample.
 * The samples of a block come from the same time, so this block contains nearly all ends. */
static int find_ends(struct sampler *s, uint32_t process)
{
	const struct clock_sample *middle = &s->samples[s->count / 2];
	struct stream_block *b =
		find_block(s->capture, process, GT_ID_ORDINAL(middle->id), middle->call_start);
	struct gt_file_stream base;
	const uint8_t *payload;
	struct gt_row row;
	int status;

	if (!b)
		return 0;
	status = gt_block_read(&s->reader, s->capture, b, &payload);
	if (status)
		return status == -EBADMSG ? 0 : status;
	qsort(s->samples, s->count, sizeof *s->samples, compare_samples);
	base = gt_block_base(b);
	gt_decoder_begin(&s->decoder, &base, payload, b->raw_bytes);
	while ((status = gt_decoder_next(&s->decoder, &row)) > 0) {
		size_t low = 0, high = s->count;

		if ((row.head >> 16 & 0xff) != GT_RECORD_CALL || row.id < s->samples[0].id ||
		    row.id > s->samples[s->count - 1].id)
			continue;
		while (low < high) {
			size_t m = low + (high - low) / 2;

			if (s->samples[m].id < row.id)
				low = m + 1;
			else
				high = m;
		}
		for (; low < s->count && s->samples[low].id == row.id; low++)
			s->samples[low].call_end = row.end;
	}
	return status == -ENOMEM ? status : 0;
}

static int sample(struct sampler *s, struct stream_block *b)
{
	size_t i;
	int status = sample_block(s, b);

	if (!status && s->count)
		status = find_ends(s, b->process);
	for (i = 0; i < s->count && !status; i++) {
		struct gt_device_clock *clock =
			gt_device_clock_find(s->capture, b->process, s->samples[i].device);

		if (clock)
			gt_device_clock_add_activity(clock, s->samples[i].call_start,
						     s->samples[i].call_end, s->samples[i].stamp);
	}
	return status;
}

/* Sample every n-th block with GPU activities of a session, and the first such block of each
 * process. @total: number of such blocks. */
static int sample_session(struct sampler *s, size_t first, size_t end, size_t total)
{
	struct gt_capture *c = s->capture;
	size_t taken = 0, seen = 0, i, wanted = SAMPLE_BLOCKS / c->session_count;
	size_t step = total / (wanted < SAMPLE_BLOCKS_LOW    ? SAMPLE_BLOCKS_LOW
			       : wanted > SAMPLE_BLOCKS_HIGH ? SAMPLE_BLOCKS_HIGH
							     : wanted) +
		      1;
	uint32_t last_process = UINT32_MAX;
	int status = 0;

	for (i = first; i < end && !status && taken < SAMPLE_BLOCKS_MAX; i++) {
		struct stream_block *b = &c->blocks[i];

		if (!(b->flags & GT_BLOCK_DEVICE))
			continue;
		if (seen++ % step && b->process == last_process)
			continue;
		last_process = b->process;
		taken++;
		status = sample(s, b);
	}
	return status;
}

static int sample_blocks(struct gt_capture *c)
{
	struct sampler *s = calloc(1, sizeof *s);
	size_t first, end;
	int status = 0;

	if (!s)
		return gt_error(-ENOMEM, "cannot read capture %s", c->files[0].path);
	s->capture = c;
	gt_decoder_init(&s->decoder);
	for (first = 0; first < c->block_count && !status; first = end) {
		const struct session *session = gt_session_of(c, c->blocks[first].process);
		size_t total = 0;

		for (end = first;
		     end < c->block_count && gt_session_of(c, c->blocks[end].process) == session;
		     end++)
			total += (c->blocks[end].flags & GT_BLOCK_DEVICE) != 0;
		if (total)
			status = sample_session(s, first, end, total);
	}
	gt_decoder_fini(&s->decoder);
	gt_block_reader_fini(&s->reader);
	free(s);
	return status;
}

int gt_device_clocks_finish(struct gt_capture *c)
{
	size_t i;
	int status = make_clocks(c);

	if (!status)
		set_rates(c);
	for (i = 0; i < c->reading_count && !status; i++) {
		const struct clock_reading *r = &c->readings[i];
		struct gt_device_clock *clock = gt_device_clock_find(c, r->process, r->device);

		if (gt_device_clock_add_reading(clock, r->device_stamp, r->host_before,
						r->host_after) == -ENOMEM)
			status = gt_error(-ENOMEM, "cannot store the device clock of capture %s",
					  c->files[0].path);
	}
	if (!status)
		status = sample_blocks(c);
	for (i = 0; i < c->clock_count && !status; i++)
		gt_device_clock_settle(c->clocks[i].clock);
	if (!status && (status = gt_device_clocks_bound(c)))
		gt_error(status, "cannot read the device clocks of capture %s", c->files[0].path);
	return status;
}
