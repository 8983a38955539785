/* SPDX-License-Identifier: MIT */
/* Vendors' plug-ins for `gputap run`: found by the loader's rules, tried, named in the session. */
#ifndef GPUTAP_CLI_RUN_PLUGINS_H
#define GPUTAP_CLI_RUN_PLUGINS_H

#include <stdbool.h>

#include "ring/session.h"

/**
 * run_plugins_find() - the session's list of plug-ins
 * Each one is loaded and registered in a process of its own first, so that what crashes or hangs
 * there is noted, and never comes into the program. Without any, nothing is done. @quiet: only what
 * cannot be used is printed
 */
void run_plugins_find(struct gt_session *session, bool quiet);

#endif
