/* SPDX-License-Identifier: MIT */
/* See recorded_text.h. */
#include "analysis/tables/recorded_text.h"

#include <stdio.h>

#include "analysis/base/show.h"

/* Return the largest number of recording windows in any process. */
static size_t count_windows(const struct gt_capture *c, const struct gt_capture_session *session)
{
	size_t most = 0;

	for (uint32_t p = 0; p < gt_capture_process_count(c); p++) {
		size_t count, recorded = 0;
		const struct gt_window_info *w = gt_capture_windows(c, p, &count);

		if (session &&
		    gt_capture_session_at(c, gt_capture_process(c, p)->session) != session)
			continue;
		for (size_t i = 0; i < count; i++)
			recorded += w[i].recorded;
		most = recorded > most ? recorded : most;
	}
	return most;
}

bool recorded_text(const struct gt_capture *c, const struct gt_capture_session *session,
		   char text[RECORDED_TEXT])
{
	uint64_t recorded_ns, total_ns;
	size_t windows;

	*text = '\0';
	if (!gt_capture_recorded(c, session, &recorded_ns, &total_ns))
		return false;
	windows = count_windows(c, session);
	if (!recorded_ns)
		snprintf(text, RECORDED_TEXT, "none of %s: paused throughout",
			 show_duration(total_ns));
	else if (windows > 1)
		snprintf(text, RECORDED_TEXT, "%s of %s, in %s windows", show_duration(recorded_ns),
			 show_duration(total_ns), show_count(windows));
	else
		snprintf(text, RECORDED_TEXT, "%s of %s", show_duration(recorded_ns),
			 show_duration(total_ns));
	return true;
}
