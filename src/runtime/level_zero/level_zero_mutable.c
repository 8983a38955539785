/* SPDX-License-Identifier: MIT */
/* Follows mutable lists. The program requests an id for the command that it appends next, and
 * changes that command between two runs of the list. This file updates the activity's name, sizes
 * and event accordingly. */
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

/* Store the id for the next command. */
static int name_next_command(int status, const void *handle, const uint64_t *id)
{
	struct gt_lz_list *list = status || !id ? NULL : gt_lz_find(GT_LZ_LIST, handle);

	if (list)
		list->next_id = *id;
	return status;
}

int gt_level_zero_wrap_zeCommandListGetNextCommandIdExp(const struct gt_call *call, void *list,
							const void *desc, uint64_t *id)
{
	return name_next_command(REAL(zeCommandListGetNextCommandIdExp)(list, desc, id), list, id);
}

int gt_level_zero_wrap_zeCommandListGetNextCommandIdWithKernelsExp(const struct gt_call *call,
								   void *list, const void *desc,
								   uint32_t count, void **kernels,
								   uint64_t *id)
{
	return name_next_command(REAL(zeCommandListGetNextCommandIdWithKernelsExp)(list, desc,
										   count, kernels,
										   id),
				 list, id);
}

static struct gt_lz_entry *find_entry(const void *handle, uint64_t id)
{
	const struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, handle);
	struct gt_lz_entry *e = list ? list->first : NULL;

	while (e && e->id != id)
		e = e->next;
	return id ? e : NULL;
}

/* Change the sizes, which are stored as work-items. @groups, @block: NULL if unchanged. */
static void change_sizes(struct gt_lz_entry *e, const uint32_t *groups, const uint32_t *block)
{
	for (int i = 0; i < 3; i++) {
		uint32_t was = e->what.block[i] ? e->what.block[i] : 1;
		uint64_t count = groups ? groups[i] : e->what.grid[i] / was;

		if (block)
			e->what.block[i] = block[i];
		count *= e->what.block[i];
		e->what.grid[i] = gt_saturate_u32(count);
	}
}

int gt_level_zero_wrap_zeCommandListUpdateMutableCommandsExp(const struct gt_call *call, void *list,
							     const void *desc)
{
	int status = REAL(zeCommandListUpdateMutableCommandsExp)(list, desc);
	const struct lz_chained *head = status ? NULL : desc;

	for (const struct lz_chained *c = head ? head->next : NULL; c; c = c->next) {
		struct gt_lz_entry *e;

		if (c->type == LZ_MUTABLE_GROUPS) {
			const struct lz_mutable_groups *change = (const void *)c;

			e = find_entry(list, change->command);
			if (e && change->groups)
				change_sizes(e, change->groups, NULL);
		} else if (c->type == LZ_MUTABLE_GROUP_SIZE) {
			const struct lz_mutable_group_size *change = (const void *)c;

			e = find_entry(list, change->command);
			if (e)
				change_sizes(e, NULL, change->size);
		}
	}
	return status;
}

int gt_level_zero_wrap_zeCommandListUpdateMutableCommandKernelsExp(const struct gt_call *call,
								   void *list, uint32_t count,
								   uint64_t *ids, void **kernels)
{
	int status = REAL(zeCommandListUpdateMutableCommandKernelsExp)(list, count, ids, kernels);

	for (uint32_t i = 0; !status && i < count; i++) {
		const struct gt_lz_kernel *k = gt_lz_meet_kernel(call, kernels[i]);
		struct gt_lz_entry *e = k ? find_entry(list, ids[i]) : NULL;

		if (!e)
			continue;
		e->what.name = k->name;
		e->what.symbol = k->symbol;
		e->what.group_bytes = k->group_bytes;
		e->what.private_bytes = k->private_bytes;
	}
	return status;
}

/* Change a command's event. If @signal is NULL, the command gets a gputap event instead. */
int gt_level_zero_wrap_zeCommandListUpdateMutableCommandSignalEventExp(const struct gt_call *call,
								       void *handle, uint64_t id,
								       void *signal)
{
	struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, handle);
	struct gt_lz_entry *e = find_entry(handle, id);
	struct gt_lz_event *program = signal ? gt_lz_find(GT_LZ_EVENT, signal) : NULL;
	int status;

	if (!signal && e && e->own)
		signal = e->own->event;
	status = REAL(zeCommandListUpdateMutableCommandSignalEventExp)(handle, id, signal);
	if (!status && list && e && e->event != signal)
		gt_lz_entry_set_event(list, e, program, signal);
	return status;
}
