/* SPDX-License-Identifier: MIT */
/* Fits lines between two sets of points, in integers. For a given slope, the offsets that keep all
 * bounds form an interval. The width of the interval is a concave function of the slope (a minimum
 * of straight lines), so bisection finds the widest one. */
#include "clock/clockbounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

enum {
	/* maximum number of bounds on one side; beyond this number, bounds are thinned out */
	KEPT_MAX = 32768,
	/* number of parts of the time range for thinning; each part keeps its hull */
	PARTS_MAX = 2048,
	/* tolerance for stamps on both clocks; lines may exceed a bound by half of it */
	TOLERANCE_NS = 1000,
	LINES_MAX = 64,
	JUMP_MAX_NS = 1000000,     /* maximum jump between consecutive lines */
	DRIFT_MIN_NS = 1000000000, /* over a shorter time or with fewer bounds, a drift is noise */
	DRIFT_MIN_COUNT = 100,
	OUTLIERS_MAX = 64,
	OUTLIERS_PART = 20, /* at most one bound in this many is an outlier */
	SLOPES = 64,        /* number of slopes tested for the residual */
};

#define SLOPE_BITS 32
/* 200 ppm, which exceeds the error of a real oscillator. */
#define SLOPE_MAX  ((INT64_C(200) << SLOPE_BITS) / 1000000)
/* Largest distance from the first bound on either axis. Limited so that no product overflows. */
#define FARTHEST   (INT64_C(1) << 60)

/* Bounds in a part of the time range, each side sorted by device stamp. */
struct slice {
	const struct gt_clock_bound *side[GT_CLOCK_SIDE_COUNT];
	size_t count[GT_CLOCK_SIDE_COUNT];
};

/* For one slope: the offsets at the time of the first bound that keep the bounds of a slice. */
struct corridor {
	int64_t low, high;
};

/* offset = at + slope * device / 2^SLOPE_BITS */
struct bound_line {
	int64_t slope, at;
	int64_t first, last; /* device stamps, relative */
	uint64_t residual_ns;
};

static int64_t rise_of_line(int64_t slope, int64_t device)
{
	return (int64_t)((__int128)slope * device >> SLOPE_BITS);
}

static int64_t offset_at(const struct bound_line *l, int64_t device)
{
	return l->at + rise_of_line(l->slope, device);
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Bounds --------------------------------------------------------------------- */

void gt_clock_bounds_fini(struct gt_clock_bounds *b)
{
	for (unsigned i = 0; i < GT_CLOCK_SIDE_COUNT; i++)
		free(b->sides[i].list);
	memset(b, 0, sizeof *b);
}

static int compare_bounds(const void *a, const void *b)
{
	const struct gt_clock_bound *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Return true if each line that keeps @a and @c also keeps @b. */
static bool is_covered(enum gt_clock_side side, const struct gt_clock_bound *a,
		       const struct gt_clock_bound *b, const struct gt_clock_bound *c)
{
	__int128 left = (__int128)(b->offset - a->offset) * (c->device - a->device);
	__int128 right = (__int128)(c->offset - a->offset) * (b->device - a->device);

	return side == GT_CLOCK_NOT_EARLIER ? left <= right : left >= right;
}

/* Keep only bounds that a line can touch. @list: sorted; @to: may be @list. Return their number. */
static size_t find_hull(enum gt_clock_side side, const struct gt_clock_bound *list, size_t count,
			struct gt_clock_bound *to)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct gt_clock_bound now = list[i];

		if (n && to[n - 1].device == now.device) { /* sorted: `now` has the larger offset */
			if (side == GT_CLOCK_NOT_LATER)
				continue;
			n--;
		}
		while (n > 1 && is_covered(side, &to[n - 2], &to[n - 1], &now))
			n--;
		to[n++] = now;
	}
	return n;
}

static void sort_side(struct gt_clock_bound_list *l)
{
	if (l->count)
		qsort(l->list, l->count, sizeof *l->list, compare_bounds);
}

/* Free half of the room. Each part of the time range keeps only its hull. The number of parts is
 * halved until few enough bounds remain. */
