/* SPDX-License-Identifier: MIT */
/* Vendors' plug-ins for `gputap run`: found as the loader finds them, tried, named in the
 * session. */
#ifndef GPUTAP_CLI_RUN_PLUGINS_H
#define GPUTAP_CLI_RUN_PLUGINS_H

#include <stdbool.h>

#include "ring/session.h"

/**
 * run_plugins_find() - fill in the session's list of plug-ins
 * Each one is first loaded and registered in a separate process, so that a plug-in that crashes or
 * hangs is noted, and never loaded into the program. Without any, nothing is done. @quiet: print
 * only plug-ins that cannot be used
 */
void run_plugins_find(struct gt_session *session, bool quiet);

#endif
