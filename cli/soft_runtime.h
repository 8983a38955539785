/* SPDX-License-Identifier: MIT */
/* Find the ROCr of this machine that would run on the software GPUs, and check whether it fits. */
#ifndef GPUTAP_CLI_SOFT_RUNTIME_H
#define GPUTAP_CLI_SOFT_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SOFT_RUNTIME_LIBRARY     "libhsakmt.so.1"
/* variable: 1 makes ROCr 7 load libdtif.so instead of its own libhsakmt */
#define SOFT_RUNTIME_OTHER_THUNK "HSA_ENABLE_DTIF"

/* Find the folder of the substitute libhsakmt.so.1. Return true if it exists. */
bool soft_runtime_find(char out[PATH_MAX]);
/* Write a sentence about a fault of this machine's ROCr, "" if there is none. Return true if
 * programs may run on it. */
bool soft_runtime_check(char *out, size_t size);
/* Print a line or two about the ROCr that was found. */
void soft_runtime_describe(FILE *out);
/* Print notes on stderr if the ROCr that was found is not known to work, or cannot work. */
void soft_runtime_warn(void);

#endif
