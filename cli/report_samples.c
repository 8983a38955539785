/* SPDX-License-Identifier: MIT */
/* See report_samples.h. */
#include "cli/report_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/frames.h"
#include "analysis/symbols/program_line.h"
#include "analysis/symbols/stack_lines.h"
#include "analysis/tables/host_samples.h"
#include "analysis/tables/summary.h"
#include "record/record.h"
#include "util/error.h"

enum { FRAME_BYTES = 4096 };

const struct grid_column sample_columns[SAMPLE_COLUMNS] = {
	{"host_ns", "time", GRID_NS, GRID_ALWAYS, 0, false},
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 1, false},
	{"samples", "samples", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"pid", "pid", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"state", "state", GRID_TEXT, GRID_DATA, 0, false},
	{"line", "line", GRID_TEXT, GRID_DATA, 0, false},
	{"stack", "stack", GRID_LINES, GRID_DATA, 0, false},
	{"where", "where the host was", GRID_LINES, GRID_FOR_PEOPLE, 0, false},
};

/* A row with its stack as text. Stacks that differ only in addresses have the same text. */
struct shown {
	struct host_samples_row row;
	char *stack; /* all frames */
};

static const char *get_remark(const struct gt_frames *frames)
{
	if (!frames->count)
		return "(the stack was lost)";
	if (frames->end == GT_FRAMES_CUT)
		return "(more frames)";
	return frames->end == GT_FRAMES_BROKEN ? "(its callers are unknown)" : NULL;
}

/* Return all frames, a line each. The caller frees the text. */
static char *get_stack(struct gt_frame_names *names, const struct host_samples_row *row)
{
	struct gt_frames frames = gt_frames_get(names, row->process, row->stack);
	const char *remark = get_remark(&frames);
	char line[FRAME_BYTES], *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (size_t i = 0; i < frames.count; i++) {
		gt_frame_text(&frames.list[i], line, sizeof line);
		fprintf(out, "%s%s", i ? "\n" : "", line);
	}
	if (remark)
		fprintf(out, "%s%s", frames.count ? "\n" : "", remark);
	fclose(out);
	return text;
}

static int compare_same(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->row.process != y->row.process)
		return x->row.process < y->row.process ? -1 : 1;
	if (x->row.state != y->row.state)
		return x->row.state < y->row.state ? -1 : 1;
	return strcmp(x->stack ? x->stack : "", y->stack ? y->stack : "");
}

static int compare_shown(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

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
			list[kept - 1].row.samples += list[i].row.samples;
			free(list[i].stack);
			continue;
		}
		list[kept++] = list[i];
	}
	return kept;
}

static void add_shown(struct grid *g, const struct summary *s, struct gt_frame_names *names,
		      const struct shown *shown, uint64_t all)
{
	const struct host_samples_row *row = &shown->row;
	struct gt_frames frames = gt_frames_get(names, row->process, row->stack);
	const struct gt_frame *line = gt_frames_program_line(&frames);
	const char *remark = get_remark(&frames);
	char *few = stack_lines(&frames, s->launched.frames), text[FRAME_BYTES];
	struct grid_cell *cell = grid_row(g);

	*cell++ = cell_count(row->ns);
	*cell++ = all ? cell_real((double)row->ns / (double)all) : cell_none();
	*cell++ = cell_count(row->samples);
	*cell++ = cell_count(gt_capture_process(s->capture, row->process)->pid);
	*cell++ = cell_text(gt_host_state_name(row->state));
	if (line)
		gt_frame_text(line, text, sizeof text);
	*cell++ = line ? cell_text(grid_keep(g, "%s", text)) : cell_none();
	*cell++ = cell_text(grid_keep(g, "%s", shown->stack ? shown->stack : ""));
	*cell = cell_text(grid_keep(g, "%s%s%s%s%s", gt_host_state_text(row->state),
				    few ? "\n" : "", few ? few : "", remark ? "\n" : "",
				    remark ? remark : ""));
	free(few);
}

static void add_rows(struct grid *g, const struct summary *s, const struct host_samples *samples)
{
	struct gt_frame_names *names = gt_frame_names_create(s->capture);
	struct shown *list = allocate_list(samples->row_count + 1, sizeof *list);
	uint64_t all = 0;
	size_t count;

	for (size_t i = 0; names && i < samples->row_count; i++) {
		list[i] = (struct shown){samples->rows[i], get_stack(names, &samples->rows[i])};
		all += samples->rows[i].ns;
	}
	count = names ? join_rows(list, samples->row_count) : 0;
	qsort(list, count, sizeof *list, compare_shown);
	for (size_t i = 0; i < count; i++)
		add_shown(g, s, names, &list[i], all);
	for (size_t i = 0; i < count; i++)
		free(list[i].stack);
	free(list);
	gt_frame_names_destroy(names);
}

static bool has_asked(const struct gt_capture *c)
{
	for (size_t i = 0; c && i < gt_capture_session_count(c); i++) {
		const struct gt_capture_session *s = gt_capture_session_at(c, i);

		if (s->info.options && strstr(s->info.options, " sample-host="))
			return true;
		/* gputap snapshot --stacks */
		if (s->kept.reason == GT_RETAINED_COMMAND && gt_capture_stack_count(c))
			return true;
	}
	return false;
}

void make_samples(struct grid *g, const struct summary *s)
{
	struct host_samples samples;

	g->none = has_asked(s->capture) ? "no sample was taken: no thread was outside of its calls "
					  "for long"
					: "no stacks of the host were sampled: use gputap run "
					  "--sample-host";
	if (!s->capture || !has_asked(s->capture))
		return;
	if (host_samples_read(&samples, s->capture)) {
		gt_error_clear();
		g->none = "the samples of the host cannot be read";
		return;
	}
	if (samples.row_count)
		add_rows(g, s, &samples);
	host_samples_fini(&samples);
}
