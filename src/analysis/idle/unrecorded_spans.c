/* SPDX-License-Identifier: MIT */
/* See unrecorded_spans.h. */
#include "analysis/idle/unrecorded_spans.h"

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
	[GT_WINDOW_DURATION] = "--duration has passed",
	[GT_WINDOW_KERNELS] = "--max-kernels is reached",
	[GT_WINDOW_COMMAND] = "gputap stop",
	[GT_WINDOW_SIGNAL] = "--stop-signal",
	[GT_WINDOW_RANGE] = "outside --from and --to",
	[GT_WINDOW_ATTACHED] = "before gputap was attached",
};

/* Return the reason for a pause. A process that starts in a pause does not know the reason; the end
 * of the pause may reveal it. */
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
		return gt_error(-ENOMEM, "cannot store the windows of a capture");
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
			any |= counts->evicted[k][d] > 0;
	return any;
}

/* Retained time of a process; 0 and UINT64_MAX if nothing was evicted. */
struct kept_time {
	uint64_t begin_ns, end_ns;
	const char *why; /* why the remaining time was not retained */
};

static struct kept_time find_kept(const struct gt_capture *c, uint32_t process)
{
	const struct gt_capture_session *s =
		gt_capture_session_at(c, gt_capture_process(c, process)->session);
	struct kept_time kept = {0, UINT64_MAX, "older than the window"};

	if (!s->kept.is_thinned || !has_evicted(c, process))
		return kept;
	kept.begin_ns = s->kept.begin_ns + (uint64_t)s->shift_ns;
	if (s->kept.is_cut) {
		kept.end_ns = s->kept.end_ns + (uint64_t)s->shift_ns;
		kept.why = "outside the part";
	}
	return kept;
}

static int add_evicted(struct gt_unrecorded_list *list, uint32_t process, uint64_t start_ns,
		       uint64_t end_ns, const char *why)
{
	if (start_ns >= end_ns)
		return 0;
	return add_span(list, &(struct gt_unrecorded){.start_ns = start_ns,
						      .end_ns = end_ns,
						      .process = process,
						      .is_evicted = true,
						      .why = why});
}

static int read_process(struct gt_unrecorded_list *list, const struct gt_capture *c,
			uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(c, process);
	struct kept_time kept;
	size_t count;
	const struct gt_window_info *w = gt_capture_windows(c, process, &count);
	int status;

	if (!info->runtimes)
		return 0;
	kept = find_kept(c, process);
	status = add_evicted(list, process, info->start_ns, kept.begin_ns, kept.why);
	for (size_t i = 0; i < count && !status; i++) {
		uint64_t start_ns = w[i].from_ns > kept.begin_ns ? w[i].from_ns : kept.begin_ns,
			 end_ns = w[i].to_ns < kept.end_ns ? w[i].to_ns : kept.end_ns;

		if (!w[i].recorded && end_ns > start_ns)
			status = add_span(list, &(struct gt_unrecorded){.start_ns = start_ns,
									.end_ns = end_ns,
									.process = process,
									.why = why_paused(&w[i])});
	}
	if (!status && info->end_ns)
		status = add_evicted(list, process, kept.end_ns, info->end_ns, kept.why);
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
	snprintf(text, GT_UNRECORDED_TEXT, "%s: %s", span->is_evicted ? "evicted" : "not recorded",
		 span->why);
	return text;
}

void gt_unrecorded_fini(struct gt_unrecorded_list *list)
{
	free(list->spans);
	*list = (struct gt_unrecorded_list){.count = 0};
}
