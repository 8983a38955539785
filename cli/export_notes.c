/* SPDX-License-Identifier: MIT */
/* Reports parts that are missing from an export because its captures are damaged or incomplete. */
#include "capture/capture.h"
#include "cli/export.h"
#include "cli/ui.h"

/* Print a note about damage in a session. Return true if there is any. */
static bool note_session(const struct gt_capture_session *s)
{
	if (s->health.bad_sums)
		ui_note("the totals of %s do not match its records; see 'gputap info %s'", s->path,
			s->path);
	if (s->health.bad_bytes || s->health.bad_blocks)
		ui_note("%s is damaged: %s of %s could not be read and are not in the export",
			s->path, show_bytes(s->health.bad_bytes), show_bytes(s->health.bytes));
	else if (s->health.end == GT_CAPTURE_CUT)
		ui_note("%s has no end: its collector was killed or is still writing; the export "
			"contains the records written so far",
			s->path);
	else if (s->health.end == GT_CAPTURE_INCOMPLETE)
		ui_note("%s is marked incomplete; 'gputap info %s' shows what is missing", s->path,
			s->path);
	return !gt_capture_is_whole(&s->health) || s->health.end != GT_CAPTURE_COMPLETE;
}

void export_note_health(const struct gt_capture *capture)
{
	bool shown = false;

	for (size_t i = 0; i < gt_capture_session_count(capture); i++)
		shown |= note_session(gt_capture_session_at(capture, i));
	if (!shown && !gt_capture_is_whole(gt_capture_health(capture)))
		ui_note("damaged parts of the input are not in the export; see 'gputap info'");
}
