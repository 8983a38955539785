/* SPDX-License-Identifier: MIT */
/* Monitors gputap's own threads in the traced processes from outside. */
#ifndef GPUTAP_COLLECTOR_OWN_THREADS_H
#define GPUTAP_COLLECTOR_OWN_THREADS_H

#include "collector/drain_state.h"

/* Examine each live process. Takes a few tens of microseconds per process that has threads of
 * gputap. */
void gt_own_threads_look(struct gt_drain *d);

#endif
