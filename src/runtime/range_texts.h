/* SPDX-License-Identifier: MIT */
/* Texts that stay: names of ranges whose callers may forget them before the range ends. */
#ifndef GPUTAP_RUNTIME_RANGE_TEXTS_H
#define GPUTAP_RUNTIME_RANGE_TEXTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct gt_thread;

struct gt_range_text {
	/* what ITT has in its string handles: the program sees these members */
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct gt_range_text *next;
	/* ours */
	uint32_t hash;
	_Atomic uint64_t
		string; /* its number in records, 0: none yet; and the epoch of that << 32 */
	char data[];
};

/* The one for that text, the same each time; of texts beyond TEXTS_MOST the one that says so. NULL:
 * no memory. Any thread. */
struct gt_range_text *gt_range_text(const char *text);
/* The same of a text of any length. */
struct gt_range_text *gt_range_text_whole(const char *text, size_t bytes);

/* Its number as a string of the process (gt_string_id()), in a word of that text's own. 0: there
 * is none. */
uint32_t gt_range_text_number(struct gt_thread *t, struct gt_range_text *text);

#endif
