/* SPDX-License-Identifier: MIT */
/* The generated taps of one instance, GT_INSTANCE. A tap cannot tell who called it, so that each instance has code of its
 * own: its address is the instance. Compiled once, which takes long; the others are copies with other names (src/runtime/taps_instance.py). */
#define CL_TARGET_OPENCL_VERSION 300
#include "generated/opencl_wraps.h"
#include "runtime/opencl/taps.h"

/* Taps are reached through tables only: they are no part of the library's interface and their prototypes are the runtime's. */
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/opencl_taps.inc"
#pragma GCC visibility pop
