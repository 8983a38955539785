/* SPDX-License-Identifier: MIT */
/* See pushes.h. */
#include "export/pushes.h"

#include <errno.h>
#include <stdlib.h>

static int push(struct gt_external *r, enum gt_external_stack stack, struct gt_external_range range)
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

int gt_external_step(struct gt_external *r, const struct gt_item *item,
		     struct gt_external_range *range)
{
	if (item->op >= GT_EXTERNAL_STACK_COUNT)
		return 0;
	if (item->push)
		return push(r, item->op, (struct gt_external_range){item->ret, item->start_ns});
	return gt_external_pop(r, item->op, range);
}

void gt_external_fini(struct gt_external *r)
{
	for (unsigned i = 0; i < GT_EXTERNAL_STACK_COUNT; i++)
		free(r->stack[i].open);
	*r = (struct gt_external){0};
}
