/* SPDX-License-Identifier: MIT */
/* See unrecorded.h. A list is computed in a sweep over the starts and ends of recorded times, of
 * paused times, and of times from a session's first activity to its last. */
#include "analysis/idle/unrecorded.h"

#include <stdlib.h>

/* Kind of an interval that starts or ends at a time. */
enum edge_kind { EDGE_RECORDED, EDGE_PAUSED, EDGE_SESSION, EDGE_KINDS };

struct edge {
	uint64_t time;
	enum edge_kind kind;
	int step; /* 1: start; -1: end */
};

struct edges {
	struct edge *edges;
	size_t count, room;
};

bool unrecorded_is_possible(const struct gt_capture *capture)
{
	size_t count, sessions = gt_capture_session_count(capture);

	if (sessions > 1 || (sessions && gt_capture_session_at(capture, 0)->kept.is_kept))
		return true;
	for (uint32_t p = 0; p < gt_capture_process_count(capture); p++) {
		gt_capture_windows(capture, p, &count);
		if (count)
			return true;
	}
	return false;
}

uint32_t unrecorded_find_user(struct unrecorded *u, uint32_t device, uint32_t process)
{
	const uint64_t key = (uint64_t)device << 32 | process;
	uint32_t i = idmap_get(&u->by_key, key);

	if (i != LOOKUP_NONE)
		return i;
	GROW_LIST(u->users, u->count, u->room);
	u->users[u->count] = (struct unrecorded_user){device, process, UINT64_MAX, 0};
	idmap_put(&u->by_key, key, u->count);
	return u->count++;
}

/* The sweep ----------------------------------------------------------------------- */

static void add_edge(struct edges *e, uint64_t time, enum edge_kind kind, int step)
{
	GROW_LIST(e->edges, e->count, e->room);
	e->edges[e->count++] = (struct edge){time, kind, step};
}

static void add_interval(struct edges *e, uint64_t from, uint64_t to, enum edge_kind kind)
{
	if (from >= to)
		return;
	add_edge(e, from, kind, 1);
	add_edge(e, to, kind, -1);
}

/* Add a process. A process that was never paused was recorded during its whole life. If its life is
 * not known, it is assumed to have been recorded at all times. */
static void add_process(struct edges *e, const struct gt_capture *capture, uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(capture, process);
	size_t count;
	const struct gt_window_info *w = gt_capture_windows(capture, process, &count);

	if (!count && info)
		add_interval(e, info->start_ns, info->end_ns ? info->end_ns : UINT64_MAX,
			     EDGE_RECORDED);
	for (size_t i = 0; i < count; i++)
		add_interval(e, w[i].from_ns, w[i].to_ns,
			     w[i].recorded ? EDGE_RECORDED : EDGE_PAUSED);
}

/* Return the time before which records were evicted. 0: all records were retained. */
static uint64_t find_kept_begin(const struct gt_capture_session *session)
{
	return session->kept.is_kept ? session->kept.begin_ns + (uint64_t)session->shift_ns : 0;
}

/* Add a session's time: from its first activity, or the start of the records that its flight
 * recorder retained, to its last activity. */
static void add_session(struct edges *e, const struct gt_capture *capture, size_t number,
			uint64_t first_ns, uint64_t last_ns)
{
	const struct gt_capture_session *session = gt_capture_session_at(capture, number);
	const uint64_t kept_ns = find_kept_begin(session);

	if (session->kept.is_cut && !session->kept.is_whole_time)
		return; /* other activities of this time were excluded */
	add_interval(e, first_ns > kept_ns ? first_ns : kept_ns, last_ns, EDGE_SESSION);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->step < y->step) - (x->step > y->step);
}

static void add_span(struct unrecorded_list *l, uint64_t start, uint64_t end)
{
	if (l->count && l->spans[l->count - 1].end >= start) {
		l->spans[l->count - 1].end = end;
		return;
	}
	GROW_LIST(l->spans, l->count, l->room);
	l->spans[l->count++] = (struct unrecorded_span){start, end};
}

static void fini_list(void *data)
{
	unrecorded_list_fini(data);
}

