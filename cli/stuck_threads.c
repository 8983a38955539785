/* SPDX-License-Identifier: MIT */
/* See stuck_threads.h. */
#include "cli/stuck_threads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "cli/answer_words.h"
#include "cli/rank_list.h"
#include "cli/ui.h"
#include "collector/host_look.h"
#include "util/error.h"

/* Reading --------------------------------------------------------------------------- */

/* @s: NULL: the session of the caller */
static void add_process(struct stuck_list *l, const struct session_found *s, const char *line)
{
	struct stuck_process p = {.session = s ? session_value(&s->status, "output") : NULL,
				  .collector =
					  s ? (uint32_t)session_number(&s->status, "collector") : 0,
				  .communicators = answer_copy_text(line, "communicators"),
				  .index = (uint32_t)answer_get_number(line, "process"),
				  .pid = (uint32_t)answer_get_number(line, "pid"),
				  .rank = answer_get_signed(line, "rank"),
				  .size = answer_get_signed(line, "size"),
				  .exe = answer_copy_text(line, "exe"),
				  .pending = answer_get_number(line, "pending"),
				  .busy = answer_get_number(line, "busy"),
				  .ended = answer_is_yes(line, "ended"),
				  .is_unseen = answer_is_yes(line, "unseen")};

	p.has_activity = answer_read_number(line, "activity_ns", &p.activity_ns);
	GROW_LIST(l->processes, l->process_count, l->process_room);
	l->processes[l->process_count++] = p;
}

static void add_thread(struct stuck_list *l, const char *line)
{
	struct stuck_thread t = {.process = l->process_count - 1,
				 .tid = (uint32_t)answer_get_number(line, "tid"),
				 .name = answer_copy_text(line, "name"),
				 .calls = answer_copy_text(line, "calls"),
				 .domain = answer_copy_text(line, "domain"),
				 .communicator = answer_get_number(line, "communicator"),
				 .sequence = answer_get_number(line, "sequence"),
				 .peer = answer_get_number(line, "peer"),
				 .bytes = answer_get_number(line, "bytes"),
				 .last = answer_copy_text(line, "last")};

	t.has_start = answer_read_number(line, "for_ns", &t.for_ns);
	t.has_last = answer_read_number(line, "last_ns", &t.last_ns);
	GROW_LIST(l->threads, l->thread_count, l->thread_room);
	l->threads[l->thread_count++] = t;
}

static bool is_outside(const struct stuck_thread *t)
{
	return !*t->calls;
}

/* Return true if the process launches work for a device, or is a rank of a job. Launchers of jobs
 * look for devices as well, and then wait for the ranks. */
static bool is_worker(const struct stuck_process *p)
{
	return p->has_activity || p->pending || p->rank >= 0;
}

/* Choose the threads that text shows. Most programs have threads that make a few calls and then
 * wait for work outside any call. Such a thread is of interest only if no thread of its process
 * makes progress and it was the last to make a call. */
static void choose_threads(struct stuck_list *l)
{
	for (size_t i = 0; i < l->thread_count; i++) {
		struct stuck_thread *t = &l->threads[i];
		const struct stuck_process *p = &l->processes[t->process];

		t->is_shown =
			!p->ended && (!is_outside(t) || (!p->busy && t->has_last && is_worker(p)));
		for (size_t k = 0; k < l->thread_count && t->is_shown && is_outside(t); k++)
			if (l->threads[k].process == t->process && is_outside(&l->threads[k]) &&
			    l->threads[k].has_last && l->threads[k].last_ns < t->last_ns)
				t->is_shown = false;
	}
}

static void add_answer(struct stuck_list *l, const struct session_found *s,
		       const struct session_answer *a)
{
	size_t before = l->process_count, threads = l->thread_count;

	for (size_t i = 0; i < a->count; i++)
		if (!strncmp(a->lines[i], "process=", 8))
			add_process(l, s, a->lines[i]);
		else if (!strncmp(a->lines[i], "thread=", 7) && l->process_count > before)
			add_thread(l, a->lines[i]);
		else if (l->thread_count > threads &&
			 (!strncmp(a->lines[i], "stack=", 6) || !strncmp(a->lines[i], "frame=", 6)))
			stuck_stack_add(&l->threads[l->thread_count - 1].stack, a->lines[i]);
}

