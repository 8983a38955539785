/* SPDX-License-Identifier: MIT */
#include "record/variable.h"

#include <stddef.h>

#include "record/domain.h"

const struct gt_variable gt_variables[GT_VARIABLE_COUNT] = {
#include "generated/variables.inc"
};
