/* SPDX-License-Identifier: MIT */
/* The API that tests/gen/tiny.api describes. */
#ifndef TESTS_GEN_TINY_H
#define TESTS_GEN_TINY_H

#include <stddef.h>

typedef struct tiny_queue_struct *tiny_queue;
typedef unsigned tiny_uint;
typedef int tiny_int;
typedef struct {
	unsigned mode;
	size_t origin, size;
} tiny_region;

struct tiny_slots {
	void *tiny_values, *tiny_nothing, *tiny_no_status, *tiny_gone, *tiny_out, *tiny_arrays,
		*tiny_list, *tiny_create, *tiny_text, *tiny_texts, *tiny_region, *tiny_free;
};
typedef struct tiny_slots tiny_table;

#endif
