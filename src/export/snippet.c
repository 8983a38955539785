/* SPDX-License-Identifier: MIT */
/* See snippet.h. */
#include "export/snippet.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"

struct gt_snippet *gt_snippet_create(const char *text, size_t bytes)
{
	struct gt_snippet *snippet = calloc(1, sizeof *snippet + bytes + GT_SNIPPET_STEP);

	if (!snippet) {
		gt_error(-ENOMEM, "cannot export");
		return NULL;
	}
	snippet->bytes = (uint32_t)bytes;
	memcpy(snippet->text, text, bytes);
	return snippet;
}
