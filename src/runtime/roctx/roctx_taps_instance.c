/* SPDX-License-Identifier: MIT */
/* The generated taps of one instance, GT_INSTANCE, as in runtime/opencl/taps_instance.c. */
#include "generated/roctx_wraps.h"
#include "runtime/roctx/roctx_taps.h"

#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/roctx_taps.inc"
#pragma GCC visibility pop
