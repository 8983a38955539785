/* SPDX-License-Identifier: MIT */
/* See export_capture.h. Each session is cut into a separate capture (capture/cut.h). Several
 * captures are then merged. */
#include "cli/export_capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/model/ranges.h"
#include "analysis/query/filter_nothing.h"
#include "analysis/tables/summary.h"
#include "capture/cut.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/merge.h"
#include "cli/ui.h"
#include "cli/where.h"
#include "util/error.h"

bool export_is_capture(const struct export_request *request)
{
	const char *extension = strrchr(request->output, '.');

	if (request->format)
		return !strcmp(request->format, "gputap");
	return extension && !strcmp(extension, ".gputap");
}

struct cutting {
	const struct export_request *request;
	struct gt_capture *capture;
	struct summary_reading *reading;
	struct gt_cut cut;
	struct ui_progress progress;
};

static void show_progress(void *data, uint64_t done, uint64_t total)
{
	struct ui_progress *progress = data;

	progress->total = total;
	ui_progress_set(progress, done);
}

static bool wants(void *data, const struct gt_item *item, bool *range)
{
	struct cutting *k = data;
	const enum gt_range_mark mark =
		item->kind == GT_RECORD_CALL ? gt_mark_of(item->op) : GT_MARK_NONE;
	const bool counts = summary_wants(k->reading, item);

	*range = mark == GT_MARK_RANGE ? counts : mark && summary_wants_range(k->reading, item);
	return counts;
}

/* Write each session into a separate file, for merging. */
static int write_parts(struct cutting *k, const char *temporary, char **parts, size_t count)
{
	struct gt_capture_health health;
	size_t repeated;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		if (asprintf(&parts[i], "%s.%zu", temporary, i) < 0) {
			parts[i] = NULL;
			return gt_error(-ENOMEM, "%s", temporary);
		}
		status = gt_capture_cut(k->capture, i, parts[i], &k->cut);
	}
	return status ? status
		      : gt_capture_merge((const char *const *)parts, count, temporary, NULL,
					 &health, &repeated);
}

static int write_cut(void *data, const char *temporary)
{
	struct cutting *k = data;
	size_t count = gt_capture_session_count(k->capture);
	char **parts;
	int status;

	if (count == 1)
		return gt_capture_cut(k->capture, 0, temporary, &k->cut);
	parts = calloc(count, sizeof *parts);
	status = parts ? write_parts(k, temporary, parts, count)
		       : gt_error(-ENOMEM, "cannot cut the capture");
	for (size_t i = 0; parts && i < count; i++) {
		if (parts[i])
			unlink(parts[i]);
		free(parts[i]);
	}
	free(parts);
	return status;
}

static uint64_t count_recorded(const struct gt_capture *capture)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < gt_capture_process_count(capture); i++) {
		const struct gt_counts *counts = gt_capture_counts(capture, i);

		for (int c = 0; counts && c < GT_CLASS_COUNT; c++)
			for (int d = 0; d < GT_DOMAIN_COUNT; d++)
				sum += counts->recorded[c][d];
	}
	return sum;
}

static int publish(const struct export_request *request, int (*write)(void *data, const char *path),
		   void *data)
{
	int status = gt_export_publish(request->output, request->replace, write, data);

	if (status == -EEXIST && !request->replace) {
		gt_error_clear();
		return ui_fail(GT_EXIT_FAILURE, "%s exists: -f replaces it", request->output);
	}
	return status ? ui_fail(GT_EXIT_FAILURE, "cannot write %s", request->output) : GT_EXIT_OK;
}

