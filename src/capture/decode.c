/* SPDX-License-Identifier: MIT */
/* The row decoder as a function, for callers that do not need it inlined. Compiled twice, see
 * fastcpu.h. */
#include "capture/decode_row.h"

int GT_DECODER_NEXT(struct gt_decoder *d, struct gt_row *row)
{
	const struct gt_decode_shape *s;
	struct gt_decode_at at = d->at;
	int status;

	if (at.p >= d->end)
		return 0;
	s = gt_decode_next_shape(d, &at);
	status = s ? gt_decode_row(d, &at, s, gt_decode_place(d->out), row) : -EBADMSG;
	d->at = at;
	return status;
}
