/* SPDX-License-Identifier: MIT */
/* Reports functions that a driver hands out but for which gputap has no description and therefore
 * no tap. An event names each such function once, and the program gets the driver's function. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_UNTAPPED_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_UNTAPPED_H

#include <stdint.h>

#include "runtime/level_zero/level_zero_tables.h"

/**
 * gt_lz_name_untapped() - report entries and whole tables that gputap does not know
 * @base:   address at which the driver is mapped; its exports are scanned once
 * @filled: GT_LZ_TABLE_MAX entries, as the driver has filled them in
 */
void gt_lz_name_untapped(unsigned instance, uintptr_t base, const struct gt_lz_part *part,
			 void *const *filled);

/* Report a function whose name the program looked up. */
void gt_lz_name_function(const char *name);

#endif
