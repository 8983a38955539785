/* SPDX-License-Identifier: MIT */
/* Converts the stamps of a device to CLOCK_BOOTTIME with the best method available (clock.h). All
 * arithmetic is in integers. Memory is bounded, so that a hostile capture cannot exhaust it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "clock/clockbounds.h"
#include "clock/line.h"
#include "util/grow.h"

enum {
	ACTIVITY_MAX = 65536,
	READINGS_MAX = 1 << 20,
	WINDOW_NS = 50000000, /* of the readings within this time, only the tightest is used */
	TOLERANCE_NS = 1000,  /* jitter of tuples; a smaller difference is not a violation */
	/* maximum distance of readings from a host clock, beyond their brackets, at which that
	 * clock is used for the device */
	SAME_NS = 250,
	OPEN_CALL_NS = 10000000,   /* maximum duration of a call whose end is unknown */
	DRIFT_MIN_NS = 1000000000, /* over a shorter time or with fewer samples, a drift is noise */
	DRIFT_MIN_ACTIVITY = 100,
	/* with at least this many GPU activities, readings are discarded if ... */
	DOUBT_MIN_ACTIVITY = 20,
	DOUBT_PART = 20, /* ... one activity in this many contradicts them */
};

#define NS_PER_SECOND UINT64_C(1000000000)

struct clock_pair {
	uint64_t device, host_ns, width_ns;
};

struct activity {
	uint64_t queued, start_ns, end_ns;
	bool ended; /* false: end_ns is a guess */
};

struct gt_device_clock {
	const struct gt_host_clock_map *host;
	struct clock_pair *readings;
	struct activity *activity;
	size_t reading_count, reading_room, activity_count, activity_room;
	size_t same_count; /* number of readings with three equal stamps */
	uint64_t activity_seen;
	struct gt_clock_lines lines;
	const struct gt_clock_lines *use;
	enum gt_clock_method method;
	uint64_t residual_ns, violations;
	struct gt_clock_bounds bounds;
	uint64_t hz; /* declared ticks per second of the device; 0: its stamps are ns */
};

int gt_device_clock_create(const struct gt_host_clock_map *host, struct gt_device_clock **out)
{
	struct gt_device_clock *clock = calloc(1, sizeof *clock);

	*out = NULL;
	if (!clock)
		return -ENOMEM;
	clock->host = host;
	if (gt_clock_lines_init(&clock->lines, NULL, 0, NULL)) {
		free(clock);
		return -ENOMEM;
	}
	clock->use = &clock->lines;
	*out = clock;
	return 0;
}

void gt_device_clock_destroy(struct gt_device_clock *clock)
{
	if (!clock)
		return;
	gt_clock_lines_fini(&clock->lines);
	gt_clock_bounds_fini(&clock->bounds);
	free(clock->readings);
	free(clock->activity);
	free(clock);
}

void gt_device_clock_set_rate(struct gt_device_clock *clock, uint64_t ticks_per_second)
{
	clock->hz = ticks_per_second == NS_PER_SECOND ? 0 : ticks_per_second;
}

static struct gt_clock_ratio declared_rate(const struct gt_device_clock *clock)
{
	return (struct gt_clock_ratio){.out = NS_PER_SECOND,
				       .in = clock->hz ? clock->hz : NS_PER_SECOND};
}

int gt_device_clock_add_reading(struct gt_device_clock *clock, uint64_t device,
				uint64_t host_before, uint64_t host_after)
{
	struct clock_pair *r;
	uint64_t before, after;

	if (host_after < host_before || clock->reading_count == READINGS_MAX)
		return -EINVAL;
	r = gt_grow(clock->readings, clock->reading_count, &clock->reading_room, sizeof *r);
	if (!r)
		return -ENOMEM;
	clock->readings = r;
	before = gt_host_clock_to_ns(clock->host, host_before);
	after = gt_host_clock_to_ns(clock->host, host_after);
	r = &clock->readings[clock->reading_count++];
	r->device = device;
	clock->same_count += device == host_before && device == host_after;
	r->width_ns = after - before;
	r->host_ns = before + r->width_ns / 2;
	return 0;
}

