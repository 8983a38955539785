/* SPDX-License-Identifier: MIT */
/* Combines several sessions into one capture. Converts all times to the CLOCK_BOOTTIME of the
 * session that started first, sorts the sessions and their processes by start, and numbers the
 * machines.
 *
 * Sessions of one boot of one kernel share the same clock, so their times are unchanged. The times
 * of other sessions are shifted. The shift is the difference between REALTIME minus BOOTTIME of
 * the one kernel and of the other. All sessions of a boot use the same shift, so that order and
 * distances on that host are preserved. shared_clock.c improves the shift for processes that made
 * collective calls together. The difference is taken from the readings of both clocks that are
 * nearest to the same moment. The adjustment of the wall clocks during the recording is reported as
 * the uncertainty. Whether the wall clocks of two hosts agree is unknown here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"

/* cloned virtual machines have the same boot id, but different clocks */
enum { SAME_KERNEL_NS = 1000000000 };

/* The clock of a kernel since one boot, as recorded in its sessions. */
struct boot {
	const struct session *first;
	int64_t shift_ns;
	uint64_t uncertainty_ns;
};

static bool has_clock(const struct session *s)
{
	return s->tuple_count || s->has_info;
}

/* Return REALTIME minus BOOTTIME at the reading nearest to @realtime_ns. Damaged files may contain
 * any values, so this arithmetic wraps around. */
static uint64_t wall_offset(const struct session *s, uint64_t realtime_ns)
{
	const struct gt_session_info *info = &s->public.info;
	uint64_t offset = info->start_realtime_ns - info->start_ns;
	uint64_t best = UINT64_MAX;
	size_t i;

	for (i = 0; i < s->tuple_count; i++) {
		const struct gt_clock_tuple *t = &s->tuples[i];
		uint64_t away = t->realtime_ns > realtime_ns ? t->realtime_ns - realtime_ns
							     : realtime_ns - t->realtime_ns;

		if (away < best) {
			best = away;
			offset = t->realtime_ns - t->boottime_ns;
		}
	}
	return offset;
}

/* Return the range of REALTIME minus BOOTTIME during the recording. */
static uint64_t wall_moved(const struct session *s)
{
	int64_t low = INT64_MAX, high = INT64_MIN;
	size_t i;

	for (i = 0; i < s->tuple_count; i++) {
		int64_t offset = (int64_t)(s->tuples[i].realtime_ns - s->tuples[i].boottime_ns);

		low = offset < low ? offset : low;
		high = offset > high ? offset : high;
	}
	return s->tuple_count ? (uint64_t)high - (uint64_t)low : 0;
}

static uint64_t begin_realtime(const struct session *s)
{
	return s->has_info || !s->tuple_count ? s->public.info.start_realtime_ns
					      : s->tuples[0].realtime_ns;
}

static int compare_begin(const void *a, const void *b)
{
	const struct session *x = *(struct session *const *)a, *y = *(struct session *const *)b;
	uint64_t p = begin_realtime(x), q = begin_realtime(y);

	if (has_clock(x) != has_clock(y))
		return has_clock(x) ? -1 : 1;
	return (p > q) - (p < q);
}

static bool same_boot(const struct session *a, const struct session *b)
{
	const struct gt_session_info *x = &a->public.info, *y = &b->public.info;
	uint64_t moved;

	if (!*x->boot_id || strcmp(x->boot_id, y->boot_id))
		return false;
	if (!strcmp(x->hostname, y->hostname))
		return true;
	moved = wall_offset(a, begin_realtime(b)) - wall_offset(b, begin_realtime(b));
	return moved + SAME_KERNEL_NS < 2 * (uint64_t)SAME_KERNEL_NS;
}

/* Compute the shift of each session. The sessions are sorted by start, so the first one is the
 * reference. */
static int align_sessions(struct gt_capture *c)
{
	struct boot *boots = calloc(c->session_count, sizeof *boots);
	size_t i, k, count = 0;

	if (!boots)
		return gt_error(-ENOMEM, "cannot store the clocks of capture %s", c->files[0].path);
	for (i = 0; i < c->session_count; i++) {
		struct session *s = c->sessions[i];
		struct gt_capture_session *p = &s->public;

		for (k = 0; k < count && !same_boot(boots[k].first, s); k++)
			;
		if (k == count) {
			uint64_t now = begin_realtime(s);

			boots[count++].first = s;
			if (k && has_clock(s) && has_clock(c->sessions[0])) {
				boots[k].shift_ns = (int64_t)(wall_offset(s, now) -
							      wall_offset(c->sessions[0], now));
				boots[k].uncertainty_ns =
					wall_moved(s) + wall_moved(c->sessions[0]);
			}
		}
		p->alignment = !k                                          ? GT_ALIGNED_BOOT
			       : has_clock(s) && has_clock(c->sessions[0]) ? GT_ALIGNED_REALTIME
									   : GT_ALIGNED_NOT;
		p->shift_ns = s->wall_shift_ns = boots[k].shift_ns;
		s->boot = (uint32_t)k;
		p->uncertainty_ns = boots[k].uncertainty_ns;
		p->info.start_ns += (uint64_t)p->shift_ns;
	}
	free(boots);
	return 0;
}

