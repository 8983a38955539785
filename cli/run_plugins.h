/* SPDX-License-Identifier: MIT */
/* Finds vendors' plug-ins for `gputap run`, in the same way as the loader, tests them, and names
 * them in the session. */
#ifndef GPUTAP_CLI_RUN_PLUGINS_H
#define GPUTAP_CLI_RUN_PLUGINS_H

#include <stdbool.h>

#include "ring/session.h"

/**
 * run_plugins_find() - fill in the session's list of plug-ins
 * Each plug-in is first loaded and registered in a separate process. A plug-in that crashes or
 * hangs is thus reported, and is never loaded into the program. Does nothing if there are no
 * plug-ins.
 * @quiet: print only plug-ins that cannot be used
 */
void run_plugins_find(struct gt_session *session, bool quiet);

#endif
