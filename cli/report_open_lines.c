/* SPDX-License-Identifier: MIT */
/* Lines about open calls on the first screen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "cli/rank_list.h"
#include "cli/report.h"
#include "cli/report_open.h"
#include "cli/ui.h"
#include "record/operation.h"
#include "util/file_name.h"

#define LONG_NS UINT64_C(1000000000) /* shortest duration of a call in a line */
enum { RANKS_BYTES = 160 };

/* Return true if the call is the outermost one of its thread, and has been open for long. Threads
 * that are in a call when a process ends properly are not of interest. */
static bool has_line(const struct gt_capture *c, const struct gt_open_call_info *list,
		     const struct gt_open_call_info *o)
{
	const struct gt_process_info *p = gt_capture_process(c, o->process);
	char death[16];

	if (open_call_outer(list, o) || !gt_operation(o->op) ||
	    open_call_duration_ns(o) < LONG_NS || p->proper_end)
		return false;
	return p->rank.rank >= 0 || !report_death(c, o->process, death, sizeof death);
}

/* Threads that compute get a processor in turn, so waiting for one is the same state here. */
static enum gt_host_state get_state(const struct gt_open_call_info *o)
{
	return o->state == GT_HOST_STATE_RUNNABLE ? GT_HOST_STATE_COMPUTING : o->state;
}

static bool is_equal(const struct gt_capture *c, const struct gt_open_call_info *a,
		     const struct gt_open_call_info *b)
{
	const struct gt_process_info *p = gt_capture_process(c, a->process),
				     *q = gt_capture_process(c, b->process);

	return a->op == b->op && a->sequence == b->sequence && get_state(a) == get_state(b) &&
	       (p->rank.rank < 0) == (q->rank.rank < 0) &&
	       !strcmp(p->exe ? p->exe : "", q->exe ? q->exe : "");
}

/* Write "ranks 0-2", "process 12 (prog), thread 14 (worker)" or "5 threads of prog". */
static void name_owner(const struct gt_capture *c, const struct gt_open_call_info *const *calls,
		       size_t count, char *text, size_t size)
{
	const struct gt_process_info *p = gt_capture_process(c, calls[0]->process);
	const struct gt_thread_info *t =
		gt_capture_thread_find(c, calls[0]->process, calls[0]->ordinal);
	const char *exe = p->exe ? gt_file_name(p->exe) : "";

	if (p->rank.rank >= 0) {
		int64_t *ranks = allocate_list(count, sizeof *ranks);

		for (size_t i = 0; i < count; i++)
			ranks[i] = gt_capture_process(c, calls[i]->process)->rank.rank;
		rank_list_write(text, size, ranks, count);
		free(ranks);
	} else if (count > 1) {
		snprintf(text, size, "%zu threads of %s", count, exe);
	} else if (t && t->tid != p->pid) {
		bool has_name = t->name && *t->name;

		snprintf(text, size, "process %u (%s), thread %u%s%s%s", p->pid, exe, t->tid,
			 has_name ? " (" : "", has_name ? t->name : "", has_name ? ")" : "");
	} else {
		snprintf(text, size, "process %u (%s)", p->pid, exe);
	}
}

static void write_line(const struct gt_capture *c, const struct gt_open_call_info *const *calls,
		       size_t count, char *text, size_t size)
{
	const struct gt_open_call_info *o = calls[0];
	char owner[RANKS_BYTES], number[24] = "", state[256] = "";
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		ns = open_call_duration_ns(calls[i]) > ns ? open_call_duration_ns(calls[i]) : ns;
	name_owner(c, calls, count, owner, sizeof owner);
	if (o->sequence)
		snprintf(number, sizeof number, " #%" PRIu64, o->sequence);
	if (o->state != GT_HOST_STATE_UNKNOWN)
		snprintf(state, sizeof state, ", %s%s%.180s",
			 gt_host_state_text(count > 1 ? get_state(o) : o->state),
			 *o->text && count == 1 ? ": " : "", count == 1 ? o->text : "");
	snprintf(text, size, "%s in %s%s for %s%s", owner, gt_operation_name(o->op), number,
		 show_duration(ns), state);
}

bool report_open_line(const struct gt_capture *c, size_t index, char *text, size_t size)
{
	size_t count, line = 0;
	const struct gt_open_call_info *list = gt_capture_open_calls(c, &count);
	const struct gt_open_call_info **calls = allocate_list(count + 1, sizeof *calls);
	bool is_found = false;

	for (size_t i = 0; i < count && !is_found; i++) {
		size_t n = 0, k;

		if (!has_line(c, list, &list[i]))
			continue;
		for (k = 0; k < i; k++) /* an earlier line contains the call */
			if (has_line(c, list, &list[k]) && is_equal(c, &list[k], &list[i]))
				break;
		if (k < i || line++ < index)
			continue;
		for (k = i; k < count; k++)
			if (has_line(c, list, &list[k]) && is_equal(c, &list[i], &list[k]))
				calls[n++] = &list[k];
		write_line(c, calls, n, text, size);
		is_found = true;
	}
	free(calls);
	return is_found;
}
