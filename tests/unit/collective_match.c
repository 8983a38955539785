/* SPDX-License-Identifier: MIT */
/* Matching of collective calls, tested with synthetic calls whose correct matches are known. */
#include <stdlib.h>

#include "capture/collective_match.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 3, CALLS = 200 };

/* The last digits of a call's duration are the number of the call in its communicator. */
struct made {
	struct gt_collectives c;
	enum gt_collective_gaps gaps;
	uint64_t period_ns, stay_ns, begin_ns[MEMBERS];
	int64_t clock_ns[MEMBERS]; /* error of the clock */
};

static enum gt_collective_gaps find_gaps(const void *data, uint32_t process)
{
	(void)process;
	return ((const struct made *)data)->gaps;
}

static uint32_t operation(const char *name)
{
	uint32_t op = gt_operation_find(GT_DOMAIN_MPI, name)->op;

	return GT_OP(GT_OP_DOMAIN(op), GT_OP_NUMBER(op), 0);
}

static void add(struct made *m, unsigned member, unsigned call, const char *name)
{
	struct gt_collective_member *to = &m->c.members[member];
	uint64_t at = 1000000000 + call * m->period_ns;

	to->parts[to->count++] = (struct gt_collective_part){
		.start_ns = at + member * 700 + (uint64_t)m->clock_ns[member],
		.op = operation(name),
		.duration_ns = (m->stay_ns - member * 700) / 1000 * 1000 + call,
	};
}

static void begin(struct made *m)
{
	m->c.members = calloc(MEMBERS, sizeof *m->c.members);
	m->c.count = MEMBERS;
	m->c.find_gaps = find_gaps;
	m->c.gaps_data = m;
	m->period_ns = m->period_ns ? m->period_ns : 1000000;
	m->stay_ns = m->stay_ns ? m->stay_ns : 100000;
	for (unsigned i = 0; i < MEMBERS; i++) {
		m->c.members[i].communicator = 7;
		m->c.members[i].process = i;
		m->c.members[i].parts = calloc(CALLS, sizeof(struct gt_collective_part));
	}
}

static unsigned number_of(const struct gt_collective_match *match, size_t i)
{
	return (unsigned)(match->members[i].parts[match->at[i]].duration_ns % 1000);
}

/* Return the number of matched calls after checking that all matches are correct. */
static size_t match_all(struct made *m, uint64_t tolerance_ns, bool *is_unsure)
{
	struct gt_collective_match match;

	CHECK_EQ(gt_collective_match_init(&match, &m->c, 0, MEMBERS, tolerance_ns), 0);
	while (gt_collective_match_next(&match))
		for (size_t i = 1; i < MEMBERS; i++)
			CHECK_EQ(number_of(&match, i), number_of(&match, 0));
	*is_unsure = match.is_unsure;
	gt_collective_match_fini(&match);
	for (unsigned i = 0; i < MEMBERS; i++)
		m->c.members[i].count = 0;
	gt_collectives_fini(&m->c);
	return match.matched;
}

static const char *kind_of_call(unsigned call)
{
	return call % 3 == 1 ? "MPI_Allreduce" : "MPI_Barrier";
}

static void add_all(struct made *m, unsigned member, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		add(m, member, i, kind_of_call(i));
}

UNIT_TEST(calls_that_are_all_there_are_matched_by_number_whatever_the_clocks)
{
	for (int k = 0; k < 2; k++) {
		struct made m = {.clock_ns = {0, 0, k ? 5000000 : 0}};
		bool is_unsure;

		begin(&m);
		for (unsigned i = 0; i < MEMBERS; i++)
			add_all(&m, i, 0, CALLS);
		CHECK_EQ(match_all(&m, k ? GT_COLLECTIVE_NO_CLOCK : 20000, &is_unsure), CALLS);
		CHECK(!is_unsure);
	}
}