static void thin_bounds(enum gt_clock_side side, struct gt_clock_bound_list *l)
{
	size_t parts = PARTS_MAX;

	sort_side(l);
	while (l->count > KEPT_MAX / 2) {
		uint64_t first = (uint64_t)l->list[0].device,
			 span = (uint64_t)l->list[l->count - 1].device - first;
		uint64_t part = span / parts + 1;
		size_t n = 0, i = 0, end;

		for (; i < l->count; i = end) {
			uint64_t number = ((uint64_t)l->list[i].device - first) / part;

			for (end = i; end < l->count &&
				      ((uint64_t)l->list[end].device - first) / part == number;
			     end++)
				;
			n += find_hull(side, l->list + i, end - i, l->list + n);
		}
		if (parts == 1 && n > KEPT_MAX / 2)
			n = KEPT_MAX / 2; /* no clock can have such a curve */
		l->count = n;
		parts = parts > 1 ? parts / 2 : 1;
	}
}

void gt_clock_bounds_add(struct gt_clock_bounds *b, enum gt_clock_side side, uint64_t device,
			 uint64_t host_ns)
{
	struct gt_clock_bound_list *l = &b->sides[side];
	struct gt_clock_bound *list;
	int64_t x, y;

	if (!b->any) {
		b->any = true;
		b->device = device;
		b->host_ns = host_ns;
	}
	x = (int64_t)(device - b->device);
	y = (int64_t)((host_ns - b->host_ns) - (device - b->device));
	if (x > FARTHEST || x < -FARTHEST || y > FARTHEST || y < -FARTHEST) {
		b->left_out = true;
		return;
	}
	if (l->count == KEPT_MAX)
		thin_bounds(side, l);
	list = gt_grow(l->list, l->count, &l->room, sizeof *l->list);
	if (!list)
		return;
	l->list = list;
	l->list[l->count++] = (struct gt_clock_bound){x, y};
	l->added++;
}

/* One line -------------------------------------------------------------------- */

static struct corridor find_corridor(const struct slice *s, int64_t slope)
{
	struct corridor c = {INT64_MIN / 2, INT64_MAX / 2};

	for (size_t i = 0; i < s->count[GT_CLOCK_NOT_EARLIER]; i++) {
		int64_t at = s->side[GT_CLOCK_NOT_EARLIER][i].offset -
			     rise_of_line(slope, s->side[GT_CLOCK_NOT_EARLIER][i].device);

		c.low = at > c.low ? at : c.low;
	}
	for (size_t i = 0; i < s->count[GT_CLOCK_NOT_LATER]; i++) {
		int64_t at = s->side[GT_CLOCK_NOT_LATER][i].offset -
			     rise_of_line(slope, s->side[GT_CLOCK_NOT_LATER][i].device);

		c.high = at < c.high ? at : c.high;
	}
	return c;
}

static int64_t find_width(const struct slice *s, int64_t slope)
{
	struct corridor c = find_corridor(s, slope);

	return c.high - c.low;
}

static int64_t find_widest(const struct slice *s)
{
	int64_t low = -SLOPE_MAX, high = SLOPE_MAX;

	while (high - low > 2) {
		int64_t a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (find_width(s, a) < find_width(s, b))
			low = a + 1;
		else
			high = b;
	}
	for (int64_t k = low + 1; k <= high; k++)
		low = find_width(s, k) > find_width(s, low) ? k : low;
	return low;
}

/* Return the last slope between @from and @to whose corridor is at least @width wide. The corridor
 * of @from must be at least @width wide. */
static int64_t find_last(const struct slice *s, int64_t from, int64_t to, int64_t width)
{
	while (from != to) {
		int64_t middle = from + (to - from) / 2;

		if (middle == from)
			middle = to;
		if (find_width(s, middle) >= width)
			from = middle;
		else
			to = to > from ? middle - 1 : middle + 1;
	}
	return from;
}

/* Return the slope of the line nearest above all bounds of one side: the edge of their hull at the
 * middle of the time range (Moon, Skelly, Towsley 1999 for packet delays). @list: the hull */
