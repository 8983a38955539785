/* SPDX-License-Identifier: MIT */
/* Shared by the files that handle GPU activities: tool_activity.c (until an activity ends),
 * tool_batch.c and tool_complete.c (COMPLETE), tool_retire.c. */
#ifndef GPUTAP_TOOL_TOOL_ACTIVITY_ITEM_H
#define GPUTAP_TOOL_TOOL_ACTIVITY_ITEM_H

#include "tool/tool_activity.h"

/* Return the open call. longjmp() left the frames that are deeper in the stack than the caller. */
static inline GT_IN_LINE struct gt_tool_frame *gt_tool_open_call(void)
{
	return gt_tool_frame_live(gt_tool_frame, (uintptr_t)__builtin_frame_address(0));
}

/* tool_activity.c ---------------------------------------------------------------- */

struct gt_tool_activity *gt_tool_activity_at(uint32_t index);
/* Notify one subscriber of the activity's phase, unless the subscriber's context was stopped. */
void gt_tool_activity_notify(struct gt_tool_activity *p, struct gt_tool_subscriber *h);
/* Write the event GPUTAP_EVENT_LOSS if activities were lost since the last such event. */
void gt_tool_notify_loss(void);

/* tool_batch.c --------------------------------------------------------------- */

/* Add an activity to the done list once its EXIT and its end have both been recorded. */
void gt_tool_activity_is_done(struct gt_tool_activity *p);
/* 1 after the last notification of tools */
extern _Atomic uint32_t gt_tool_ended __attribute__((visibility("hidden")));

/* tool_retire.c -------------------------------------------------------------- */

/* Create a correlation with one reference. Return NULL if no context wants retirement or if out of
 * memory. */
struct gt_correlation *gt_correlation_new(uint64_t id, bool may_grow);
/* Set the number of a correlation that was created for an activity without a causing call. */
void gt_correlation_number(struct gt_correlation *c, uint64_t id);
/* Subscribe contexts to the retirement of a correlation, because they are notified of the
 * correlation's activities in a domain. */
void gt_correlation_subscribe(struct gt_correlation *c, uint32_t domain,
			      const struct gt_tool_subscriber *subscribers, uint32_t count);
/* Record that tools are notified of a step of the correlation that ended at @time, in ns. */
void gt_correlation_reaches(struct gt_correlation *c, uint64_t time);
/* Retire all correlations, including open calls, when the process ends. */
void gt_correlations_end(void);

#endif
