/* SPDX-License-Identifier: MIT */
/* See collective_match.h. */
#include "capture/collective_match.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"

enum {
	TRIED_CALLS = 64, /* number of calls after the start that must match */
	ENOUGH_CALLS = 8, /* number of matches that is enough if a later call is missing */
	/* maximum offset between host clocks, and between device clocks and the host clock */
	CLOCKS_APART_NS = 20000,
};

static bool is_of_all(const struct gt_collective_part *p)
{
	const struct gt_operation_info *info = gt_operation(p->op);

	return info && info->collective == GT_COLLECTIVE_ALL && !(info->joints & GT_JOINT_BEGINS);
}

static bool is_fused(const struct gt_collective_member *m, size_t part)
{
	return m->activity && m->activity[part].fused;
}

/* Time that a process spent in a collective call. */
struct stay {
	uint64_t start_ns, end_ns;
};

static bool find_stay(const struct gt_collective_member *m, size_t part, struct stay *s)
{
	return is_of_all(&m->parts[part]) && !is_fused(m, part) &&
	       gt_collective_times(m, part, &s->start_ns, &s->end_ns);
}

static bool overlaps(const struct stay *a, const struct stay *b, uint64_t tolerance_ns)
{
	return a->start_ns <= b->end_ns + tolerance_ns && b->start_ns <= a->end_ns + tolerance_ns;
}

/* Return true if the current parts of the members can belong to one call. */
static bool is_one_call(const struct gt_collective_match *m)
{
	uint64_t last_start = 0, first_end = UINT64_MAX;

	for (size_t i = 0; i < m->count; i++) {
		const struct gt_collective_member *member = &m->members[i];
		struct stay s;

		if (m->at[i] >= member->count ||
		    member->parts[m->at[i]].op != m->members->parts[m->at[0]].op)
			return false;
		if (!find_stay(member, m->at[i], &s))
			continue;
		last_start = s.start_ns > last_start ? s.start_ns : last_start;
		first_end = s.end_ns < first_end ? s.end_ns : first_end;
	}
	return m->tolerance_ns == GT_COLLECTIVE_NO_CLOCK || first_end == UINT64_MAX ||
	       last_start <= first_end + m->tolerance_ns;
}

/* Quality of the match between the calls of two members, from a pair of calls on. */
enum fit { FIT_NOT, FIT_FOR_SOME, FIT_THROUGHOUT };

static enum fit try_fit(const struct gt_collective_match *m, const struct gt_collective_member *a,
			size_t at, const struct gt_collective_member *b, size_t bt)
{
	size_t k = 0;

	for (; k < TRIED_CALLS && at + k < a->count && bt + k < b->count; k++) {
		struct stay x, y;

		if (a->parts[at + k].op != b->parts[bt + k].op)
			break;
		if (find_stay(a, at + k, &x) && find_stay(b, bt + k, &y) &&
		    !overlaps(&x, &y, m->tolerance_ns))
			break;
	}
	if (k == TRIED_CALLS || at + k == a->count || bt + k == b->count)
		return FIT_THROUGHOUT;
	return k >= ENOUGH_CALLS ? FIT_FOR_SOME : FIT_NOT;
}

enum place { PLACE_FOUND, PLACE_NONE, PLACE_UNSURE };

/* Find the part of @b, from *bt on, that belongs to the same call as part @at of @a. The part must
 * be the only candidate. Times cannot decide between several candidates, because some processes
 * return late from every call. */
static enum place find_place(const struct gt_collective_match *m,
			     const struct gt_collective_member *a, size_t at,
			     const struct gt_collective_member *b, size_t *bt)
{
	enum fit best = FIT_NOT;
	size_t places = 0, place = 0;
	struct stay x, y;

	if (!find_stay(a, at, &x))
		return PLACE_NONE;
	for (size_t k = *bt; k < b->count; k++) {
		enum fit fit;

		if (!find_stay(b, k, &y))
			continue;
		if (y.start_ns > x.end_ns + m->tolerance_ns)
			break;
		if (!overlaps(&x, &y, m->tolerance_ns)) {
			*bt = k + 1; /* part k also comes before all later parts of @a */
			continue;
		}
		fit = try_fit(m, a, at, b, k);
		if (fit == FIT_NOT || fit < best)
			continue;
		places = fit > best ? 1 : places + 1;
		place = fit > best ? k : place;
		best = fit;
	}
	if (best == FIT_NOT)
		return PLACE_NONE;
	*bt = places > 1 ? *bt : place;
	return places > 1 ? PLACE_UNSURE : PLACE_FOUND;
}

