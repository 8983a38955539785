/* SPDX-License-Identifier: MIT */
/* Converts GPU activities and queues to tool activities, which notify tools of them. */
#ifndef GPUTAP_RUNTIME_HSA_HSA_TOOL_ACTIVITIES_H
#define GPUTAP_RUNTIME_HSA_HSA_TOOL_ACTIVITIES_H

#include "runtime/hsa/hsa_code.h"
#include "runtime/hsa/hsa_queue.h"

/* Return the filled-in tool activity of a dispatch, before gt_tool_activity_enter(). Return NULL if
 * no tool wants it. @o: NULL: not known */
struct gt_tool_activity *gt_hsa_tool_activity_of_kernel(struct gt_hsa_queue *q,
							struct gt_hsa_submitter *o,
							const struct gt_hsa_kernel *k,
							const struct gt_hsa_kernel_packet *p);
struct gt_tool_activity *gt_hsa_tool_activity_of_barrier(struct gt_hsa_queue *q,
							 struct gt_hsa_submitter *o);
/* Return the tool activity of a copy that is about to be submitted, after calling ENTER. Return
 * NULL if no tool wants it. */
struct gt_tool_activity *gt_hsa_tool_activity_of_copy(const struct gt_hsa_agent *device,
						      const struct gt_hsa_agent *from,
						      const struct gt_hsa_agent *to,
						      const struct gt_hsa_activity *w,
						      const struct gt_node_ref *node);
/* Return the tool activity for a queue's gain or loss of scratch memory, after calling ENTER.
 * Return NULL if no tool wants it. */
struct gt_tool_activity *gt_hsa_tool_activity_of_scratch(const struct gt_hsa_queue *q,
							 const char *name);
/* Call COMPLETE for a tool activity. @times: NULL: not known */
void gt_hsa_complete_tool_activity(struct gt_tool_activity *tool_activity,
				   const struct gt_hsa_agent *a, const struct gt_hsa_times *times);

struct gt_tool_object *gt_hsa_notify_queue(const struct gt_hsa_agent *a, uint64_t number,
					   uint64_t handle);

#endif
