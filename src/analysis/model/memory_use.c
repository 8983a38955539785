/* SPDX-License-Identifier: MIT */
/* See memory_use.h. */
#include "analysis/model/memory_use.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

enum { CHANGES_MAX = 1 << 24 };

/* Return true if the call changes memory in use. Kinds without a memory type are ignored, because
 * the type that their calls allocate is not known. */
static bool is_change(const struct gt_item *call, const struct gt_operation_info *info)
{
	int32_t status;

	if (!info || (info->kind != GT_KIND_FREE && info->kind != GT_KIND_RETAIN &&
		      (info->kind != GT_KIND_ALLOCATION || !info->memory)))
		return false;
	return !gt_call_status(call->op, call->ret, call->args, &status) ||
	       !gt_status_failed((enum gt_domain)GT_OP_DOMAIN(call->op), status);
}

static uint16_t device_of(const struct gt_memory_use *use, const struct gt_call_view *view,
			  uint32_t process)
{
	const struct gt_object_info *device;
	struct gt_facts facts;

	if (!use->capture || !gt_call_facts(view, &facts) || !facts.device)
		return GT_MEMORY_NO_DEVICE;
	device = gt_capture_object_find(use->capture, process, GT_OBJECT_DEVICE, facts.device);
	return device && device->device_index < GT_MEMORY_NO_DEVICE ? (uint16_t)device->device_index
								    : GT_MEMORY_NO_DEVICE;
}

static void add_change(struct gt_memory_use *use, const struct gt_memory_change *change)
{
	struct gt_memory_change *changes =
		use->count < CHANGES_MAX
			? gt_grow(use->changes, use->count, &use->room, sizeof *changes)
			: NULL;

	if (!changes) {
		use->is_full = true;
		return;
	}
	use->changes = changes;
	changes[use->count++] = *change;
}

void gt_memory_use_add(struct gt_memory_use *use, const struct gt_memory_change *changes,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_change(use, &changes[i]);
}

void gt_memory_use_note(struct gt_memory_use *use, const struct gt_item *call, uint32_t tag)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	struct gt_memory_change c = {.process = call->process, .tag = tag};

	if (!is_change(call, info) || !gt_call_address(&view, call->ret, &c.address))
		return;
	c.domain = (uint8_t)GT_OP_DOMAIN(call->op);
	c.is_free = info->kind == GT_KIND_FREE;
	c.is_retain = info->kind == GT_KIND_RETAIN;
	c.ns = c.is_free ? call->start_ns : call->end_ns;
	c.memory = info->memory;
	c.device = GT_MEMORY_NO_DEVICE;
	if (!c.is_free && !c.is_retain) {
		gt_call_bytes(&view, &c.bytes);
		c.device = device_of(use, &view, call->process);
	}
	add_change(use, &c);
}

/* Sort by time. At equal times, allocations come first, because the next call may free one of them.
 * A freed address cannot be allocated again within the same ns, because both calls take longer. */
static int compare_changes(const void *left, const void *right)
{
	const struct gt_memory_change *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (int)a->is_free - (int)b->is_free;
}

/* Return the part of an address's key that identifies its owner. Domains are separate, because an
 * address in one domain may be a handle in another. */
static uint64_t owner_key(const struct gt_memory_change *c)
{
	return (uint64_t)c->domain << 32 | c->process;
}

/* Find or create the sum of a change. Return NULL if out of memory. */
static struct gt_memory_sum *find_sum(struct gt_memory_use *use, const struct gt_memory_change *c)
{
	uint64_t key = gt_memory_key(c->domain, c->memory, c->device);
	int64_t found = gt_map_find(&use->sums_by_key, key, 0);
	struct gt_memory_sum *more;

	if (found >= 0)
		return &use->sums[found];
	more = gt_grow(use->sums, use->sum_count, &use->sum_room, sizeof *more);
	if (!more)
		return NULL;
	use->sums = more;
	if (gt_map_add(&use->sums_by_key, key, 0, (uint32_t)use->sum_count))
		return NULL;
	more[use->sum_count] = (struct gt_memory_sum){.domain = (enum gt_domain)c->domain,
						      .memory = (enum gt_memory)c->memory,
						      .device = c->device};
	return &more[use->sum_count++];
}

/* End an allocation. Its sum must exist. */
static void end_allocation(struct gt_memory_use *use, struct gt_memory_change *c)
{
	struct gt_memory_sum *sum = find_sum(use, c);

	sum->in_use -= c->bytes < sum->in_use ? c->bytes : sum->in_use;
	c->is_matched = true;
}

/* Begin an allocation. Return false if out of memory. */
static bool begin_allocation(struct gt_memory_use *use, struct gt_map *open, size_t index)
{
	struct gt_memory_change *c = &use->changes[index];
	struct gt_memory_sum *sum = find_sum(use, c);
	int64_t before = gt_map_find(open, c->address, owner_key(c));

	if (!sum)
		return false;
	if (before >= 0) { /* the free of the previous allocation was not recorded */
		if (!use->changes[before].is_matched) {
			end_allocation(use, &use->changes[before]);
			c->replaced = (uint32_t)before + 1;
		}
		gt_map_set(open, c->address, owner_key(c), (uint32_t)index);
	} else if (gt_map_add(open, c->address, owner_key(c), (uint32_t)index) < 0) {
		return false;
	}
	sum->allocations++;
	sum->bytes += c->bytes;
	sum->in_use += c->bytes;
	if (sum->in_use > sum->peak)
		sum->peak = sum->in_use;
	return true;
}

static void free_allocation(struct gt_memory_use *use, const struct gt_map *open,
			    struct gt_memory_change *c)
{
	int64_t found = gt_map_find(open, c->address, owner_key(c));
	struct gt_memory_change *of = found < 0 ? NULL : &use->changes[found];
	struct gt_memory_sum *sum;

	if (!of || of->is_matched)
		return;
	if (of->retained) {
		of->retained--;
		return;
	}
	c->bytes = of->bytes;
	c->memory = of->memory;
	c->device = of->device;
	c->is_matched = true;
	end_allocation(use, of);
	sum = find_sum(use, c);
	sum->frees++;
	sum->freed_bytes += c->bytes;
}

static void retain_allocation(const struct gt_memory_use *use, const struct gt_map *open,
			      const struct gt_memory_change *c)
{
	int64_t found = gt_map_find(open, c->address, owner_key(c));

	if (found >= 0 && !use->changes[found].is_matched)
		use->changes[found].retained++;
}

int gt_memory_use_settle(struct gt_memory_use *use, gt_memory_change_fn *each, void *data)
{
	struct gt_map open = {0};
	int status = 0;

	if (use->count)
		qsort(use->changes, use->count, sizeof *use->changes, compare_changes);
	for (size_t i = 0; i < use->count && !status; i++) {
		struct gt_memory_change *c = &use->changes[i];

		if (c->is_retain)
			retain_allocation(use, &open, c);
		else if (c->is_free)
			free_allocation(use, &open, c);
		else if (!begin_allocation(use, &open, i))
			status = -ENOMEM;
		if (each && !status && !c->is_retain && (!c->is_free || c->is_matched))
			each(data, c, find_sum(use, c)->in_use);
	}
	gt_map_fini(&open);
	return status ? gt_error(status, "cannot compute memory use") : 0;
}

void gt_memory_use_fini(struct gt_memory_use *use)
{
	free(use->changes);
	use->changes = NULL;
	use->count = use->room = 0;
	free(use->sums);
	use->sums = NULL;
	use->sum_count = use->sum_room = 0;
	gt_map_fini(&use->sums_by_key);
}
