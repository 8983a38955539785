/* SPDX-License-Identifier: MIT */
/* Find the wait targets of calls, one call at a time, from their descriptions. The parts of a wait
 * are found in stages.h when all activities are known. */
#ifndef GPUTAP_CLI_WAITS_H
#define GPUTAP_CLI_WAITS_H

#include "capture/capture.h"
#include "cli/stages.h"
#include "record/operation.h"

enum { WAITS_EVENTS_MOST = 256 };

/* Note the call: events and streams for which later calls may wait refer to its activity from now
 * on. */
void waits_note_call(struct wait_targets *a, const struct gt_item *call);

enum waits_answer {
	WAITS_NOT,     /* the call does not wait */
	WAITS_UNKNOWN, /* it waits for something unknown */
	WAITS_KNOWN,   /* @wait has the kind and its fields */
};
/* @inner: true if it was made in another call, whose wait includes it.
 * @handles: room for WAITS_EVENTS_MOST, to which @wait points. */
enum waits_answer waits_find(const struct gt_item *call, bool inner, bool failed,
			     struct stages_call *wait, uint64_t *handles);

#endif
