/* SPDX-License-Identifier: MIT */
/* The row decoder as a function, for those who are in no hurry. Compiled twice, see codec.c. */
#include "capture/decode_row.h"

int GT_DECODER_NEXT(struct gt_decoder *d, struct gt_row *row)
{
	return gt_decode_row(d, row);
}
