/* SPDX-License-Identifier: MIT */
/* See shared_line.h. */
#include "capture/shared_line.h"

#include <errno.h>
#include <stdlib.h>

#include "util/grow.h"

enum {
	CLOSE_BOUNDS_NS = 20000, /* minimum duration of a collective call between two hosts */
	WINDOWS_MOST = 64,
	WINDOW_LEAST = 16, /* minimum number of returns per window */
};
#define BEYOND_NS INT64_C(3600000000000)

struct gt_shared_return {
	uint64_t there_ns;
	int64_t offset_ns; /* here - there */
};

static void add_return(struct gt_shared_calls *s, uint64_t there_ns, uint64_t here_ns)
{
	struct gt_shared_return *more = gt_grow(s->returns, s->count, &s->room, sizeof *more);

	if (!more)
		return; /* without the call, the result is only less precise */
	s->returns = more;
	s->returns[s->count++] = (struct gt_shared_return){there_ns, (int64_t)(here_ns - there_ns)};
}

void gt_shared_calls_add(struct gt_shared_calls *s, const struct gt_shared_stay *there,
			 const struct gt_shared_stay *here)
{
	if (!here->any || !there->any)
		return;
	gt_clock_bounds_add(&s->bounds, GT_CLOCK_NOT_EARLIER, there->first_end_ns,
			    here->last_begin_ns);
	gt_clock_bounds_add(&s->bounds, GT_CLOCK_NOT_LATER, there->last_begin_ns,
			    here->first_end_ns);
	add_return(s, there->first_end_ns, here->first_end_ns);
}

static int compare_times(const void *a, const void *b)
{
	const struct gt_shared_return *x = a, *y = b;

	return (x->there_ns > y->there_ns) - (x->there_ns < y->there_ns);
}

static int compare_offsets(const void *a, const void *b)
{
	const struct gt_shared_return *x = a, *y = b;

	return (x->offset_ns > y->offset_ns) - (x->offset_ns < y->offset_ns);
}

/* Return the median of returns that are adjacent in time, limited to the bounds. @away_ns: raised
 * to the median's distance from the middle between the bounds */
static struct gt_clock_point find_point(struct gt_shared_return *returns, size_t count,
					const struct gt_clock_lines *lines, uint64_t residual_ns,
					uint64_t *away_ns)
{
	uint64_t in = returns[count / 2].there_ns, out, away,
		 middle = gt_clock_line_convert(gt_clock_lines_find(lines, in), in);

	qsort(returns, count, sizeof *returns, compare_offsets);
	out = in + (uint64_t)returns[count / 2].offset_ns;
	if (out + residual_ns < middle)
		out = middle - residual_ns;
	else if (out > middle + residual_ns)
		out = middle + residual_ns;
	away = out > middle ? out - middle : middle - out;
	*away_ns = away > *away_ns ? away : *away_ns;
	return (struct gt_clock_point){in, out};
}

/* Return a point outside the calls' time range. Use the clocks' rate between the first and the last
 * point, because the line between two adjacent points is too inaccurate. */
static struct gt_clock_point extend(const struct gt_clock_point *first,
				    const struct gt_clock_point *last, uint64_t in, int64_t by_ns)
{
	const struct gt_clock_point *from = in == last->in ? last : first;
	double rate = last->in > first->in ? (double)(int64_t)(last->out - first->out) /
						     (double)(last->in - first->in)
					   : 1;

	/* keep the result from being less than 0 */
	if (by_ns < 0 && (in < 2 * BEYOND_NS || from->out < 2 * BEYOND_NS))
		by_ns = -(int64_t)((in < from->out ? in : from->out) / 2);
	return (struct gt_clock_point){in + (uint64_t)by_ns,
				       from->out + (uint64_t)(int64_t)((double)by_ns * rate)};
}

/* Replace the lines between the bounds with lines through the returns. Return 0 or -ENOMEM. */
static int follow_returns(struct gt_shared_calls *s, struct gt_clock_lines *lines,
			  uint64_t *residual_ns)
{
	/* one point per window, and one point before and one point after the windows */
	struct gt_clock_point points[WINDOWS_MOST + 2];
	struct gt_clock_lines through;
	size_t windows = s->count / WINDOW_LEAST;
	uint64_t away_ns = 0;
	int status;

	windows = windows > WINDOWS_MOST ? WINDOWS_MOST : windows ? windows : 1;
	if (!s->count)
		return 0;
	qsort(s->returns, s->count, sizeof *s->returns, compare_times);
	for (size_t w = 0; w < windows; w++) {
		size_t from = s->count * w / windows, to = s->count * (w + 1) / windows;

		points[w + 1] =
			find_point(s->returns + from, to - from, lines, *residual_ns, &away_ns);
	}
	points[0] = extend(&points[1], &points[windows], points[1].in, -BEYOND_NS);
	points[windows + 1] = extend(&points[1], &points[windows], points[windows].in, BEYOND_NS);
	status = gt_clock_lines_init_exact(&through, points, windows + 2);
	if (status)
		return status;
	gt_clock_lines_fini(lines);
	*lines = through;
	*residual_ns += away_ns; /* distance to the farther bound */
	return 0;
}

int gt_shared_calls_fit(struct gt_shared_calls *s, struct gt_clock_lines *lines,
			uint64_t *residual_ns)
{
	int status = gt_clock_bounds_fit(&s->bounds, lines, residual_ns);

	if (!status && *residual_ns > CLOSE_BOUNDS_NS)
		status = follow_returns(s, lines, residual_ns);
	return status;
}

void gt_shared_calls_fini(struct gt_shared_calls *s)
{
	gt_clock_bounds_fini(&s->bounds);
	free(s->returns);
	*s = (struct gt_shared_calls){0};
}
