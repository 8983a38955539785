/* SPDX-License-Identifier: MIT */
/* A thread for each agent that looks after its work; the end of the process (hsa_helper.c). */
#ifndef GPUTAP_RUNTIME_HSA_HELPER_H
#define GPUTAP_RUNTIME_HSA_HELPER_H

#include "runtime/hsa/hsa_agent.h"

/* Work was submitted, or will be: the agent has a helper from now on. */
void gt_hsa_helper_start(struct gt_hsa_agent *agent, const struct gt_thread *t);
/* The device has failed, and the process may end right now: harvest what is done. @text: for the
 * capture. In the runtime's thread. */
void gt_hsa_helper_fault(uint64_t value, const char *text);
/* The runtime goes: harvest, and touch it no more. */
void gt_hsa_helper_leave(struct gt_hsa_runtime *runtime);

#endif
