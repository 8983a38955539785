/* SPDX-License-Identifier: MIT */
/* See nvtx_text.h. */
#include "runtime/nvtx/nvtx_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nvtx/nvtx_abi.h"

void gt_nvtx_put(struct gt_nvtx_out *o, const char *text, size_t bytes)
{
	size_t room = (size_t)(o->end - o->at);

	bytes = bytes < room ? bytes : room;
	memcpy(o->at, text, bytes);
	o->at += bytes;
}

static void put_character(struct gt_nvtx_out *o, uint32_t c)
{
	char text[4];
	size_t bytes = 0;

	if (c < 0x80) {
		text[bytes++] = (char)c;
	} else if (c < 0x800) {
		text[bytes++] = (char)(0xc0 | c >> 6);
		text[bytes++] = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		text[bytes++] = (char)(0xe0 | c >> 12);
		text[bytes++] = (char)(0x80 | (c >> 6 & 63));
		text[bytes++] = (char)(0x80 | (c & 63));
	} else {
		text[bytes++] = (char)(0xf0 | (c >> 18 & 7));
		text[bytes++] = (char)(0x80 | (c >> 12 & 63));
		text[bytes++] = (char)(0x80 | (c >> 6 & 63));
		text[bytes++] = (char)(0x80 | (c & 63));
	}
	if (bytes <= (size_t)(o->end - o->at))
		gt_nvtx_put(o, text, bytes);
	else
		o->end = o->at; /* write nothing after a truncated character */
}

void gt_nvtx_put_wide(struct gt_nvtx_out *o, const wchar_t *text)
{
	for (; *text && o->at < o->end; text++)
		put_character(o, (uint32_t)*text);
}

void gt_nvtx_put_unsigned(struct gt_nvtx_out *o, uint64_t value)
{
	char digits[20], *p = digits + sizeof digits;

	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	gt_nvtx_put(o, p, (size_t)(digits + sizeof digits - p));
}

void gt_nvtx_put_signed(struct gt_nvtx_out *o, int64_t value)
{
	if (value < 0)
		gt_nvtx_put(o, "-", 1);
	gt_nvtx_put_unsigned(o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Write the shortest text for this number. @digits: number of digits sufficient for any number of
 * the type: 17 or 9. */
void gt_nvtx_put_real(struct gt_nvtx_out *o, double value, int digits)
{
	char text[40];
	int n = 0;

	for (int precision = digits - 3; precision <= digits; precision++) {
		n = snprintf(text, sizeof text, "%.*g", precision, value);
		if (digits > 9 ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value)
			break;
	}
	gt_nvtx_put(o, text, (size_t)n);
}

void gt_nvtx_put_quoted(struct gt_nvtx_out *o, const char *text, size_t bytes)
{
	static const char hex[] = "0123456789abcdef";

	gt_nvtx_put(o, "\"", 1);
	for (size_t i = 0; i < bytes && text[i]; i++) {
		const unsigned char c = (unsigned char)text[i];
		const char escaped[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

		if (c == '"' || c == '\\')
			gt_nvtx_put(o, "\\", 1);
		if (c < 0x20)
			gt_nvtx_put(o, escaped, sizeof escaped);
		else
			gt_nvtx_put(o, &text[i], 1);
	}
	gt_nvtx_put(o, "\"", 1);
}

const struct gt_range_text *gt_nvtx_keep(const char *text)
{
	return text ? gt_range_text(text) : NULL;
}

const struct gt_range_text *gt_nvtx_keep_wide(const wchar_t *text)
{
	char bytes[GT_NVTX_TEXT_BYTES];
	struct gt_nvtx_out o = {bytes, bytes + sizeof bytes - 1};

	if (!text)
		return NULL;
	gt_nvtx_put_wide(&o, text);
	*o.at = '\0';
	return gt_range_text(bytes);
}

const char *gt_nvtx_message(int32_t type, const void *message, struct gt_nvtx_out *o)
{
	const char *at = o->at;

	if (!message)
		return NULL;
	switch (type) {
	case NVTX_MESSAGE_ASCII: return message;
	case NVTX_MESSAGE_WIDE:
		gt_nvtx_put_wide(o, message);
		*o->at = '\0';
		return at;
	case NVTX_MESSAGE_REGISTERED: return ((const struct gt_range_text *)message)->text;
	default: return NULL;
	}
}
