/* SPDX-License-Identifier: MIT */
/* Interface for gputap's packages of frameworks, which look the function up in the process. */
#ifndef GPUTAP_RUNTIME_ATTACH_MISSING_H
#define GPUTAP_RUNTIME_ATTACH_MISSING_H

#include "gputap/gputap.h"

/* Note in the capture why a framework's ranges are not recorded: @why, in at most 4,000 bytes.
 * Return 0, -EINVAL if @why is NULL, or -ENOTCONN if this process is not recorded. */
GPUTAP_API int gputap_attach_missing(const char *why);

#endif
