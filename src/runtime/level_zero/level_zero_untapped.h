/* SPDX-License-Identifier: MIT */
/* What a driver hands out that has no description, so that there is no tap for it: an event names
 * each once, and the program gets what the driver gave. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_UNTAPPED_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_UNTAPPED_H

#include <stdint.h>

#include "runtime/level_zero/level_zero_tables.h"

/**
 * gt_lz_name_untapped() - entries of a table, and whole tables, that are newer than ours
 * @base:   where the driver is mapped: its exports are gone through once
 * @filled: GT_LZ_TABLE_MAX entries, as the driver has filled them in
 */
void gt_lz_name_untapped(unsigned instance, uintptr_t base, const struct gt_lz_part *part,
			 void *const *filled);

/* A function that the program got by its name. */
void gt_lz_name_function(const char *name);

#endif