/* Put the processes in the order of their sessions, and update all references to them. */
static int order_processes(struct gt_capture *c)
{
	uint32_t *now = calloc(c->process_count + 1, sizeof *now), next = 0;
	struct gt_process_info *processes = calloc(c->process_room + 1, sizeof *processes);
	struct process_sums **sums = calloc(c->sums_room + 1, sizeof *sums);
	size_t i, k;

	if (!now || !processes || !sums) {
		free(now);
		free(processes);
		free(sums);
		return gt_error(-ENOMEM, "cannot store the processes of capture %s",
				c->files[0].path);
	}
	for (i = 0; i < c->session_count; i++) {
		struct session *s = c->sessions[i];

		s->public.first_process = next;
		s->public.process_count = (uint32_t)s->process_count;
		for (k = 0; k < s->process_count; k++) {
			uint32_t old = s->processes[k].process;

			processes[next] = c->processes[old];
			processes[next].session = (uint32_t)i;
			processes[next].index = next;
			/* the environment of the process has no rank */
			if (processes[next].rank.rank < 0)
				processes[next].rank.rank = s->public.info.rank;
			sums[next] = c->sums[old];
			s->processes[k].process = next;
			now[old] = next++;
		}
	}
#define FOLLOW(list, count)            \
	for (i = 0; i < c->count; i++) \
	c->list[i].process = now[c->list[i].process]
	FOLLOW(threads, thread_count);
	FOLLOW(events, event_count);
	FOLLOW(objects, object_count);
	FOLLOW(strings, string_count);
	FOLLOW(readings, reading_count);
	FOLLOW(blocks, block_count);
	FOLLOW(lifetimes, lifetime_count);
	FOLLOW(stacks, stack_count);
	FOLLOW(code, code_count);
	FOLLOW(open_records, open_record_count);
#undef FOLLOW
	free(c->processes);
	free(c->sums);
	free(now);
	c->processes = processes;
	c->sums = sums;
	return 0;
}

/* Number the machines. Sessions with the same boot id or the same host name ran on one machine. */
static void number_machines(struct gt_capture *c)
{
	uint32_t count = 0;
	size_t i, k, n;

	for (i = 0; i < c->session_count; i++) {
		struct gt_capture_session *s = &c->sessions[i]->public;

		s->machine = count;
		for (k = 0; k < i; k++) {
			const struct gt_capture_session *other = &c->sessions[k]->public;
			uint32_t from = other->machine > s->machine ? other->machine : s->machine;
			uint32_t to = other->machine < s->machine ? other->machine : s->machine;

			if (from == to ||
			    ((!*s->info.boot_id || strcmp(s->info.boot_id, other->info.boot_id)) &&
			     (!*s->info.hostname ||
			      strcmp(s->info.hostname, other->info.hostname))))
				continue;
			/* this session may show that two machines are the same */
			for (n = 0; n <= i; n++)
				if (c->sessions[n]->public.machine == from)
					c->sessions[n]->public.machine = to;
		}
		count += s->machine == count;
	}
}

struct pid {
	uint32_t pid, session;
};

static int compare_pids(const void *a, const void *b)
{
	const struct pid *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->session > y->session) - (x->session < y->session);
}

static bool is_beside(const struct gt_capture_session *a, const struct gt_capture_session *b)
{
	return !strcmp(a->info.boot_id, b->info.boot_id) &&
	       !strcmp(a->info.hostname, b->info.hostname);
}

/* Return the first node of the session's machine in which no other process has a pid of this
 * session, or @count for a new node. @taken: for each node, the last session that cannot use the
 * node */
static uint32_t choose_node(const struct gt_capture *c, size_t session, const uint32_t *taken,
			    uint32_t count)
{
	const struct gt_capture_session *s = &c->sessions[session]->public;
	size_t k;

	for (k = 0; k < session; k++) {
		const struct gt_capture_session *other = &c->sessions[k]->public;

		if (is_beside(s, other) && taken[other->node] != session)
			return other->node;
	}
	return count;
}

static int number_nodes(struct gt_capture *c)
{
	struct pid *pids = calloc(c->process_count + 1, sizeof *pids);
	uint32_t *taken = calloc(c->session_count + 1, sizeof *taken), nodes = 0;
	size_t i, k, n = 0;

	if (!pids || !taken) {
		free(pids);
		free(taken);
		return gt_error(-ENOMEM, "cannot store the processes of capture %s",
				c->files[0].path);
	}
	for (i = 0; i < c->process_count; i++)
		if (c->processes[i].pid)
			pids[n++] = (struct pid){c->processes[i].pid, c->processes[i].session};
	qsort(pids, n, sizeof *pids, compare_pids);
	for (i = 0; i < c->session_count; i++) {
		struct gt_capture_session *s = &c->sessions[i]->public;

		for (k = 0; k < s->process_count && i; k++) {
			struct pid key = {c->processes[s->first_process + k].pid, (uint32_t)i};
			struct pid *hit =
				n ? bsearch(&key, pids, n, sizeof *pids, compare_pids) : NULL;

			while (hit && hit > pids && hit[-1].pid == key.pid && (--hit)->session <= i)
				if (hit->session < i)
					taken[c->sessions[hit->session]->public.node] = (uint32_t)i;
		}
		s->node = choose_node(c, i, taken, nodes);
		nodes += s->node == nodes;
	}
	free(pids);
	free(taken);
	return 0;
}

int gt_sessions_finish(struct gt_capture *c)
{
	size_t i;
	int status;

	status = gt_sort_stable(c->sessions, c->session_count, sizeof(struct session *),
				compare_begin);
	if (!status)
		status = order_processes(c);
	if (!status)
		status = align_sessions(c);
	for (i = 0; i < c->session_count && !status; i++) {
		struct session *s = c->sessions[i];

		status = gt_host_clock_map_create_shifted(s->tuples, s->tuple_count,
							  s->public.shift_ns, &s->host);
		if (status)
			gt_error(status, "cannot read the clocks of capture %s",
				 c->files[s->file].path);
	}
	if (status)
		return status;
	number_machines(c);
	return number_nodes(c);
}
