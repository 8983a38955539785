/* SPDX-License-Identifier: MIT */
/* Converts each CUPTI record to a device record that is linked to its call through the correlation
 * id. Times are host ticks, because CUPTI uses our time source. */
#include <stdio.h>
#include <string.h>

#include "core/late.h"
#include "runtime/cuda/cuda_parts.h"
#include "tool/tool_activity.h"

/* Fields common to all kinds of records. */
struct place {
	uint32_t correlation, device, context, stream;
	uint64_t start, end;
	uint64_t node; /* id of the node in the graph, or 0 */
	bool whole;    /* true if one record covers a graph's whole launch */
};

static bool is_wanted(const struct gt_cuda_link *link, bool linked)
{
	return linked ? link->flags & GT_CUDA_RECORDED : gt_cuda_activity_wanted(false);
}

/* Write GT_EVENT_UNLINKED after 1, 2, 4, 8 and so on unlinked records. */
static void report_unlinked(struct gt_thread *t)
{
	static uint64_t seen;

	seen++;
	if (!(seen & (seen - 1)))
		gt_event_write(t, GT_EVENT_UNLINKED, GT_DOMAIN_CUDA_DRIVER, seen,
			       "GPU activities whose launch CUPTI did not report");
}

/* A record under construction. */
struct draft {
	struct gt_record_device record;
	uint32_t correlation, device; /* CUPTI's numbers */
	bool is_recorded;             /* false if only tools want the record */
};

/* Fill in the common fields of a record. Return false if the record is not wanted. */
static bool begin_record(struct gt_thread *t, struct draft *d, enum gt_device_op op,
			 const struct place *p)
{
	struct gt_cuda_link link = {0};
	bool more = true, linked = gt_cuda_link_find(p->correlation, &link, &more);
	uint32_t device, stream;

	/* launched before gputap was attached */
	if (!linked && gt_is_late() && gt_cuda_activity_is_earlier(p->correlation))
		return false;
	d->is_recorded = t && is_wanted(&link, linked) && (!linked || link.epoch == t->epoch);
	if (!d->is_recorded && (!t || !gt_tool_activity_asked(GT_DOMAIN_CUDA_DRIVER)))
		return false;
	if (!linked)
		report_unlinked(t);
	if (more && d->is_recorded)
		gt_device_seen(t, GT_DOMAIN_CUDA_DRIVER);
	device = gt_cuda_device(t, p->device);
	stream = gt_cuda_stream(t, p->device, p->context, p->stream);
	d->correlation = p->correlation;
	d->device = p->device;
	d->record = (struct gt_record_device){
		.head = {sizeof d->record / 8, GT_RECORD_DEVICE, (uint8_t)op,
			 GT_DEVICE_REF(GT_DOMAIN_CUDA_DRIVER, device)},
		.id = link.id,
		.call_start = link.start,
		.queue = stream | (uint64_t)link.graph << 32,
		.start = p->start,
		.end = p->end,
		.replay = link.replay,
		.ordinal = link.replay && !p->whole ? CUPTI_NODE_NUMBER(p->node) : 0,
	};
	return true;
}

static void end_record(struct gt_thread *t, const struct draft *d)
{
	struct gt_record_device *r = d->is_recorded ? gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE,
								      GT_DOMAIN_CUDA_DRIVER)
						    : NULL;

	if (r) {
		*r = d->record;
		gt_ring_commit(t, sizeof *r);
	}
	if (gt_unlikely(gt_tool_activity_asked(GT_DOMAIN_CUDA_DRIVER)))
		gt_cuda_items_done(d->correlation, &d->record, d->device);
}

static void record_kernel(struct gt_thread *t, const struct cupti_kernel *k)
{
	const struct place p = {k->correlation, k->device, k->context,    k->stream,
				k->start,       k->end,    k->graph_node, false};
	struct gt_cuda_kernel kernel = gt_cuda_kernel(t, k);
	struct gt_record_device *r;
	struct draft d;

	if (!kernel.wanted || !begin_record(t, &d, GT_DEVICE_KERNEL, &p))
		return;
	r = &d.record;
	r->name = kernel.name;
	r->queued = k->queued;
	r->submitted = k->submitted;
	r->object[1] =
		GT_KERNEL_DETAIL(kernel.symbol, (uint32_t)(k->static_shared + k->dynamic_shared),
				 k->local_per_thread);
	for (int i = 0; i < 3; i++) {
		r->global[i] =
			gt_saturate_u32((uint64_t)(uint32_t)k->grid[i] * (uint32_t)k->block[i]);
		r->local[i] = (uint32_t)k->block[i];
	}
	end_record(t, &d);
}

