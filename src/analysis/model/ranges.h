/* SPDX-License-Identifier: MIT */
/* Annotations that a program makes with calls: marks, ranges that a thread pushes and pops, and
 * ranges that one thread starts and any thread stops. Takes calls in cursor order and emits a range
 * once both ends are known. */
#ifndef GPUTAP_ANALYSIS_MODEL_RANGES_H
#define GPUTAP_ANALYSIS_MODEL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

enum gt_range_mark gt_mark_look_up(uint32_t op);

/* Return the mark of an operation's calls; GT_MARK_NONE if the calls have no mark. */
static inline enum gt_range_mark gt_mark_of(uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op);

	return domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].marks ? gt_mark_look_up(op)
									  : GT_MARK_NONE;
}

/* Set *text to the text of a mark: its message, or the operation's name if there are no arguments.
 * The text is not terminated. Return the number of bytes. */
size_t gt_mark_text(const struct gt_item *call, const char **text);

struct gt_range;

/* Return the range's category as torch names it: "cpu_op", "user_annotation". */
const char *gt_range_category(const struct gt_range *range);

/* An unterminated text; NULL: none. */
struct gt_range_words {
	const char *text;
	size_t bytes;
};

/* Details of a range or mark other than its name. */
struct gt_range_detail {
	uint64_t sequence; /* 0: none */
	/* for each input of an operator: number of dimensions, or -1 if not a tensor, then the
	 * dimensions */
	const uint8_t *shapes; /* unaligned int64_t */
	size_t shape_words;
	struct gt_range_words scope, category; /* NVTX domain, and category within the domain */
	struct gt_range_words payload;         /* a number, or JSON */
	uint32_t colour;                       /* ARGB; 0: none */
};
struct gt_range_detail gt_range_detail(const struct gt_item *call);
/* Write "#ff8000" to @text, which must hold 16 bytes. Return @text. */
const char *gt_range_colour(const struct gt_range_detail *detail, char *text);
/* Return true if a payload is a number in JSON syntax. */
bool gt_range_is_number(const struct gt_range_words *words);
/* Write the shapes as "[[8, 8], []]", truncated to @size bytes but always well-formed and
 * terminated. Return the number of bytes. */
size_t gt_range_shapes(const struct gt_range_detail *detail, char *text, size_t size);

struct gt_range {
	uint32_t process, ordinal; /* thread that started the range */
	uint32_t op;               /* operation of the call that started or is the range */
	uint64_t start_ns, end_ns; /* equal for an instant */
	const char *name;          /* terminated; valid until the next call into this file */
	/* true if started and stopped, possibly by different threads: may overlap other ranges of
	 * its thread */
	bool across;
	bool instant; /* true for a mark */
	bool context; /* true if present only as context in a cut capture, so not counted */
	/* ids of the first and last call that the thread made in the range; 0 if the range involves
	 * several threads */
	uint64_t first, last;
	/* ids of the calls that started and ended the range; 0 if not known, or if another thread
	 * made the call */
	uint64_t begun, ended;
	/* call that is the range (GT_MARK_RANGE), with more details; otherwise NULL */
	const struct gt_item *whole;
	struct gt_range_detail detail; /* valid as long as `name` */
};

/* Empty if zero-initialised. */
struct gt_ranges {
	struct gt_range_open *open;
	/* stops whose start comes later, in the records of another thread */
	struct gt_range_stop *stops;
	size_t open_count, open_room, stop_count, stop_room;
	uint64_t last_ns;
	char *name;   /* name of the last range returned */
	char *detail; /* details of that range; NULL: they point into the call */
};

/* Process a call. Return 1 and fill *out, or 0 if no range is complete yet, or -ENOMEM with a
 * cause. */
int gt_ranges_step(struct gt_ranges *r, const struct gt_item *call, struct gt_range *out);
/* Return the next range that was never ended; such a range lasts to the end of the recording. Call
 * after the last call, until it returns false. */
bool gt_ranges_rest(struct gt_ranges *r, struct gt_range *out);
void gt_ranges_fini(struct gt_ranges *r);

#endif
