/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/roctx_wraps.h"
#include "runtime/roctx/roctx_taps.h"

#define GT_DOOR roctx
#define GT_DOOR_UP ROCTX
#define GT_DOOR_OPERATIONS "generated/roctx_operations.inc"
#define GT_DOOR_NAME "ROCTx"
#include "runtime/tap_tables.inc"
