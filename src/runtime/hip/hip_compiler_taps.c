/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hip_compiler_wraps.h"
#include "runtime/hip/hip_taps.h"

#define GT_DOOR hip_compiler
#define GT_DOOR_UP HIP_COMPILER
#define GT_DOOR_OPERATIONS "generated/hip_compiler_operations.inc"
#define GT_DOOR_NAME "HIP compiler"
#include "runtime/tap_tables.inc"
