/* SPDX-License-Identifier: MIT */
/* The generated taps of one instance, GT_INSTANCE, as in runtime/opencl/taps_instance.c. No HSA header: its types are spelled in
 * api/hsa-types.api, and tests/test_gen_hsa.py holds them against the distribution's headers. */
#include "generated/hsa_image_ext_wraps.h"
#include "runtime/hsa/hsa_taps.h"

#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/hsa_image_ext_taps.inc"
#pragma GCC visibility pop
