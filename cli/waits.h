/* SPDX-License-Identifier: MIT */
/* What calls that wait wait for: of one call at a time, by what its description says. In which
 * parts they waited, stages.h finds when all work is known. */
#ifndef GPUTAP_CLI_WAITS_H
#define GPUTAP_CLI_WAITS_H

#include "capture/capture.h"
#include "cli/stages.h"
#include "record/operation.h"

enum { WAITS_EVENTS_MOST = 256 };

/* Events and streams that later calls may wait for stand for the call's work from now on. */
void waits_note_call(struct awaited *a, const struct gt_item *call);

enum waits_answer {
	WAITS_NOT,     /* it does not wait */
	WAITS_UNKNOWN, /* nobody knows for what */
	WAITS_KNOWN,   /* it is in @wait: kind, and what belongs to it */
};
/* @inner: it was made in another call, whose wait it is a part of.
 * @handles: room for WAITS_EVENTS_MOST, to which @wait points. */
enum waits_answer waits_find(const struct gt_item *call, bool inner, bool failed,
			     struct stages_call *wait, uint64_t *handles);

#endif