void gt_device_clock_add_activity(struct gt_device_clock *clock, uint64_t call_start,
				  uint64_t call_end, uint64_t queued)
{
	struct activity *w;

	if (!queued || !call_start || clock->activity_count == ACTIVITY_MAX)
		return;
	w = gt_grow(clock->activity, clock->activity_count, &clock->activity_room, sizeof *w);
	if (!w)
		return; /* fewer samples make the clock less precise, but not wrong */
	clock->activity = w;
	w = &clock->activity[clock->activity_count++];
	w->queued = queued;
	w->start_ns = gt_host_clock_to_ns(clock->host, call_start);
	w->ended = call_end > call_start;
	w->end_ns = call_end > call_start ? gt_host_clock_to_ns(clock->host, call_end)
		    : w->start_ns < UINT64_MAX - OPEN_CALL_NS ? w->start_ns + OPEN_CALL_NS
							      : UINT64_MAX;
}

/* Readings ------------------------------------------------------------------ */

static int compare_readings(const void *a, const void *b)
{
	const struct clock_pair *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device);
}

/* Return true if every reading agrees that the stamps are from this host clock. No line through the
 * readings can then be as precise, because a reading has an uncertainty of half its bracket, which
 * is microseconds wide if the thread was interrupted. */
static bool read_host(const struct gt_device_clock *clock, enum gt_clock_method method,
		      uint64_t *residual)
{
	uint64_t host = gt_host_clock_residual_ns(clock->host);

	*residual = host;
	for (size_t i = 0; i < clock->reading_count; i++) {
		const struct clock_pair *r = &clock->readings[i];
		uint64_t at = gt_host_clock_from(clock->host, method, r->device);
		uint64_t off = at > r->host_ns ? at - r->host_ns : r->host_ns - at;

		off = off > r->width_ns / 2 ? off - r->width_ns / 2 : 0;
		if (off > SAME_NS + (host < TOLERANCE_NS ? host : TOLERANCE_NS))
			return false;
		*residual = off > *residual ? off : *residual;
	}
	return clock->reading_count > 0;
}

/* Settle on the host clock that all readings agree with. Try BOOTTIME first, because it is the
 * canonical clock, and equals MONOTONIC on a host that never slept. */
static bool settle_read_host(struct gt_device_clock *clock)
{
	static const enum gt_clock_method candidates[] = {
		GT_CLOCK_HOST_BOOTTIME,
		GT_CLOCK_HOST_MONOTONIC,
		GT_CLOCK_HOST_RAW,
		GT_CLOCK_HOST_REALTIME,
	};

	for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
		if (read_host(clock, candidates[i], &clock->residual_ns)) {
			clock->method = candidates[i];
			clock->use = gt_host_clock_lines_of(clock->host, clock->method);
			return true;
		}
	clock->residual_ns = 0;
	return false;
}

/* Settle on the session's host clock if the runtime took its stamps from gputap. Such stamps are
 * direct readings of the host clock, so no reading can contradict them. */
static bool settle_ticks(struct gt_device_clock *clock)
{
	if (!clock->reading_count || clock->same_count != clock->reading_count)
		return false;
	clock->method = GT_CLOCK_HOST_TICKS;
	clock->residual_ns = gt_host_clock_residual_ns(clock->host);
	clock->use = gt_host_clock_lines_of(clock->host, clock->method);
	return true;
}

/* Return true if the first and last readings contradict the assumption that stamps are in ns, by
 * more than their brackets. Called when all readings lie in one window, which is too short to
 * measure a rate. The readings are sorted. */
