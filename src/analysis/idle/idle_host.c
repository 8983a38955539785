/* SPDX-License-Identifier: MIT */
/* See idle.h. Finds what threads did while devices were idle.
 *
 * A thread's calls and ranges are read in order of their start. Its gaps are read in order of the
 * earliest start of their parts. Between two consecutive times from these three inputs, the thread
 * is in the same call and the same range. The time between the two is a part of each open gap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/idle/idle_samples.h"
#include "analysis/idle/idle_steps.h"
#include "record/operation.h"

struct open_call {
	uint64_t id, start, end;
	uint32_t op;
	enum gt_idle_cause cause;
};

struct open_range {
	uint64_t end;
	uint32_t name;
};

struct walk {
	struct idle *idle;
	/* State of the current thread */
	uint64_t now;
	uint32_t thread, process, ordinal;
	struct open_call *calls; /* outermost first */
	struct open_range *ranges;
	struct idle_open *gaps;
	size_t call_count, call_room, range_count, range_room, gap_count, gap_room;
	/* outermost calls: the last one that ended, and the one that starts next; id 0: none */
	struct open_call last, next;
	/* Next inputs, of this thread or of a later one */
	struct idle_gap_row next_gap;
	struct idle_range_row next_range;
	bool has_gap, has_range;
	int status; /* result of reading sorted rows: 0 or negative errno */
	/* for each process: 0: not looked up yet; 1: host activity not known; 2: host activity
	 * known */
	uint8_t *processes;
};

static void read_gap(struct walk *w)
{
	const void *row;
	int rc = sorter_next(&w->idle->gaps, &row);

	w->has_gap = rc > 0;
	if (rc > 0)
		w->next_gap = *(const struct idle_gap_row *)row;
	else if (rc < 0)
		w->status = rc;
}

static void read_range(struct walk *w)
{
	const void *row;
	int rc = sorter_next(&w->idle->ranges, &row);

	w->has_range = rc > 0;
	if (rc > 0)
		w->next_range = *(const struct idle_range_row *)row;
	else if (rc < 0)
		w->status = rc;
}

/* Ranges --------------------------------------------------------------------------- */

static void push_range(struct walk *w, const struct idle_range_row *row)
{
	GROW_LIST(w->ranges, w->range_count, w->range_room);
	w->ranges[w->range_count++] = (struct open_range){row->end, row->name};
}

/* Return the innermost range at @time, and in *until the end of the time for which it stays
 * innermost. @time must not decrease between calls. */
static uint32_t find_range(struct walk *w, uint64_t time, uint64_t *until)
{
	size_t kept = 0;

	for (; w->has_range && w->next_range.thread <= w->thread &&
	       (w->next_range.thread < w->thread || w->next_range.start <= time);
	     read_range(w))
		if (w->next_range.thread == w->thread && w->next_range.end > time)
			push_range(w, &w->next_range);
	for (size_t i = 0; i < w->range_count; i++) /* ranges may cross each other */
		if (w->ranges[i].end > time)
			w->ranges[kept++] = w->ranges[i];
	w->range_count = kept;
	*until = UINT64_MAX;
	if (w->has_range && w->next_range.thread == w->thread)
		*until = w->next_range.start;
	if (!kept)
		return LOOKUP_NONE;
	if (w->ranges[kept - 1].end < *until)
		*until = w->ranges[kept - 1].end;
	return w->ranges[kept - 1].name;
}

/* Parts ---------------------------------------------------------------------------- */

static bool is_host_known(struct walk *w, uint32_t process)
{
	if (process >= gt_capture_process_count(w->idle->capture))
		return false;
	if (!w->processes[process])
		w->processes[process] = 1 + idle_host_is_known(w->idle->capture, process);
	return w->processes[process] == 2;
}

static bool is_pageable(const struct walk *w, const struct idle_open *gap)
{
	const struct idle_origin *origin = &w->idle->origins[gap->row.origin];

	return strstr(texts_get(w->idle->names, origin->name), "Pageable") != NULL;
}

