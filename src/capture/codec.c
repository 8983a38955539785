/* SPDX-License-Identifier: MIT */
/* The encoder and the decoder of rows, without the hot loops, of which fastcpu.h chooses a
 * variant. */
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "capture/encode.h"
#include "capture/fastcpu.h"

void gt_encoder_init(struct gt_encoder *e, uint32_t ordinal)
{
	e->ordinal = ordinal;
	e->doubted = false;
	e->context = 0;
	e->run = GT_FOR_THIS_CPU(gt_encoder_run);
	memset(e->total, 0, sizeof e->total);
	memset(e->newest_call, 0, sizeof e->newest_call);
	e->last_call = 0;
	e->last_call_end = 0;
	e->kernels = 0;
	gt_encoder_reset(e, NULL, 0);
}

void gt_encoder_reset(struct gt_encoder *e, uint8_t *buffer, size_t bytes)
{
	e->begin = e->p = buffer ? buffer : e->buffer;
	e->end = e->begin + (buffer ? bytes : GT_ENCODER_BYTES);
	e->last_end = e->expect_id = 0;
	e->base_ticks = e->base_id = 0;
	e->first_ticks = UINT64_MAX;
	e->last_ticks = 0;
	e->rows = e->shape_count = e->words_used = e->base_set = 0;
	e->marks = e->device_count = 0;
	memcpy(e->block_total, e->total, sizeof e->total);
	memset(e->hash, 0, sizeof e->hash);
}

void gt_decoder_init(struct gt_decoder *d)
{
	d->next = GT_FOR_THIS_CPU(gt_decoder_next);
	d->scratch = NULL;
	d->at.p = d->end = NULL;
	d->shape_count = 0;
}

void gt_decoder_fini(struct gt_decoder *d)
{
	free(d->scratch);
	d->scratch = NULL;
}

void gt_decoder_begin(struct gt_decoder *d, const struct gt_file_stream *stream,
		      const uint8_t *payload, size_t bytes)
{
	d->end = payload + bytes;
	d->at = (struct gt_decode_at){payload, stream->base_ticks, stream->base_id};
	d->shape_count = 0;
}
