/* SPDX-License-Identifier: MIT */
/* gputap's own threads in the traced processes, seen from outside. */
#ifndef GPUTAP_COLLECTOR_OWN_THREADS_H
#define GPUTAP_COLLECTOR_OWN_THREADS_H

#include "collector/drain_state.h"

/* Look at each live process: a few ten microseconds for each that has such threads. */
void gt_own_threads_look(struct gt_drain *d);

#endif
