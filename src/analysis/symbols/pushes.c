/* SPDX-License-Identifier: MIT */
/* See pushes.h. */
#include "analysis/symbols/pushes.h"

#include <errno.h>
#include <stdlib.h>

#include "util/grow.h"

static int push_range(struct gt_pushes *r, enum gt_external_stack stack,
		      struct gt_pushed_range range)
{
	struct gt_pushed_range *more = gt_grow(r->stack[stack].open, r->stack[stack].depth,
					       &r->stack[stack].capacity, sizeof *more);

	if (!more)
		return -ENOMEM;
	r->stack[stack].open = more;
	more[r->stack[stack].depth++] = range;
	return 0;
}

bool gt_pushes_pop(struct gt_pushes *r, enum gt_external_stack stack, struct gt_pushed_range *range)
{
	if (!r->stack[stack].depth)
		return false;
	*range = r->stack[stack].open[--r->stack[stack].depth];
	return true;
}

int gt_pushes_step(struct gt_pushes *r, const struct gt_item *item, struct gt_pushed_range *range)
{
	if (item->op >= GT_EXTERNAL_STACK_COUNT)
		return 0;
	if (item->push)
		return push_range(r, item->op, (struct gt_pushed_range){item->ret, item->start_ns});
	return gt_pushes_pop(r, item->op, range);
}

void gt_pushes_fini(struct gt_pushes *r)
{
	for (unsigned i = 0; i < GT_EXTERNAL_STACK_COUNT; i++)
		free(r->stack[i].open);
	*r = (struct gt_pushes){0};
}
