/* SPDX-License-Identifier: MIT */
/* Reads all clocks of the host at one moment, and converts each clock to CLOCK_BOOTTIME. Tuples of
 * a capture may be damaged, so nothing here relies on their order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "clock/counter.h"
#include "clock/hostclock.h"
#include "clock/line.h"
#include "util/clock_ns.h"

enum { TRIES = 8 };

struct gt_host_clock_map {
	/* boottime is the identity */
	struct gt_clock_lines ticks, monotonic, raw, realtime, boottime;
	struct gt_clock_tuple *tuples; /* ascending boottime_ns */
	size_t count;
	uint64_t residual_ns;
};

/* Reading ------------------------------------------------------------------- */

/* Read the counter, ordered on both sides. The processor may reorder the plain read of a tap by
 * some instructions, which would falsify a bracket. */
static uint64_t read_ticks(uint32_t host_clock)
{
	if (GT_HAS_COUNTER && host_clock == GT_HOST_CLOCK_COUNTER)
		return gt_counter_read_ordered();
	return gt_clock_ns(CLOCK_BOOTTIME);
}

/* Return the offset of a clock from BOOTTIME, from the tightest of several brackets. */
static uint64_t offset_from_boottime(clockid_t clock)
{
	uint64_t best = UINT64_MAX, offset = 0;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = gt_clock_ns(CLOCK_BOOTTIME), there = gt_clock_ns(clock),
			 after = gt_clock_ns(CLOCK_BOOTTIME);

		if (after - before < best) {
			best = after - before;
			offset = there - (before + best / 2);
		}
	}
	return offset;
}

void gt_clock_tuple_take(uint32_t host_clock, struct gt_clock_tuple *out)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = read_ticks(host_clock), now = gt_clock_ns(CLOCK_BOOTTIME),
			 after = read_ticks(host_clock);

		if (after - before >= best)
			continue;
		best = after - before;
		out->ticks = host_clock == GT_HOST_CLOCK_COUNTER ? before + best / 2 : now;
		out->boottime_ns = now;
	}
	out->spread_ticks = best;
	out->monotonic_ns = out->boottime_ns + offset_from_boottime(CLOCK_MONOTONIC);
	out->raw_ns = out->boottime_ns + offset_from_boottime(CLOCK_MONOTONIC_RAW);
	out->realtime_ns = out->boottime_ns + offset_from_boottime(CLOCK_REALTIME);
}

/* Map ----------------------------------------------------------------------- */

static int compare_tuples(const void *a, const void *b)
{
	const struct gt_clock_tuple *x = a, *y = b;

	return (x->boottime_ns > y->boottime_ns) - (x->boottime_ns < y->boottime_ns);
}

static int compare_rates(const void *a, const void *b)
{
	const struct gt_clock_ratio *x = a, *y = b;
	unsigned __int128 l = (unsigned __int128)x->out * y->in,
			  r = (unsigned __int128)y->out * x->in;

	return (l > r) - (l < r);
}

/* Find the rate of the ticks while the host is awake: the median over MONOTONIC, which excludes
 * suspends. */
static int usual_rate(const struct gt_clock_tuple *t, size_t n, struct gt_clock_ratio *usual)
{
	struct gt_clock_ratio *rates = calloc(n ? n : 1, sizeof *rates);
	size_t count = 0, i, last = 0;

	if (!rates)
		return -ENOMEM;
	for (i = 1; i < n; i++) {
		if (t[i].ticks <= t[last].ticks ||
		    t[i].monotonic_ns < t[last].monotonic_ns + 1000000)
			continue;
		rates[count].in = t[i].ticks - t[last].ticks;
		rates[count++].out = t[i].monotonic_ns - t[last].monotonic_ns;
		last = i;
	}
	usual->in = usual->out = 0;
	if (count) {
		qsort(rates, count, sizeof *rates, compare_rates);
		*usual = rates[count / 2];
	}
	free(rates);
	return 0;
}

/* Return the largest distance of a tuple from the line through its neighbours, excluding
 * suspends. */
static uint64_t residual(const struct gt_clock_tuple *t, size_t n)
{
	uint64_t worst = 0;
	size_t i;

	for (i = 1; i + 1 < n; i++) {
		const struct gt_clock_tuple *a = &t[i - 1], *b = &t[i + 1];
		uint64_t slept = (b->boottime_ns - b->monotonic_ns) -
				 (a->boottime_ns - a->monotonic_ns),
			 at, off;

		if (t[i].ticks <= a->ticks || b->ticks <= t[i].ticks)
			continue;
		if ((int64_t)slept > 1000000 || (int64_t)slept < -1000000)
			continue;
		at = a->boottime_ns +
		     (uint64_t)((unsigned __int128)(t[i].ticks - a->ticks) *
				(b->boottime_ns - a->boottime_ns) / (b->ticks - a->ticks));
		off = at > t[i].boottime_ns ? at - t[i].boottime_ns : t[i].boottime_ns - at;
		worst = off > worst ? off : worst;
	}
	return worst;
}

