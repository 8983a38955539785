/* SPDX-License-Identifier: MIT */
/* Clocks: conversion is monotone, and accurate to the jitter of the tuples, for any tuples. Device
 * clocks are recognised. */
#include <time.h>

#include "clock/clock.h"
#include "clock/counter.h"
#include "clock/line.h"
#include "unit.h"
#include "util/clock_ns.h"

#define S UINT64_C(1000000000)

static uint64_t state = 88172645463325252;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static struct gt_clock_tuple tuple(uint64_t ticks, uint64_t boottime)
{
	return (struct gt_clock_tuple){
		ticks, boottime, boottime, boottime + S / 4, boottime + 1700000000 * S, 60};
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Host ---------------------------------------------------------------------- */

UNIT_TEST(a_tuple_reads_all_clocks_of_one_moment)
{
	struct gt_clock_tuple a, b;
	uint32_t host = gt_clock_host_choose();
	struct timespec t;
	uint64_t ns;

	CHECK(host == GT_HOST_CLOCK_COUNTER || host == GT_HOST_CLOCK_BOOTTIME);
	gt_clock_tuple_take(host, &a);
	gt_clock_tuple_take(host, &b);
	CHECK_GT(b.boottime_ns, a.boottime_ns);
	CHECK_GT(b.ticks, a.ticks);
	CHECK_LT(a.spread_ticks, 1000000000);
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	ns = (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
	CHECK_GE(ns, b.raw_ns);
	/* a wide tolerance for slow machines; a wrong clock would differ by far more */
	CHECK_LT(ns - b.raw_ns, 30 * S);
	clock_gettime(CLOCK_REALTIME, &t);
	ns = (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
	CHECK_LT(distance(ns, b.realtime_ns), 30 * S);
	gt_clock_tuple_take(GT_HOST_CLOCK_BOOTTIME, &a);
	CHECK_EQ(a.ticks, a.boottime_ns);
}

/* The CPU's counter, which the kernel of this machine may or may not trust, converts to
 * CLOCK_BOOTTIME between two tuples. */
UNIT_TEST(the_processors_counter_converts_to_boottime)
{
	struct gt_clock_tuple t[2];
	struct gt_host_clock_map *map;
	uint64_t before, ticks, after, at;

	if (!GT_HAS_COUNTER)
		unit_skip("no counter of this processor is known");
	gt_clock_tuple_take(GT_HOST_CLOCK_COUNTER, &t[0]);
	do
		gt_clock_tuple_take(GT_HOST_CLOCK_COUNTER, &t[1]);
	while (t[1].boottime_ns < t[0].boottime_ns + S / 20);
	CHECK_GT(t[1].ticks, t[0].ticks);
	CHECK_EQ(gt_host_clock_map_create(t, 2, &map), 0);
	before = gt_clock_ns(CLOCK_BOOTTIME);
	ticks = gt_counter_read_ordered();
	after = gt_clock_ns(CLOCK_BOOTTIME);
	at = gt_host_clock_to_ns(map, ticks);
	/* the line through the two tuples may be off by the width of their brackets */
	CHECK_GT(at + S / 100, before);
	CHECK_LT(at, after + S / 100);
	gt_host_clock_map_destroy(map);
}

/* A counter at 2.6 GHz that drifts by up to 50 ppm, with a tuple each second and 100 ns of
 * jitter. */
UNIT_TEST(drifting_ticks_convert_within_the_jitter_of_tuples)
{
	struct gt_clock_tuple t[60];
	struct gt_host_clock_map *map;
	uint64_t ticks = 12345678, ns = 5 * S, i, k;
	uint64_t tick_at[60], ns_at[60];

	for (i = 0; i < 60; i++) {
		tick_at[i] = ticks;
		ns_at[i] = ns;
		t[i] = tuple(ticks, ns + draw(100));
		ticks += 2600000000 + draw(130000);
		ns += S;
	}
	CHECK_OK(gt_host_clock_map_create(t, 60, &map));
	for (i = 0; i + 1 < 60; i++)
		for (k = 0; k < 1000; k++) {
			uint64_t at = tick_at[i] + (tick_at[i + 1] - tick_at[i]) * k / 1000;

			CHECK_LE(distance(gt_host_clock_to_ns(map, at), ns_at[i] + S * k / 1000),
				 102);
		}
	CHECK_LT(gt_host_clock_residual_ns(map), 60000);
	CHECK_GT(gt_host_clock_residual_ns(map), 0);
	/* extrapolated beyond both ends, at the rate of the nearest line */
	CHECK_LE(distance(gt_host_clock_to_ns(map, tick_at[0] - 2600000), ns_at[0] - 1000000), 200);
	CHECK_LE(distance(gt_host_clock_to_ns(map, tick_at[59] + 2600000), ns_at[59] + 1000000),
		 200);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(conversion_never_runs_backwards_whatever_the_tuples)
{
	int round;

	for (round = 0; round < 300; round++) {
		struct gt_clock_tuple t[20];
		struct gt_host_clock_map *map;
		size_t n = draw(20), i;
		uint64_t at = 0, last = 0;
		unsigned shift = (unsigned)draw(60);

		for (i = 0; i < n; i++)
			t[i] = (struct gt_clock_tuple){draw(UINT64_MAX) >> shift,
						       draw(UINT64_MAX) >> draw(60),
						       draw(UINT64_MAX) >> shift,
						       draw(UINT64_MAX) >> shift,
						       draw(UINT64_MAX),
						       draw(1000)};
		CHECK_OK(gt_host_clock_map_create(t, n, &map));
		for (i = 0; i < 2000; i++) {
			uint64_t now;

			at = i == 1999 ? UINT64_MAX
			     : at + (UINT64_MAX >> shift) / 1000 > at
				     ? at + (UINT64_MAX >> shift) / 1000
				     : UINT64_MAX;
			now = gt_host_clock_to_ns(map, at);
			CHECK_GE(now, last);
			last = now;
			(void)gt_host_clock_from(map, GT_CLOCK_HOST_REALTIME, at);
			(void)gt_host_clock_realtime_offset_ns(map, at);
		}
		gt_host_clock_map_destroy(map);
	}
}

static void check_plain(const struct gt_clock_line *line, uint64_t in)
{
	if (gt_clock_line_holds(line, in) && gt_clock_line_is_plain(line, in))
		CHECK_EQ(gt_clock_line_convert_plain(line, in),
			 gt_clock_line_convert_any(line, in));
}

UNIT_TEST(the_short_way_converts_as_the_long_one_whatever_the_tuples)
{
	int round;

	for (round = 0; round < 1000; round++) {
		const struct gt_clock_lines *lines;
		struct gt_clock_tuple t[20];
		struct gt_host_clock_map *map;
		unsigned shift = (unsigned)draw(60), other = (unsigned)draw(60);
		size_t n = draw(20), i, k;

		for (i = 0; i < n; i++)
			t[i] = tuple(draw(UINT64_MAX) >> shift, draw(UINT64_MAX) >> other);
		CHECK_OK(gt_host_clock_map_create(t, n, &map));
		lines = gt_host_clock_lines(map);
		for (i = 0; i < lines->count; i++) {
			const struct gt_clock_line *p = &lines->list[i];
			uint64_t end = p->in0 + p->plain;

			/* stamps that lie on another line are not attributed to this line */
			CHECK_LE(p->plain, p->to - p->in0);
			for (k = 0; k < 100; k++)
				check_plain(p, p->in0 + draw(p->plain + 1));
			for (k = 0; k < 3; k++) {
				check_plain(p, p->in0 + k);
				check_plain(p, p->in0 - k);
				check_plain(p, end - k);
				check_plain(p, end + k);
			}
		}
		gt_host_clock_map_destroy(map);
	}
}

UNIT_TEST(stamps_of_ordinary_clocks_take_the_short_way)
{
	struct gt_clock_tuple t[10];
	struct gt_host_clock_map *map;
	const struct gt_clock_lines *lines;
	uint64_t tenths, i;

	for (tenths = 2; tenths <= 60; tenths++) { /* frequency in units of 0.1 GHz */
		for (i = 0; i < 10; i++)
			t[i] = tuple(i * S / 10 * tenths + draw(100), 100 * S + i * S);
		CHECK_OK(gt_host_clock_map_create(t, 10, &map));
		lines = gt_host_clock_lines(map);
		for (i = 0; i + 1 < lines->count; i++)
			CHECK_GE(lines->list[i].plain + 1, lines->list[i].to - lines->list[i].in0);
		/* the last line lasts for months */
		CHECK_GT(lines->list[i].plain, 100 * 86400 * S / 10 * tenths);
		gt_host_clock_map_destroy(map);
	}
	CHECK_OK(gt_host_clock_map_create(NULL, 0, &map)); /* the identity */
	CHECK_GT(gt_host_clock_lines(map)->list[0].plain, 100 * 86400 * S);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(the_ends_of_64_bits_convert_without_wrapping)
{
	struct gt_clock_tuple t[2] = {tuple(UINT64_MAX - 2600000001, 100 * S),
				      tuple(UINT64_MAX - 1, 101 * S)};
	struct gt_host_clock_map *map;

	CHECK_OK(gt_host_clock_map_create(t, 2, &map));
	CHECK_LE(distance(gt_host_clock_to_ns(map, UINT64_MAX), 101 * S), 1);
	CHECK_LE(distance(gt_host_clock_to_ns(map, UINT64_MAX - 1300000001), 100 * S + S / 2), 1);
	CHECK_EQ(gt_host_clock_to_ns(map, 0), 0); /* before BOOTTIME started: clamped to 0 */
	gt_host_clock_map_destroy(map);
	t[0] = tuple(0, UINT64_MAX - S);
	t[1] = tuple(1000000000, UINT64_MAX);
	CHECK_OK(gt_host_clock_map_create(t, 2, &map));
	/* and not beyond UINT64_MAX at the other end */
	CHECK_EQ(gt_host_clock_to_ns(map, UINT64_MAX), UINT64_MAX);
	CHECK_EQ(gt_host_clock_to_ns(map, 0), UINT64_MAX - S);
	gt_host_clock_map_destroy(map);
}

/* The host sleeps for an hour within the second between two tuples. Ticks and MONOTONIC stop
 * meanwhile. */
UNIT_TEST(a_suspended_host_does_not_stretch_the_second_around_it)
{
	struct gt_clock_tuple t[6];
	struct gt_host_clock_map *map;
	uint64_t i;

	for (i = 0; i < 6; i++) {
		uint64_t sleep = i >= 3 ? 3600 * S : 0;

		t[i] = tuple(i * 2600000000, 10 * S + i * S + sleep);
		t[i].monotonic_ns = 10 * S + i * S;
		t[i].raw_ns = t[i].monotonic_ns + 77;
	}
	CHECK_OK(gt_host_clock_map_create(t, 6, &map));
	/* a call keeps its own duration, and is not 30 minutes longer */
	CHECK_LE(distance(gt_host_clock_to_ns(map, 2 * 2600000000 + 1300000000), 12 * S + S / 2),
		 2);
	CHECK_EQ(gt_host_clock_to_ns(map, 3 * 2600000000), 3600 * S + 13 * S);
	CHECK_LE(distance(gt_host_clock_from(map, GT_CLOCK_HOST_MONOTONIC, 12 * S + S / 2),
			  12 * S + S / 2),
		 2);
	CHECK_LE(distance(gt_host_clock_from(map, GT_CLOCK_HOST_RAW, 14 * S + 77), 3614 * S), 2);
	CHECK_LT(gt_host_clock_residual_ns(map), 100);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(ticks_that_go_on_while_the_host_sleeps_are_followed)
{
	struct gt_clock_tuple t[6];
	struct gt_host_clock_map *map;
	uint64_t i;

	for (i = 0; i < 6; i++) {
		uint64_t sleep = i >= 3 ? 3600 * S : 0;

		t[i] = tuple((10 * S + i * S + sleep) / 10 * 26, 10 * S + i * S + sleep);
		t[i].monotonic_ns = 10 * S + i * S;
	}
	CHECK_OK(gt_host_clock_map_create(t, 6, &map));
	CHECK_LE(distance(gt_host_clock_to_ns(map, (12 * S + 1800 * S) / 10 * 26),
			  12 * S + 1800 * S),
		 20);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(one_tuple_gives_an_offset_and_no_tuple_the_identity)
{
	struct gt_clock_tuple t = tuple(7 * S, 9 * S);
	struct gt_host_clock_map *map;

	CHECK_OK(gt_host_clock_map_create(NULL, 0, &map));
	CHECK_EQ(gt_host_clock_to_ns(map, 12345), 12345);
	CHECK_EQ(gt_host_clock_realtime_offset_ns(map, 5), 0);
	gt_host_clock_map_destroy(map);
	CHECK_OK(gt_host_clock_map_create(&t, 1, &map));
	CHECK_EQ(gt_host_clock_to_ns(map, 7 * S), 9 * S);
	/* the rate of these ticks is unknown */
	CHECK_EQ(gt_host_clock_residual_ns(map), UINT64_MAX);
	gt_host_clock_map_destroy(map);
	t.ticks = t.boottime_ns;
	CHECK_OK(gt_host_clock_map_create(&t, 1, &map));
	CHECK_EQ(gt_host_clock_to_ns(map, 123 * S), 123 * S);
	CHECK_EQ(gt_host_clock_residual_ns(map), 0);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(a_program_of_less_than_a_millisecond_has_a_rate_too)
{
	struct gt_clock_tuple t[2] = {tuple(2600000, 9 * S),
				      tuple(2600000 + 780000, 9 * S + 300000)};
	struct gt_host_clock_map *map;

	CHECK_OK(gt_host_clock_map_create(t, 2, &map));
	CHECK_LE(distance(gt_host_clock_to_ns(map, 2600000 + 390000), 9 * S + 150000), 1);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(wall_time_follows_a_step_of_the_clock)
{
	struct gt_clock_tuple t[3] = {tuple(0, 10 * S), tuple(1 * S, 11 * S), tuple(2 * S, 12 * S)};
	struct gt_host_clock_map *map;

	t[2].realtime_ns += 3600 * S;
	CHECK_OK(gt_host_clock_map_create(t, 3, &map));
	CHECK_EQ(gt_host_clock_realtime_offset_ns(map, 0), 1700000000 * (int64_t)S);
	CHECK_EQ(gt_host_clock_realtime_offset_ns(map, 11 * S + 5), 1700000000 * (int64_t)S);
	CHECK_EQ(gt_host_clock_realtime_offset_ns(map, 12 * S), 1700003600 * (int64_t)S);
	gt_host_clock_map_destroy(map);
}

UNIT_TEST(cached_lines_convert_as_the_map_does)
{
	struct gt_clock_tuple t[4] = {tuple(100, 10 * S), tuple(26 * S / 10, 11 * S),
				      tuple(26 * S / 5, 12 * S + 5000), tuple(8 * S, 13 * S)};
	const struct gt_clock_line *line = NULL;
	struct gt_host_clock_map *map;
	uint64_t i;

	CHECK_OK(gt_host_clock_map_create(t, 4, &map));
	for (i = 0; i < 10000; i++) {
		uint64_t at = i % 2 ? draw(9 * S) : i * 800000;

		if (!line || !gt_clock_line_holds(line, at))
			line = gt_clock_lines_find(gt_host_clock_lines(map), at);
		CHECK(gt_clock_line_holds(line, at));
		CHECK_EQ(gt_clock_line_convert(line, at), gt_host_clock_to_ns(map, at));
	}
	gt_host_clock_map_destroy(map);
}

/* Devices ------------------------------------------------------------------- */

/* 1 tick is 1 ns; RAW is 250 ms ahead and 30 ppm fast. */
static struct gt_host_clock_map *plain_host(void)
{
	struct gt_clock_tuple t[40];
	struct gt_host_clock_map *map;
	uint64_t i;

	for (i = 0; i < 40; i++) {
		t[i] = tuple(10 * S + i * S, 10 * S + i * S);
		t[i].raw_ns = 10 * S + i * S + S / 4 + i * 30000;
	}
	CHECK_OK(gt_host_clock_map_create(t, 40, &map));
	return map;
}

static uint64_t raw_of(uint64_t ns)
{
	return ns + S / 4 + (ns - 10 * S) / 1000000 * 30 + (ns - 10 * S) % 1000000 * 30 / 1000000;
}

typedef uint64_t stamp_fn(uint64_t ns);

/* Add an activity each millisecond. Its call takes 5 to 25 us, and the activity is queued 1 to 4 us
 * after the call starts. */
static struct gt_device_clock *device_of(struct gt_host_clock_map *host, stamp_fn *stamp, bool ends,
					 unsigned count)
{
	struct gt_device_clock *clock;
	unsigned i;

	CHECK_OK(gt_device_clock_create(host, &clock));
	for (i = 0; i < count; i++) {
		uint64_t start = 11 * S + i * 5000000 + draw(1000000),
			 end = start + 5000 + draw(20000);

		gt_device_clock_add_activity(clock, start, ends ? end : 0,
					     stamp(start + 1000 + draw(3000)));
	}
	gt_device_clock_settle(clock);
	return clock;
}

static void check_converts(struct gt_device_clock *clock, stamp_fn *stamp, uint64_t within)
{
	unsigned i;

	for (i = 0; i < 5000; i++)
		CHECK_LE(distance(gt_device_clock_to_ns(clock, stamp(11 * S + i * 5000000)),
				  11 * S + i * 5000000),
			 within);
}

UNIT_TEST(a_device_that_stamps_in_monotonic_raw_is_recognised)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock = device_of(host, raw_of, true, 3000);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_RAW);
	CHECK_EQ(gt_device_clock_violations(clock), 0);
	check_converts(clock, raw_of, 5);
	gt_device_clock_destroy(clock);
	clock = device_of(host, raw_of, false, 3000); /* the ends of calls are unknown */
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_RAW);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

static uint64_t monotonic_of(uint64_t ns)
{
	return ns;
}

static uint64_t realtime_of(uint64_t ns)
{
	return ns + 1700000000 * S;
}

UNIT_TEST(devices_that_stamp_in_other_host_clocks_are_recognised)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock = device_of(host, monotonic_of, true, 100);

	/* BOOTTIME equals MONOTONIC here */
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_MONOTONIC);
	check_converts(clock, monotonic_of, 2);
	gt_device_clock_destroy(clock);
	clock = device_of(host, realtime_of, true, 1);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_REALTIME);
	check_converts(clock, realtime_of, 2);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* RAW and MONOTONIC are 3 ms apart, as after a short uptime, and the ends of calls are unknown, so
 * both clocks fit. */
UNIT_TEST(of_two_host_clocks_that_fit_the_nearer_one_is_taken)
{
	struct gt_clock_tuple t[2] = {tuple(10 * S, 10 * S), tuple(50 * S, 50 * S)};
	struct gt_host_clock_map *host;
	struct gt_device_clock *clock;

	t[0].raw_ns = 10 * S - 3000000;
	t[1].raw_ns = 50 * S - 3000000;
	CHECK_OK(gt_host_clock_map_create(t, 2, &host));
	clock = device_of(host, monotonic_of, false, 100);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_MONOTONIC);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

static uint64_t sometimes_of(uint64_t ns)
{
	return raw_of(ns) + (draw(50) == 0 ? 40 * S : 0);
}

static uint64_t half_of(uint64_t ns)
{
	return raw_of(ns) + (draw(2) ? 40 * S : 0);
}

UNIT_TEST(a_few_odd_stamps_do_not_hide_the_clock_but_many_do)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock = device_of(host, sometimes_of, true, 3000);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_RAW);
	gt_device_clock_destroy(clock);
	clock = device_of(host, half_of, true, 3000);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* A separate counter: far from the host clocks, and 80 ppm slow. */
static uint64_t own_of(uint64_t ns)
{
	return ns - 9 * S - (ns - 10 * S) / 12500;
}

UNIT_TEST(an_unknown_clock_gets_the_smallest_offset_and_its_drift)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock = device_of(host, own_of, true, 4000);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	CHECK_EQ(gt_device_clock_violations(clock), 0);
	/* each activity is queued at least 1 us into its call, so 1 us remains unknown */
	check_converts(clock, own_of, 1500);
	CHECK_GE(gt_device_clock_residual_ns(clock), 1000);
	CHECK_LE(gt_device_clock_residual_ns(clock), 25000);
	gt_device_clock_destroy(clock);
	clock = device_of(host, own_of, true, 20); /* too few readings to determine the drift */
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	CHECK_EQ(gt_device_clock_violations(clock), 0);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

static uint64_t far_of(uint64_t ns)
{
	return ns + (UINT64_MAX - 60 * S);
}

UNIT_TEST(a_device_clock_near_the_end_of_64_bits_has_no_trouble)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock = device_of(host, far_of, true, 3000);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	CHECK_EQ(gt_device_clock_violations(clock), 0);
	check_converts(clock, far_of, 1500);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* A counter with 24 ticks per us that is 100 ppm off. */
static uint64_t timer_of(uint64_t ns)
{
	return 5000000 + (ns - 10 * S) / 1000 * 24 + (ns - 10 * S) / 10000 / 42;
}

UNIT_TEST(readings_of_a_device_timer_come_first)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock;
	uint64_t ns, i;

	CHECK_OK(gt_device_clock_create(host, &clock));
	for (ns = 11 * S; ns < 40 * S; ns += S) {
		/* of several readings close together, the one with the smallest bracket counts */
		for (i = 0; i < 3; i++)
			CHECK_OK(gt_device_clock_add_reading(
				clock, timer_of(ns + i * 100000) + (i == 1 ? 0 : 500),
				ns + i * 100000 - (i == 1 ? 200 : 90000),
				ns + i * 100000 + (i == 1 ? 200 : 90000)));
		gt_device_clock_add_activity(clock, ns, ns + 1000, timer_of(ns + 500));
	}
	CHECK_EQ(gt_device_clock_add_reading(clock, 1, 5, 4), -22); /* after < before */
	gt_device_clock_settle(clock);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_TIMER);
	for (ns = 11 * S; ns < 40 * S; ns += 77777777)
		/* a tick is 42 ns, the jitter 500 ns */
		CHECK_LE(distance(gt_device_clock_to_ns(clock, timer_of(ns)), ns), 1200);
	CHECK_EQ(gt_device_clock_violations(clock), 0);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* One window of readings is too short to measure a rate. The declared rate is used or, without a
 * declared rate, the rate between the first and last reading. */
UNIT_TEST(a_short_run_has_the_rate_that_its_device_declares)
{
	static const uint64_t rates[] = {S, 25000000, 19200000, 0};

	for (unsigned k = 0; k < 4; k++) {
		struct gt_host_clock_map *host = plain_host();
		struct gt_device_clock *clock;
		uint64_t hz = rates[k] ? rates[k] : 25000000, ns;

		CHECK_OK(gt_device_clock_create(host, &clock));
		if (rates[k])
			gt_device_clock_set_rate(clock, rates[k]);
		for (ns = 0; ns <= 10000000; ns += 5000000)
			CHECK_OK(gt_device_clock_add_reading(clock, 7000 + ns * hz / S,
							     20 * S + ns - 200, 20 * S + ns + 200));
		for (ns = 1000000; ns < 9000000; ns += 100000)
			gt_device_clock_add_activity(clock, 20 * S + ns, 20 * S + ns + 1000,
						     7000 + (ns + 500) * hz / S);
		gt_device_clock_settle(clock);
		CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_TIMER);
		for (ns = 0; ns <= 10000000; ns += 1000000) /* 20 ms, as in the readings */
			CHECK_LE(distance(gt_device_clock_to_ns(clock, 7000 + ns * hz / S),
					  20 * S + ns),
				 1000);
		gt_device_clock_destroy(clock);
		gt_host_clock_map_destroy(host);
	}
}

UNIT_TEST(a_declared_rate_counts_without_readings_too)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock;

	CHECK_OK(gt_device_clock_create(host, &clock));
	gt_device_clock_set_rate(clock, 25000000);
	for (uint64_t ns = 0; ns < 2 * S; ns += 10000000)
		gt_device_clock_add_activity(clock, 20 * S + ns, 20 * S + ns + 1000,
					     7000 + (ns + 500) / 40);
	gt_device_clock_settle(clock);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	CHECK_EQ(gt_device_clock_wants_bounds(clock), false);
	for (uint64_t ns = 0; ns < 2 * S; ns += 10000000)
		CHECK_LE(distance(gt_device_clock_to_ns(clock, 7000 + ns / 40), 20 * S + ns), 1000);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* 2.5 ticks per ns */
static struct gt_host_clock_map *quick_host(void)
{
	struct gt_clock_tuple t[40];
	struct gt_host_clock_map *map;

	for (uint64_t i = 0; i < 40; i++)
		t[i] = tuple(10 * S + i * S * 5 / 2, 10 * S + i * S);
	CHECK_OK(gt_host_clock_map_create(t, 40, &map));
	return map;
}

UNIT_TEST(a_device_that_stamps_with_the_hosts_ticks_needs_one_reading_that_says_so)
{
	struct gt_host_clock_map *host = quick_host();
	struct gt_device_clock *clock;
	uint64_t ticks = 10 * S + 5 * S;

	CHECK_OK(gt_device_clock_create(host, &clock));
	CHECK_OK(gt_device_clock_add_reading(clock, ticks, ticks, ticks));
	gt_device_clock_settle(clock);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_HOST_TICKS);
	for (uint64_t i = 0; i < 30; i++)
		CHECK_LE(distance(gt_device_clock_to_ns(clock, 10 * S + i * S * 5 / 2),
				  10 * S + i * S),
			 1);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

UNIT_TEST(work_that_seems_to_start_before_its_call_is_counted)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock;
	uint64_t ns = 11 * S;

	CHECK_OK(gt_device_clock_create(host, &clock));
	CHECK_OK(gt_device_clock_add_reading(clock, ns, ns - 100, ns + 100));
	gt_device_clock_add_activity(clock, ns, ns + 1000, ns - 50000);
	/* within the accuracy of the tuples */
	gt_device_clock_add_activity(clock, ns, ns + 1000, ns - 500);
	gt_device_clock_add_activity(clock, ns, ns + 1000, ns + 500);
	gt_device_clock_add_activity(clock, ns, ns + 1000, 0); /* unknown stamp */
	gt_device_clock_settle(clock);
	CHECK_EQ(gt_device_clock_violations(clock), 1);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* Add an activity each @step: queued 1 to 4 us after its call starts, ended 2 to 50 us later; the
 * host observes the end 3 to 20 us after that. */
static struct gt_device_clock *bounded_of(struct gt_host_clock_map *host, stamp_fn *stamp,
					  unsigned count, uint64_t step, bool *violated)
{
	struct gt_device_clock *clock;
	uint64_t at = 11 * S;

	CHECK_OK(gt_device_clock_create(host, &clock));
	for (unsigned i = 0; i < count; i++, at += step) {
		uint64_t queued = at + 1000 + draw(3000), end = queued + 2000 + draw(48000),
			 seen = end + 3000 + draw(17000);

		if (i < 100)
			gt_device_clock_add_activity(clock, at, 0, stamp(queued));
		if (!i)
			gt_device_clock_settle(clock);
		gt_device_clock_add_bound(clock, GT_CLOCK_NOT_EARLIER, stamp(queued), at);
		gt_device_clock_add_bound(clock, GT_CLOCK_NOT_LATER, stamp(end), seen);
	}
	*violated = gt_device_clock_settle_bounds(clock);
	return clock;
}

static uint64_t steady_of(uint64_t ns)
{
	return ns - 9 * S;
}

UNIT_TEST(a_clock_bounded_from_both_sides_lies_in_the_middle)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	struct gt_device_clock *clock = bounded_of(host, steady_of, 2000, 100000, &violated);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_BOUNDS);
	CHECK(!violated);
	CHECK_EQ(gt_device_clock_violations(clock), 0);
	/* the smallest distances are 1 us on one side and 3 us on the other side */
	CHECK_LE(distance(gt_device_clock_to_ns(clock, steady_of(11 * S)), 11 * S), 2100);
	CHECK_LE(gt_device_clock_residual_ns(clock), 2600);
	CHECK_GE(gt_device_clock_residual_ns(clock), 2000);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

UNIT_TEST(the_residual_of_bounds_holds_the_true_time_also_when_the_clock_drifts)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	/* 80 ppm, 20 s: more than the clock keeps */
	struct gt_device_clock *clock = bounded_of(host, own_of, 20000, 1000000, &violated);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_BOUNDS);
	CHECK(!violated);
	for (unsigned i = 0; i < 20000; i++)
		CHECK_LE(distance(gt_device_clock_to_ns(clock,
							own_of(11 * S + i * UINT64_C(1000000))),
				  11 * S + i * UINT64_C(1000000)),
			 gt_device_clock_residual_ns(clock) + 1);
	CHECK_LE(gt_device_clock_residual_ns(clock), 4000);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

