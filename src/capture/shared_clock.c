/* SPDX-License-Identifier: MIT */
/* Aligns the clocks of hosts through collective calls that their processes made together
 * (capture/collectives.h). shared_line.h computes the lines. NEEDSWORK: kernels of collective calls
 * (NCCL) could be used too, but device clocks are not known yet.
 *
 * Uses only a few processes of each host, because opening the capture reads all their calls. */
#include "capture/shared_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/collective_match.h"
#include "capture/shared_line.h"
#include "util/error.h"

enum { PROCESSES_OF_BOOT = 4 }; /* maximum number of processes whose calls are read */

/* Sessions of one boot of one kernel. */
struct boot {
	bool is_aligned;
	uint32_t processes; /* number of processes whose calls are read */
	uint64_t residual_ns;
	/* lines from the session's clock, aligned by wall clocks, to the first session's clock;
	 * NULL: the clocks are the same */
	const struct gt_clock_lines *lines;
};

struct alignment {
	struct gt_capture *c;
	struct boot *boots;
	uint32_t boot_count;
	struct gt_collectives calls;
};

static uint32_t boot_of(const struct alignment *a, uint32_t process)
{
	return gt_session_of(a->c, process)->boot;
}

static bool has_collectives(enum gt_domain domain)
{
	for (size_t i = 0; i < gt_operation_count(domain); i++) {
		const struct gt_operation_info *info = gt_operation(GT_OP(domain, (uint32_t)i, 0));

		if (info && info->collective)
			return true;
	}
	return false;
}

/* Return one bit for each domain with collective calls. */
static uint64_t find_domains(void)
{
	uint64_t bits = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		bits |= (uint64_t)has_collectives((enum gt_domain)d) << d;
	return bits;
}

static bool has_calls_of(const struct gt_capture *c, uint32_t process, uint64_t domains)
{
	for (unsigned d = 1; d < GT_DOMAIN_COUNT && c->sums[process]; d++)
		if (domains >> d & 1 && c->sums[process]->present[GT_CLASS_CALL][d])
			return true;
	return false;
}

/* Make a view of the capture that contains the streams of the chosen processes. The caller frees
 * the view's streams. */
static int choose_streams(struct alignment *a, struct gt_capture *view)
{
	struct gt_capture *c = a->c;
	bool *chosen = calloc(c->process_count + 1, sizeof *chosen);
	uint64_t domains = find_domains();

	*view = *c;
	view->wants = NULL;
	view->stream_count = 0;
	view->streams = calloc(c->stream_count + 1, sizeof *view->streams);
	if (!chosen || !view->streams) {
		free(chosen);
		free(view->streams);
		return gt_error(-ENOMEM, "cannot store the clocks of capture %s", c->files[0].path);
	}
	for (uint32_t i = 0; i < c->process_count; i++) {
		struct boot *b = &a->boots[boot_of(a, i)];

		if (b->processes < PROCESSES_OF_BOOT && has_calls_of(c, i, domains)) {
			b->processes++;
			chosen[i] = true;
		}
	}
	for (size_t i = 0; i < c->stream_count; i++)
		if (chosen[c->streams[i].process])
			view->streams[view->stream_count++] = c->streams[i];
	free(chosen);
	return 0;
}

/* Return true if recording resumed in the process. Looks at the changes, because windows depend on
 * clocks that are not known yet. */
static bool has_resumed(const struct gt_capture *c, uint32_t process)
{
	for (size_t i = 0; i < c->change_count; i++)
		if (c->changes[i].process == process && c->changes[i].recorded)
			return true;
	return false;
}

static enum gt_collective_gaps find_gaps(const void *c, uint32_t process)
{
	enum gt_collective_gaps gaps = gt_collective_find_gaps(c, process);

	return gaps                      ? gaps
	       : has_resumed(c, process) ? GT_COLLECTIVE_PAUSED
					 : GT_COLLECTIVE_COMPLETE;
}

static int read_calls(struct alignment *a)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	struct gt_capture view;
	int status = choose_streams(a, &view);

	if (status)
		return status;
	a->calls.find_gaps = find_gaps;
	a->calls.gaps_data = a->c;
	status = gt_cursor_create(&view, &cursor);
	if (!status)
		gt_cursor_take_context(cursor);
	while (!status && (status = gt_cursor_next(cursor, &item)) == 1)
		status = item->kind == GT_RECORD_CALL && gt_collectives_note(&a->calls, item) < 0
				 ? -ENOMEM
				 : 0;
	gt_cursor_destroy(cursor);
	a->c->health = view.health; /* count damage only once */
	free(view.streams);
	return status ? status : gt_collectives_finish(&a->calls);
}

static uint64_t convert(const struct gt_clock_lines *lines, uint64_t ns)
{
	return gt_clock_line_convert(gt_clock_lines_find(lines, ns), ns);
}

static void add_stay(const struct boot *b, struct gt_shared_stay *stay,
		     const struct gt_collective_member *m, size_t part)
{
	uint64_t begin_ns, end_ns;

	if (!gt_collective_times(m, part, &begin_ns, &end_ns) ||
	    (m->activity && m->activity[part].fused))
		return;
	if (b->lines) {
		begin_ns = convert(b->lines, begin_ns);
		end_ns = convert(b->lines, end_ns);
	}
	if (!stay->any || begin_ns > stay->last_begin_ns)
		stay->last_begin_ns = begin_ns;
	if (!stay->any || end_ns < stay->first_end_ns)
		stay->first_end_ns = end_ns;
	stay->any = true;
}