/* Compute the list. In times without a live process, the previous state continues, because a
 * process that began in a pause may have left no trace. Such a time counts as unrecorded only if a
 * pause follows. */
static struct unrecorded_list sweep(struct edges *e)
{
	struct unrecorded_list list = {0};
	struct cleanup cleanup;
	int open[EDGE_KINDS] = {0};
	uint64_t from = 0, nobody_from = 0;
	bool was_paused = false, nobody = false;

	cleanup_push(&cleanup, fini_list, &list);
	if (e->count)
		qsort(e->edges, e->count, sizeof *e->edges, compare_edges);
	for (size_t i = 0; i < e->count;) {
		const uint64_t time = e->edges[i].time;

		if (time > from && (!open[EDGE_SESSION] || was_paused))
			add_span(&list, from, time);
		for (; i < e->count && e->edges[i].time == time; i++)
			open[e->edges[i].kind] += e->edges[i].step;
		if (nobody && !open[EDGE_RECORDED] && open[EDGE_PAUSED])
			add_span(&list, nobody_from, time);
		if (!open[EDGE_RECORDED] && !open[EDGE_PAUSED] && was_paused) {
			nobody = true;
			nobody_from = time;
		} else if (open[EDGE_RECORDED] || open[EDGE_PAUSED]) {
			nobody = false;
		}
		was_paused = !open[EDGE_RECORDED] && open[EDGE_PAUSED];
		from = time;
	}
	cleanup_cancel(&cleanup);
	return list;
}

static void fini_edges(void *data)
{
	struct edges *e = data;

	free(e->edges);
}

struct session_span {
	uint64_t first_ns, last_ns;
};

struct unrecorded_list unrecorded_make(const struct unrecorded *u, const struct gt_capture *capture,
				       uint32_t device, unrecorded_match *match, const void *data)
{
	const size_t sessions = gt_capture_session_count(capture);
	struct session_span *spans = allocate_scratch(sessions + 1, sizeof *spans);
	struct unrecorded_list list;
	struct edges edges = {0};
	struct cleanup cleanup;

	cleanup_push(&cleanup, fini_edges, &edges);
	for (uint32_t i = 0; i < u->count; i++) {
		const struct unrecorded_user *user = &u->users[i];
		const struct gt_process_info *info = gt_capture_process(capture, user->process);
		struct session_span *span;

		if ((device != LOOKUP_NONE && user->device != device) ||
		    (match && !match(data, user->process)) || !info || info->session >= sessions)
			continue;
		span = &spans[info->session];
		if (!span->last_ns || user->first_ns < span->first_ns)
			span->first_ns = user->first_ns;
		if (user->last_ns > span->last_ns)
			span->last_ns = user->last_ns;
		add_process(&edges, capture, user->process);
	}
	for (size_t i = 0; i < sessions; i++)
		if (spans[i].last_ns)
			add_session(&edges, capture, i, spans[i].first_ns, spans[i].last_ns);
	list = sweep(&edges);
	cleanup_pop(&cleanup);
	free_scratch(spans);
	return list;
}

struct unrecorded_list unrecorded_of_process(const struct gt_capture *capture, uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(capture, process);
	const struct gt_capture_session *session;
	struct unrecorded_list list = {0};
	struct cleanup cleanup;
	uint64_t begin = 0;
	size_t count;
	const struct gt_window_info *w = gt_capture_windows(capture, process, &count);

	cleanup_push(&cleanup, fini_list, &list);
	if (info && info->session < gt_capture_session_count(capture)) {
		session = gt_capture_session_at(capture, info->session);
		begin = session->info.start_ns;
		if (find_kept_begin(session) > begin)
			begin = find_kept_begin(session);
	}
	if (begin)
		add_span(&list, 0, begin);
	for (size_t i = 0; i < count; i++)
		if (!w[i].recorded && w[i].to_ns > begin)
			add_span(&list, w[i].from_ns > begin ? w[i].from_ns : begin, w[i].to_ns);
	cleanup_cancel(&cleanup);
	return list;
}

void unrecorded_fini(struct unrecorded *u)
{
	free(u->users);
	idmap_fini(&u->by_key);
	*u = (struct unrecorded){0};
}