UNIT_TEST(more_bounds_than_are_kept_give_the_same_line)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	struct gt_device_clock *clock = bounded_of(host, own_of, 200000, 100000, &violated);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_BOUNDS);
	CHECK(!violated);
	for (unsigned i = 0; i < 200000; i += 7)
		CHECK_LE(distance(gt_device_clock_to_ns(clock,
							own_of(11 * S + i * UINT64_C(100000))),
				  11 * S + i * UINT64_C(100000)),
			 3000);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* 40 ppm slow for 5 s, then 60 ppm fast: no single line fits within 5 us for 10 s. */
static uint64_t bent_of(uint64_t ns)
{
	return ns <= 16 * S ? ns - 9 * S - (ns - 11 * S) / 25000
			    : ns - 9 * S - S / 5000 + (ns - 16 * S) / 50000 * 3;
}

UNIT_TEST(a_clock_that_changes_its_rate_is_followed_by_several_lines)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	struct gt_device_clock *clock = bounded_of(host, bent_of, 10000, 1000000, &violated);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_BOUNDS);
	CHECK(!violated);
	for (unsigned i = 0; i < 10000; i++)
		CHECK_LE(distance(gt_device_clock_to_ns(clock,
							bent_of(11 * S + i * UINT64_C(1000000))),
				  11 * S + i * UINT64_C(1000000)),
			 12000);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* One stamp in a thousand is far off. */
