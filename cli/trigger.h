/* SPDX-License-Identifier: MIT */
/* gputap run --trigger EXPR: an expression like that of --where, evaluated while the program
 * runs. */
#ifndef GPUTAP_CLI_TRIGGER_H
#define GPUTAP_CLI_TRIGGER_H

#include "collector/triggers.h"

/* Create a trigger. Return GT_EXIT_OK and *out, which stays valid; otherwise ui_fail()'s result. */
int trigger_create(const char *expression, struct gt_trigger *out);

#endif
