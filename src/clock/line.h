/* SPDX-License-Identifier: MIT */
/* A clock as straight lines, each for a range of stamps. To convert many stamps, find a line once
 * and use it while gt_clock_line_holds(). */
#ifndef GPUTAP_CLOCK_LINE_H
#define GPUTAP_CLOCK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"

/* out = out0 + (in - in0) * mult / 2^shift, but at most `cap`, for `in` in [from, to]. */
struct gt_clock_line {
	uint64_t in0, out0;
	uint64_t mult; /* less than 2^63, so that the 128-bit product never overflows */
	/* largest distance from in0 at which the result is out0 + (high word of ((in - in0) <<
	 * left) * mult) >> right */
	uint64_t plain;
	uint8_t left, right, shift;
	uint64_t from, to, cap;
};

struct gt_clock_lines {
	/* sorted by `from`, without gaps; the first line starts at 0, the last ends at
	 * UINT64_MAX */
	struct gt_clock_line *list;
	size_t count;
};

struct gt_clock_ratio {
	uint64_t out, in;
};

static inline bool gt_clock_line_holds(const struct gt_clock_line *line, uint64_t in)
{
	return in >= line->from && in <= line->to;
}

/* Convert any `in` of the line. */
static inline uint64_t gt_clock_line_convert_any(const struct gt_clock_line *line, uint64_t in)
{
	unsigned __int128 d;

	if (in >= line->in0) {
		d = (unsigned __int128)(in - line->in0) * line->mult >> line->shift;
		return d > line->cap - line->out0 ? line->cap : line->out0 + (uint64_t)d;
	}
	d = (unsigned __int128)(line->in0 - in) * line->mult >> line->shift;
	return d > line->out0 ? 0 : line->out0 - (uint64_t)d;
}

/* Return true if the short computation gives the right result, which it does for nearly all stamps
 * of a line. It needs no 128-bit shift, and no check of the cap. */
static inline bool gt_clock_line_is_plain(const struct gt_clock_line *line, uint64_t in)
{
	return in - line->in0 < line->plain;
}

static inline uint64_t gt_clock_line_convert_plain(const struct gt_clock_line *line, uint64_t in)
{
	uint64_t high =
		(uint64_t)((unsigned __int128)((in - line->in0) << line->left) * line->mult >> 64);

	return line->out0 + (high >> line->right);
}

static inline uint64_t gt_clock_line_convert(const struct gt_clock_line *line, uint64_t in)
{
	return gt_clock_line_is_plain(line, in) ? gt_clock_line_convert_plain(line, in)
						: gt_clock_line_convert_any(line, in);
}

/* One point on both clocks. */
struct gt_clock_point {
	uint64_t in, out;
};

/**
 * gt_clock_lines_init() - make lines through points
 * @points:   in any order. A point that goes backwards or is less than 1 ms after the previous one
 *            is left out, unless there are no others
 * @usual:    usual rate, or NULL. A clearly faster line spans a stop of the `in` clock (suspended
 *            host). Such a line runs at the usual rate and jumps at its end
 * Return: 0 or -ENOMEM. Without points the result is the identity. With one point, the result has
 *         the offset of that point and the usual rate, or rate 1 without a usual rate.
 */
int gt_clock_lines_init(struct gt_clock_lines *lines, const struct gt_clock_point *points,
			size_t count, const struct gt_clock_ratio *usual);
/* gt_clock_lines_init() for exact points, which have no jitter: keep every point that increases. */
int gt_clock_lines_init_exact(struct gt_clock_lines *lines, const struct gt_clock_point *points,
			      size_t count);
void gt_clock_lines_fini(struct gt_clock_lines *lines);
const struct gt_clock_line *gt_clock_lines_find(const struct gt_clock_lines *lines, uint64_t in);

const struct gt_clock_lines *gt_host_clock_lines(const struct gt_host_clock_map *map);
const struct gt_clock_lines *gt_host_clock_lines_of(const struct gt_host_clock_map *map,
						    enum gt_clock_method method);
/* Return the lines of a clock. The caller has called gt_device_clock_settle(). */
const struct gt_clock_lines *gt_device_clock_lines(const struct gt_device_clock *clock);

#endif
