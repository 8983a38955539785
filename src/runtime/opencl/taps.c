/* SPDX-License-Identifier: MIT */
#define CL_TARGET_OPENCL_VERSION 300
#include <stdbool.h>
#include <stddef.h>

#include "generated/opencl_wraps.h"
#include "runtime/opencl/taps.h"

#define GT_DOOR opencl
#define GT_DOOR_UP OPENCL
#define GT_DOOR_OPERATIONS "generated/opencl_operations.inc"
#define GT_DOOR_NAME "OpenCL"
#include "runtime/tap_tables.inc"
