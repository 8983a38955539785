/* SPDX-License-Identifier: MIT */
/* Rows of the table `ranges`, which cursors also return. */
#ifndef GPUTAP_DATASET_TABLE_RANGES_H
#define GPUTAP_DATASET_TABLE_RANGES_H

#include <stdint.h>

struct range_row {
	int64_t id, parent, step, start_ns, duration_ns;
	int32_t session, process, thread;
	int32_t kind, name, scope, category, payload, shapes; /* texts */
	int16_t depth;
};

enum { RANGE_COLUMN_SHAPES = 14 };

#endif
