/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/rccl_wraps.h"
#include "runtime/rccl/rccl_taps.h"

#define GT_DOOR rccl
#define GT_DOOR_UP RCCL
#define GT_DOOR_OPERATIONS "generated/rccl_operations.inc"
#define GT_DOOR_NAME "RCCL"
#include "runtime/tap_tables.inc"
