/* SPDX-License-Identifier: MIT */
/* Texts of NVTX: what programs pass in char and in wchar_t, as UTF-8, and into how much room. */
#ifndef GPUTAP_NVTX_TEXT_H
#define GPUTAP_NVTX_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <wchar.h>

#include "runtime/range_texts.h"

enum { GT_NVTX_TEXT_BYTES = 1024 }; /* of a message or a name; longer ones are cut */

/* A text that goes to @at and ends before @end, which has room for a NUL. What does not fit is
 * left out. */
struct gt_nvtx_out {
	char *at, *end;
};

void gt_nvtx_put(struct gt_nvtx_out *o, const char *text, size_t bytes);
void gt_nvtx_put_wide(struct gt_nvtx_out *o, const wchar_t *text);
void gt_nvtx_put_unsigned(struct gt_nvtx_out *o, uint64_t value);
void gt_nvtx_put_signed(struct gt_nvtx_out *o, int64_t value);
void gt_nvtx_put_real(struct gt_nvtx_out *o, double value, int digits);
void gt_nvtx_put_quoted(struct gt_nvtx_out *o, const char *text, size_t bytes); /* as JSON */

/* Texts that stay. NULL for NULL. */
const struct gt_range_text *gt_nvtx_keep(const char *text);
const struct gt_range_text *gt_nvtx_keep_wide(const wchar_t *text);

/* The text of a message of that type (enum nvtx_message_type): in the program's memory, registered,
 * or written to @o and ended by NUL. NULL: there is none. */
const char *gt_nvtx_message(int32_t type, const void *message, struct gt_nvtx_out *o);

#endif
