/* SPDX-License-Identifier: MIT */
/* A plug-in's devices, streams and graphs as numbered objects, written when a record first names
 * them, by its own thread alone; and what there is to say of the plug-in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "runtime/privateuse1/pu1_parts.h"

static uint64_t find_object(const struct gt_pu1 *p, enum gt_object_type type, uint64_t key)
{
	for (uint32_t i = p->object_counts[type]; i--;)
		if (p->objects[type][i].key == key)
			return p->objects[type][i].number;
	return 0;
}

static uint64_t write_plugin_object(struct gt_pu1 *p, enum gt_object_type type, uint64_t key,
				    uint64_t handle, uint64_t parent, const struct gt_text *text)
{
	uint32_t count = p->object_counts[type], room = p->object_rooms[type];
	uint64_t number = gt_object_number(type);
	struct gt_pu1_object *more = p->objects[type];

	if (count == room) {
		room = room ? 2 * room : 16;
		more = realloc(more, room * sizeof *more);
		if (!more)
			return 0;
		p->objects[type] = more;
		p->object_rooms[type] = room;
	}
	if (!number ||
	    !gt_object_write(p->thread, type, GT_DOMAIN_PRIVATEUSE1, number, handle, parent, text))
		return 0;
	more[count] = (struct gt_pu1_object){key, number};
	p->object_counts[type]++;
	return number;
}

/* The plug-in's row of a device or a stream. */
static bool ask_row(struct gt_pu1 *p, int32_t device, int32_t stream, struct gputap_plugin_row *row)
{
	int rc;

	*row = (struct gputap_plugin_row){.size = sizeof *row};
	atomic_store(&p->in, "pu1.rows");
	rc = p->f->gputap_plugins_row(p->index, device, stream, row);
	atomic_store(&p->in, NULL);
	return !rc;
}

uint64_t gt_pu1_device(struct gt_pu1 *p, int32_t device)
{
	uint64_t number = find_object(p, GT_OBJECT_DEVICE, (uint64_t)device);
	struct gputap_plugin about = {.size = sizeof about};
	struct gt_text text = {0};
	struct gputap_plugin_row row;

	if (number || !p->thread)
		return number;
	if (!ask_row(p, device, 0, &row))
		snprintf(row.name, sizeof row.name, "%s %d", p->name, device);
	gt_text_add(&text, "name", row.name);
	if (!p->f->gputap_plugins_at(p->index, &about))
		gt_text_add(&text, "vendor", about.vendor);
	gt_text_add(&text, "type", "accelerator");
	gt_text_add(&text, "plug-in", p->name);
	gt_text_add(&text, "clock", "timer");
	return write_plugin_object(p, GT_OBJECT_DEVICE, (uint64_t)device, (uint64_t)device, 0,
				   &text);
}

uint64_t gt_pu1_queue(struct gt_pu1 *p, int32_t device, int32_t stream)
{
	uint64_t key = (uint64_t)device << 32 | (uint32_t)stream,
		 number = find_object(p, GT_OBJECT_QUEUE, key), parent;
	struct gt_text text = {0};
	struct gputap_plugin_row row;

	if (number || !p->thread)
		return number;
	parent = gt_pu1_device(p, device);
	if (!stream || !ask_row(p, device, stream, &row)) {
		row = (struct gputap_plugin_row){.handle = (uint32_t)stream};
		snprintf(row.name, sizeof row.name, stream ? "stream %d" : "whole device", stream);
	}
	gt_text_add(&text, "name", row.name);
	return write_plugin_object(p, GT_OBJECT_QUEUE, key, row.handle, parent, &text);
}

uint32_t gt_pu1_graph(struct gt_pu1 *p, uint64_t graph)
{
	uint64_t number = find_object(p, GT_OBJECT_GRAPH, graph);
	struct gt_text text = {0};

	if (number || !p->thread)
		return (uint32_t)number;
	return (uint32_t)write_plugin_object(p, GT_OBJECT_GRAPH, graph, graph, 0, &text);
}

void gt_pu1_event(struct gt_pu1 *p, struct gt_thread *t, uint64_t value, const char *text)
{
	char sentence[1024];

	snprintf(sentence, sizeof sentence, "plug-in %s: %s", p->name[0] ? p->name : p->path, text);
	gt_event_write(t, GT_EVENT_TOOL, GT_DOMAIN_PRIVATEUSE1, value, sentence);
}
