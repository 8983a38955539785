/* SPDX-License-Identifier: MIT */
/* Signal handlers that the runtime still calls when the process ends (hsa_handlers.c). */
#ifndef GPUTAP_RUNTIME_HSA_HANDLERS_H
#define GPUTAP_RUNTIME_HSA_HANDLERS_H

/* Wait until handlers of completed signals have returned, or take too long. Call at the end of the
 * process, with no lock of the runtime held. */
void gt_hsa_wait_for_handlers(void);

#endif
