/* SPDX-License-Identifier: MIT */
/* Writes the rows of rocpd_copyapi, one for each call that copies. See rpd.h.
 *
 * A device may not do exactly what the program requested: HIP copies pageable memory in parts,
 * through staging buffers. If a domain's activities come from a lower-level domain (HIP's from
 * HSA), addresses, bytes and stream of a row are therefore those of the call's arguments. The
 * activity provides only the device, and the direction if the call leaves it open.
 * In the second pass, call and activity come in either order. The first one waits in a hash table,
 * whose size depends on the number of copies in progress. Calls whose activity never comes
 * (captured in a graph, or failed) get their rows at the end. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "export/rpd.h"

enum {
	HOST_TO_DEVICE = 1,
	DEVICE_TO_HOST,
	DEVICE_TO_DEVICE,
	DEFAULT,
	NO_DEVICE = -1,
	DEVICE_UNKNOWN = 0
};

/* A row under construction. */
struct rpd_copy {
	int64_t api; /* 0: free slot */
	bool called, worked;
	bool sync;
	uint64_t stream, bytes, width, height, to, from, kind;
	int64_t to_device, from_device;
	enum gt_device_op op;
};

static struct rpd_copy *slot_of(const struct rpd *r, int64_t api)
{
	size_t mask = r->copy_capacity - 1, i = gt_map_hash(0, (uint64_t)api) & mask;

	while (r->copies[i].api && r->copies[i].api != api)
		i = (i + 1) & mask;
	return &r->copies[i];
}

static int make_copy_room(struct rpd *r)
{
	struct rpd_copy *old = r->copies;
	size_t capacity = r->copy_capacity;

	if (r->copy_count * 2 < capacity)
		return 0;
	r->copies = calloc(capacity ? capacity * 2 : 64, sizeof *r->copies);
	if (!r->copies) {
		r->copies = old;
		return gt_rpd_no_memory(r);
	}
	r->copy_capacity = capacity ? capacity * 2 : 64;
	for (size_t i = 0; i < capacity; i++)
		if (old[i].api)
			*slot_of(r, old[i].api) = old[i];
	free(old);
	return 0;
}

/* Remove an entry. Entries whose probe sequence passed the removed slot move up. */
static void take_out(struct rpd *r, const struct rpd_copy *gone)
{
	size_t mask = r->copy_capacity - 1, hole = (size_t)(gone - r->copies);

	for (size_t i = (hole + 1) & mask; r->copies[i].api; i = (i + 1) & mask) {
		size_t home = gt_map_hash(0, (uint64_t)r->copies[i].api) & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		r->copies[hole] = r->copies[i];
		hole = i;
	}
	r->copies[hole].api = 0;
	r->copy_count--;
}

static void put_address(struct gt_bulk_row *row, uint64_t address)
{
	char text[RPD_HEX_BYTES];

	gt_bulk_text(row, text, (size_t)(gt_put_hex(GT_PUT(text, "0x"), address) - text));
}

static void put_row(struct rpd *r, const struct rpd_copy *c)
{
	bool reads = c->worked ? c->op == GT_DEVICE_READ : c->kind == DEVICE_TO_HOST;
	bool writes = c->worked ? c->op == GT_DEVICE_WRITE : c->kind == HOST_TO_DEVICE;
	uint64_t kind = c->kind < DEFAULT || !c->worked ? c->kind
			: reads                         ? DEVICE_TO_HOST
			: writes                        ? HOST_TO_DEVICE
							: DEVICE_TO_DEVICE;
	struct gt_bulk_row *row = &r->row;
	int64_t id = (int64_t)gt_bulk_count(r->copyapi) + 1;

	gt_bulk_begin(row);
	gt_bulk_int(row, c->api);
	put_address(row, c->stream);
	gt_bulk_int(row, (int64_t)c->bytes);
	gt_bulk_int(row, (int64_t)c->width);
	gt_bulk_int(row, (int64_t)c->height);
	gt_bulk_int(row, (int64_t)kind);
	put_address(row, c->to);
	put_address(row, c->from);
	gt_bulk_int(row, reads ? NO_DEVICE : c->to_device);
	gt_bulk_int(row, writes ? NO_DEVICE : c->from_device);
	gt_bulk_int(row, c->sync);
	gt_bulk_int(row, 0); /* pinned: not known */
	gt_bulk_add(r->copyapi, id, row);
	gt_rpd_add_link(r, &r->copies_sorted, c->api, id);
}