static const char *place_name(unsigned place)
{
	static const char *const names[] = {"Unknown",       "Pageable",      "Pinned",
					    "Device",        "Array",         "Managed",
					    "Device Static", "Managed Static"};

	return names[place < sizeof names / sizeof *names ? place : 0];
}

static enum gt_device_op op_of_copy(uint8_t kind)
{
	switch (kind) {
	case CUPTI_COPY_HTOD:
	case CUPTI_COPY_HTOA: return GT_DEVICE_WRITE;
	case CUPTI_COPY_DTOH:
	case CUPTI_COPY_ATOH: return GT_DEVICE_READ;
	default: return GT_DEVICE_COPY;
	}
}

/* Name a copy in the style of torch.profiler: "Memcpy HtoD (Pageable -> Device)". */
static uint32_t name_copy(struct gt_thread *t, uint8_t kind, uint8_t source, uint8_t destination)
{
	static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
	static uint32_t names[16][8][8]; /* used only in the reader */
	uint32_t *name = &names[kind & 15][source & 7][destination & 7];
	char text[96];
	int length;

	if (*name)
		return *name;
	length = snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", kinds[kind <= 10 ? kind : 0],
			  place_name(source), place_name(destination));
	return *name = gt_string_id(t, text, (size_t)length);
}

static uint32_t name_set(struct gt_thread *t, uint16_t place)
{
	static uint32_t names[8];
	char text[64];
	int length;

	if (names[place & 7])
		return names[place & 7];
	length = snprintf(text, sizeof text, "Memset (%s)", place_name(place));
	return names[place & 7] = gt_string_id(t, text, (size_t)length);
}

static void record_copy(struct gt_thread *t, const struct cupti_copy *c)
{
	const struct place p = {c->correlation, c->device, c->context,    c->stream,
				c->start,       c->end,    c->graph_node, false};
	uint32_t name = name_copy(t, c->copy_kind, c->source_kind, c->destination_kind);
	struct draft d;

	if (!begin_record(t, &d, op_of_copy(c->copy_kind), &p))
		return;
	d.record.name = name;
	d.record.bytes = c->bytes;
	end_record(t, &d);
}

static void record_copy_peer(struct gt_thread *t, const struct cupti_copy_peer *c)
{
	const struct place p = {c->correlation, c->device, c->context,    c->stream,
				c->start,       c->end,    c->graph_node, false};
	uint32_t source = gt_cuda_device(t, c->source_device);
	uint32_t destination = gt_cuda_device(t, c->destination_device);
	uint32_t name = name_copy(t, CUPTI_COPY_PTOP, c->source_kind, c->destination_kind);
	struct draft d;

	if (!begin_record(t, &d, GT_DEVICE_COPY, &p))
		return;
	d.record.name = name;
	d.record.bytes = c->bytes;
	d.record.endpoints = (struct gt_endpoints){source, destination, 0};
	end_record(t, &d);
}

/* Write a memset. The value is stored in the field that holds the source of a memcpy. */
static void record_set(struct gt_thread *t, const struct cupti_set *s)
{
	const struct place p = {s->correlation, s->device, s->context,    s->stream,
				s->start,       s->end,    s->graph_node, false};
	uint32_t name = name_set(t, s->memory_kind);
	struct draft d;

	if (!begin_record(t, &d, GT_DEVICE_FILL, &p))
		return;
	d.record.name = name;
	d.record.bytes = s->bytes;
	d.record.object[0] = s->value;
	end_record(t, &d);
}

static void record_graph(struct gt_thread *t, const struct cupti_graph *g)
{
	const struct place p = {g->correlation, g->device, g->context, g->stream,
				g->start,       g->end,    0,          true};
	struct draft d;

	if (!begin_record(t, &d, GT_DEVICE_GRAPH, &p))
		return;
	d.record.name = gt_cuda_graph_name((uint32_t)(d.record.queue >> 32));
	end_record(t, &d);
}

void gt_cuda_record(struct gt_thread *t, const struct cupti_record *record)
{
	const void *r = record;

	switch (record->kind) {
	case CUPTI_KIND_KERNEL_SERIAL:
	case CUPTI_KIND_KERNEL: record_kernel(t, r); break;
	case CUPTI_KIND_COPY: record_copy(t, r); break;
	case CUPTI_KIND_COPY_PEER: record_copy_peer(t, r); break;
	case CUPTI_KIND_SET: record_set(t, r); break;
	case CUPTI_KIND_GRAPH: record_graph(t, r); break;
	default: break;
	}
}
