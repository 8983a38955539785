/* SPDX-License-Identifier: MIT */
/* Finds the wait targets of calls, one call at a time, from descriptions of operations. stages.h
 * finds the parts of a wait when all activities are known. */
#ifndef GPUTAP_ANALYSIS_TABLES_WAITS_H
#define GPUTAP_ANALYSIS_TABLES_WAITS_H

#include "analysis/tables/stages.h"
#include "capture/capture.h"
#include "record/operation.h"

enum { WAITS_EVENTS_MOST = 256 };

/* Note a call. Events and streams that later calls may wait for refer to the activity of this call
 * from now on. */
void waits_note_call(struct wait_targets *a, const struct gt_item *call);

enum waits_answer {
	WAITS_NOT,     /* the call does not wait */
	WAITS_UNKNOWN, /* the call waits, but its target is not known */
	WAITS_KNOWN,   /* @wait contains the kind of wait and the fields for this kind */
};
/* Find the wait target of a call. @inner: true if the call was made inside another call, whose wait
 * includes this call's wait. @handles: room for WAITS_EVENTS_MOST handles; @wait points to it. */
enum waits_answer waits_find(const struct gt_item *call, bool inner, bool failed,
			     struct stages_call *wait, uint64_t *handles);

#endif