static uint64_t rarely_of(uint64_t ns)
{
	return steady_of(ns) + (draw(1000) == 0 ? (draw(2) ? 40 * S : -S) : 0);
}

UNIT_TEST(a_few_impossible_stamps_are_violations_and_do_not_move_the_clock)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	struct gt_device_clock *clock = bounded_of(host, rarely_of, 2000, 100000, &violated);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_BOUNDS);
	CHECK(violated);
	CHECK_LE(distance(gt_device_clock_to_ns(clock, steady_of(11 * S)), 11 * S), 3000);
	gt_device_clock_check_bound(clock, GT_CLOCK_NOT_EARLIER, steady_of(11 * S) - S, 11 * S);
	gt_device_clock_check_bound(clock, GT_CLOCK_NOT_LATER, steady_of(11 * S) + S, 11 * S);
	gt_device_clock_check_bound(clock, GT_CLOCK_NOT_LATER, steady_of(11 * S), 11 * S + 20000);
	CHECK_EQ(gt_device_clock_violations(clock), 2);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

static uint64_t random_of(uint64_t ns)
{
	return steady_of(ns) + draw(S);
}

UNIT_TEST(stamps_of_no_clock_keep_the_smallest_offset_and_a_residual_that_says_so)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	struct gt_device_clock *clock = bounded_of(host, random_of, 2000, 100000, &violated);

	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	CHECK(violated);
	CHECK_GT(gt_device_clock_residual_ns(clock), S / 2);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* A counter that restarts at 0 halfway: a single conversion of ascending stamps cannot fit both
 * halves. */