/* Read the states of the threads on the host, unless they run in another pid namespace. */
static void read_states(struct stuck_list *l)
{
	struct gt_host_now *list = allocate_list(l->thread_count + 1, sizeof *list);
	size_t n = 0;

	memset(list, 0, (l->thread_count + 1) * sizeof *list);
	for (size_t i = 0; i < l->thread_count; i++) {
		const struct stuck_process *p = &l->processes[l->threads[i].process];

		if (!p->ended && !p->is_unseen) {
			list[n].pid = p->pid;
			list[n++].tid = l->threads[i].tid;
		}
	}
	gt_host_states_now(list, (unsigned)n);
	n = 0;
	for (size_t i = 0; i < l->thread_count; i++) {
		const struct stuck_process *p = &l->processes[l->threads[i].process];
		struct stuck_thread *t = &l->threads[i];

		if (!p->ended && !p->is_unseen && !list[n++].status) {
			t->state = list[n - 1].state;
			t->system_call = list[n - 1].call_name;
			t->state_text = strdup(list[n - 1].text);
		}
		if (!t->state_text)
			t->state_text = strdup("");
	}
	free(list);
}

static void name_stacks(struct stuck_list *l)
{
	struct stuck_stack **list = allocate_list(l->thread_count + 1, sizeof *list);

	for (size_t i = 0; i < l->thread_count; i++)
		list[i] = &l->threads[i].stack;
	l->names = stuck_names_find(list, l->thread_count);
	free(list);
}

void stuck_list_read(struct stuck_list *l, const struct session_list *sessions,
		     const struct session_found *only, uint64_t least_ms, bool stacks)
{
	struct session_answer *answers = allocate_list(sessions->count + 1, sizeof *answers);
	char request[64];

	*l = (struct stuck_list){0};
	snprintf(request, sizeof request, "threads least_ms=%" PRIu64 "%s", least_ms,
		 stacks ? " stacks=yes" : "");
	session_list_ask(sessions, only, request, answers);
	for (size_t i = 0; i < sessions->count; i++) {
		add_answer(l, &sessions->sessions[i], &answers[i]);
		session_answer_fini(&answers[i]);
	}
	free(answers);
	choose_threads(l);
	read_states(l);
	if (stacks)
		name_stacks(l);
}

void stuck_list_ask(struct stuck_list *l, const char *folder, uint64_t least_ms)
{
	struct session_answer answer;
	char request[64];

	*l = (struct stuck_list){0};
	snprintf(request, sizeof request, "threads least_ms=%" PRIu64, least_ms);
	if (!*folder)
		return;
	if (session_ask(folder, request, &answer)) {
		gt_error_clear(); /* the session has ended, or runs an older gputap */
		return;
	}
	add_answer(l, NULL, &answer);
	session_answer_fini(&answer);
	choose_threads(l);
	read_states(l);
}

void stuck_list_fini(struct stuck_list *l)
{
	for (size_t i = 0; i < l->process_count; i++) {
		free(l->processes[i].exe);
		free(l->processes[i].communicators);
	}
	for (size_t i = 0; i < l->thread_count; i++) {
		struct stuck_thread *t = &l->threads[i];

		free(t->name);
		free(t->calls);
		free(t->domain);
		free(t->last);
		free(t->state_text);
		stuck_stack_fini(&t->stack);
	}
	stuck_names_destroy(l->names);
	free(l->processes);
	free(l->threads);
	*l = (struct stuck_list){0};
}

/* Text ------------------------------------------------------------------------------ */

enum { RANKS_BYTES = 160, NAMED_MOST = 3 };

/* Rows of the table that differ only in their process or thread. */
struct group {
	const struct stuck_list *list;
	const struct stuck_thread **threads;
	size_t count, room;
};

