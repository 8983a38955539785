/* SPDX-License-Identifier: MIT */
/* Encoder and decoder of rows but for their hot loops: encode.c, decode.c and cursor_next.c are
 * compiled once for any CPU and once for those with AVX2 and BMI2, which is chosen here. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cursor.h"
#include "capture/encode.h"

#if GT_CAPTURE_V3
bool gt_fast_cpu(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#else
bool gt_fast_cpu(void)
{
	return false;
}

/* never called: they keep the choice in one place */
const uint64_t *gt_encoder_run_v3(struct gt_encoder *e, const uint64_t *data, const uint64_t *end,
				  enum gt_encode_stop *stop)
{
	return gt_encoder_run_any(e, data, end, stop);
}

int gt_decoder_next_v3(struct gt_decoder *d, struct gt_row *row)
{
	return gt_decoder_next_any(d, row);
}

int gt_cursor_fill_v3(struct gt_cursor *k)
{
	return gt_cursor_fill_any(k);
}
#endif

void gt_encoder_init(struct gt_encoder *e, uint32_t ordinal)
{
	e->ordinal = ordinal;
	e->doubted = false;
	e->run = gt_fast_cpu() ? gt_encoder_run_v3 : gt_encoder_run_any;
	memset(e->total, 0, sizeof e->total);
	memset(e->newest_call, 0, sizeof e->newest_call);
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
	memcpy(e->block_total, e->total, sizeof e->total);
	memset(e->hash, 0, sizeof e->hash);
}

void gt_decoder_init(struct gt_decoder *d)
{
	d->next = gt_fast_cpu() ? gt_decoder_next_v3 : gt_decoder_next_any;
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