static bool contradicts_ns(const struct gt_device_clock *clock)
{
	const struct clock_pair *a = &clock->readings[0],
				*b = &clock->readings[clock->reading_count - 1];
	uint64_t ticks = b->device - a->device, ns = b->host_ns - a->host_ns,
		 off = ticks > ns ? ticks - ns : ns - ticks;

	return !clock->hz && ticks && b->host_ns > a->host_ns &&
	       off > a->width_ns / 2 + b->width_ns / 2 + ns / 1000 + TOLERANCE_NS;
}

static bool settle_readings(struct gt_device_clock *clock)
{
	const struct gt_clock_ratio rate = declared_rate(clock);
	struct gt_clock_point *points;
	struct gt_clock_lines lines;
	struct clock_pair *r = clock->readings;
	size_t n = 0, i, best;
	int status;

	if (!clock->reading_count)
		return false;
	points = calloc(clock->reading_count + 1, sizeof *points);
	if (!points)
		return false;
	qsort(r, clock->reading_count, sizeof *r, compare_readings);
	for (i = 0; i < clock->reading_count;) {
		uint64_t window = r[i].host_ns;

		for (best = i; i < clock->reading_count && r[i].host_ns - window < WINDOW_NS; i++)
			best = r[i].width_ns < r[best].width_ns ? i : best;
		points[n].in = r[best].device;
		points[n++].out = r[best].host_ns;
	}
	if (n == 1 && contradicts_ns(clock)) {
		points[0] = (struct gt_clock_point){r[0].device, r[0].host_ns};
		points[n++] = (struct gt_clock_point){r[i - 1].device, r[i - 1].host_ns};
	}
	status = gt_clock_lines_init(&lines, points, n, n == 1 ? &rate : NULL);
	free(points);
	if (status) {
		gt_clock_lines_fini(&lines);
		return false;
	}
	gt_clock_lines_fini(&clock->lines);
	clock->lines = lines;
	for (i = 0; i < clock->reading_count; i++) {
		uint64_t at = gt_clock_line_convert(gt_clock_lines_find(&lines, r[i].device),
						    r[i].device);
		uint64_t off = at > r[i].host_ns ? at - r[i].host_ns : r[i].host_ns - at;

		/* a reading agrees within its bracket; its uncertainty is half the bracket */
		off = off > r[i].width_ns / 2 ? off : 0;
		clock->residual_ns = off > clock->residual_ns ? off : clock->residual_ns;
	}
	clock->method = GT_CLOCK_TIMER;
	return true;
}

/* A host clock -------------------------------------------------------------- */

/* Agreement of the GPU activities with the assumption that the stamps are from a host clock. */
struct fit {
	size_t inside; /* number of activities queued within their call */
	/* mean time from the start of the call to the queued stamp, for these activities */
	uint64_t lag_ns;
	uint64_t outside_ns; /* their largest distance outside the call */
};

static struct fit try_clock(const struct gt_device_clock *clock, enum gt_clock_method method)
{
	struct fit fit = {0};
	unsigned __int128 lags = 0;
	size_t i;

	for (i = 0; i < clock->activity_count; i++) {
		const struct activity *w = &clock->activity[i];
		uint64_t q = gt_host_clock_from(clock->host, method, w->queued);
		uint64_t off = q < w->start_ns ? w->start_ns - q
			       : q > w->end_ns ? q - w->end_ns
					       : 0;

		if (off > TOLERANCE_NS)
			continue;
		fit.inside++;
		lags += q > w->start_ns ? q - w->start_ns : 0;
		fit.outside_ns = off > fit.outside_ns ? off : fit.outside_ns;
	}
	if (fit.inside)
		fit.lag_ns = (uint64_t)(lags / fit.inside);
	return fit;
}

/* Choose among the clocks in which nearly all activities were queued within their call (a runtime
 * may stamp some kinds elsewhere). The chosen clock has the shortest time from call to queued,
 * because several close clocks may fit. */
