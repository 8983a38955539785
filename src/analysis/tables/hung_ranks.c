/* SPDX-License-Identifier: MIT */
/* See hung_ranks.h. */
#include "analysis/tables/hung_ranks.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "record/host_state.h"

enum {
	LEAST_NS = 1000000000, /* shorter open calls are not reported, unless a rank was killed */
	/* time between the ends of two processes that shows which ended first */
	BEFORE_NS = 10000000,
};

struct finding {
	struct ranks *r;
	const struct gt_open_call_info *calls;
	size_t call_count;
	uint64_t look_ns; /* time at which calls were last seen open, or a process ended */
	bool is_killed;   /* true if a rank ended without exit() */
	struct hang_process *processes;
	struct hang_thread *threads;
	size_t thread_count, thread_room;
	struct hang_member *members;
	size_t member_count, member_room;
	uint32_t size;
};

static bool has_row(const struct ranks *r, uint32_t process)
{
	return process < r->process_room && r->of_process[process] != LOOKUP_NONE;
}

/* Return true if each rank belongs to one host. Otherwise the captures are of several jobs. */
static bool is_one_job(const struct ranks *r)
{
	struct idmap seen = {0};
	bool is_one = true;

	for (uint32_t i = 0; i < r->count; i++) {
		is_one &= idmap_get(&seen, r->rows[i].rank) == LOOKUP_NONE;
		idmap_put(&seen, r->rows[i].rank, i);
	}
	idmap_fini(&seen);
	return is_one;
}

static bool joins(const struct gt_open_call_info *call)
{
	const struct gt_operation_info *info = gt_operation(call->op);

	return info && info->joins;
}

/* Find the rank that ended first, without exit(). Its end may be the cause of the others' ends. */
static void find_dead(struct finding *f, size_t count)
{
	uint64_t first_ns = UINT64_MAX, next_ns = UINT64_MAX;
	struct hang_process *dead = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_process_info *info = gt_capture_process(f->r->capture, i);
		uint64_t end_ns = info->ended && info->end_ns ? info->end_ns : UINT64_MAX - 1;

		if (!has_row(f->r, i))
			continue;
		if (end_ns < first_ns) {
			next_ns = first_ns;
			first_ns = end_ns;
			dead = info->ended && !info->proper_end ? &f->processes[i] : NULL;
		} else if (end_ns < next_ns) {
			next_ns = end_ns;
		}
	}
	if (!dead || next_ns == UINT64_MAX || next_ns < first_ns + BEFORE_NS)
		return;
	/* the others waited before it died */
	for (size_t i = 0; i < f->call_count; i++)
		if (joins(&f->calls[i]) && f->calls[i].start_ns &&
		    f->calls[i].start_ns + LEAST_NS < first_ns)
			return;
	dead->has_ended = dead->has_died = true;
}

static void add_processes(struct finding *f, size_t count)
{
	f->processes = allocate_list(count + 1, sizeof *f->processes);
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_process_info *info = gt_capture_process(f->r->capture, i);

		f->processes[i] = (struct hang_process){
			.rank = has_row(f->r, i) ? f->r->rows[f->r->of_process[i]].rank
						 : HANG_NO_RANK,
			.pid = info->pid,
			.has_ended = info->ended && info->end_ns + LEAST_NS < f->look_ns,
			.has_status = info->wait_status >= 0,
			.wait_status = info->wait_status,
		};
		f->is_killed |= has_row(f->r, i) && info->ended && !info->proper_end;
		if (info->rank.size > 0 && (uint32_t)info->rank.size > f->size)
			f->size = (uint32_t)info->rank.size;
	}
	find_dead(f, count);
}

static uint64_t name_communicator(uint64_t communicator)
{
	return communicator == gt_collectives_whole(GT_DOMAIN_MPI) ? HANG_WORLD : communicator;
}

/* Return true if the recorded calls include the process's first calls. */
static bool is_complete(const struct ranks *r, uint32_t process)
{
	const struct gt_collectives *c = &r->collectives;

	return !c->find_gaps || c->find_gaps(c->gaps_data, process) == GT_COLLECTIVE_COMPLETE;
}

/* Number of the collective calls of the members. Without the first calls of a process, it is not
 * known. */
static void add_members(struct finding *f)
{
	const struct gt_collectives *c = &f->r->collectives;

	for (size_t i = 0; i < c->count; i++) {
		const struct gt_collective_member *m = &c->members[i];

		if (!m->communicator || !has_row(f->r, m->process))
			continue;
		GROW_LIST(f->members, f->member_count, f->member_room);
		f->members[f->member_count++] = (struct hang_member){
			.process = m->process,
			.communicator = name_communicator(m->communicator),
			.begun = is_complete(f->r, m->process) ? m->count : 0,
			.op = m->count ? m->parts[m->count - 1].op : 0,
			.rank = m->rank,
		};
	}
}