static int cut_capture(struct cutting *k, struct summary *s)
{
	const struct export_request *request = k->request;
	struct stat st = {0};
	int code;

	k->reading = summary_begin_filter(s, k->capture);
	if (!k->reading)
		return ui_fail(GT_EXIT_FAILURE, "cannot read %s", request->inputs[0]);
	k->cut = (struct gt_cut){.text = request->where,
				 .wants = wants,
				 .data = k,
				 .is_time = s->scope.begins.count && s->scope.is_time,
				 .progress = show_progress,
				 .progress_data = &k->progress};
	if (k->cut.is_time && s->scope.begins.count) {
		k->cut.from_ns = s->scope.begins.spans[0].from_ns;
		k->cut.to_ns = s->scope.begins.spans[s->scope.begins.count - 1].to_ns;
	}
	ui_progress_begin(&k->progress, "cutting", 0);
	code = publish(request, write_cut, k);
	ui_progress_end(&k->progress);
	summary_end_filter(k->reading);
	if (code)
		return code;
	if (!k->cut.kept)
		where_note_nothing(s->filter, request->where, "");
	stat(request->output, &st);
	ui_note("%s contains %s of %s records, and %s more to which these refer; %s",
		request->output, show_count(k->cut.kept), show_count(count_recorded(k->capture)),
		show_count(k->cut.context), show_bytes((uint64_t)st.st_size));
	return GT_EXIT_OK;
}

static int open_and_cut(struct cutting *k, struct summary *s)
{
	struct capture_inputs in;
	int code = inputs_choose(&in, k->request->inputs, k->request->input_count);

	if (code)
		return code;
	if (gt_capture_open_several(in.paths, in.count, &k->capture)) {
		inputs_fini(&in);
		return ui_fail(GT_EXIT_FAILURE, "cannot read %s",
			       k->request->input_count == 1 ? k->request->inputs[0]
							    : "the captures");
	}
	inputs_print_notes(k->capture);
	code = cut_capture(k, s);
	export_note_health(k->capture);
	if (!code && (in.left_out || !gt_capture_is_whole(gt_capture_health(k->capture))))
		code = GT_EXIT_FAILURE; /* errors were reported above */
	gt_capture_close(k->capture);
	inputs_fini(&in);
	return code;
}

/* Copy the whole capture byte for byte. */
static int write_copy(void *data, const char *temporary)
{
	const char *path = data;
	FILE *from = fopen(path, "rb"), *to = from ? fopen(temporary, "wbx") : NULL;
	static char buffer[1 << 20];
	size_t n;
	int status = 0;

	if (!to)
		status = gt_error(-errno, "cannot %s %s", from ? "write" : "open",
				  from ? temporary : path);
	while (!status && (n = fread(buffer, 1, sizeof buffer, from)))
		if (fwrite(buffer, 1, n, to) != n)
			status = gt_error(-errno, "cannot write %s", temporary);
	if (!status && ferror(from))
		status = gt_error(-errno, "cannot read %s", path);
	if (to && fclose(to) && !status)
		status = gt_error(-errno, "cannot write %s", temporary);
	if (from)
		fclose(from);
	return status;
}

static int copy_capture(const struct export_request *request)
{
	struct gt_capture *capture;
	int code;

	if (gt_capture_open(request->inputs[0], &capture))
		return ui_fail(GT_EXIT_FAILURE, "cannot read %s", request->inputs[0]);
	code = publish(request, write_copy, request->inputs[0]);
	export_note_health(capture);
	if (!code && !gt_capture_is_whole(gt_capture_health(capture)))
		code = GT_EXIT_FAILURE;
	gt_capture_close(capture);
	return code;
}

int export_capture(const struct export_request *request)
{
	struct summary s = {.mangled = request->mangled};
	struct cutting k = {.request = request};
	struct filter_error error;
	int code;

	if (request->weight)
		return ui_fail(GT_EXIT_USAGE, "--weight applies to stacks (folded, speedscope)");
	if (!request->where)
		return request->input_count == 1 ? copy_capture(request) : merge_captures(request);
	s.filter = filter_create(request->where, summary_texts, &s, &error);
	if (!s.filter)
		return where_print_error(request->where, &error);
	code = open_and_cut(&k, &s);
	filter_destroy(s.filter);
	summary_fini(&s);
	return code;
}
