/* SPDX-License-Identifier: MIT */
/* Which ROCr of this machine would run on the software GPUs, and whether it fits. */
#ifndef GPUTAP_CLI_SOFT_RUNTIME_H
#define GPUTAP_CLI_SOFT_RUNTIME_H

#include <stdio.h>

/* A line or two on what was found. */
void soft_runtime_describe(FILE *out);
/* Notes on stderr when what was found is not known to work, or cannot; nothing when all is well. */
void soft_runtime_warn(void);

#endif
