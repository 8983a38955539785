/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hip_wraps.h"
#include "runtime/hip/hip_taps.h"

#define GT_DOOR hip
#define GT_DOOR_UP HIP
#define GT_DOOR_OPERATIONS "generated/hip_operations.inc"
#define GT_DOOR_NAME "HIP"
#define GT_DOOR_LEAST (sizeof(uint64_t) + 442 * sizeof(void *)) /* ROCm 6.0 */
#include "runtime/tap_tables.inc"
