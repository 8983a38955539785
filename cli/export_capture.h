/* SPDX-License-Identifier: MIT */
/* `gputap export -o OUT.gputap`: a smaller capture of what --where holds for, or a copy. */
#ifndef GPUTAP_CLI_EXPORT_CAPTURE_H
#define GPUTAP_CLI_EXPORT_CAPTURE_H

#include "cli/export.h"

/* Is the output a capture, by its name or --format? */
bool export_is_capture(const struct export_request *request);
/* Return: exit code; reported. */
int export_capture(const struct export_request *request);

#endif
