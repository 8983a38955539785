/* SPDX-License-Identifier: MIT */
/* Annotations that a program makes with calls: marks, ranges that are pushed and popped in a
 * thread, ranges that one thread starts and any other stops. The input is calls in a cursor's
 * order. A range is output when both ends are known. */
#ifndef GPUTAP_EXPORT_RANGES_H
#define GPUTAP_EXPORT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

enum gt_range_mark gt_mark_look_up(uint32_t op);

/* Return the mark of that operation's calls; NONE for all operations without a mark. */
static inline enum gt_range_mark gt_mark_of(uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op);

	return domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].marks ? gt_mark_look_up(op)
									  : GT_MARK_NONE;
}

/* Get the text of a mark: its message, or without arguments the operation's name. Not terminated.
 * Return the number of bytes. */
size_t gt_mark_text(const struct gt_item *call, const char **text);

struct gt_range;

/* Return the range's category as torch names it: "cpu_op", "user_annotation". */
const char *gt_range_category(const struct gt_range *range);

/* A text that is not terminated; NULL: none. */
struct gt_range_words {
	const char *text;
	size_t bytes;
};

/* Details of a range or a mark other than its name. */
struct gt_range_detail {
	uint64_t sequence; /* 0: none */
	/* for each input of an operator its number of dimensions and the dimensions, -1: not a
	 * tensor */
	const uint8_t *shapes; /* int64_t, not aligned */
	size_t shape_words;
	struct gt_range_words scope, category; /* NVTX's domain, and category in it */
	struct gt_range_words payload;         /* a number, or JSON */
	uint32_t colour;                       /* ARGB; 0: none */
};
struct gt_range_detail gt_range_detail(const struct gt_item *call);
/* Write "#ff8000" to @text, which has room for 16. Return @text. */
const char *gt_range_colour(const struct gt_range_detail *detail, char *text);
/* Return true if a payload is a number in JSON's format. */
bool gt_range_is_number(const struct gt_range_words *words);
/* Write the shapes as "[[8, 8], []]"; cut at @size, always well formed and terminated. Return the
 * number of bytes. */
size_t gt_range_shapes(const struct gt_range_detail *detail, char *text, size_t size);

struct gt_range {
	uint32_t process, ordinal; /* the thread that started it */
	uint32_t op;               /* operation of the call that started it, or that is the range */
	uint64_t start_ns, end_ns; /* equal for an instant */
	const char *name;          /* terminated; valid until the next call into this file */
	/* started and stopped, maybe in different threads: may overlap others of its thread */
	bool across;
	bool instant; /* a mark */
	bool context; /* in a cut capture: does not count */
	/* numbers of the thread's first and last call in it; 0: involves several threads */
	uint64_t first, last;
	/* numbers of the calls that started and ended it; 0: not known, or another thread's */
	uint64_t begun, ended;
	/* the call that is the range (GT_MARK_RANGE), with more details; else NULL */
	const struct gt_item *whole;
	struct gt_range_detail detail; /* valid as long as the name */
};

/* Zero-initialised: empty. */
struct gt_ranges {
	struct gt_range_open *open;
	/* stops whose start comes later: in another thread's records */
	struct gt_range_stop *stops;
	size_t open_count, open_room, stop_count, stop_room;
	uint64_t last_ns;
	char *name;   /* name of the last range returned */
	char *detail; /* its details; NULL: they point into its call */
};

/* Process a call. Return 1 and *out, 0: no range is complete yet, -ENOMEM with a cause. */
int gt_ranges_step(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out);
/* Call after the last call, until it returns false: returns ranges that were never ended. They last
 * to the end of the recording. */
bool gt_ranges_rest(struct gt_ranges *r, struct gt_range *out);
void gt_ranges_fini(struct gt_ranges *r);

#endif