static int64_t find_edge(const struct gt_clock_bound *list, size_t count)
{
	size_t i = 0;
	__int128 slope;

	if (count < 2)
		return 0;
	while (i + 2 < count &&
	       list[i + 1].device <= list[0].device / 2 + list[count - 1].device / 2)
		i++;
	slope = (__int128)(list[i + 1].offset - list[i].offset) * ((__int128)1 << SLOPE_BITS) /
		(list[i + 1].device - list[i].device);
	return slope > SLOPE_MAX || slope < -SLOPE_MAX ? 0 : (int64_t)slope;
}

static uint64_t farthest(const struct bound_line *l, int64_t slope, struct corridor c)
{
	const int64_t ends[2] = {l->first, l->last};
	uint64_t most = 0;

	for (unsigned i = 0; i < 2; i++) {
		int64_t ours = offset_at(l, ends[i]), other = rise_of_line(slope, ends[i]);
		uint64_t low = distance(ours, c.low + other), high = distance(ours, c.high + other);

		most = low > most ? low : most;
		most = high > most ? high : most;
	}
	return most;
}

/* Choose among the slopes with nearly the widest corridor. Prefer the one nearest to the slope that
 * one side alone would have, if the time range is long enough to measure a slope, else the one
 * nearest to 0. The line in the middle of the corridor has the smallest maximum error. @s: hulls.
 * Return true if the line keeps the bounds. */
static bool fit_line(const struct slice *s, bool long_enough, struct bound_line *l)
{
	int64_t best = find_widest(s), width = find_width(s, best), from, to;
	int64_t wanted = long_enough ? find_edge(s->side[GT_CLOCK_NOT_EARLIER],
						 s->count[GT_CLOCK_NOT_EARLIER])
				     : 0;
	struct corridor c;

	if (!s->count[GT_CLOCK_NOT_EARLIER] ||
	    !s->count[GT_CLOCK_NOT_LATER]) { /* bounds on one side only */
		c = find_corridor(s, 0);
		l->at = s->count[GT_CLOCK_NOT_EARLIER] ? c.low : c.high;
		return true;
	}
	l->slope = best;
	if (width > 0) {
		from = find_last(s, best, -SLOPE_MAX, width - width / 4);
		to = find_last(s, best, SLOPE_MAX, width - width / 4);
		l->slope = wanted < from ? from : wanted > to ? to : wanted;
	}
	c = find_corridor(s, l->slope);
	l->at = c.low + (c.high - c.low) / 2;
	l->residual_ns = distance(c.high, c.low) / 2;
	if (width <= 0)
		return width >= -TOLERANCE_NS;
	from = find_last(s, best, -SLOPE_MAX, 0);
	to = find_last(s, best, SLOPE_MAX, 0);
	for (int64_t k = 0; k <= SLOPES; k++) {
		int64_t slope = from + (to - from) * k / SLOPES;
		uint64_t off = farthest(l, slope, find_corridor(s, slope));

		l->residual_ns = off > l->residual_ns ? off : l->residual_ns;
	}
	return true;
}

/* Lines ----------------------------------------------------------------------- */

struct fitting {
	const struct gt_clock_bounds *bounds;
	struct gt_clock_bound *hulls[GT_CLOCK_SIDE_COUNT]; /* room for the hulls of a slice */
	int64_t *times;                                    /* device stamps of all bounds, sorted */
	size_t time_count;
	struct bound_line lines[LINES_MAX];
	size_t line_count;
};

static size_t find_first(const struct gt_clock_bound_list *l, int64_t device)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->list[middle].device < device)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Find the line that keeps all bounds in [first, last]. */
static bool fit_part(struct fitting *f, int64_t first, int64_t last, struct bound_line *l)
{
	struct slice s;
	uint64_t added = 0;

	for (unsigned i = 0; i < GT_CLOCK_SIDE_COUNT; i++) {
		const struct gt_clock_bound_list *side = &f->bounds->sides[i];
		size_t from = find_first(side, first), end = find_first(side, last + 1);

		s.count[i] = find_hull((enum gt_clock_side)i, side->list + from, end - from,
				       f->hulls[i]);
		s.side[i] = f->hulls[i];
		added = i == GT_CLOCK_NOT_EARLIER ? side->added : added;
	}
	*l = (struct bound_line){.first = first, .last = last};
	return fit_line(&s, added >= DRIFT_MIN_COUNT && last - first >= DRIFT_MIN_NS, l);
}

