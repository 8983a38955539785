/* SPDX-License-Identifier: MIT */
/* Finds this machine's ROCr that would run on the software GPUs, and checks whether it is
 * compatible. */
#ifndef GPUTAP_CLI_SOFT_RUNTIME_H
#define GPUTAP_CLI_SOFT_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SOFT_RUNTIME_LIBRARY     "libhsakmt.so.1"
/* value 1 makes ROCr 7 load libdtif.so instead of its own libhsakmt */
#define SOFT_RUNTIME_OTHER_THUNK "HSA_ENABLE_DTIF"

/* Find the folder of the substitute libhsakmt.so.1. Return true if the folder exists. */
bool soft_runtime_find(char out[PATH_MAX]);
/* Write a sentence about a fault of this machine's ROCr; "": no fault. Return true if programs may
 * run on this ROCr. */
bool soft_runtime_check(char *out, size_t size);
/* Print one or two lines about the ROCr that was found. */
void soft_runtime_describe(FILE *out);
/* Print notes on stderr if the ROCr that was found is not known to work, or cannot work. */
void soft_runtime_warn(void);

#endif
