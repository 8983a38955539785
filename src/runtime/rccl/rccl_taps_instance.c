/* SPDX-License-Identifier: MIT */
/* The generated taps of one instance, GT_INSTANCE, as in runtime/opencl/taps_instance.c. */
#include "generated/rccl_wraps.h"
#include "runtime/rccl/rccl_taps.h"

#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/rccl_taps.inc"
#pragma GCC visibility pop
