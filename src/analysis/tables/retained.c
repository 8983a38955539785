/* SPDX-License-Identifier: MIT */
/* See retained.h. */
#include "analysis/tables/retained.h"

#include <stdio.h>

#include "analysis/base/show.h"

static const char *const reasons[GT_RETAINED_REASON_COUNT] = {
	[GT_RETAINED_END] = "end",
	[GT_RETAINED_COMMAND] = "command",
	[GT_RETAINED_SIGNAL] = "signal",
	[GT_RETAINED_TRIGGER] = "trigger",
	[GT_RETAINED_RECOVERED] = "recovered",
};

const char *retained_reason(const struct gt_retained *k)
{
	return reasons[k->reason];
}

uint64_t retained_sum(const uint64_t counts[GT_CLASS_COUNT][GT_DOMAIN_COUNT])
{
	uint64_t sum = 0;

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int d = 0; d < GT_DOMAIN_COUNT; d++)
			sum += counts[c][d];
	return sum;
}

uint64_t retained_missing(const struct gt_capture *c, const struct gt_capture_session *s)
{
	uint64_t sum = retained_sum(s->kept.counts.evicted);

	for (uint32_t i = 0; i < s->process_count; i++)
		sum += retained_sum(gt_capture_counts(c, s->first_process + i)->evicted);
	return sum;
}

/* Write text such as "snapshot 2, on a trigger (clFinish took 1.2 s): ". */
static int describe_snapshot(const struct gt_retained *k, char *text, size_t room)
{
	bool has_text = k->text && *k->text;

	if (!k->number)
		return 0;
	return snprintf(text, room, "snapshot %u, on %s%s%.160s%s: ", k->number,
			k->reason == GT_RETAINED_TRIGGER  ? "a trigger"
			: k->reason == GT_RETAINED_SIGNAL ? "a signal"
							  : "command",
			has_text ? " (" : "", has_text ? k->text : "", has_text ? ")" : "");
}

/* Write text such as "a part, --where 'at=5s..6s'; 90 records outside of it were not kept". */
static void describe_cut(const struct gt_capture *c, const struct gt_capture_session *s,
			 char text[RETAINED_TEXT])
{
	const uint64_t missing = retained_missing(c, s);

	snprintf(text, RETAINED_TEXT, "a part: --where '%.200s'; %s other record%s %s left out%s",
		 s->kept.text, show_count(missing), missing == 1 ? "" : "s",
		 missing == 1 ? "was" : "were",
		 s->kept.is_whole_time ? ""
				       : ". Other records of the same time are missing, so waits "
					 "and causes of idle time are unknown");
}

bool retained_text(const struct gt_capture *c, const struct gt_capture_session *s,
		   char text[RETAINED_TEXT])
{
	const struct gt_retained *k = &s->kept;
	uint64_t begin = k->begin_ns + (uint64_t)s->shift_ns,
		 end = k->end_ns + (uint64_t)s->shift_ns;
	uint64_t whole = end > s->info.start_ns ? end - s->info.start_ns : 0, missing;
	size_t n;

	text[0] = '\0';
	if (!k->is_kept)
		return false;
	if (k->is_cut) {
		describe_cut(c, s, text);
		return true;
	}
	n = (size_t)describe_snapshot(k, text, RETAINED_TEXT);
	if (!k->is_thinned) {
		snprintf(text + n, RETAINED_TEXT - n, "the first %s, complete%s",
			 show_duration(whole), k->number ? "; the recording continued" : "");
		if (!k->number)
			snprintf(text, RETAINED_TEXT, "complete: no record was older than %s",
				 show_duration(k->asked.window_ns));
		return true;
	}
	missing = retained_missing(c, s);
	n += (size_t)snprintf(text + n, RETAINED_TEXT - n,
			      "the last %s of %s; %s older record%s evicted",
			      show_duration(end - begin), show_duration(whole), show_count(missing),
			      missing == 1 ? "" : "s");
	if (end - begin < k->asked.window_ns)
		snprintf(text + n, RETAINED_TEXT - n,
			 " (%s requested; the disk had no room for more)",
			 show_duration(k->asked.window_ns));
	return true;
}

bool retained_is_part(const struct gt_capture *c)
{
	bool part = false;

	for (size_t i = 0; i < gt_capture_session_count(c); i++) {
		const struct gt_retained *k = &gt_capture_session_at(c, i)->kept;

		part |= k->is_cut && !k->is_whole_time;
	}
	return part;
}
