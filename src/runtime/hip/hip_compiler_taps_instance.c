/* SPDX-License-Identifier: MIT */
/* The generated taps of one instance, GT_INSTANCE, of what compilers call: see hip_taps_instance.c. */
#include "generated/hip_compiler_wraps.h"
#include "runtime/hip/hip_taps.h"

#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/hip_compiler_taps.inc"
#pragma GCC visibility pop