/* Threads that compute get a processor in turn, so waiting for one is the same state here. */
static enum gt_host_state get_state(const struct stuck_thread *t)
{
	return t->state == GT_HOST_STATE_RUNNABLE ? GT_HOST_STATE_COMPUTING : t->state;
}

static bool is_equal(const struct stuck_list *l, const struct stuck_thread *a,
		     const struct stuck_thread *b)
{
	const struct stuck_process *p = &l->processes[a->process], *q = &l->processes[b->process];

	return !strcmp(a->calls, b->calls) && a->sequence == b->sequence &&
	       get_state(a) == get_state(b) && (!is_outside(a) || !strcmp(a->last, b->last)) &&
	       !strcmp(p->exe, q->exe) && (p->rank < 0) == (q->rank < 0) &&
	       (a->tid == p->pid) == (b->tid == q->pid) && !p->pending == !q->pending &&
	       p->has_activity == q->has_activity;
}

static const char *name_ranks(struct grid *g, const struct group *group)
{
	int64_t *ranks = allocate_list(group->count, sizeof *ranks);
	char text[RANKS_BYTES];

	for (size_t i = 0; i < group->count; i++)
		ranks[i] = group->list->processes[group->threads[i]->process].rank;
	rank_list_write(text, sizeof text, ranks, group->count);
	free(ranks);
	return grid_keep(g, "%s", text);
}

/* Write "process 12" or "processes 12, 13, 14" or "64 processes". */
static const char *name_processes(struct grid *g, const struct group *group)
{
	char text[RANKS_BYTES] = "";
	size_t used = 0, distinct = 0;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < group->count; i++) {
		size_t process = group->threads[i]->process;

		if (process == last)
			continue;
		last = process;
		if (distinct++ < NAMED_MOST)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u",
						 distinct > 1 ? ", " : "",
						 group->list->processes[process].pid);
	}
	if (distinct > NAMED_MOST)
		return grid_keep(g, "%zu processes", distinct);
	return grid_keep(g, "process%s %s", distinct > 1 ? "es" : "", text);
}

static const char *name_thread(struct grid *g, const struct group *group)
{
	const struct stuck_thread *t = group->threads[0];

	for (size_t i = 1; i < group->count; i++)
		if (group->threads[i]->process == group->threads[i - 1]->process)
			return "several";
	if (t->tid == group->list->processes[t->process].pid)
		return "main";
	if (group->count > 1)
		return t->name;
	return *t->name ? grid_keep(g, "%u %s", t->tid, t->name) : grid_keep(g, "%u", t->tid);
}

/* Write "clFinish", "MPI_Barrier #50", or "f, in it g". */
static const char *name_call(struct grid *g, const struct stuck_thread *t)
{
	const char *comma = strchr(t->calls, ','), *inner = strrchr(t->calls, ',');
	const char *text = t->calls;

	if (is_outside(t))
		return *t->last ? grid_keep(g, "outside any call, after %s", t->last)
				: "outside any call";
	if (comma)
		text = grid_keep(g, "%.*s, in it %s", (int)(comma - t->calls), t->calls, inner + 1);
	return t->sequence ? grid_keep(g, "%s #%" PRIu64, text, t->sequence) : text;
}

/* Return the longest time of the group. Return false if it is not known. */
static bool get_time(const struct group *group, uint64_t *ns)
{
	bool is_known = false;

	*ns = 0;
	for (size_t i = 0; i < group->count; i++) {
		const struct stuck_thread *t = group->threads[i];
		uint64_t value = is_outside(t) ? t->last_ns : t->for_ns;

		is_known |= is_outside(t) ? t->has_last : t->has_start;
		*ns = value > *ns ? value : *ns;
	}
	return is_known;
}

