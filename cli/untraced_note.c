/* SPDX-License-Identifier: MIT */
/* See untraced_note.h. */
#include "cli/untraced_note.h"

#include "analysis/tables/untraced.h"
#include "cli/ui.h"
#include "util/error.h"

void untraced_note(const char *path)
{
	struct gt_capture *c;
	char text[UNTRACED_TEXT];

	if (gt_capture_open(path, &c)) {
		gt_error_clear();
		return;
	}
	if (untraced_text(c, UNTRACED_ALL, text, sizeof text))
		ui_note("%s", text);
	gt_capture_close(c);
}
