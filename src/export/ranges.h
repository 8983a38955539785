/* SPDX-License-Identifier: MIT */
/* What a program says about itself by calls: marks, ranges that are pushed and popped in a
 * thread, ranges that one thread starts and any other stops. Calls go in, in a cursor's order;
 * ranges come out when both ends are known. */
#ifndef GPUTAP_EXPORT_RANGES_H
#define GPUTAP_EXPORT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

enum gt_range_mark gt_mark_look_up(uint32_t op);

/* What a call of that operation tells; NONE for all that say nothing. */
static inline enum gt_range_mark gt_mark_of(uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op);

	return domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].marks ? gt_mark_look_up(op)
									  : GT_MARK_NONE;
}

/* What it says: its message, or without arguments what was called. Not terminated. Return:
 * bytes. */
size_t gt_mark_text(const struct gt_item *call, const char **text);

struct gt_range;

/* "cpu_op", "user_annotation": the range's category, as torch names it. */
const char *gt_range_category(const struct gt_range *range);

/* A text that is not terminated; NULL: there is none. */
struct gt_range_words {
	const char *text;
	size_t bytes;
};

/* What a range or a mark says of itself beside its name. */
struct gt_range_detail {
	uint64_t sequence; /* 0: none */
	/* for each input of an operator the number of its dimensions and these, -1: no tensor */
	const uint8_t *shapes; /* int64_t, not aligned */
	size_t shape_words;
	struct gt_range_words scope, category; /* NVTX's domain, and category in it */
	struct gt_range_words payload;         /* a number, or JSON */
	uint32_t colour;                       /* ARGB; 0: none */
};
struct gt_range_detail gt_range_detail(const struct gt_item *call);
/* "#ff8000"; @text has room for 16. Return: it. */
const char *gt_range_colour(const struct gt_range_detail *detail, char *text);
/* Is a payload a number, as JSON has them? */
bool gt_range_is_number(const struct gt_range_words *words);
/* "[[8, 8], []]" of them; cut at @size, always well formed and terminated. Return: bytes. */
size_t gt_range_shapes(const struct gt_range_detail *detail, char *text, size_t size);

struct gt_range {
	uint32_t process, ordinal; /* the thread that began it */
	uint32_t op;               /* of the call that began it, or is it */
	uint64_t start_ns, end_ns; /* of an instant: the same */
	const char *name;          /* terminated; valid until the next call of this file */
	/* started and stopped, maybe by different threads: may overlap others of its thread */
	bool across;
	bool instant; /* a mark */
	bool context; /* of a cut capture: it does not count */
	/* numbers of the thread's first and last call in it; 0: it is not of one thread */
	uint64_t first, last;
	/* numbers of the calls that began and ended it; 0: not known, or another thread's */
	uint64_t begun, ended;
	/* the call that is the range (GT_MARK_RANGE), which tells more of it; else NULL */
	const struct gt_item *whole;
	struct gt_range_detail detail; /* valid as long as the name */
};

/* All zero at first. */
struct gt_ranges {
	struct gt_range_open *open;
	struct gt_range_stop *stops; /* whose start comes later: another thread's records */
	size_t open_count, open_room, stop_count, stop_room;
	uint64_t last_ns;
	char *name;   /* of the range given out last */
	char *detail; /* what its detail points to; NULL: to its call */
};

/* Return: 1 and *out, 0: nothing is whole by this call, -ENOMEM with a cause. */
int gt_ranges_step(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out);
/* After the last call, until it says false: ranges that nobody ended. They go to the end of what
 * was recorded. */
bool gt_ranges_rest(struct gt_ranges *r, struct gt_range *out);
void gt_ranges_fini(struct gt_ranges *r);

#endif
