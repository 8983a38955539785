/* SPDX-License-Identifier: MIT */
/* Combine several captures, for the commands that write such a file. */
#ifndef GPUTAP_CLI_MERGE_H
#define GPUTAP_CLI_MERGE_H

#include "cli/export.h"

/* Return the exit code; errors are reported. */
int merge_captures(const struct export_request *request);

#endif
