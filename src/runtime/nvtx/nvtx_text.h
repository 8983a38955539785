/* SPDX-License-Identifier: MIT */
/* Converts NVTX texts from char and wchar_t to UTF-8, and defines buffer sizes. */
#ifndef GPUTAP_NVTX_TEXT_H
#define GPUTAP_NVTX_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <wchar.h>

#include "runtime/range_texts.h"

enum { GT_NVTX_TEXT_BYTES = 1024 }; /* size of a message or a name; longer texts are truncated */

/* Output buffer: text is written at @at and ends before @end, which leaves room for a NUL. Excess
 * text is truncated. */
struct gt_nvtx_out {
	char *at, *end;
};

void gt_nvtx_put(struct gt_nvtx_out *o, const char *text, size_t bytes);
void gt_nvtx_put_wide(struct gt_nvtx_out *o, const wchar_t *text);
void gt_nvtx_put_unsigned(struct gt_nvtx_out *o, uint64_t value);
void gt_nvtx_put_signed(struct gt_nvtx_out *o, int64_t value);
void gt_nvtx_put_real(struct gt_nvtx_out *o, double value, int digits);
void gt_nvtx_put_quoted(struct gt_nvtx_out *o, const char *text,
			size_t bytes); /* writes a JSON string */

/* Return an interned text, or NULL for NULL. */
const struct gt_range_text *gt_nvtx_keep(const char *text);
const struct gt_range_text *gt_nvtx_keep_wide(const wchar_t *text);

/* Return the text of a message of that type (enum nvtx_message_type), or NULL. The text is in the
 * program's memory, registered, or written to @o and terminated with NUL. */
const char *gt_nvtx_message(int32_t type, const void *message, struct gt_nvtx_out *o);

#endif
