/* SPDX-License-Identifier: MIT */
/* Interned names of ranges, whose callers may free them before the range ends. */
#ifndef GPUTAP_RUNTIME_RANGE_TEXTS_H
#define GPUTAP_RUNTIME_RANGE_TEXTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct gt_thread;

struct gt_range_text {
	/* Same layout as an ITT string handle, because the program reads these members. */
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct gt_range_text *next;
	/* private to gputap */
	uint32_t hash;
	_Atomic uint64_t
		/* string number in records, with the number's epoch in the upper half; 0: none
		 * yet */
		string;
	char data[];
};

/* Return the interned copy of @text. Equal texts have the same copy. Beyond TEXTS_MOST texts, one
 * shared text that reports the limit is returned. Return NULL if out of memory. Thread: any. */
struct gt_range_text *gt_range_text(const char *text);
/* Return the interned copy of a text of @bytes bytes, like gt_range_text(). */
struct gt_range_text *gt_range_text_whole(const char *text, size_t bytes);

/* Return the number of a text as a string of the process (gt_string_id()), cached in @text; 0 if
 * there is none. */
uint32_t gt_range_text_number(struct gt_thread *t, struct gt_range_text *text);

#endif
