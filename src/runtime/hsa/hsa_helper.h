/* SPDX-License-Identifier: MIT */
/* The helper thread of each agent, which harvests its activities, and the end of the process
 * (hsa_helper.c). */
#ifndef GPUTAP_RUNTIME_HSA_HELPER_H
#define GPUTAP_RUNTIME_HSA_HELPER_H

#include "runtime/hsa/hsa_agent.h"

/* Start the helper of an agent if it is not running. Call when an activity was or will be
 * submitted. */
void gt_hsa_helper_start(struct gt_hsa_agent *agent, const struct gt_thread *t);
/* Harvest completed activities, because the device has failed and the process may end at any
 * moment. Runs in the runtime's thread. @text: for the capture */
void gt_hsa_helper_fault(uint64_t value, const char *text);
/* Harvest, and stop using the runtime, which is about to be unloaded. @is_usable: false if the
 * runtime has been shut down; its functions then only return errors */
void gt_hsa_helper_leave(struct gt_hsa_runtime *runtime, bool is_usable);

/* Called after each hsa_shut_down(), while helpers stay out of the runtime; NULL: not needed,
 * because the runtime calls OnUnload(). */
typedef void gt_hsa_shut_down_fn(struct gt_hsa_runtime *runtime);
extern _Atomic(gt_hsa_shut_down_fn *) gt_hsa_was_shut_down __attribute__((visibility("hidden")));

/* Go on in another session of this process: queues are followed on its behalf. */
void gt_hsa_helper_resume(struct gt_thread *t);
/* The session of this process has ended: each helper ends once it has no queue to serve. */
void gt_hsa_helper_rest(void);

#endif
