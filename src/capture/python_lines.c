/* SPDX-License-Identifier: MIT */
/* See python_lines.h. A table entry is a byte 1cccclll (code c, l + 1 units of code), followed by
 * the data of that code, in bytes whose highest bit is 0. */
#include "capture/python_lines.h"

#include <stdbool.h>

enum { UNIT_BYTES = 2, CODE_NONE = 15, CODE_LONG = 14, CODE_NO_COLUMNS = 13, CODE_ONE_LINE = 10 };

struct table {
	const uint8_t *p, *end;
};

/* Read a signed number: six bits per byte, lowest bits first. Bit 6 marks that more bytes follow.
 * The lowest bit of the result is the sign. */
static int64_t take_signed(struct table *t)
{
	uint64_t v = 0;
	unsigned shift = 0;
	bool more = true;

	while (more && t->p < t->end) {
		uint8_t byte = *t->p++;

		if (shift < 60)
			v |= (uint64_t)(byte & 63) << shift;
		shift += 6;
		more = byte & 64;
	}
	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

uint32_t gt_python_line(const uint8_t *table, size_t bytes, uint32_t first, uint32_t offset)
{
	struct table t = {table, table + bytes};
	int64_t line = first;
	uint64_t at = 0;

	while (t.p < t.end) {
		unsigned head = *t.p++, code = head >> 3 & 15;
		uint64_t next = at + ((uint64_t)(head & 7) + 1) * UNIT_BYTES;

		if (!(head & 128))
			return 0;
		if (code == CODE_LONG || code == CODE_NO_COLUMNS)
			line += take_signed(&t);
		else if (code >= CODE_ONE_LINE && code < CODE_NO_COLUMNS)
			line += code - CODE_ONE_LINE;
		if (offset >= at && offset < next)
			return code == CODE_NONE || line < 0 || line > UINT32_MAX ? 0
										  : (uint32_t)line;
		at = next;
		while (t.p < t.end && !(*t.p & 128)) /* skip the columns */
			t.p++;
	}
	return 0;
}