/* Return the address with a role. If several members have that role (host address, device address,
 * array), the program uses one of them. */
static uint64_t address_of(const struct gt_call_view *call, enum gt_role role)
{
	uint64_t value = 0;

	for (unsigned i = 0; !value && gt_call_role(call, role, i, &value); i++)
		;
	return value;
}

static void read_call(struct rpd_copy *c, const struct gt_item *item, bool blocks)
{
	struct gt_call_view call = {item->op, item->args, item->payload, item->payload_bytes};

	c->called = true;
	c->sync = blocks;
	c->kind = DEFAULT;
	gt_call_role(&call, GT_ROLE_STREAM, 0, &c->stream);
	gt_call_bytes(&call, &c->bytes);
	if (gt_call_role(&call, GT_ROLE_TIMES, 0, &c->height))
		gt_call_role(&call, GT_ROLE_BYTES, 0, &c->width);
	if (!gt_call_role(&call, GT_ROLE_DIRECTION, 0, &c->kind) || c->kind > DEFAULT)
		c->kind = DEFAULT;
	c->to = address_of(&call, GT_ROLE_DESTINATION);
	c->from = address_of(&call, GT_ROLE_SOURCE);
}

static int64_t device_number(uint32_t device)
{
	return device == UINT32_MAX ? NO_DEVICE : (int64_t)device;
}

static void read_activity(const struct rpd *r, struct rpd_copy *c, const struct gt_item *activity,
			  const struct gt_view_queue *queue)
{
	struct gt_view_ends ends = gt_view_ends(&r->view, activity, queue);

	c->worked = true;
	c->op = activity->device_op;
	c->to_device = device_number(ends.to);
	c->from_device = device_number(ends.from);
}

/* Find or create the pending row of call @api. Return NULL if out of memory. */
static struct rpd_copy *half_of(struct rpd *r, int64_t api)
{
	struct rpd_copy *c;

	if (make_copy_room(r))
		return NULL;
	c = slot_of(r, api);
	if (!c->api) {
		*c = (struct rpd_copy){.api = api,
				       .to_device = DEVICE_UNKNOWN,
				       .from_device = DEVICE_UNKNOWN};
		r->copy_count++;
	}
	return c;
}

static void complete_copy(struct rpd *r, struct rpd_copy *c)
{
	if (!c->called || !c->worked)
		return;
	gt_rpd_set_flags(r, c->api, RPD_CALL_HAS_COPY);
	put_row(r, c);
	take_out(r, c);
}

void gt_rpd_copy_called(struct rpd *r, const struct gt_item *call, int64_t api, bool blocks)
{
	struct rpd_copy *c = half_of(r, api);

	if (!c)
		return;
	read_call(c, call, blocks);
	complete_copy(r, c);
}

void gt_rpd_count_copy(struct rpd *r, const struct gt_item *activity, int64_t api, uint64_t stream,
		       const struct gt_view_queue *queue)
{
	unsigned flags = gt_rowmap_flags(&r->calls, api);
	struct rpd_copy whole, *c;

	if (flags & RPD_CALL_HAS_COPY)
		return;
	if (gt_view_is_beneath(activity->op) && (flags & RPD_CALL_TELLS_COPY)) {
		c = half_of(r, api);
		if (c && !c->worked) {
			read_activity(r, c, activity, queue);
			complete_copy(r, c);
		}
		return;
	}
	gt_rpd_set_flags(r, api, RPD_CALL_HAS_COPY);
	whole = (struct rpd_copy){.api = api,
				  .sync = flags & RPD_CALL_BLOCKS,
				  .stream = stream,
				  .bytes = activity->bytes,
				  .width = activity->global[1] ? activity->global[0] : 0,
				  .height = activity->global[1],
				  .kind = DEFAULT,
				  .to = activity->object[1],
				  .from = activity->object[0]};
	read_activity(r, &whole, activity, queue);
	put_row(r, &whole);
}

void gt_rpd_copies_rest(struct rpd *r)
{
	for (size_t i = 0; i < r->copy_capacity; i++)
		if (r->copies[i].api)
			put_row(r, &r->copies[i]);
}