UNIT_TEST(beginnings_that_are_cut_off_are_matched_by_time)
{
	for (unsigned cut = 0; cut < 50; cut++) {
		struct made m = {.gaps = GT_COLLECTIVE_PAUSED};
		bool is_unsure;

		begin(&m);
		add_all(&m, 0, cut, CALLS);
		add_all(&m, 1, 0, CALLS);
		add_all(&m, 2, cut / 2, CALLS - 3);
		CHECK_EQ(match_all(&m, 20000, &is_unsure), CALLS - 3 - cut);
		CHECK(!is_unsure);
	}
}

UNIT_TEST(calls_that_are_missing_in_between_do_not_shift_those_behind_them)
{
	for (unsigned lost = 1; lost < 40; lost++) {
		struct made m = {.gaps = GT_COLLECTIVE_LOST};
		bool is_unsure;

		begin(&m);
		add_all(&m, 0, 0, CALLS);
		add_all(&m, 1, 0, 60);
		add_all(&m, 1, 60 + lost, CALLS);
		add_all(&m, 2, 0, 130);
		add_all(&m, 2, 131, CALLS);
		CHECK_EQ(match_all(&m, 20000, &is_unsure), CALLS - lost - 1);
	}
}

/* No count reports the missing calls, but their times reveal the gap. */
UNIT_TEST(calls_that_do_not_overlap_are_not_the_same_though_their_number_is)
{
	struct made m = {.gaps = GT_COLLECTIVE_COMPLETE};
	bool is_unsure;

	begin(&m);
	add_all(&m, 0, 0, CALLS);
	add_all(&m, 1, 3, CALLS); /* the kinds are unchanged */
	add_all(&m, 2, 0, CALLS);
	CHECK_EQ(match_all(&m, 20000, &is_unsure), CALLS - 3);
}

UNIT_TEST(without_a_common_clock_nothing_is_guessed)
{
	struct made m = {.gaps = GT_COLLECTIVE_PAUSED};
	bool is_unsure;

	begin(&m);
	for (unsigned i = 0; i < MEMBERS; i++)
		add_all(&m, i, i, CALLS);
	CHECK_EQ(match_all(&m, GT_COLLECTIVE_NO_CLOCK, &is_unsure), 0);
	CHECK(is_unsure);
}

/* The clock error is one period, which is less than the tolerance: the wrong calls overlap best. */
UNIT_TEST(clocks_that_are_wrong_by_more_than_a_period_match_nothing_wrong)
{
	for (int k = -2; k <= 2; k++) {
		struct made m = {.gaps = GT_COLLECTIVE_PAUSED, .period_ns = 10000, .stay_ns = 4000};
		bool is_unsure;

		m.clock_ns[1] = k * 10000;
		begin(&m);
		for (unsigned i = 0; i < MEMBERS; i++)
			for (unsigned n = i; n < CALLS; n++)
				add(&m, i, n, "MPI_Barrier");
		CHECK_EQ(match_all(&m, 20000, &is_unsure), 0);
		CHECK(is_unsure);
	}
}

UNIT_TEST(calls_that_say_nothing_of_waiting_are_not_matched_behind_a_cut)
{
	struct made m = {.gaps = GT_COLLECTIVE_PAUSED};
	bool is_unsure;

	begin(&m);
	for (unsigned i = 0; i < MEMBERS; i++)
		for (unsigned n = i; n < CALLS; n++)
			add(&m, i, n, "MPI_Bcast");
	CHECK_EQ(match_all(&m, 20000, &is_unsure), 0);
}

UNIT_TEST(a_window_that_all_have_left_and_entered_again_goes_on)
{
	struct made m = {.gaps = GT_COLLECTIVE_PAUSED};
	bool is_unsure;

	begin(&m);
	for (unsigned i = 0; i < MEMBERS; i++) {
		add_all(&m, i, i, 40 + 2 * i);
		add_all(&m, i, 90 - i, CALLS);
	}
	CHECK_EQ(match_all(&m, 20000, &is_unsure), 40 - 2 + CALLS - 90);
	CHECK(!is_unsure);
}
