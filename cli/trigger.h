/* SPDX-License-Identifier: MIT */
/* gputap run --trigger EXPR: an expression as --where's, decided while the program runs. */
#ifndef GPUTAP_CLI_TRIGGER_H
#define GPUTAP_CLI_TRIGGER_H

#include "collector/triggers.h"

/* Return: GT_EXIT_OK and *out, which stays; else what ui_fail() gave. */
int trigger_create(const char *expression, struct gt_trigger *out);

#endif