static struct hang_thread *add_thread(struct finding *f, uint32_t process, uint32_t ordinal)
{
	GROW_LIST(f->threads, f->thread_count, f->thread_room);
	f->threads[f->thread_count] =
		(struct hang_thread){.process = process, .ordinal = ordinal, .peer = -1};
	return &f->threads[f->thread_count++];
}

static int take_call(struct finding *f, const struct gt_open_call_info *call)
{
	struct hang_thread *t = add_thread(f, call->process, call->ordinal);

	t->is_open = true;
	t->op = call->op;
	t->for_ns = call->start_ns && call->seen_ns > call->start_ns
			    ? call->seen_ns - call->start_ns
			    : 0;
	t->sequence = call->sequence;
	t->peer = call->peer ? (int32_t)call->peer - 1 : -1;
	if (call->communicator && joins(call)) {
		const struct gt_collective_member *m =
			gt_collectives_member(&f->r->collectives, call->op, call->process,
					      call->communicator);

		if (!m)
			return -ENOMEM;
		t->communicator = name_communicator(m->communicator);
		if (!t->sequence && gt_operation(call->op)->collective &&
		    is_complete(f->r, call->process))
			t->sequence = m->count + 1;
	}
	return 0;
}

/* Take one call per thread: the innermost that joins other ranks, otherwise the outermost. */
static int add_open_calls(struct finding *f, bool *is_open)
{
	int status = 0;

	for (size_t i = 0, next; i < f->call_count && !status; i = next) {
		size_t chosen = i;

		for (next = i;
		     next < f->call_count && f->calls[next].process == f->calls[i].process &&
		     f->calls[next].ordinal == f->calls[i].ordinal;
		     next++)
			chosen = joins(&f->calls[next]) ? next : chosen;
		if (!has_row(f->r, f->calls[chosen].process))
			continue;
		is_open[f->calls[chosen].process] = true;
		/* such a call was open at the end, so the end is not its rank's own */
		if (!f->processes[f->calls[chosen].process].has_died)
			f->processes[f->calls[chosen].process].has_ended = false;
		status = take_call(f, &f->calls[chosen]);
	}
	return status;
}

/* Find the processes whose open calls are in no record, because their collector was killed. */
static void find_unknown(struct finding *f, const bool *is_open, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_process_info *info = gt_capture_process(f->r->capture, i);
		const struct gt_capture_session *s =
			gt_capture_session_at(f->r->capture, info->session);

		f->processes[i].is_unknown = !is_open[i] && !info->ended &&
					     s->health.end == GT_CAPTURE_CUT &&
					     s->kept.reason == GT_RETAINED_END;
	}
}

/* Add processes that are outside any call. */
static void add_others(struct finding *f, const bool *is_open, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ranks_last *last =
			i < f->r->last_count && f->r->last[i].op ? &f->r->last[i] : NULL;
		struct hang_thread *t;

		if (!has_row(f->r, i) || is_open[i] || !last || f->processes[i].is_unknown)
			continue;
		t = add_thread(f, i, last->thread);
		t->op = last->op;
		t->for_ns = f->look_ns > last->end_ns ? f->look_ns - last->end_ns : 0;
	}
}

static void fini_finding(void *data)
{
	struct finding *f = data;

	free(f->processes);
	free(f->threads);
	free(f->members);
}

int hung_ranks_find(struct ranks *r)
{
	size_t count = r->capture ? gt_capture_process_count(r->capture) : 0;
	struct finding f = {.r = r};
	struct cleanup cleanup;
	bool *is_open;
	int status;

	if (!count || r->count < 2)
		return 0;
	f.calls = gt_capture_open_calls(r->capture, &f.call_count);
	if (!is_one_job(r))
		return 0;
	for (size_t i = 0; i < f.call_count; i++)
		if (f.calls[i].seen_ns > f.look_ns)
			f.look_ns = f.calls[i].seen_ns;
	for (uint32_t i = 0; i < count; i++)
		if (gt_capture_process(r->capture, i)->end_ns > f.look_ns)
			f.look_ns = gt_capture_process(r->capture, i)->end_ns;
	cleanup_push(&cleanup, fini_finding, &f);
	is_open = allocate_scratch(count, sizeof *is_open);
	add_processes(&f, count);
	status = add_open_calls(&f, is_open);
	find_unknown(&f, is_open, count);
	if (!status) {
		add_members(&f);
		add_others(&f, is_open, count);
		hang_find(&(struct hang_job){.processes = f.processes,
					     .process_count = count,
					     .threads = f.threads,
					     .thread_count = f.thread_count,
					     .members = f.members,
					     .member_count = f.member_count,
					     .size = f.size,
					     .least_ns = f.is_killed ? BEFORE_NS : LEAST_NS},
			  &r->hung);
	}
	free_scratch(is_open);
	cleanup_pop(&cleanup);
	return status;
}
