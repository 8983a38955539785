/* SPDX-License-Identifier: MIT */
/* Handlers of signals that the runtime still calls when the process ends (hsa_handlers.c). */
#ifndef GPUTAP_RUNTIME_HSA_HANDLERS_H
#define GPUTAP_RUNTIME_HSA_HANDLERS_H

/* The process ends, and nobody holds a lock of the runtime's: handlers of signals that have
 * completed are over, or take too long. */
void gt_hsa_wait_for_handlers(void);

#endif
