/* SPDX-License-Identifier: MIT */
/* See report_late.h. */
#include "cli/report_late.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "cli/ui.h"

uint32_t report_attached_text(const struct gt_capture *c, uint32_t session, char *text, size_t size)
{
	const struct gt_process_info *first = NULL;
	uint64_t ran_ns = 0;
	uint32_t count = 0;

	*text = '\0';
	for (size_t i = 0; i < gt_capture_event_count(c); i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);
		const struct gt_process_info *p = gt_capture_process(c, e->process);

		if (e->code != GT_EVENT_ATTACHED || !p || p->session != session)
			continue;
		if (!count++) {
			first = p;
			ran_ns = e->value;
		}
	}
	if (count == 1)
		snprintf(text, size,
			 "process %" PRIu32 ", which had run for %s; nothing before that is "
			 "recorded",
			 first->pid, show_duration(ran_ns));
	else if (count)
		snprintf(text, size,
			 "%" PRIu32 " processes; the first, %" PRIu32
			 ", had run for %s; nothing before that is recorded",
			 count, first->pid, show_duration(ran_ns));
	return count;
}

size_t report_late_texts(const struct gt_capture *c, const char *texts[REPORT_LATE_NAMED],
			 size_t *more)
{
	struct texts distinct = {0};
	size_t count = 0;

	*more = 0;
	for (size_t i = 0; i < gt_capture_event_count(c); i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);
		uint32_t before = distinct.count;

		if (e->code != GT_EVENT_LATE || !e->text || !*e->text)
			continue;
		texts_put(&distinct, e->text);
		if (distinct.count == before)
			continue;
		if (count < REPORT_LATE_NAMED)
			texts[count++] = e->text;
		else
			++*more;
	}
	texts_fini(&distinct);
	return count;
}
