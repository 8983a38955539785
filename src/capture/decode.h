/* SPDX-License-Identifier: MIT */
/* Rows of one STREAM block (capture/format.h) -> records. */
#ifndef GPUTAP_CAPTURE_DECODE_H
#define GPUTAP_CAPTURE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format.h"

/* Readable bytes that must follow a payload: a row without a tail never reads further than this past its start. */
#define GT_DECODE_SLACK 2048u

struct gt_decode_shape {
	uint64_t head;
	uint64_t *words; /* in gt_decoder.words */
	uint32_t coded, tail;
	uint32_t kind;
};

struct gt_decoder;
struct gt_row;

/* See gt_decoder_next(). */
typedef int gt_decoder_next_fn(struct gt_decoder *d, struct gt_row *row);
gt_decoder_next_fn gt_decoder_next_any, gt_decoder_next_v3;

struct gt_decoder {
	gt_decoder_next_fn *next;
	const uint8_t *p, *end;
	uint64_t last_end, expect_id;
	uint32_t shape_count;
	uint64_t *scratch; /* a row with a tail, whole; NULL until there is one */
	uint64_t device[GT_DEVICE_MIN_WORDS - 1]; /* a device row with its stamps put together */
	struct gt_decode_shape shapes[GT_ROW_SHAPES];
	uint64_t words[GT_ROW_SHAPES][GT_ROW_PREDICTED + 8]; /* some to spare: words.h works by fours */
};

/* A decoded record. Valid until the next gt_decoder_next(). */
struct gt_row {
	uint64_t head;
	uint64_t start, end, id;  /* CALL */
	const uint64_t *words;    /* CALL: ret and what follows; others: all behind the head */
	uint32_t count;
};

/* This CPU runs the functions whose names end in v3. */
bool gt_fast_cpu(void);

void gt_decoder_init(struct gt_decoder *d);
void gt_decoder_fini(struct gt_decoder *d);
/* @payload: followed by GT_DECODE_SLACK readable bytes */
void gt_decoder_begin(struct gt_decoder *d, const struct gt_file_stream *stream, const uint8_t *payload, size_t bytes);
/* Return: 1 and *row, 0 at the end, -EBADMSG, -ENOMEM. */
static inline int gt_decoder_next(struct gt_decoder *d, struct gt_row *row)
{
	return d->next(d, row);
}

#endif
