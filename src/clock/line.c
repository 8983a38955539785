/* SPDX-License-Identifier: MIT */
/* Makes lines through points, in integers. Each line is capped at the start of the next one, and
 * the multiplier is rounded down, so that conversion never goes backwards for any points. */
#include "clock/line.h"

#include <errno.h>
#include <stdlib.h>

/* minimum distance of points, so that the jitter of a reading, 100 ns, does not become a rate */
enum { NEAREST_NS = 1000000 };

static unsigned bit_length(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static void set_rate(struct gt_clock_line *line, uint64_t out, uint64_t in)
{
	int shift = 62 + (int)bit_length(in) - (int)bit_length(out);
	unsigned __int128 mult;

	line->shift = (uint8_t)(shift < 0 ? 0 : shift > 126 ? 126 : shift);
	mult = ((unsigned __int128)out << line->shift) / (in ? in : 1);
	line->mult = mult >> 63 ? UINT64_MAX >> 1 : (uint64_t)mult;
}

/* Compute the distance from in0 up to which the short computation equals the long one: the line
 * continues, no bit is shifted out, and the cap is not reached. Conversion is monotonic, so a limit
 * that holds for the last stamp holds for all earlier stamps. */
static void set_plain(struct gt_clock_line *line)
{
	uint64_t last = line->to - line->in0, most;

	line->left = line->shift < 64 ? (uint8_t)(64 - line->shift) : 0;
	line->right = line->shift > 64 ? (uint8_t)(line->shift - 64) : 0;
	if (line->left == 64)
		return;
	most = UINT64_MAX >> line->left;
	last = last < most ? last : most;
	/* the last line has no end, so halve the distance until the line fits */
	while (last && (unsigned __int128)last * line->mult >> line->shift > line->cap - line->out0)
		last /= 2;
	line->plain = last;
}

/* Return true if `in` stopped temporarily: `out` advanced by more than 0.1 % and 1 ms beyond the
 * usual rate. */
static bool stopped(uint64_t out, uint64_t in, const struct gt_clock_ratio *usual)
{
	unsigned __int128 expected = (unsigned __int128)in * usual->out / usual->in;

	return out > expected && out - expected > NEAREST_NS && out - expected > expected / 1000;
}

/* Make the lines. @nearest_ns: minimum distance between points */
static int init_lines(struct gt_clock_lines *lines, const struct gt_clock_point *points,
		      size_t count, const struct gt_clock_ratio *usual, uint64_t nearest_ns)
{
	struct gt_clock_line *list = calloc(count ? count : 1, sizeof *list);
	size_t n = 0, i;

	lines->list = list;
	lines->count = 0;
	if (!list)
		return -ENOMEM;
	if (usual && (!usual->in || !usual->out))
		usual = NULL;
	for (i = 0; i < count; i++) {
		if (n && (points[i].in <= list[n - 1].in0 || points[i].out < list[n - 1].out0 ||
			  points[i].out - list[n - 1].out0 < nearest_ns))
			continue;
		list[n].in0 = points[i].in;
		list[n++].out0 = points[i].out;
	}
	if (n ==
	    1) { /* all points lie within a millisecond, and a rough rate is better than none */
		const struct gt_clock_point *last = &points[count - 1];

		if (last->in > list[0].in0 && last->out > list[0].out0 && count > 1) {
			list[n].in0 = last->in;
			list[n++].out0 = last->out;
		}
	}
	if (!n)
		n = 1;
	for (i = 0; i < n; i++) {
		struct gt_clock_line *p = &list[i];

		p->from = i ? p->in0 : 0;
		p->to = i + 1 < n ? p[1].in0 - 1 : UINT64_MAX;
		p->cap = i + 1 < n ? p[1].out0 : UINT64_MAX;
		if (i + 1 < n && usual && stopped(p[1].out0 - p->out0, p[1].in0 - p->in0, usual))
			set_rate(p, usual->out, usual->in);
		else if (i + 1 < n)
			set_rate(p, p[1].out0 - p->out0, p[1].in0 - p->in0);
		else if (i)
			p->mult = p[-1].mult, p->shift = p[-1].shift;
		else
			set_rate(p, usual ? usual->out : 1, usual ? usual->in : 1);
		set_plain(p);
	}
	lines->count = n;
	return 0;
}

int gt_clock_lines_init(struct gt_clock_lines *lines, const struct gt_clock_point *points,
			size_t count, const struct gt_clock_ratio *usual)
{
	return init_lines(lines, points, count, usual, NEAREST_NS);
}

int gt_clock_lines_init_exact(struct gt_clock_lines *lines, const struct gt_clock_point *points,
			      size_t count)
{
	return init_lines(lines, points, count, NULL, 1);
}

void gt_clock_lines_fini(struct gt_clock_lines *lines)
{
	free(lines->list);
	lines->list = NULL;
	lines->count = 0;
}

const struct gt_clock_line *gt_clock_lines_find(const struct gt_clock_lines *lines, uint64_t in)
{
	size_t low = 0, high = lines->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (lines->list[middle].from <= in)
			low = middle;
		else
			high = middle;
	}
	return &lines->list[low];
}
