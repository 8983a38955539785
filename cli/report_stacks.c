/* SPDX-License-Identifier: MIT */
/* See report_stacks.h. */
#include "cli/report_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/frames.h"
#include "analysis/symbols/stack_lines.h"
#include "analysis/tables/summary.h"

enum { FRAME_BYTES = 4096 };
/* Smallest mean duration for which launching calls get their own rows. For shorter calls, the rows
 * of their activities are sufficient. */
static const uint64_t LONG_NS = 1000000;

const struct grid_column launched_columns[LAUNCHED_COLUMNS] = {
	{"device_ns", "GPU time", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 1, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"call_ns", "in calls", GRID_NS, GRID_IF_ANY, 0, false},
	{"pid", "pid", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"name", "name", GRID_TEXT, GRID_DATA, 0, false},
	{"stack", "stack", GRID_LINES, GRID_DATA, 0, false},
	{"where", "what, and from where", GRID_LINES, GRID_FOR_PEOPLE, 0, false},
};

/* A growing buffer. */
struct lines {
	char *text;
	size_t bytes, room;
};

static void add_line(struct lines *l, const char *text)
{
	size_t n = strlen(text);

	GROW_LIST(l->text, l->bytes + n + 1, l->room);
	if (l->bytes)
		l->text[l->bytes++] = '\n';
	memcpy(l->text + l->bytes, text, n + 1);
	l->bytes += n;
}

/* Return a remark about a stack, shown in addition to its frames; NULL: none. */
static const char *get_remark(const struct launched_row *row, const struct gt_frames *frames)
{
	if (!row->stack)
		return "(no stack was recorded)";
	if (!frames->count)
		return "(the stack was lost)";
	if (frames->end == GT_FRAMES_CUT)
		return "(more frames)";
	return frames->end == GT_FRAMES_BROKEN ? "(its callers are unknown)" : NULL;
}

static const char *describe_stack(struct grid *g, struct gt_frame_names *names,
				  const struct launched_row *row)
{
	struct gt_frames frames = gt_frames_get(names, row->process, row->stack);
	const char *kept, *remark = get_remark(row, &frames);
	struct lines lines = {0};
	char text[FRAME_BYTES];

	for (size_t i = 0; i < frames.count; i++) {
		gt_frame_text(&frames.list[i], text, sizeof text);
		add_line(&lines, text);
	}
	if (remark)
		add_line(&lines, remark);
	kept = grid_keep(g, "%s", lines.text);
	free(lines.text);
	return kept;
}

/* Describe a stack for the text form, with the activity in the first line. */
static const char *describe_shortly(struct grid *g, struct gt_frame_names *names,
				    const struct summary *s, const struct launched_row *row)
{
	struct gt_frames frames = gt_frames_get(names, row->process, row->stack);
	char *text = stack_lines(&frames, s->launched.frames);
	const char *remark = get_remark(row, &frames), *kept;
	char *name = strdup(texts_get(&s->names, row->name));

	for (char *c = name; c && (c = strchr(c, '\n'));)
		*c = ' ';
	kept = grid_keep(g, "%s%s%s%s%s", name ? name : "", text ? "\n" : "", text ? text : "",
			 remark ? "\n" : "", remark ? remark : "");
	free(name);
	free(text);
	return kept;
}

/* A row with its stack as text. Stacks that differ only in addresses have the same text. */
struct shown {
	struct launched_row row;
	const char *stack;
};

static int compare_same(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->row.process != y->row.process)
		return x->row.process < y->row.process ? -1 : 1;
	if (x->row.is_call != y->row.is_call)
		return x->row.is_call ? 1 : -1;
	if (x->row.name != y->row.name)
		return x->row.name < y->row.name ? -1 : 1;
	return strcmp(x->stack, y->stack);
}

static int compare_shown(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->row.is_call != y->row.is_call)
		return x->row.is_call ? 1 : -1;
	if (x->row.ns != y->row.ns)
		return x->row.ns < y->row.ns ? 1 : -1;
	return compare_same(a, b);
}

/* Merge rows with the same text. Return the number of remaining rows. */
static size_t join_rows(struct shown *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof *list, compare_same);
	for (size_t i = 0; i < count; i++) {
		if (kept && !compare_same(&list[kept - 1], &list[i])) {
			list[kept - 1].row.ns += list[i].row.ns;
			list[kept - 1].row.count += list[i].row.count;
			continue;
		}
		list[kept++] = list[i];
	}
	return kept;
}

static void add_shown(struct grid *g, const struct summary *s, struct gt_frame_names *names,
		      const struct shown *shown, uint64_t all)
{
	const struct launched_row *row = &shown->row;
	struct grid_cell *cell = grid_row(g);

	*cell++ = row->is_call ? cell_none() : cell_count(row->ns);
	*cell++ = row->is_call || !all ? cell_none() : cell_real((double)row->ns / (double)all);
	*cell++ = cell_count(row->count);
	*cell++ = row->is_call ? cell_count(row->ns) : cell_none();
	*cell++ = cell_count(gt_capture_process(s->capture, row->process)->pid);
	*cell++ = cell_text(texts_get(&s->names, row->name));
	*cell++ = cell_text(shown->stack);
	*cell = cell_text(describe_shortly(g, names, s, row));
}

/* Return true if a session requested stacks of these calls. @c: NULL if only the table's columns
 * are needed. */
static bool has_asked_for(const struct gt_capture *c, const char *calls)
{
	for (size_t i = 0; c && i < gt_capture_session_count(c); i++) {
		const char *options = gt_capture_session_at(c, i)->info.options,
			   *list = options ? strstr(options, "stacks=") : NULL,
			   *word = list ? strstr(list, calls) : NULL;

		if (word && word < list + strcspn(list, " "))
			return true;
	}
	return false;
}

static void add_rows(struct grid *g, const struct summary *s, struct gt_frame_names *names)
{
	const struct launched *l = &s->launched;
	struct shown *list = allocate_list(l->count + 1, sizeof *list);
	const bool has_gaps = has_asked_for(s->capture, "gaps"),
		   has_slow = has_asked_for(s->capture, "slow");
	size_t count = 0;
	uint64_t all = 0;
	bool has_activity = false;

	for (uint32_t i = 0; i < l->count; i++) {
		if (l->rows[i].is_call && !l->rows[i].launches && has_gaps && !has_slow)
			continue; /* it ended a gap */
		list[count++] = (struct shown){l->rows[i], describe_stack(g, names, &l->rows[i])};
		all += l->rows[i].is_call ? 0 : l->rows[i].ns;
		has_activity |= !l->rows[i].is_call;
	}
	count = join_rows(list, count);
	qsort(list, count, sizeof *list, compare_shown);
	for (size_t i = 0; i < count; i++)
		if (!list[i].row.launches || !has_activity ||
		    list[i].row.ns / list[i].row.count >= LONG_NS)
			add_shown(g, s, names, &list[i], all);
	free(list);
}

void make_launched(struct grid *g, const struct summary *s)
{
	struct gt_frame_names *names = NULL;
	const bool is_wanted =
		has_asked_for(s->capture, "launch") || has_asked_for(s->capture, "slow");

	g->none =
		is_wanted
			? "no recorded call has a stack; 'gputap info' lists the reasons as events"
			: "no stacks were recorded: use gputap run --stacks";
	/* stacks of calls that end gaps are not for this table */
	if (s->launched.count && (is_wanted || !has_asked_for(s->capture, "gaps")))
		names = gt_frame_names_create(s->capture);
	if (names)
		add_rows(g, s, names);
	gt_frame_names_destroy(names);
}
