/* SPDX-License-Identifier: MIT */
/* `gputap export -o OUT.gputap`: writes a smaller capture of the records that match --where, or a
 * copy. */
#ifndef GPUTAP_CLI_EXPORT_CAPTURE_H
#define GPUTAP_CLI_EXPORT_CAPTURE_H

#include "cli/export.h"

/* Return true if the output's name or --format selects a capture. */
bool export_is_capture(const struct export_request *request);
/* Export to a capture. Return the exit code; errors are reported. */
int export_capture(const struct export_request *request);

#endif