static void add_bounds(const struct alignment *a, const struct gt_collective_match *call,
		       uint32_t from, uint32_t to, struct gt_shared_calls *shared)
{
	struct gt_shared_stay here = {0}, there = {0};

	for (size_t i = 0; i < call->count; i++) {
		uint32_t boot = boot_of(a, call->members[i].process);

		if (boot == to)
			add_stay(&a->boots[to], &here, &call->members[i], call->at[i]);
		else if (boot == from)
			add_stay(&a->boots[from], &there, &call->members[i], call->at[i]);
	}
	gt_shared_calls_add(shared, &there, &here);
}

/* Add the bounds from the calls of a communicator. Calls are matched by number only, because the
 * clocks are not known yet. */
static int add_communicator(const struct alignment *a, size_t first, size_t members, uint32_t from,
			    uint32_t to, struct gt_shared_calls *shared)
{
	struct gt_collective_match call;
	int status =
		gt_collective_match_init(&call, &a->calls, first, members, GT_COLLECTIVE_NO_CLOCK);

	while (!status && gt_collective_match_next(&call)) {
		const struct gt_operation_info *info =
			gt_operation(call.members->parts[call.at[0]].op);

		if (info && info->collective == GT_COLLECTIVE_ALL &&
		    !(info->joints & GT_JOINT_BEGINS))
			add_bounds(a, &call, from, to, shared);
	}
	gt_collective_match_fini(&call);
	return status;
}

/* Align the clock of @from to that of @to, which is already aligned to the first session's. */
static int align_boot(struct alignment *a, uint32_t from, uint32_t to)
{
	struct gt_shared_calls shared = {0};
	struct boot *b = &a->boots[from];
	int status = 0;

	for (size_t first = 0, members; first < a->calls.count && !status; first += members) {
		members = gt_collectives_members(&a->calls, first);
		if (members > 1)
			status = add_communicator(a, first, members, from, to, &shared);
	}
	if (!status)
		status = gt_shared_calls_fit(&shared, &a->c->moved[from], &b->residual_ns);
	gt_shared_calls_fini(&shared);
	if (status)
		return status;
	b->lines = &a->c->moved[from];
	b->is_aligned = true;
	b->residual_ns += a->boots[to].residual_ns;
	return 0;
}

static int align_boots(struct alignment *a)
{
	bool again = true;

	a->boots[0].is_aligned = true;
	while (again) {
		again = false;
		for (uint32_t from = 1; from < a->boot_count; from++)
			for (uint32_t to = 0; to < a->boot_count && !a->boots[from].is_aligned;
			     to++) {
				int status = a->boots[to].is_aligned ? align_boot(a, from, to)
								     : -ENODATA;

				if (status == -ENOMEM)
					return status;
				again |= !status;
			}
	}
	return 0;
}

uint64_t gt_session_place_ns(const struct session *s, uint64_t ns)
{
	ns += (uint64_t)s->wall_shift_ns;
	return s->moved ? convert(s->moved, ns) : ns;
}

/* Convert the session's times from now on. */
static int move_session(struct session *s, const struct boot *b, const char *path)
{
	struct gt_capture_session *p = &s->public;
	struct gt_host_clock_map *host;
	uint64_t start_ns = p->info.start_ns - (uint64_t)s->wall_shift_ns;

	s->moved = b->lines;
	for (size_t i = 0; i < s->tuple_count; i++)
		s->tuples[i].boottime_ns = gt_session_place_ns(s, s->tuples[i].boottime_ns);
	if (gt_host_clock_map_create(s->tuples, s->tuple_count, &host))
		return gt_error(-ENOMEM, "cannot store the clocks of capture %s", path);
	gt_host_clock_map_destroy(s->host);
	s->host = host;
	p->info.start_ns = gt_session_place_ns(s, start_ns);
	p->shift_ns = (int64_t)(p->info.start_ns - start_ns);
	p->alignment = GT_ALIGNED_SHARED;
	p->uncertainty_ns = b->residual_ns;
	return 0;
}

static int move_sessions(struct alignment *a)
{
	int status = 0;

	for (size_t i = 0; i < a->c->session_count && !status; i++) {
		struct session *s = a->c->sessions[i];
		const struct boot *b = &a->boots[s->boot];

		if (b->lines && s->tuple_count)
			status = move_session(s, b, a->c->files[s->file].path);
	}
	return status;
}

int gt_sessions_align_shared(struct gt_capture *c)
{
	struct alignment a = {.c = c};
	int status;

	for (size_t i = 0; i < c->session_count; i++)
		if (c->sessions[i]->boot >= a.boot_count)
			a.boot_count = c->sessions[i]->boot + 1;
	if (a.boot_count < 2)
		return 0;
	a.boots = calloc(a.boot_count, sizeof *a.boots);
	c->moved = calloc(a.boot_count, sizeof *c->moved);
	c->moved_count = c->moved ? a.boot_count : 0;
	if (!a.boots || !c->moved) {
		free(a.boots);
		return gt_error(-ENOMEM, "cannot store the clocks of capture %s", c->files[0].path);
	}
	status = read_calls(&a);
	if (!status && a.calls.count)
		status = align_boots(&a);
	if (!status)
		status = move_sessions(&a);
	free(a.boots);
	gt_collectives_fini(&a.calls);
	return status;
}
