/* SPDX-License-Identifier: MIT */
/* Interned texts: names of ranges whose callers may free them before the range ends. */
#ifndef GPUTAP_RUNTIME_RANGE_TEXTS_H
#define GPUTAP_RUNTIME_RANGE_TEXTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct gt_thread;

struct gt_range_text {
	/* same layout as an ITT string handle: the program sees these members */
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct gt_range_text *next;
	/* private to gputap */
	uint32_t hash;
	_Atomic uint64_t
		/* its string number in records, 0: none yet; and that number's epoch << 32 */
		string;
	char data[];
};

/* Return the interned copy of @text, always the same one; beyond TEXTS_MOST texts, one shared text
 * that reports the limit. Return NULL if out of memory. Any thread. */
struct gt_range_text *gt_range_text(const char *text);
/* gt_range_text() for a text of @bytes bytes. */
struct gt_range_text *gt_range_text_whole(const char *text, size_t bytes);

/* Return the text's number as a string of the process (gt_string_id()), cached in the text itself;
 * 0 if there is none. */
uint32_t gt_range_text_number(struct gt_thread *t, struct gt_range_text *text);

#endif
