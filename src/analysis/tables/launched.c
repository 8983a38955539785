/* SPDX-License-Identifier: MIT */
/* See launched.h. */
#include "analysis/tables/launched.h"

#include <stdlib.h>

int launched_begin(struct launched *l, const struct gt_capture *capture)
{
	return l->wanted ? gt_call_stacks_create(capture, &l->calls) : 0;
}

static struct launched_row *get_row(struct launched *l, const struct launched_row *like)
{
	uint64_t hash = lookup_mix(lookup_mix((uint64_t)like->process << 32 | like->stack) ^
				   ((uint64_t)like->name << 1 | like->is_call));
	uint32_t i;

	for (;; hash++) {
		i = idmap_get(&l->by_hash, hash);
		if (i == LOOKUP_NONE)
			break;
		if (l->rows[i].process == like->process && l->rows[i].stack == like->stack &&
		    l->rows[i].name == like->name && l->rows[i].is_call == like->is_call)
			return &l->rows[i];
	}
	GROW_LIST(l->rows, l->count, l->room);
	idmap_put(&l->by_hash, hash, l->count);
	l->rows[l->count] = *like;
	return &l->rows[l->count++];
}

static void add_row(struct launched *l, struct launched_row like, uint64_t ns)
{
	struct launched_row *row = get_row(l, &like);

	row->count++;
	row->ns += ns;
}

void launched_activity(struct launched *l, uint32_t process, uint64_t id, uint32_t name,
		       uint64_t ns)
{
	if (!l->calls)
		return;
	add_row(l,
		(struct launched_row){.process = process,
				      .stack = gt_call_stacks_find(l->calls, process, id),
				      .name = name},
		ns);
}

static bool is_launch(enum gt_operation_kind kind)
{
	return kind == GT_KIND_LAUNCH || kind == GT_KIND_COPY || kind == GT_KIND_SET;
}

void launched_call(struct launched *l, const struct launched_call *call)
{
	uint32_t stack = gt_call_stacks_find(l->calls, call->process, call->id);

	if (stack)
		add_row(l,
			(struct launched_row){.process = call->process,
					      .stack = stack,
					      .name = call->name,
					      .is_call = true,
					      .launches = is_launch(call->kind)},
			call->ns);
}

void launched_fini(struct launched *l)
{
	gt_call_stacks_destroy(l->calls);
	free(l->rows);
	idmap_fini(&l->by_hash);
	*l = (struct launched){0};
}