static int init_lines(struct gt_clock_lines *lines, const struct gt_clock_tuple *t, size_t n,
		      size_t member, const struct gt_clock_ratio *usual)
{
	struct gt_clock_point *points = calloc(n ? n : 1, sizeof *points);
	size_t i;
	int status;

	if (!points)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		memcpy(&points[i].in, (const char *)&t[i] + member, sizeof points[i].in);
		points[i].out = t[i].boottime_ns;
	}
	status = gt_clock_lines_init(lines, points, n, usual);
	free(points);
	return status;
}

int gt_host_clock_map_create_shifted(const struct gt_clock_tuple *tuples, size_t count,
				     int64_t shift_ns, struct gt_host_clock_map **out)
{
	static const struct gt_clock_ratio one = {1, 1};
	const struct gt_clock_point moved = {shift_ns < 0 ? 0 - (uint64_t)shift_ns : 0,
					     shift_ns < 0 ? 0 : (uint64_t)shift_ns};
	struct gt_host_clock_map *map = calloc(1, sizeof *map);
	struct gt_clock_ratio usual;
	int status = -ENOMEM;
	size_t i;

	*out = NULL;
	if (!map)
		return -ENOMEM;
	map->tuples = calloc(count ? count : 1, sizeof *map->tuples);
	if (!map->tuples)
		goto fail;
	map->count = count;
	if (count)
		memcpy(map->tuples, tuples, count * sizeof *tuples);
	for (i = 0; i < count; i++)
		map->tuples[i].boottime_ns += (uint64_t)shift_ns;
	qsort(map->tuples, count, sizeof *map->tuples, compare_tuples);
	status = usual_rate(map->tuples, count, &usual);
	if (status)
		goto fail;
#define LINES(clock, member, rate)                                                \
	if ((status = init_lines(&map->clock, map->tuples, count,                 \
				 offsetof(struct gt_clock_tuple, member), rate))) \
	goto fail
	LINES(ticks, ticks, &usual);
	LINES(monotonic, monotonic_ns, &one);
	LINES(raw, raw_ns, &one);
	LINES(realtime, realtime_ns, NULL);
#undef LINES
	status = gt_clock_lines_init(&map->boottime, &moved, shift_ns != 0, &one);
	if (status)
		goto fail;
	map->residual_ns = residual(map->tuples, count);
	if (count == 1 && map->tuples[0].ticks + (uint64_t)shift_ns != map->tuples[0].boottime_ns)
		map->residual_ns = UINT64_MAX; /* the rate is unknown */
	*out = map;
	return 0;
fail:
	gt_host_clock_map_destroy(map);
	return status;
}

int gt_host_clock_map_create(const struct gt_clock_tuple *tuples, size_t count,
			     struct gt_host_clock_map **out)
{
	return gt_host_clock_map_create_shifted(tuples, count, 0, out);
}

void gt_host_clock_map_destroy(struct gt_host_clock_map *map)
{
	if (!map)
		return;
	gt_clock_lines_fini(&map->ticks);
	gt_clock_lines_fini(&map->monotonic);
	gt_clock_lines_fini(&map->raw);
	gt_clock_lines_fini(&map->realtime);
	gt_clock_lines_fini(&map->boottime);
	free(map->tuples);
	free(map);
}

const struct gt_clock_lines *gt_host_clock_lines(const struct gt_host_clock_map *map)
{
	return &map->ticks;
}

uint64_t gt_host_clock_to_ns(const struct gt_host_clock_map *map, uint64_t ticks)
{
	return gt_clock_line_convert(gt_clock_lines_find(&map->ticks, ticks), ticks);
}

const struct gt_clock_lines *gt_host_clock_lines_of(const struct gt_host_clock_map *map,
						    enum gt_clock_method method)
{
	switch (method) {
	case GT_CLOCK_HOST_RAW: return &map->raw;
	case GT_CLOCK_HOST_MONOTONIC: return &map->monotonic;
	case GT_CLOCK_HOST_REALTIME: return &map->realtime;
	case GT_CLOCK_HOST_TICKS: return &map->ticks;
	default: return &map->boottime;
	}
}

uint64_t gt_host_clock_from(const struct gt_host_clock_map *map, enum gt_clock_method method,
			    uint64_t ns)
{
	return gt_clock_line_convert(gt_clock_lines_find(gt_host_clock_lines_of(map, method), ns),
				     ns);
}

int64_t gt_host_clock_realtime_offset_ns(const struct gt_host_clock_map *map, uint64_t boottime_ns)
{
	size_t low = 0, high = map->count;

	if (!map->count)
		return 0;
	/* take the last tuple at or before that time, so that a step of the wall clock takes effect
	 * late, never early */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (map->tuples[middle].boottime_ns <= boottime_ns)
			low = middle;
		else
			high = middle;
	}
	return (int64_t)(map->tuples[low].realtime_ns - map->tuples[low].boottime_ns);
}

uint64_t gt_host_clock_residual_ns(const struct gt_host_clock_map *map)
{
	return map->residual_ns;
}
