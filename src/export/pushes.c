/* SPDX-License-Identifier: MIT */
/* See pushes.h. */
#include "export/pushes.h"

#include <errno.h>
#include <stdlib.h>

int gt_external_push(struct gt_external *r, enum gt_external_stack stack,
		     struct gt_external_range range)
{
	if (r->stack[stack].depth == r->stack[stack].capacity) {
		uint32_t bigger = r->stack[stack].capacity ? r->stack[stack].capacity * 2 : 8;
		struct gt_external_range *moved =
			realloc(r->stack[stack].open, bigger * sizeof *moved);

		if (!moved)
			return -ENOMEM;
		r->stack[stack].open = moved;
		r->stack[stack].capacity = bigger;
	}
	r->stack[stack].open[r->stack[stack].depth++] = range;
	return 0;
}

bool gt_external_pop(struct gt_external *r, enum gt_external_stack stack,
		     struct gt_external_range *range)
{
	if (!r->stack[stack].depth)
		return false;
	*range = r->stack[stack].open[--r->stack[stack].depth];
	return true;
}

void gt_external_fini(struct gt_external *r)
{
	for (unsigned i = 0; i < GT_EXTERNAL_STACK_COUNT; i++)
		free(r->stack[i].open);
	*r = (struct gt_external){0};
}