/* Describe the GPU of the group's processes: in use, or idle since at least the shortest time. */
static const char *describe_device(struct grid *g, const struct group *group)
{
	uint64_t pending = 0, idle_ns = UINT64_MAX;

	for (size_t i = 0; i < group->count; i++) {
		const struct stuck_process *p = &group->list->processes[group->threads[i]->process];

		pending += p->pending;
		if (p->has_activity && p->activity_ns < idle_ns)
			idle_ns = p->activity_ns;
	}
	if (pending)
		return grid_keep(g, "%" PRIu64 " in flight", pending);
	return idle_ns == UINT64_MAX ? "" : grid_keep(g, "idle %s", show_duration(idle_ns));
}

/* Write "sleeping" or, for one thread, "waiting for a lock: worker (thread 12), which sleeps". */
static const char *describe_state(struct grid *g, const struct group *group)
{
	const struct stuck_thread *t = group->threads[0];
	enum gt_host_state state = t->state;

	for (size_t i = 1; i < group->count; i++)
		if (group->threads[i]->state != state)
			state = get_state(t);
	if (state == GT_HOST_STATE_UNKNOWN)
		return "";
	return group->count == 1 && *t->state_text
		       ? grid_keep(g, "%s: %s", gt_host_state_text(state), t->state_text)
		       : gt_host_state_text(state);
}

static void add_group(struct grid *g, const struct group *group)
{
	const struct stuck_thread *t = group->threads[0];
	const struct stuck_process *p = &group->list->processes[t->process];
	struct grid_cell *cell = grid_row(g);
	uint64_t ns;

	*cell++ = cell_text(p->rank >= 0 ? name_ranks(g, group) : name_processes(g, group));
	*cell++ = cell_text(p->exe);
	*cell++ = cell_text(name_thread(g, group));
	*cell++ = get_time(group, &ns) ? cell_count(ns) : cell_none();
	*cell++ = cell_text(describe_device(g, group));
	*cell++ = cell_text(describe_state(g, group));
	*cell++ = cell_text(name_call(g, t));
}

void stuck_list_print_text(const struct stuck_list *l, FILE *out, bool all, size_t top)
{
	static const struct grid_column columns[] = {
		{.key = "who", .title = "no progress"},
		{.key = "exe", .title = "program", .show = GRID_IF_DIFFER, .rank = 2},
		{.key = "thread", .title = "thread", .rank = 3},
		{.key = "for_ns", .title = "for", .type = GRID_NS},
		{.key = "device", .title = "GPU", .show = GRID_FOR_PEOPLE_IF_ANY, .rank = 1},
		{.key = "state", .title = "thread is", .show = GRID_FOR_PEOPLE_IF_ANY, .rank = 1},
		{.key = "call", .title = "in"},
	};
	bool *is_done = allocate_list(l->thread_count + 1, sizeof *is_done);
	struct grid g;

	memset(is_done, 0, (l->thread_count + 1) * sizeof *is_done);
	grid_init(&g, "threads", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < l->thread_count; i++) {
		struct group group = {.list = l};

		for (size_t k = i; k < l->thread_count; k++) {
			const struct stuck_thread *t = &l->threads[k];

			if (is_done[k] || (!t->is_shown && !all) ||
			    (k > i && !is_equal(l, &l->threads[i], t)))
				continue;
			if (k > i && !group.count)
				break;
			is_done[k] = true;
			GROW_LIST(group.threads, group.count, group.room);
			group.threads[group.count++] = t;
		}
		if (group.count)
			add_group(&g, &group);
		free(group.threads);
	}
	grid_sort(&g, 3, false);
	if (g.row_count) {
		fputc('\n', out);
		grid_print_text(&g, out, top);
	}
	grid_fini(&g);
	free(is_done);
}

/* Stacks ---------------------------------------------------------------------------- */

static bool has_same_stack(const struct stuck_list *l, const struct stuck_thread *a,
			   const struct stuck_thread *b)
{
	return b->stack.text && is_equal(l, a, b) && !strcmp(a->stack.text, b->stack.text);
}

