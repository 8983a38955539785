/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hsa_amd_ext_wraps.h"
#include "runtime/hsa/hsa_taps.h"

#define GT_DOOR hsa_amd_ext
#define GT_DOOR_UP HSA_AMD_EXT
#define GT_DOOR_OPERATIONS "generated/hsa_amd_ext_operations.inc"
#define GT_DOOR_NAME "HSA AMD extensions"
#include "runtime/tap_tables.inc"