static bool settle_host(struct gt_device_clock *clock)
{
	static const enum gt_clock_method candidates[] = {
		GT_CLOCK_HOST_RAW,
		GT_CLOCK_HOST_MONOTONIC,
		GT_CLOCK_HOST_BOOTTIME,
		GT_CLOCK_HOST_REALTIME,
	};
	uint64_t host = gt_host_clock_residual_ns(clock->host);
	struct fit best = {0};
	size_t i;

	for (i = 0; i < sizeof candidates / sizeof *candidates; i++) {
		struct fit fit = try_clock(clock, candidates[i]);

		if (!fit.inside || fit.inside < clock->activity_count - clock->activity_count / 20)
			continue;
		if (best.inside && fit.lag_ns + TOLERANCE_NS >= best.lag_ns)
			continue;
		best = fit;
		clock->method = candidates[i];
	}
	if (!best.inside)
		return false;
	clock->residual_ns = host > best.outside_ns ? host : best.outside_ns;
	clock->use = gt_host_clock_lines_of(clock->host, clock->method);
	return true;
}

/* Smallest offset ----------------------------------------------------------- */

static int compare_activity(const void *a, const void *b)
{
	const struct activity *x = a, *y = b;

	return (x->queued > y->queued) - (x->queued < y->queued);
}

/* Return the difference of the lags of @w and @than, from call to queued stamp. Only differences of
 * lags are meaningful, because the clocks may be any distance apart. */
static int64_t more_lag(const struct activity *w, const struct activity *than)
{
	return (int64_t)((w->queued - w->start_ns) - (than->queued - than->start_ns));
}

/* Return true if @b lies on or above the line from @a to @c. */
static bool lies_above(const struct activity *a, const struct activity *b, const struct activity *c)
{
	__int128 left = (__int128)more_lag(b, a) * (__int128)(c->queued - a->queued);
	__int128 right = (__int128)more_lag(c, a) * (__int128)(b->queued - a->queued);

	return left >= right;
}

/* Find the line nearest below all lags: the edge of their lower hull at the mean stamp (Moon,
 * Skelly, Towsley 1999 for packet delays). Sorts the activities. Return false if there is too
 * little data to measure a drift. */
static bool find_drift(struct gt_device_clock *clock, struct gt_clock_point *point,
		       struct gt_clock_ratio *rate)
{
	struct activity *w = clock->activity;
	size_t n = clock->activity_count, hull = 0, i;
	unsigned __int128 sum = 0;
	uint64_t mean;
	struct activity *line;
	int64_t rise;
	uint64_t run;
	bool found = false;

	qsort(w, n, sizeof *w, compare_activity);
	if (n < DRIFT_MIN_ACTIVITY || w[n - 1].queued - w[0].queued < DRIFT_MIN_NS ||
	    w[n - 1].queued - w[0].queued >= UINT64_MAX / 4)
		return false;
	for (i = 0; i < n; i++) /* check that no product overflows */
		if (more_lag(&w[i], &w[0]) > INT64_MAX / 4 ||
		    more_lag(&w[i], &w[0]) < INT64_MIN / 4)
			return false;
	line = calloc(n, sizeof *line);
	if (!line)
		return false;
	for (i = 0; i < n; i++) {
		sum += w[i].queued;
		while (hull > 1 && lies_above(&line[hull - 2], &line[hull - 1], &w[i]))
			hull--;
		if (hull == 1 && line[0].queued == w[i].queued && more_lag(&w[i], &line[0]) <= 0)
			hull = 0;
		if (!hull || line[hull - 1].queued < w[i].queued)
			line[hull++] = w[i];
	}
	mean = (uint64_t)(sum / n);
	for (i = 0; i + 1 < hull && line[i + 1].queued <= mean; i++)
		;
	if (i + 1 < hull) {
		run = line[i + 1].queued - line[i].queued;
		rise = more_lag(&line[i + 1], &line[i]);
		/* the error of a real oscillator is below 200 ppm; a larger slope is a changed
		 * latency */
		if ((rise < 0 ? -(uint64_t)rise : (uint64_t)rise) <= run / 5000) {
			point->in = line[i].queued;
			point->out = line[i].start_ns;
			rate->in = run;
			rate->out = run - (uint64_t)rise;
			found = true;
		}
	}
	free(line);
	return found;
}