/* Find the cause of a thread's time: the outermost call that has a cause, or else the call that
 * submits the activity that will end the gap. */
static enum gt_idle_cause find_cause(struct walk *w, const struct idle_open *gap, uint32_t *op)
{
	const struct open_call *submits = NULL;

	*op = 0;
	if (!w->call_count)
		return is_host_known(w, w->process) ? GT_IDLE_HOST : GT_IDLE_UNKNOWN;
	*op = w->calls[0].op;
	for (size_t i = 0; i < w->call_count; i++)
		if (w->calls[i].id == gap->row.id)
			submits = &w->calls[i];
	if (submits && gap->copies && is_pageable(w, gap)) {
		*op = submits->op;
		return GT_IDLE_PAGEABLE;
	}
	for (size_t i = 0; i < w->call_count; i++)
		if (w->calls[i].cause != GT_IDLE_OTHER_CALL) {
			*op = w->calls[i].op;
			return w->calls[i].cause;
		}
	if (submits) {
		*op = submits->op;
		return GT_IDLE_LAUNCHING;
	}
	return GT_IDLE_OTHER_CALL;
}

/* Return what the thread did between two outermost calls, or during the outermost call; NULL: not
 * known. */
static const struct idle_interval *read_interval(struct walk *w, uint64_t time)
{
	uint64_t from = w->last.end, to = w->next.start;

	if (!w->idle->states)
		return NULL;
	if (w->call_count) {
		from = w->calls[0].start;
		to = w->calls[0].end;
	}
	for (size_t i = 0; i < w->gap_count && (!from || to == UINT64_MAX); i++) {
		const struct idle_gap_row *gap = &w->gaps[i].row;

		from = from ? from : time;
		to = to != UINT64_MAX ? to : gap->end;
	}
	return from < to ? idle_states_read(w->idle->states, from, to, &w->status) : NULL;
}

/* Find the samples between two outermost calls. */
static void read_samples(struct walk *w)
{
	if (w->idle->samples && !w->call_count && !w->status)
		w->status = idle_samples_read(w->idle->samples, w->last.end, w->next.start);
}

/* Return the outermost calls before and at the current time. */
static struct idle_calls find_calls(struct walk *w)
{
	const struct open_call *call = w->call_count ? &w->calls[0] : &w->next;
	const struct gt_idle_edge previous = {.id = w->last.id, .op = w->last.op},
				  next = {.id = call->id, .op = call->op};

	return (struct idle_calls){.previous = previous.id,
				   .next = next.id,
				   .pair = idle_find_pair(w->idle, w->process, &previous, &next)};
}

/* Add the parts between @from and @to. During this time, the thread stayed in the same calls. */
static void add_parts(struct walk *w, uint64_t from, uint64_t to)
{
	const struct idle_interval *interval = read_interval(w, from);
	const struct idle_calls calls = find_calls(w);

	read_samples(w);
	while (from < to) {
		uint64_t until = UINT64_MAX;
		struct idle_kept part = {.wait = LOOKUP_NONE};

		part.name =
			w->has_range || w->range_count ? find_range(w, from, &until) : LOOKUP_NONE;
		until = until < to ? until : to;
		for (size_t i = 0; i < w->gap_count; i++) {
			struct idle_open *gap = &w->gaps[i];

			part.start = from > gap->row.start ? from : gap->row.start;
			part.end = until < gap->until ? until : gap->until;
			if (part.start >= part.end)
				continue;
			part.cause = find_cause(w, gap, &part.op);
			gap->calls = calls;
			idle_add_host_part(w->idle, gap, interval, &part);
		}
		from = until;
	}
}

static void close_gaps(struct walk *w, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->gap_count; i++)
		if (w->gaps[i].until <= now && w->gaps[i].is_seen)
			idle_close_gap(w->idle, &w->gaps[i]);
		else if (kept++ != i)
			w->gaps[kept - 1] = w->gaps[i];
	w->gap_count = kept;
}