static uint64_t wrapping_of(uint64_t ns)
{
	return ns - 11 * S - S / 10;
}

UNIT_TEST(a_counter_that_wraps_has_violations_instead_of_a_wrong_clock)
{
	struct gt_host_clock_map *host = plain_host();
	bool violated;
	struct gt_device_clock *clock = bounded_of(host, wrapping_of, 2000, 100000, &violated);

	CHECK(violated);
	CHECK_GT(gt_device_clock_residual_ns(clock), S);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

UNIT_TEST(readings_that_much_work_contradicts_are_not_believed)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock;
	uint64_t ns;

	CHECK_OK(gt_device_clock_create(host, &clock));
	for (ns = 11 * S; ns < 12 * S; ns += S / 100) {
		/* a second ahead of the stamps */
		CHECK_OK(gt_device_clock_add_reading(clock, steady_of(ns) + S, ns - 100, ns + 100));
		gt_device_clock_add_activity(clock, ns, ns + 5000, steady_of(ns + 1000));
	}
	gt_device_clock_settle(clock);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_OFFSET);
	CHECK_LE(distance(gt_device_clock_to_ns(clock, steady_of(11 * S)), 11 * S), 1000);
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

UNIT_TEST(a_device_without_any_sign_converts_to_itself)
{
	struct gt_host_clock_map *host = plain_host();
	struct gt_device_clock *clock;

	CHECK_OK(gt_device_clock_create(host, &clock));
	gt_device_clock_settle(clock);
	CHECK_EQ(gt_device_clock_method(clock), GT_CLOCK_UNKNOWN);
	CHECK_EQ(gt_device_clock_to_ns(clock, 12345), 12345);
	CHECK_STR(gt_clock_method_name(GT_CLOCK_UNKNOWN), "unknown");
	CHECK_STR(gt_clock_method_name((enum gt_clock_method)99), "unknown");
	gt_device_clock_destroy(clock);
	gt_host_clock_map_destroy(host);
}

