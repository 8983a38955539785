/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hsa_core_wraps.h"
#include "runtime/hsa/hsa_taps.h"

#define GT_DOOR hsa_core
#define GT_DOOR_UP HSA_CORE
#define GT_DOOR_OPERATIONS "generated/hsa_core_operations.inc"
#define GT_DOOR_NAME "HSA core"
#include "runtime/tap_tables.inc"