/* Advance the current time to @to. */
static void advance(struct walk *w, uint64_t to)
{
	while (w->call_count && w->calls[w->call_count - 1].end <= to) {
		const uint64_t end = w->calls[w->call_count - 1].end;

		if (w->gap_count && end > w->now)
			add_parts(w, w->now, end);
		w->now = end > w->now ? end : w->now;
		if (!--w->call_count)
			w->last = w->calls[0];
	}
	if (to <= w->now)
		return;
	if (w->gap_count)
		add_parts(w, w->now, to);
	w->now = to;
	if (w->gap_count)
		close_gaps(w, to);
}

/* Gaps ----------------------------------------------------------------------------- */

/* Close a gap whose launching call was not recorded. The cause is unknown up to the call. The rest
 * is split as usual. */
static void close_unseen(struct walk *w, struct idle_open *gap, uint64_t from)
{
	uint64_t call = gap->row.call_start, end = gap->row.end;

	from = from > gap->row.start ? from : gap->row.start;
	call = !call || call > end ? end : call > from ? call : from;
	idle_add_part(w->idle, gap, from, call, GT_IDLE_UNKNOWN, 0, LOOKUP_NONE);
	idle_split_rest(w->idle, gap, call, 0, LOOKUP_NONE, false);
	idle_close_gap(w->idle, gap);
}

static void open_gap(struct walk *w, const struct idle_gap_row *row)
{
	struct idle_open *gap;

	GROW_LIST(w->gaps, w->gap_count, w->gap_room);
	gap = &w->gaps[w->gap_count];
	idle_open_gap(w->idle, gap, row);
	if (!row->id || row->thread == LOOKUP_NONE) {
		close_unseen(w, gap, 0);
		return;
	}
	/* as long as the call is not seen, the host is the cause up to the call's start */
	gap->until = row->call_start && row->call_start < row->end ? row->call_start : row->end;
	w->gap_count++;
}

/* Process the call that submitted the activity. */
static void see_call(struct walk *w, struct idle_open *gap, const struct gt_item *call)
{
	const uint64_t start = gap->row.start, end = gap->row.end, submitted = gap->row.submitted;
	uint64_t until = call->end_ns < end ? call->end_ns : end;

	if (submitted && submitted < until)
		until = submitted > call->start_ns ? submitted : call->start_ns;
	gap->until = until;
	gap->is_seen = true;
	gap->copies = idle_find_operation(w->idle, call->op)->copies;
	gap->calls = find_calls(w);
	until = until > start ? until : start;
	if (until >= end)
		return;
	if (w->idle->held) {
		const struct idle_rest rest = {gap->row, until, gap->calls};

		idle_blocked_add_rest(w->idle->held, call, &rest);
	} else {
		idle_split_rest(w->idle, gap, until, 0, LOOKUP_NONE, false);
	}
}

static void see_calls(struct walk *w, const struct gt_item *call)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < w->gap_count; i++) {
		struct idle_open *gap = &w->gaps[i];

		if (gap->row.id == call->id)
			see_call(w, gap, call);
		any |= gap->is_seen;
		if (!gap->is_seen && gap->row.id < call->id) { /* the call was not recorded */
			close_unseen(w, gap, gap->until < w->now ? gap->until : w->now);
			continue;
		}
		if (kept++ != i)
			w->gaps[kept - 1] = *gap;
	}
	w->gap_count = kept;
	if (any)
		close_gaps(w, w->now);
}

/* Open gaps whose parts can start at @time or earlier. */
static void open_gaps(struct walk *w, uint64_t time)
{
	while (w->has_gap && w->next_gap.thread == w->thread &&
	       idle_gap_from(&w->next_gap) <= time) {
		advance(w, idle_gap_from(&w->next_gap));
		open_gap(w, &w->next_gap);
		read_gap(w);
	}
}

