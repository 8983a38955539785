/* SPDX-License-Identifier: MIT */
/* A helper thread for each agent that harvests its activities, and the end of the process
 * (hsa_helper.c). */
#ifndef GPUTAP_RUNTIME_HSA_HELPER_H
#define GPUTAP_RUNTIME_HSA_HELPER_H

#include "runtime/hsa/hsa_agent.h"

/* Start the agent's helper, if it has none. Called when an activity was submitted, or will be. */
void gt_hsa_helper_start(struct gt_hsa_agent *agent, const struct gt_thread *t);
/* Harvest what is done, because the device has failed and the process may end at any moment. @text:
 * for the capture. Called in the runtime's thread. */
void gt_hsa_helper_fault(uint64_t value, const char *text);
/* Harvest, and do not use the runtime afterwards, because it is going away. */
void gt_hsa_helper_leave(struct gt_hsa_runtime *runtime);

#endif