/* Find consecutive lines, each as long as possible. Return false if there are too many lines or the
 * jumps between lines are too large. */
static bool fit_lines(struct fitting *f)
{
	size_t from = 0;

	for (f->line_count = 0; from < f->time_count;) {
		size_t good = from, bad = f->time_count, step = 1;
		struct bound_line *l = &f->lines[f->line_count], trial;

		if (f->line_count == LINES_MAX)
			return false;
		fit_part(f, f->times[from], f->times[from], l);
		while (bad - good > 1) {
			size_t middle =
				step && good + step < bad ? good + step : good + (bad - good) / 2;

			if (fit_part(f, f->times[from], f->times[middle], &trial)) {
				*l = trial;
				good = middle;
				step *= 2;
			} else {
				bad = middle;
				step = 0;
			}
		}
		if (f->line_count) {
			const struct bound_line *before = l - 1;
			uint64_t jump =
				distance(offset_at(before, before->last), offset_at(l, l->first));

			if (jump > JUMP_MAX_NS)
				return false;
			l->residual_ns += jump;
		}
		f->line_count++;
		from = good + 1;
	}
	return true;
}

/* Outliers -------------------------------------------------------------------- */

/* Count the bounds of the other side that contradict a bound, for the given slope. */
static size_t count_against(const struct gt_clock_bounds *b, enum gt_clock_side side, int64_t at,
			    int64_t slope)
{
	const struct gt_clock_bound_list *other = &b->sides[1 - side];
	size_t n = 0;

	for (size_t i = 0; i < other->count; i++) {
		int64_t its = other->list[i].offset - rise_of_line(slope, other->list[i].device);

		n += side == GT_CLOCK_NOT_EARLIER ? its < at : its > at;
	}
	return n;
}

/* Remove the bound that the most other bounds contradict. */
static void drop_worst(struct gt_clock_bounds *b, int64_t slope)
{
	size_t worst[GT_CLOCK_SIDE_COUNT] = {0, 0}, against[GT_CLOCK_SIDE_COUNT];
	enum gt_clock_side side;
	struct gt_clock_bound_list *l;

	for (unsigned k = 0; k < GT_CLOCK_SIDE_COUNT; k++) {
		int64_t most = 0;

		l = &b->sides[k];
		for (size_t i = 0; i < l->count; i++) {
			int64_t at = l->list[i].offset - rise_of_line(slope, l->list[i].device);

			if (i && (k == GT_CLOCK_NOT_EARLIER ? at <= most : at >= most))
				continue;
			most = at;
			worst[k] = i;
		}
		against[k] = count_against(b, (enum gt_clock_side)k, most, slope);
	}
	side = against[GT_CLOCK_NOT_LATER] >= against[GT_CLOCK_NOT_EARLIER] ? GT_CLOCK_NOT_LATER
									    : GT_CLOCK_NOT_EARLIER;
	l = &b->sides[side];
	memmove(l->list + worst[side], l->list + worst[side] + 1,
		(l->count - worst[side] - 1) * sizeof *l->list);
	l->count--;
	b->left_out = true;
}

/* Fit one line that few bounds contradict. Remove these bounds from the lists. */
static bool fit_without_outliers(struct fitting *f, struct gt_clock_bounds *b)
{
	size_t most = (b->sides[0].count + b->sides[1].count) / OUTLIERS_PART;

	most = most < OUTLIERS_MAX ? most : OUTLIERS_MAX;
	f->line_count = 1;
	for (size_t i = 0; i <= most && b->sides[0].count && b->sides[1].count; i++) {
		if (fit_part(f, f->times[0], f->times[f->time_count - 1], &f->lines[0]))
			return true;
		drop_worst(b, f->lines[0].slope);
	}
	return false;
}