/* Damaged captures give arbitrary values: the conversion returns a monotone result without overflow
 * (checked by the sanitizers). */
UNIT_TEST(device_clocks_take_any_values)
{
	int round;

	for (round = 0; round < 300; round++) {
		struct gt_host_clock_map *host = plain_host();
		struct gt_device_clock *clock;
		unsigned shift = (unsigned)draw(64), n = (unsigned)draw(400), i;
		uint64_t last = 0;

		CHECK_OK(gt_device_clock_create(host, &clock));
		if (round % 5 == 0)
			gt_device_clock_set_rate(clock, draw(UINT64_MAX) >> draw(64));
		for (i = 0; i < n; i++) {
			if (round % 3 == 0)
				(void)gt_device_clock_add_reading(clock, draw(UINT64_MAX) >> shift,
								  draw(UINT64_MAX) >> draw(64),
								  draw(UINT64_MAX) >> draw(64));
			gt_device_clock_add_activity(clock, draw(UINT64_MAX) >> draw(64),
						     draw(UINT64_MAX) >> draw(64),
						     draw(UINT64_MAX) >> shift);
		}
		gt_device_clock_settle(clock);
		for (i = 0; i < n && round % 2; i++)
			gt_device_clock_add_bound(clock, (enum gt_clock_side)draw(2),
						  draw(UINT64_MAX) >> shift,
						  draw(UINT64_MAX) >> draw(64));
		(void)gt_device_clock_settle_bounds(clock);
		for (i = 0; i < 1000; i++) {
			uint64_t now = gt_device_clock_to_ns(clock, UINT64_MAX / 999 * i);

			CHECK_GE(now, last);
			last = now;
		}
		gt_device_clock_destroy(clock);
		gt_host_clock_map_destroy(host);
	}
}
