/* SPDX-License-Identifier: MIT */
/* Several captures as one, for the commands that make such a file. */
#ifndef GPUTAP_CLI_MERGE_H
#define GPUTAP_CLI_MERGE_H

#include "cli/export.h"

/* Return: exit code; reported. */
int merge_captures(const struct export_request *request);

#endif
