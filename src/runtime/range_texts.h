/* SPDX-License-Identifier: MIT */
/* Texts that stay: names of ranges whose callers may forget them before the range ends. */
#ifndef GPUTAP_RUNTIME_RANGE_TEXTS_H
#define GPUTAP_RUNTIME_RANGE_TEXTS_H

#include <stdint.h>

struct gt_range_text {
	/* what ITT has in its string handles: the program sees these members */
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct gt_range_text *next;
	/* ours */
	uint32_t hash;
	char data[];
};

/* The one for that text, the same each time; of texts beyond TEXTS_MOST the one that says so. NULL:
 * no memory. Any thread. */
struct gt_range_text *gt_range_text(const char *text);

#endif
