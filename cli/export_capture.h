/* SPDX-License-Identifier: MIT */
/* `gputap export -o OUT.gputap`: writes a smaller capture with the records that match --where, or
 * copies the whole capture. */
#ifndef GPUTAP_CLI_EXPORT_CAPTURE_H
#define GPUTAP_CLI_EXPORT_CAPTURE_H

#include "cli/export.h"

/* Return true if the output's name or --format requests a capture. */
bool export_is_capture(const struct export_request *request);
/* Export to a capture. Return the exit code; errors are reported. */
int export_capture(const struct export_request *request);

#endif
