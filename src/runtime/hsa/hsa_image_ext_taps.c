/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hsa_image_ext_wraps.h"
#include "runtime/hsa/hsa_taps.h"

#define GT_DOOR hsa_image_ext
#define GT_DOOR_UP HSA_IMAGE_EXT
#define GT_DOOR_OPERATIONS "generated/hsa_image_ext_operations.inc"
#define GT_DOOR_NAME "HSA image extension"
#include "runtime/tap_tables.inc"
