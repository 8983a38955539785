/* SPDX-License-Identifier: MIT */
/* Texts that an exporter generates once and copies many times. Copying in steps of a fixed size is
 * faster than a call of memcpy(), so a snippet has extra bytes at its end. */
#ifndef GPUTAP_EXPORT_SNIPPET_H
#define GPUTAP_EXPORT_SNIPPET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GT_SNIPPET_STEP = 32 };

struct gt_snippet {
	uint32_t bytes;
	char text[];
};

/* Return a new snippet; free() frees it. Return NULL with a cause if out of memory. */
struct gt_snippet *gt_snippet_create(const char *text, size_t bytes);

/* Write the text at @p. May write up to GT_SNIPPET_STEP bytes more. Return the end of the text. */
static inline char *gt_put_snippet(char *p, const struct gt_snippet *snippet)
{
	for (uint32_t i = 0; i < snippet->bytes; i += GT_SNIPPET_STEP)
		memcpy(p + i, snippet->text + i, GT_SNIPPET_STEP);
	return p + snippet->bytes;
}

#endif
