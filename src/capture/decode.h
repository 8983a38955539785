/* SPDX-License-Identifier: MIT */
/* Decodes rows of one STREAM block (capture/format.h) into records. */
#ifndef GPUTAP_CAPTURE_DECODE_H
#define GPUTAP_CAPTURE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format.h"

/* Number of readable bytes that must follow a payload. Decoding a row without a tail reads less
 * than this past the start of the row. */
#define GT_DECODE_SLACK 2048u

/* The first fields of an item, which come from a row's head word. */
struct gt_item_head {
	uint32_t kind, op, payload_bytes, detail;
};

/* Fast paths for nearly all rows without a tail. gt_decode_row() decodes all rows. */
enum gt_decode_way { GT_DECODE_ANY, GT_DECODE_LONE_CALL /* depth 0 */, GT_DECODE_DEVICE };

/* A decoded head word. Contains the common properties of its rows, in one cache line. */
struct gt_decode_shape {
	uint64_t head;
	uint64_t *words; /* words of the previous row, in gt_decoder.words */
	uint16_t coded, tail;
	/* calls: index of the word after the arguments; 0: no arguments */
	uint16_t payload_at;
	uint8_t way; /* enum gt_decode_way */
	/* number of code bytes that are stored together; result of gt_last_codes() */
	uint8_t code_bytes, last_codes;
	struct gt_item_head item;
	uint32_t rows; /* number of rows of this shape in the block so far */
	char pad[12];
};
static_assert(sizeof(struct gt_decode_shape) == 64, "a shift computes the index");

/* Position of a decoder. */
struct gt_decode_at {
	const uint8_t *p;
	uint64_t last_end, expect_id;
};

struct gt_decoder;
struct gt_row;

/* Room for the words of a row, which are stored four at a time at gt_decode_place(). */
#define GT_DECODE_OUT (GT_ROW_PREDICTED + 16u)

/* See gt_decoder_next(). */
typedef int gt_decoder_next_fn(struct gt_decoder *d, struct gt_row *row);
gt_decoder_next_fn gt_decoder_next_any, gt_decoder_next_v3;

struct gt_decoder {
	gt_decoder_next_fn *next;
	struct gt_decode_at at;
	const uint8_t *end;
	uint32_t shape_count;
	uint64_t *scratch; /* words of a row with a tail; NULL until such a row is decoded */
	struct gt_decode_shape shapes[GT_ROW_NEW_SHAPE + 1];
	/* the last row of each shape, at gt_decode_place() */
	uint64_t words[GT_ROW_SHAPES][GT_DECODE_OUT];
	uint64_t out[GT_DECODE_OUT]; /* the current row */
};

/* A decoded record. Valid until the next gt_decoder_next(). */
struct gt_row {
	const struct gt_decode_shape *shape;
	uint64_t head;
	uint64_t start, end, id; /* CALL */
	/* gt_row_count() words. CALL: ret and the words after it; others: all words after the
	 * head */
	const uint64_t *words;
};

void gt_decoder_init(struct gt_decoder *d);
void gt_decoder_fini(struct gt_decoder *d);
/* Start to decode a block. @payload: followed by GT_DECODE_SLACK readable bytes. */
void gt_decoder_begin(struct gt_decoder *d, const struct gt_file_stream *stream,
		      const uint8_t *payload, size_t bytes);
static inline uint32_t gt_row_count(const struct gt_row *row)
{
	return (uint32_t)row->shape->coded + row->shape->tail;
}
/* Return 1 and *row, 0 at the end, -EBADMSG or -ENOMEM. */
static inline int gt_decoder_next(struct gt_decoder *d, struct gt_row *row)
{
	return d->next(d, row);
}

#endif
