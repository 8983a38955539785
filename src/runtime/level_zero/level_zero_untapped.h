/* SPDX-License-Identifier: MIT */
/* Functions that a driver hands out without a description in gputap, and hence without a tap. An
 * event names each such function once, and the program gets the driver's function. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_UNTAPPED_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_UNTAPPED_H

#include <stdint.h>

#include "runtime/level_zero/level_zero_tables.h"

/**
 * gt_lz_name_untapped() - report entries of a table, and whole tables, that are newer than gputap's
 * @base:   address at which the driver is mapped; its exports are scanned once
 * @filled: GT_LZ_TABLE_MAX entries, as filled in by the driver
 */
void gt_lz_name_untapped(unsigned instance, uintptr_t base, const struct gt_lz_part *part,
			 void *const *filled);

/* Report a function that the program looked up by name. */
void gt_lz_name_function(const char *name);

#endif
