/* SPDX-License-Identifier: MIT */
/* What the files of device work share: tool_activity.c (until it has ended), tool_batch.c and
 * tool_complete.c (COMPLETE), tool_retire.c. */
#ifndef GPUTAP_TOOL_TOOL_ACTIVITY_ITEM_H
#define GPUTAP_TOOL_TOOL_ACTIVITY_ITEM_H

#include "tool/tool_activity.h"

/* The open call; what lies deeper in the stack than we do was left by longjmp(). */
static inline GT_IN_LINE struct gt_tool_frame *gt_tool_open_call(void)
{
	return gt_tool_frame_live(gt_tool_frame, (uintptr_t)__builtin_frame_address(0));
}

/* tool_activity.c ---------------------------------------------------------------- */

struct gt_activity *gt_activity_at(uint32_t index);
/* Call one subscriber with the item's phase; not if its context was stopped. */
void gt_activity_notify(struct gt_activity *p, struct gt_tool_subscriber *h);
/* The event GPUTAP_EVENT_LOSS, if anything was lost since the last one. */
void gt_tool_notify_loss(void);

/* tool_batch.c --------------------------------------------------------------- */

/* Both EXIT and its end have been. */
void gt_activity_is_done(struct gt_activity *p);
/* Tools are notified of nothing any more. */
extern _Atomic uint32_t gt_tool_ended __attribute__((visibility("hidden")));

/* tool_retire.c -------------------------------------------------------------- */

/* With one reference. NULL: nobody asks for retirement, or there is no memory. */
struct gt_correlation *gt_correlation_new(uint64_t id, bool may_grow);
/* .. it was made for work that no call causes, which has a number now. */
void gt_correlation_number(struct gt_correlation *c, uint64_t id);
/* These are notified of its work in that domain, so of its retirement too. */
void gt_correlation_subscribe(struct gt_correlation *c, uint32_t domain,
			      const struct gt_tool_subscriber *subscribers, uint32_t count);
/* Tools are notified of something of it that ended at @time, ns. */
void gt_correlation_reaches(struct gt_correlation *c, uint64_t time);
/* The process ends: what has not retired does, open calls too. */
void gt_correlations_end(void);

#endif
