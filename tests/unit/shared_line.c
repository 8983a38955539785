/* SPDX-License-Identifier: MIT */
/* Derives a host's clock from calls that it made together with another host, with synthetic clocks
 * whose offsets are known. The stated residual covers the error. */
#include <errno.h>

#include "capture/shared_line.h"
#include "tests/unit/unit.h"

/* Synthetic calls, one every PERIOD_NS. */
enum { CALLS = 400, PERIOD_NS = 10000000, LEAVE_NS = 3000 };
#define BEGIN_NS UINT64_C(100000000000)

struct made {
	int64_t offset_ns; /* this host's clock minus the other host's clock, at time 0 */
	int64_t ppb;       /* by how much this host's clock is faster, in parts per billion */
	uint64_t jitter_ns, late_here_ns, late_there_ns;
	unsigned outliers; /* number of returns per 1,000 that are up to 5 ms late */
	uint64_t seed;
};

static uint64_t draw(struct made *m, uint64_t below)
{
	m->seed = m->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return below ? (m->seed >> 33) % below : 0;
}

/* Convert a time of the other host to this host's clock. */
static uint64_t truth(const struct made *m, uint64_t ns)
{
	return ns + (uint64_t)m->offset_ns + (uint64_t)((int64_t)(ns / 1000) * m->ppb / 1000000);
}

static uint64_t leave(struct made *m, uint64_t all_ns)
{
	uint64_t ns = all_ns + LEAVE_NS + draw(m, 500);

	return draw(m, 1000) < m->outliers ? ns + draw(m, 5000000) : ns;
}

static void add_calls(struct made *m, struct gt_shared_calls *s, unsigned calls)
{
	for (unsigned i = 0; i < calls; i++) {
		uint64_t at = BEGIN_NS + (uint64_t)i * PERIOD_NS,
			 there = at + draw(m, m->jitter_ns) + m->late_there_ns,
			 here = at + draw(m, m->jitter_ns) + m->late_here_ns,
			 all = there > here ? there : here;
		struct gt_shared_stay a = {there, leave(m, all), true},
				      b = {truth(m, here), truth(m, leave(m, all)), true};

		gt_shared_calls_add(s, &a, &b);
	}
}

/* Return the largest error during the calls, which must not exceed the stated residual. */
static uint64_t check_covered(struct made m, uint64_t *residual_ns)
{
	struct gt_shared_calls s = {0};
	struct gt_clock_lines lines;
	uint64_t worst = 0;

	add_calls(&m, &s, CALLS);
	CHECK_EQ(gt_shared_calls_fit(&s, &lines, residual_ns), 0);
	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t at = BEGIN_NS + (uint64_t)i * PERIOD_NS, right = truth(&m, at),
			 got = gt_clock_line_convert(gt_clock_lines_find(&lines, at), at),
			 error = got > right ? got - right : right - got;

		worst = error > worst ? error : worst;
	}
	CHECK(worst <= *residual_ns + 2); /* lines are in whole ns */
	gt_clock_lines_fini(&lines);
	gt_shared_calls_fini(&s);
	return worst;
}

/* Return the error at a time before the first call. */
static uint64_t error_before(struct made m, uint64_t before_ns)
{
	struct gt_shared_calls s = {0};
	struct gt_clock_lines lines;
	uint64_t residual, at = BEGIN_NS - before_ns, got, right = truth(&m, at);

	add_calls(&m, &s, CALLS);
	CHECK_EQ(gt_shared_calls_fit(&s, &lines, &residual), 0);
	got = gt_clock_line_convert(gt_clock_lines_find(&lines, at), at);
	gt_clock_lines_fini(&lines);
	gt_shared_calls_fini(&s);
	return got > right ? got - right : right - got;
}

UNIT_TEST(an_offset_is_found_within_the_jitter)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t residual;
		struct made m = {.offset_ns = (int64_t)(seed * 7919 * 1000) - 200000000,
				 .jitter_ns = 20000,
				 .seed = seed};

		check_covered(m, &residual);
		CHECK(residual < 20000);
	}
}

UNIT_TEST(clocks_that_drift_are_followed)
{
	static const int64_t ppb[] = {-150000, -40000, -1000, 1000, 40000, 150000};

	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t residual;
		struct made m = {.offset_ns = 5000000,
				 .ppb = ppb[seed % 6],
				 .jitter_ns = 20000,
				 .seed = seed};

		check_covered(m, &residual);
		CHECK(residual < 20000);
	}
}

UNIT_TEST(returns_that_come_late_do_no_harm)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t residual;
		struct made m = {.offset_ns = -3000000,
				 .ppb = 20000,
				 .jitter_ns = 20000,
				 .outliers = 300,
				 .seed = seed};

		check_covered(m, &residual);
		CHECK(residual < 25000);
	}
}

/* The distance of the bounds is the time that the other host waits. The returns are more exact, but
 * the residual still covers every offset within the bounds. */
UNIT_TEST(a_host_that_is_always_late_is_placed_by_returns_and_told_with_all_doubt)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t residual, worst;
		struct made m = {.offset_ns = 1234567,
				 .ppb = 30000,
				 .jitter_ns = 20000,
				 .late_here_ns = seed % 2 ? 2000000 : 0,
				 .late_there_ns = seed % 2 ? 0 : 2000000,
				 .seed = seed};

		worst = check_covered(m, &residual);
		CHECK(residual > 1900000 && residual < 2300000);
		CHECK(worst < 50000);
		CHECK(error_before(m, UINT64_C(20000000000)) < 100000);
	}
}

/* The residual also covers the error if the two hosts do not return at the same time: one host
 * always returns 1 ms later. */
UNIT_TEST(where_one_host_returns_later_the_error_is_covered)
{
	struct made m = {.offset_ns = 77777, .jitter_ns = 20000, .late_there_ns = 2000000};
	struct gt_shared_calls s = {0};
	struct gt_clock_lines lines;
	uint64_t residual, at = BEGIN_NS + CALLS / 2 * (uint64_t)PERIOD_NS, got, right;

	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t begin = BEGIN_NS + (uint64_t)i * PERIOD_NS,
			 there = begin + m.late_there_ns, here = begin + draw(&m, m.jitter_ns);
		struct gt_shared_stay a = {there, there + LEAVE_NS, true},
				      b = {truth(&m, here), truth(&m, there + LEAVE_NS + 1000000),
					   true};

		gt_shared_calls_add(&s, &a, &b);
	}
	CHECK_EQ(gt_shared_calls_fit(&s, &lines, &residual), 0);
	got = gt_clock_line_convert(gt_clock_lines_find(&lines, at), at);
	right = truth(&m, at);
	CHECK((got > right ? got - right : right - got) > 500000);
	CHECK((got > right ? got - right : right - got) <= residual);
	gt_clock_lines_fini(&lines);
	gt_shared_calls_fini(&s);
}

UNIT_TEST(one_call_is_enough_for_two_bounds_and_none_for_nothing)
{
	struct made m = {.offset_ns = 5000, .jitter_ns = 20000, .seed = 3};
	struct gt_shared_calls s = {0};
	struct gt_clock_lines lines;
	uint64_t residual;

	CHECK_EQ(gt_shared_calls_fit(&s, &lines, &residual), -ENODATA);
	add_calls(&m, &s, 1);
	CHECK_EQ(gt_shared_calls_fit(&s, &lines, &residual), 0);
	CHECK(residual < 30000);
	gt_clock_lines_fini(&lines);
	gt_shared_calls_fini(&s);
}