static void print_stack(struct grid *g, const struct group *group, FILE *out)
{
	const struct stuck_thread *t = group->threads[0];
	const struct stuck_process *p = &group->list->processes[t->process];

	fprintf(out, "\n%s, thread %s, %s%s\n",
		p->rank >= 0 ? name_ranks(g, group) : name_processes(g, group),
		name_thread(g, group), is_outside(t) ? "" : "in ", name_call(g, t));
	for (const char *line = t->stack.text; line;) {
		size_t n = strcspn(line, "\n");

		fprintf(out, "  %.*s\n", (int)n, line);
		line = line[n] ? line + n + 1 : NULL;
	}
}

void stuck_list_print_stacks(const struct stuck_list *l, FILE *out, bool all)
{
	bool *is_done = allocate_list(l->thread_count + 1, sizeof *is_done);
	struct grid g;

	grid_init(&g, "stacks", NULL, 0);
	for (size_t i = 0; i < l->thread_count; i++) {
		const struct stuck_thread *t = &l->threads[i];
		struct group group = {.list = l};

		if (is_done[i] || (!t->is_shown && !all) || !t->stack.text)
			continue;
		for (size_t k = i; k < l->thread_count; k++) {
			if (is_done[k] || (!l->threads[k].is_shown && !all) ||
			    !has_same_stack(l, t, &l->threads[k]))
				continue;
			is_done[k] = true;
			GROW_LIST(group.threads, group.count, group.room);
			group.threads[group.count++] = &l->threads[k];
		}
		print_stack(&g, &group, out);
		free(group.threads);
	}
	grid_fini(&g);
	free(is_done);
}

/* JSON ------------------------------------------------------------------------------ */

static void put_known(struct json *j, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		json_count(j, key, value);
	else
		json_null(j, key);
}

static void put_calls(struct json *j, const char *calls)
{
	json_array(j, "calls");
	for (const char *p = calls; *p;) {
		size_t n = strcspn(p, ",");
		char name[256];

		snprintf(name, sizeof name, "%.*s", (int)n, p);
		json_string(j, NULL, name);
		p += n + (p[n] == ',');
	}
	json_close(j);
}

static void put_thread(struct json *j, const struct stuck_list *l, const struct stuck_thread *t)
{
	const struct stuck_process *p = &l->processes[t->process];

	json_object(j, NULL);
	json_string(j, "session", p->session);
	json_count(j, "process", p->index);
	json_count(j, "pid", p->pid);
	put_known(j, "rank", p->rank >= 0, (uint64_t)p->rank);
	json_string(j, "program", p->exe);
	json_count(j, "tid", t->tid);
	json_string(j, "thread", t->name);
	put_calls(j, t->calls);
	json_string(j, "domain", *t->domain ? t->domain : NULL);
	put_known(j, "open_ns", t->has_start, t->for_ns);
	put_known(j, "communicator", t->communicator, t->communicator);
	put_known(j, "sequence", t->sequence, t->sequence);
	put_known(j, "peer", t->peer, t->peer - 1);
	put_known(j, "bytes", t->bytes, t->bytes);
	json_string(j, "last_call", *t->last ? t->last : NULL);
	put_known(j, "last_ended_ns", t->has_last, t->last_ns);
	json_count(j, "threads_with_progress", p->busy);
	put_known(j, "activity_ended_ns", p->has_activity, p->activity_ns);
	json_count(j, "activities_in_flight", p->pending);
	json_string(j, "state",
		    t->state == GT_HOST_STATE_UNKNOWN ? NULL : gt_host_state_name(t->state));
	json_string(j, "system_call", t->system_call);
	json_string(j, "waits_for", *t->state_text ? t->state_text : NULL);
	json_bool(j, "shown", t->is_shown);
	stuck_stack_print_json(&t->stack, j);
	json_close(j);
}

void stuck_list_print_json(const struct stuck_list *l, struct json *j)
{
	json_array(j, "threads");
	for (size_t i = 0; i < l->thread_count; i++)
		if (!l->processes[l->threads[i].process].ended)
			put_thread(j, l, &l->threads[i]);
	json_close(j);
}
