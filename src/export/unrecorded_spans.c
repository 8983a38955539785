/* SPDX-License-Identifier: MIT */
/* See unrecorded_spans.h. */
#include "export/unrecorded_spans.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/error.h"
#include "util/grow.h"

static const char *const whys[GT_WINDOW_WHY_COUNT] = {
	[GT_WINDOW_UNKNOWN] = "paused",
	[GT_WINDOW_LIFE] = "paused",
	[GT_WINDOW_PROGRAM] = "paused by the program",
	[GT_WINDOW_PAUSED] = "--paused",
	[GT_WINDOW_DELAY] = "--delay",
	[GT_WINDOW_DURATION] = "--duration is over",
	[GT_WINDOW_KERNELS] = "--max-kernels is reached",
	[GT_WINDOW_COMMAND] = "gputap stop",
	[GT_WINDOW_SIGNAL] = "--stop-signal",
	[GT_WINDOW_RANGE] = "outside --from and --to",
};

/* A process that begins in a pause does not say whose; its end may. */
static const char *why_paused(const struct gt_window_info *w)
{
	if (w->why != GT_WINDOW_LIFE)
		return whys[w->why < GT_WINDOW_WHY_COUNT ? w->why : GT_WINDOW_UNKNOWN];
	return w->end_why == GT_WINDOW_DELAY || w->end_why == GT_WINDOW_RANGE
		       ? whys[w->end_why]
		       : whys[GT_WINDOW_LIFE];
}

static int add_span(struct gt_unrecorded_list *list, const struct gt_unrecorded *span)
{
	struct gt_unrecorded *spans = gt_grow(list->spans, list->count, &list->room, sizeof *spans);

	if (!spans)
		return gt_error(-ENOMEM, "windows of a capture");
	list->spans = spans;
	spans[list->count++] = *span;
	return 0;
}

static bool has_evicted(const struct gt_capture *c, uint32_t process)
{
	const struct gt_counts *counts = gt_capture_counts(c, process);
	bool any = false;

	for (int k = 0; counts && k < GT_CLASS_COUNT; k++)
		for (int d = 0; d < GT_DOMAIN_COUNT; d++)
			any |= counts->not_kept[k][d] > 0;
	return any;
}

/* Where a flight recorder's window begins, if older records of the process are gone; else 0. */
static uint64_t find_kept_begin(const struct gt_capture *c, uint32_t process)
{
	const struct gt_capture_session *s =
		gt_capture_session_at(c, gt_capture_process(c, process)->session);

	if (!s->kept.is_thinned || !has_evicted(c, process))
		return 0;
	return s->kept.begin_ns + (uint64_t)s->shift_ns;
}

static int read_process(struct gt_unrecorded_list *list, const struct gt_capture *c,
			uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(c, process);
	uint64_t kept_ns = find_kept_begin(c, process);
	size_t count;
	const struct gt_window_info *w = gt_capture_windows(c, process, &count);
	int status = 0;

	if (!info->runtimes)
		return 0;
	if (kept_ns > info->start_ns)
		status = add_span(list, &(struct gt_unrecorded){.start_ns = info->start_ns,
								.end_ns = kept_ns,
								.process = process,
								.is_evicted = true,
								.why = "older than the window"});
	for (size_t i = 0; i < count && !status; i++) {
		uint64_t start_ns = w[i].from_ns > kept_ns ? w[i].from_ns : kept_ns;

		if (!w[i].recorded && w[i].to_ns > start_ns)
			status = add_span(list, &(struct gt_unrecorded){.start_ns = start_ns,
									.end_ns = w[i].to_ns,
									.process = process,
									.why = why_paused(&w[i])});
	}
	return status;
}

int gt_unrecorded_read(struct gt_unrecorded_list *list, const struct gt_capture *c)
{
	int status = 0;

	*list = (struct gt_unrecorded_list){.count = 0};
	for (uint32_t i = 0; i < gt_capture_process_count(c) && !status; i++)
		status = read_process(list, c, i);
	return status;
}

const struct gt_unrecorded *gt_unrecorded_of(const struct gt_unrecorded_list *list,
					     uint32_t process, size_t *count)
{
	size_t low = 0, high = list->count, first;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->spans[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	for (first = low; low < list->count && list->spans[low].process == process;)
		low++;
	*count = low - first;
	return *count ? list->spans + first : NULL;
}

const char *gt_unrecorded_text(const struct gt_unrecorded *span, char text[GT_UNRECORDED_TEXT])
{
	snprintf(text, GT_UNRECORDED_TEXT, "%s: %s", span->is_evicted ? "not kept" : "not recorded",
		 span->why);
	return text;
}

void gt_unrecorded_fini(struct gt_unrecorded_list *list)
{
	free(list->spans);
	*list = (struct gt_unrecorded_list){.count = 0};
}
