/* SPDX-License-Identifier: MIT */
/* See losses.h. */
#include "analysis/tables/losses.h"

#include <stdio.h>

#include "analysis/base/show.h"
#include "record/operation.h"

static void add_event(struct losses *l, const struct gt_event_info *e)
{
	if (gt_event_is_untraced(e)) {
		l->untraced++;
	} else if (e->code == GT_EVENT_MISSING) {
		l->missing_text = l->missing++ ? l->missing_text : e->text;
	} else if (e->code == GT_EVENT_TOOL && e->domain != GT_DOMAIN_NONE) {
		l->failed++;
	}
}

/* Return true for the loss reason of ranges that were never ended. Such a range has no record, but
 * gputap has not lost it. */
static bool is_open_range(enum gt_drop_reason why, unsigned class, unsigned domain)
{
	return why == GT_DROP_UNFINISHED && class == GT_CLASS_CALL &&
	       gt_domain_traits[domain].annotations;
}

static void add_counts(struct losses *l, const struct gt_counts *counts)
{
	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
				uint64_t count = counts->dropped[why][c][d];

				if (is_open_range((enum gt_drop_reason)why, c, d))
					l->open_ranges += count;
				else
					l->dropped += count;
			}
}

static uint32_t session_of(const struct gt_capture *capture, uint32_t process)
{
	const struct gt_process_info *p = gt_capture_process(capture, process);

	return p ? p->session : 0;
}

/* Read the losses of sessions @first to @last. */
static struct losses read_sessions(const struct gt_capture *capture, uint32_t first, uint32_t last)
{
	struct losses l = {0};

	for (uint32_t p = 0; p < gt_capture_process_count(capture); p++) {
		const struct gt_counts *counts = gt_capture_counts(capture, p);
		const uint32_t session = session_of(capture, p);

		if (counts && session >= first && session <= last)
			add_counts(&l, counts);
	}
	for (size_t i = 0; i < gt_capture_event_count(capture); i++) {
		const struct gt_event_info *e = gt_capture_event(capture, i);
		const uint32_t session = session_of(capture, e->process);

		if (session >= first && session <= last)
			add_event(&l, e);
	}
	for (size_t i = first; i < gt_capture_session_count(capture) && i <= last; i++) {
		const struct gt_capture_health *h = &gt_capture_session_at(capture, i)->health;

		l.open |= h->end == GT_CAPTURE_CUT;
		l.damaged |= h->bad_bytes || h->bad_sums;
	}
	return l;
}

struct losses losses_read(const struct gt_capture *capture)
{
	return read_sessions(capture, 0, UINT32_MAX);
}

struct losses losses_read_session(const struct gt_capture *capture, uint32_t session)
{
	return read_sessions(capture, session, session);
}

bool losses_are_none(const struct losses *l)
{
	return !l->dropped && !l->missing && !l->failed;
}

void losses_headline(const struct losses *l, char text[LOSSES_HEADLINE])
{
	char failed[48] = "", lost[64], ranges[64] = "";

	*text = '\0';
	if (l->open_ranges)
		snprintf(ranges, sizeof ranges, ", %s range%s open at the end",
			 show_count(l->open_ranges), l->open_ranges == 1 ? "" : "s");
	if (losses_are_none(l)) {
		if (!l->damaged)
			snprintf(text, LOSSES_HEADLINE, "nothing lost%s%s",
				 l->untraced ? " in traced processes"
				 : l->open   ? " so far"
					     : "",
				 ranges);
		return;
	}
	if (l->failed)
		snprintf(failed, sizeof failed, ", %s tool%s failed", show_count(l->failed),
			 l->failed == 1 ? "" : "s");
	if (l->dropped)
		snprintf(lost, sizeof lost, "%s%s lost", l->missing ? "at least " : "",
			 show_count(l->dropped));
	else
		snprintf(lost, sizeof lost, "%s",
			 l->missing ? "records lost (number unknown)" : "none counted as lost");
	snprintf(text, LOSSES_HEADLINE, "%s%s%s", lost, failed, ranges);
}

const char *losses_advice(enum gt_drop_reason why)
{
	switch (why) {
	case GT_DROP_FULL: return "a larger --buffer, --when-full or --threads may help";
	case GT_DROP_TOO_LONG: return "a larger --block-size allows longer records";
	case GT_DROP_POOL: return "fewer activities in flight at once help";
	case GT_DROP_SIGNAL: return "a signal of its own for each kernel helps";
	case GT_DROP_TOOL: return "the vendor must fix the plug-in; 'gputap plugin check' tests it";
	default: return NULL;
	}
}
