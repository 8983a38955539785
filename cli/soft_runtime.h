/* SPDX-License-Identifier: MIT */
/* Which ROCr of this machine would run on the software GPUs, and whether it fits. */
#ifndef GPUTAP_CLI_SOFT_RUNTIME_H
#define GPUTAP_CLI_SOFT_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SOFT_RUNTIME_LIBRARY     "libhsakmt.so.1"
/* variable: 1 makes ROCr 7 load libdtif.so instead of its own libhsakmt */
#define SOFT_RUNTIME_OTHER_THUNK "HSA_ENABLE_DTIF"

/* The folder of libhsakmt.so.1, the stand-in. Return: there is one. */
bool soft_runtime_find(char out[PATH_MAX]);
/* One sentence on what is wrong with this machine's ROCr, "" when all is well. Return: programs
 * may run on it. */
bool soft_runtime_check(char *out, size_t size);
/* A line or two on what was found. */
void soft_runtime_describe(FILE *out);
/* Notes on stderr when what was found is not known to work, or cannot; nothing when all is well. */
void soft_runtime_warn(void);

#endif
