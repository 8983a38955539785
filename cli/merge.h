/* SPDX-License-Identifier: MIT */
/* Combines several captures, for the commands that write a combined file. */
#ifndef GPUTAP_CLI_MERGE_H
#define GPUTAP_CLI_MERGE_H

#include "cli/export.h"

/* Write the combined file. Return the exit code; errors are reported. */
int merge_captures(const struct export_request *request);

#endif