/* Threads -------------------------------------------------------------------------- */

static void end_thread(struct walk *w)
{
	w->next = (struct open_call){.start = UINT64_MAX};
	open_gaps(w, UINT64_MAX);
	advance(w, UINT64_MAX);
	for (size_t i = 0; i < w->gap_count; i++)
		close_unseen(w, &w->gaps[i], w->gaps[i].until);
	w->gap_count = w->call_count = w->range_count = 0;
	w->now = 0;
	w->last = (struct open_call){.id = 0};
}

static void begin_thread(struct walk *w, const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->ordinal;

	end_thread(w);
	w->process = item->process;
	w->ordinal = item->ordinal;
	w->thread = idmap_get(&w->idle->threads, key);
	if (w->idle->states && !w->status)
		w->status = idle_states_begin(w->idle->states, w->thread);
	if (w->idle->samples && !w->status)
		w->status = idle_samples_begin(w->idle->samples, w->thread);
}

static void step_call(struct walk *w, const struct gt_item *call)
{
	w->next = (struct open_call){call->id, call->start_ns, call->end_ns, call->op,
				     idle_call_cause(w->idle, call)};
	if (w->has_gap)
		open_gaps(w, call->start_ns);
	advance(w, call->start_ns);
	if (w->gap_count)
		see_calls(w, call);
	GROW_LIST(w->calls, w->call_count, w->call_room);
	w->calls[w->call_count++] = w->next;
}

static void destroy_cursor(void *data)
{
	gt_cursor_destroy(data);
}

static int walk_calls(struct walk *w)
{
	const struct gt_item *items;
	struct gt_cursor *cursor;
	struct cleanup cleanup;
	int count, rc = gt_cursor_create(w->idle->capture, &cursor);

	if (rc)
		return rc;
	cleanup_push(&cleanup, destroy_cursor, cursor);
	/* otherwise, blocks at the edge of a time range would be read only in part */
	if (gt_capture_is_filtered(w->idle->capture))
		gt_cursor_take_all(cursor);
	while ((count = gt_cursor_next_several(cursor, &items)) > 0 && !w->status) {
		if (items->process != w->process || items->ordinal != w->ordinal)
			begin_thread(w, items);
		if (!w->idle->held && (!w->has_gap || w->next_gap.thread != w->thread) &&
		    !w->gap_count) { /* no further call of this thread matters */
			gt_cursor_skip_thread(cursor);
			continue;
		}
		for (int i = 0; i < count; i++) {
			if (items[i].kind != GT_RECORD_CALL ||
			    gt_domain_traits[GT_OP_DOMAIN(items[i].op) % GT_DOMAIN_COUNT]
				    .annotations)
				continue;
			if (w->idle->held)
				idle_blocked_note_call(w->idle->held, &items[i]);
			step_call(w, &items[i]);
		}
	}
	cleanup_pop(&cleanup);
	return count < 0 ? count : 0;
}

static void fini_walk(void *data)
{
	struct walk *w = data;

	free(w->processes);
	free(w->calls);
	free(w->ranges);
	free(w->gaps);
}

int idle_walk_host(struct idle *s)
{
	struct walk w = {.idle = s, .thread = LOOKUP_NONE, .process = UINT32_MAX};
	size_t processes = gt_capture_process_count(s->capture);
	struct cleanup cleanup;
	int rc;

	cleanup_push(&cleanup, fini_walk, &w);
	w.processes = allocate_list(processes, 1);
	rc = idle_lines_begin(s);
	if (rc)
		goto done;
	read_gap(&w);
	read_range(&w);
	rc = walk_calls(&w);
	end_thread(&w);
	/* the remaining gaps belong to threads without records */
	for (w.thread = LOOKUP_NONE; !rc && w.has_gap; read_gap(&w))
		open_gap(&w, &w.next_gap);
done:
	cleanup_pop(&cleanup);
	return rc ? rc : w.status;
}