/* Find the activity with the shortest time from the start of its call to its queued stamp, for a
 * rate other than 1 GHz. */
static size_t find_nearest(const struct gt_device_clock *clock)
{
	const struct activity *w = clock->activity;
	__int128 least = 0;
	size_t best = 0;

	for (size_t i = 0; i < clock->activity_count; i++) {
		__int128 lag = (__int128)(int64_t)(w[i].queued - w[0].queued) *
				       (int64_t)NS_PER_SECOND / (__int128)clock->hz -
			       (int64_t)(w[i].start_ns - w[0].start_ns);

		if (lag < least) {
			least = lag;
			best = i;
		}
	}
	return best;
}

static void settle_offset(struct gt_device_clock *clock)
{
	struct gt_clock_point point;
	struct gt_clock_ratio rate = declared_rate(clock);
	struct gt_clock_lines lines;
	uint64_t least = UINT64_MAX;
	size_t i, best = 0;

	if (!clock->activity_count)
		return;
	if (clock->hz || !find_drift(clock, &point, &rate)) {
		for (i = 1; i < clock->activity_count && !clock->hz; i++)
			if (more_lag(&clock->activity[i], &clock->activity[best]) < 0)
				best = i;
		if (clock->hz)
			best = find_nearest(clock);
		point.in = clock->activity[best].queued;
		point.out = clock->activity[best].start_ns;
		rate = declared_rate(clock);
	}
	if (gt_clock_lines_init(&lines, &point, 1, &rate)) {
		gt_clock_lines_fini(&lines);
		return;
	}
	gt_clock_lines_fini(&clock->lines);
	clock->lines = lines;
	clock->method = GT_CLOCK_OFFSET;
	/* the activity that determines the offset was queued within its call, so the shortest call
	 * bounds the error */
	for (i = 0; i < clock->activity_count; i++)
		if (clock->activity[i].end_ns - clock->activity[i].start_ns < least)
			least = clock->activity[i].end_ns - clock->activity[i].start_ns;
	clock->residual_ns = least;
}

static uint64_t count_early(const struct gt_device_clock *clock)
{
	uint64_t n = 0;

	for (size_t i = 0; i < clock->activity_count; i++)
		n += gt_device_clock_to_ns(clock, clock->activity[i].queued) + TOLERANCE_NS <
		     clock->activity[i].start_ns;
	return n;
}

/* Settle on the runtime's timer call. Discard its clock if many activities would precede their
 * call, because the timer call then reads a different clock than the activities' stamps. */
static bool settle_timer(struct gt_device_clock *clock)
{
	if ((clock->hz || !settle_read_host(clock)) && !settle_readings(clock))
		return false;
	if (clock->activity_count < DOUBT_MIN_ACTIVITY ||
	    count_early(clock) <= clock->activity_count / DOUBT_PART)
		return true;
	clock->use = &clock->lines;
	clock->method = GT_CLOCK_UNKNOWN;
	clock->residual_ns = 0;
	return false;
}

void gt_device_clock_settle(struct gt_device_clock *clock)
{
	size_t i;

	clock->use = &clock->lines;
	clock->method = GT_CLOCK_UNKNOWN;
	clock->residual_ns = 0;
	if (!settle_ticks(clock) && !settle_timer(clock) && (clock->hz || !settle_host(clock)))
		settle_offset(clock);
	clock->violations = count_early(clock);
	for (i = 0; i < clock->activity_count && gt_device_clock_wants_bounds(clock); i++) {
		const struct activity *w = &clock->activity[i];

		gt_clock_bounds_add(&clock->bounds, GT_CLOCK_NOT_EARLIER, w->queued, w->start_ns);
		if (w->ended)
			gt_clock_bounds_add(&clock->bounds, GT_CLOCK_NOT_LATER, w->queued,
					    w->end_ns);
	}
	free(clock->activity);
	free(clock->readings);
	clock->activity = NULL;
	clock->readings = NULL;
	clock->activity_count = clock->activity_room = clock->reading_count = clock->reading_room =
		0;
}

