/* SPDX-License-Identifier: MIT */
/* Signal handlers that the runtime still calls while the process exits (hsa_handlers.c). */
#ifndef GPUTAP_RUNTIME_HSA_HANDLERS_H
#define GPUTAP_RUNTIME_HSA_HANDLERS_H

/* Wait until the handlers of completed signals have returned, with a time limit. Call at the end of
 * the process, without holding a lock of the runtime. */
void gt_hsa_wait_for_handlers(void);

#endif
