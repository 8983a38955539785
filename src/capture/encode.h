/* SPDX-License-Identifier: MIT */
/* Encodes ring records of one thread into the rows of one STREAM block (capture/format.h). */
#ifndef GPUTAP_CAPTURE_ENCODE_H
#define GPUTAP_CAPTURE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format.h"

/* total size of the rows in a block; a single larger row gets a separate block */
#define GT_ENCODER_BYTES (96u << 10)
#define GT_ENCODER_WORDS 8192u /* room for the previous values of all shapes together */
/* power of two, at least 4 x GT_ROW_SHAPES, so that probes stay short */
#define GT_ENCODER_HASH  1024u

/* Maximum size of a row: 8 bytes for every word, codes, new shape, control, id. */
#define GT_ROW_MAX_BYTES(words) ((size_t)(words)*8 + (words) / 4 + 32)

enum gt_encode_stop {
	GT_ENCODE_END,  /* end of the batch */
	GT_ENCODE_FULL, /* the block is full: finish it, reset, continue */
	GT_ENCODE_META, /* a record for metadata blocks, not for streams; left to the caller */
	GT_ENCODE_MALFORMED,
};

struct gt_shape {
	uint64_t head;
	uint64_t *prev; /* values of the last row, in words[] */
	/* number of coded words after the fixed words, and number of words stored unchanged */
	uint32_t coded, tail;
};

struct gt_encoder;

/* See gt_encoder_run(). */
typedef const uint64_t *gt_encoder_run_fn(struct gt_encoder *e, const uint64_t *data,
					  const uint64_t *end, enum gt_encode_stop *stop);
gt_encoder_run_fn gt_encoder_run_any, gt_encoder_run_v3;

struct gt_encoder {
	gt_encoder_run_fn *run;
	/* p: position of the next row; `end` leaves room for the 8-byte stores of a row */
	uint8_t *p, *end;
	uint8_t *begin;
	uint64_t last_end, expect_id;
	uint64_t base_ticks, base_id, first_ticks, last_ticks;
	uint32_t rows, shape_count, words_used;
	uint32_t base_set;
	uint32_t ordinal; /* thread that wrote the records; part of the ids of its calls */
	/* true if a record was one that gputap never writes: see gt_capture_stream_is_doubted() */
	bool doubted;
	uint8_t context; /* context given by the newest gt_record_context of any block */
	uint64_t total[GT_CLASS_COUNT][GT_DOMAIN_COUNT]; /* since create */
	/* `total` at the start of the block */
	uint64_t block_total[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t kernels;                      /* since create */
	uint64_t newest_call[GT_DOMAIN_COUNT]; /* highest id since creation; 0: none */
	/* the call that returned last, since creation: GT_OP(), 0: none; host ticks of its end */
	uint32_t last_call;
	uint64_t last_call_end;
	/* summary of the block, see struct gt_file_bounds */
	/* device_count: GT_FILE_DEVICES_LOST if there are too many devices */
	uint32_t marks, device_count;
	struct gt_file_device devices[GT_FILE_DEVICES_MAX];
	struct gt_shape shapes[GT_ROW_SHAPES];
	struct {
		uint64_t head;
		uint64_t shape;
	} hash[GT_ENCODER_HASH];
	uint64_t words[GT_ENCODER_WORDS];
	uint8_t buffer[GT_ENCODER_BYTES + 64];
};

void gt_encoder_init(struct gt_encoder *e, uint32_t ordinal);
/* Start an empty block whose rows go to @buffer. NULL: use e->buffer. */
void gt_encoder_reset(struct gt_encoder *e, uint8_t *buffer, size_t bytes);

/**
 * gt_encoder_run() - encode records until the batch ends or cannot continue
 * @data: may be shared with a process that writes to it. The function reads each word only once if
 *        a change could do harm
 * Return: the first word that was not encoded.
 */
static inline const uint64_t *gt_encoder_run(struct gt_encoder *e, const uint64_t *data,
					     const uint64_t *end, enum gt_encode_stop *stop)
{
	return e->run(e, data, end, stop);
}

#endif
