/* SPDX-License-Identifier: MIT */
/* The generated taps of one instance, GT_INSTANCE, as in runtime/opencl/taps_instance.c. No header of HIP: its types are
 * spelled in api/hip-types.api, and tests/test_gen_hip.py holds them against the distribution's headers. */
#include "generated/hip_wraps.h"
#include "runtime/hip/hip_taps.h"

#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/hip_taps.inc"
#pragma GCC visibility pop