/* Fitting --------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int make_fitting(struct fitting *f, struct gt_clock_bounds *b)
{
	size_t n = 0;

	*f = (struct fitting){.bounds = b};
	f->times = calloc(b->sides[0].count + b->sides[1].count, sizeof *f->times);
	for (unsigned i = 0; i < GT_CLOCK_SIDE_COUNT; i++) {
		sort_side(&b->sides[i]);
		f->hulls[i] = calloc(b->sides[i].count, sizeof *f->hulls[i]);
		for (size_t k = 0; f->times && k < b->sides[i].count; k++)
			f->times[n++] = b->sides[i].list[k].device;
	}
	if (!f->times || !f->hulls[0] || !f->hulls[1])
		return -ENOMEM;
	qsort(f->times, n, sizeof *f->times, compare_times);
	for (size_t i = 0; i < n; i++)
		if (!i || f->times[i] != f->times[f->time_count - 1])
			f->times[f->time_count++] = f->times[i];
	return 0;
}

static struct gt_clock_point point_of(const struct gt_clock_bounds *b, const struct bound_line *l,
				      int64_t device)
{
	return (struct gt_clock_point){b->device + (uint64_t)device,
				       b->host_ns + (uint64_t)device +
					       (uint64_t)offset_at(l, device)};
}

static int make_lines(const struct fitting *f, struct gt_clock_lines *lines, uint64_t *residual_ns)
{
	struct gt_clock_point points[2 * LINES_MAX];
	const struct gt_clock_ratio rate = {(UINT64_C(1) << SLOPE_BITS) +
						    (uint64_t)f->lines[0].slope,
					    UINT64_C(1) << SLOPE_BITS};
	size_t n = 0;
	int status;

	*residual_ns = 0;
	for (size_t i = 0; i < f->line_count; i++) {
		const struct bound_line *l = &f->lines[i];

		points[n++] = point_of(f->bounds, l, l->first);
		points[n++] = point_of(f->bounds, l, l->last);
		*residual_ns = l->residual_ns > *residual_ns ? l->residual_ns : *residual_ns;
	}
	if (f->line_count == 1)
		status = gt_clock_lines_init(lines, points, 1, &rate);
	else
		status = gt_clock_lines_init_exact(lines, points, n);
	if (status)
		gt_clock_lines_fini(lines);
	return status;
}

int gt_clock_bounds_fit(struct gt_clock_bounds *b, struct gt_clock_lines *lines,
			uint64_t *residual_ns)
{
	struct fitting *f;
	int status;

	if (!b->sides[0].count || !b->sides[1].count)
		return -ENODATA;
	f = calloc(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	status = make_fitting(f, b);
	if (!status) {
		f->line_count = 1;
		if (fit_part(f, f->times[0], f->times[f->time_count - 1], &f->lines[0]) ||
		    fit_lines(f) || fit_without_outliers(f, b))
			status = make_lines(f, lines, residual_ns);
		else
			status = -ERANGE;
	}
	free(f->times);
	free(f->hulls[0]);
	free(f->hulls[1]);
	free(f);
	return status;
}

uint64_t gt_clock_bounds_worst_ns(const struct gt_clock_bounds *b,
				  const struct gt_clock_lines *lines)
{
	uint64_t worst = 0;

	for (unsigned k = 0; k < GT_CLOCK_SIDE_COUNT; k++)
		for (size_t i = 0; i < b->sides[k].count; i++) {
			const struct gt_clock_bound *bound = &b->sides[k].list[i];
			uint64_t device = b->device + (uint64_t)bound->device;
			uint64_t host =
				b->host_ns + (uint64_t)bound->device + (uint64_t)bound->offset;
			uint64_t at =
				gt_clock_line_convert(gt_clock_lines_find(lines, device), device);
			uint64_t off = k == GT_CLOCK_NOT_EARLIER ? (at < host ? host - at : 0)
				       : at > host               ? at - host
								 : 0;

			worst = off > worst ? off : worst;
		}
	return worst;
}