/* Return the member that starts its current call last. Earlier calls of other members cannot be the
 * same call. */
static size_t find_latest(const struct gt_collective_match *m)
{
	uint64_t latest_ns = 0;
	size_t latest = m->count;

	for (size_t i = 0; i < m->count; i++) {
		struct stay s;

		while (m->at[i] < m->members[i].count && !find_stay(&m->members[i], m->at[i], &s))
			m->at[i]++;
		if (m->at[i] >= m->members[i].count)
			return m->count;
		if (latest == m->count || s.start_ns > latest_ns) {
			latest = i;
			latest_ns = s.start_ns;
		}
	}
	return latest;
}

static bool find_step(struct gt_collective_match *m)
{
	if (m->tolerance_ns == GT_COLLECTIVE_NO_CLOCK) {
		m->is_unsure = true;
		return false;
	}
	for (;;) {
		size_t latest = find_latest(m);
		enum place place = PLACE_FOUND;

		if (latest == m->count)
			return false;
		for (size_t i = 0; i < m->count && place == PLACE_FOUND; i++)
			if (i != latest)
				place = find_place(m, &m->members[latest], m->at[latest],
						   &m->members[i], &m->at[i]);
		if (place == PLACE_UNSURE) {
			m->is_unsure = true;
			return false;
		}
		if (place == PLACE_FOUND && is_one_call(m))
			return true;
		m->at[latest]++; /* a member did not make this call, or its record is missing */
	}
}

uint64_t gt_collective_tolerance_ns(const struct gt_capture *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < gt_capture_session_count(c); i++) {
		const struct gt_capture_session *s = gt_capture_session_at(c, i);

		if (s->alignment == GT_ALIGNED_REALTIME || s->alignment == GT_ALIGNED_NOT)
			return GT_COLLECTIVE_NO_CLOCK;
		most = s->uncertainty_ns > most ? s->uncertainty_ns : most;
	}
	return 2 * most + CLOCKS_APART_NS;
}

static bool has_lost(const struct gt_counts *counts)
{
	for (unsigned d = 0; counts && d < GT_DOMAIN_COUNT; d++) {
		if (counts->evicted[GT_CLASS_CALL][d])
			return true;
		for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
			/* calls that were open at the end are the last of their threads */
			if (why != GT_DROP_UNFINISHED && counts->dropped[why][GT_CLASS_CALL][d])
				return true;
	}
	return false;
}

enum gt_collective_gaps gt_collective_find_gaps(const struct gt_capture *c, uint32_t process)
{
	const struct gt_capture_session *s =
		gt_capture_session_at(c, gt_capture_process(c, process)->session);
	const struct gt_window_info *windows;
	size_t count;

	if (s->kept.is_thinned || has_lost(gt_capture_counts(c, process)))
		return GT_COLLECTIVE_LOST;
	windows = gt_capture_windows(c, process, &count);
	for (size_t i = 0; i < count; i++)
		if (windows[i].why == GT_WINDOW_ATTACHED || (i + 1 < count && !windows[i].recorded))
			return GT_COLLECTIVE_PAUSED;
	return GT_COLLECTIVE_COMPLETE;
}

int gt_collective_match_init(struct gt_collective_match *m, const struct gt_collectives *c,
			     size_t first, size_t count, uint64_t tolerance_ns)
{
	*m = (struct gt_collective_match){.members = c->members + first,
					  .count = count,
					  .tolerance_ns = tolerance_ns,
					  .is_in_step = true};
	m->at = calloc(count, sizeof *m->at);
	if (!m->at)
		return gt_error(-ENOMEM, "cannot store collective calls");
	for (size_t i = 0; i < count && c->find_gaps; i++)
		m->is_in_step &=
			c->find_gaps(c->gaps_data, m->members[i].process) == GT_COLLECTIVE_COMPLETE;
	return 0;
}

static bool is_at_end(const struct gt_collective_match *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->at[i] >= m->members[i].count)
			return true;
	return false;
}

bool gt_collective_match_next(struct gt_collective_match *m)
{
	if (!m->members->communicator)
		return false;
	for (size_t i = 0; i < m->count && m->is_begun; i++)
		m->at[i]++;
	m->is_begun = true;
	if (is_at_end(m))
		return false;
	m->is_in_step = m->is_in_step && is_one_call(m);
	if (!m->is_in_step)
		m->is_in_step = find_step(m);
	m->matched += m->is_in_step;
	return m->is_in_step;
}

void gt_collective_match_fini(struct gt_collective_match *m)
{
	free(m->at);
	m->at = NULL;
}