/* Bounds from both sides ---------------------------------------------------- */

bool gt_device_clock_wants_bounds(const struct gt_device_clock *clock)
{
	return clock->method == GT_CLOCK_OFFSET && !clock->hz; /* bounds are in ns */
}

void gt_device_clock_add_bound(struct gt_device_clock *clock, enum gt_clock_side side,
			       uint64_t device, uint64_t host_ticks)
{
	uint64_t host = gt_host_clock_to_ns(clock->host, host_ticks);

	gt_clock_bounds_add(&clock->bounds, side, device, host);
}

/* Settle on lines that keep the bounds. If no lines do, keep the smallest offset; then the residual
 * is the largest bound violation. */
bool gt_device_clock_settle_bounds(struct gt_device_clock *clock)
{
	struct gt_clock_lines lines;
	uint64_t residual_ns, worst_ns;
	bool left_out;

	if (!gt_clock_bounds_fit(&clock->bounds, &lines, &residual_ns)) {
		gt_clock_lines_fini(&clock->lines);
		clock->lines = lines;
		clock->method = GT_CLOCK_BOUNDS;
		clock->residual_ns = residual_ns;
	}
	worst_ns = gt_clock_bounds_worst_ns(&clock->bounds, &clock->lines);
	if (worst_ns > TOLERANCE_NS && worst_ns > clock->residual_ns)
		clock->residual_ns = worst_ns;
	left_out = clock->bounds.left_out;
	gt_clock_bounds_fini(&clock->bounds);
	clock->violations = 0;
	return left_out || worst_ns > TOLERANCE_NS;
}

void gt_device_clock_check_bound(struct gt_device_clock *clock, enum gt_clock_side side,
				 uint64_t device, uint64_t host_ticks)
{
	uint64_t host = gt_host_clock_to_ns(clock->host, host_ticks);
	uint64_t at = gt_device_clock_to_ns(clock, device);
	bool early = at < host && host - at > TOLERANCE_NS,
	     late = at > host && at - host > TOLERANCE_NS;

	clock->violations += side == GT_CLOCK_NOT_EARLIER ? early : late;
}

uint64_t gt_device_clock_to_ns(const struct gt_device_clock *clock, uint64_t device)
{
	return gt_clock_line_convert(gt_clock_lines_find(clock->use, device), device);
}

const struct gt_clock_lines *gt_device_clock_lines(const struct gt_device_clock *clock)
{
	return clock->use;
}

enum gt_clock_method gt_device_clock_method(const struct gt_device_clock *clock)
{
	return clock->method;
}

const char *gt_clock_method_name(enum gt_clock_method method)
{
	static const char *const names[] = {
		[GT_CLOCK_UNKNOWN] = "unknown",
		[GT_CLOCK_TIMER] = "device timer",
		[GT_CLOCK_HOST_RAW] = "CLOCK_MONOTONIC_RAW",
		[GT_CLOCK_HOST_MONOTONIC] = "CLOCK_MONOTONIC",
		[GT_CLOCK_HOST_BOOTTIME] = "CLOCK_BOOTTIME",
		[GT_CLOCK_HOST_REALTIME] = "CLOCK_REALTIME",
		[GT_CLOCK_OFFSET] = "smallest offset",
		[GT_CLOCK_BOUNDS] = "calls and waits",
		[GT_CLOCK_HOST_TICKS] = "host's own",
	};

	return (unsigned)method < sizeof names / sizeof *names ? names[method] : "unknown";
}

uint64_t gt_device_clock_residual_ns(const struct gt_device_clock *clock)
{
	return clock->residual_ns;
}

uint64_t gt_device_clock_violations(const struct gt_device_clock *clock)
{
	return clock->violations;
}
