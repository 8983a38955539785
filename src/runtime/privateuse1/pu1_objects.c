/* SPDX-License-Identifier: MIT */
/* Numbers a plug-in's devices, streams and graphs. The plug-in's own thread writes each as an
 * object when a record first refers to it. This file also queries the plug-in's properties and
 * writes events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "runtime/privateuse1/pu1_parts.h"

/* Return the entry of the key, or a free entry. A hash table is used, because a plug-in may use a
 * new graph in each record. */
static struct gt_pu1_object *find_place(struct gt_pu1_object *table, uint32_t room, uint64_t key)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (room - 1);

	while (table[at].number && table[at].key != key)
		at = (at + 1) & (room - 1);
	return &table[at];
}

static uint64_t find_object(const struct gt_pu1 *p, enum gt_object_type type, uint64_t key)
{
	uint32_t room = p->object_rooms[type];

	return room ? find_place(p->objects[type], room, key)->number : 0;
}

/* Make room for another entry if necessary. Return false if out of memory. */
static bool grow_objects(struct gt_pu1 *p, enum gt_object_type type)
{
	uint32_t room = p->object_rooms[type], more = room ? 2 * room : 16;
	struct gt_pu1_object *table;

	if (2 * p->object_counts[type] < room)
		return true;
	table = more > room ? calloc(more, sizeof *table) : NULL;
	if (!table)
		return false;
	for (uint32_t i = 0; i < room; i++)
		if (p->objects[type][i].number)
			*find_place(table, more, p->objects[type][i].key) = p->objects[type][i];
	free(p->objects[type]);
	p->objects[type] = table;
	p->object_rooms[type] = more;
	return true;
}

static uint64_t write_plugin_object(struct gt_pu1 *p, enum gt_object_type type, uint64_t key,
				    uint64_t handle, uint64_t parent, const struct gt_text *text)
{
	uint64_t number = grow_objects(p, type) ? gt_object_number(type) : 0;

	if (!number ||
	    !gt_object_write(p->thread, type, GT_DOMAIN_PRIVATEUSE1, number, handle, parent, text))
		return 0;
	*find_place(p->objects[type], p->object_rooms[type], key) =
		(struct gt_pu1_object){key, number};
	p->object_counts[type]++;
	return number;
}

/* Get the plug-in's description of a device or a stream. */
static bool ask_row(struct gt_pu1 *p, int32_t device, int32_t stream, struct gputap_plugin_row *row)
{
	int rc;

	*row = (struct gputap_plugin_row){.size = sizeof *row};
	atomic_store(&p->in, "pu1.rows");
	rc = p->f->gputap_plugins_row(p->index, device, stream, row);
	atomic_store(&p->in, NULL);
	return !rc;
}

uint64_t gt_pu1_rate(struct gt_pu1 *p, int32_t device)
{
	uint64_t hz;

	atomic_store(&p->in, "pu1.clock");
	hz = p->f->gputap_plugins_stream_rate(p->index, device);
	atomic_store(&p->in, NULL);
	return hz;
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
	if (gt_pu1_rate(p, device))
		gt_text_add_number(&text, "hz", gt_pu1_rate(p, device));
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

static void write_plugin_event(struct gt_pu1 *p, struct gt_thread *t, enum gt_event_code code,
			       uint64_t value, const char *text)
{
	char sentence[1024];

	/* the plug-in's name may not be known yet; the line contains the path, then the plug-in's
	 * needs */
	if (p->name[0])
		snprintf(sentence, sizeof sentence, "plug-in %s: %s", p->name, text);
	else
		snprintf(sentence, sizeof sentence, "plug-in %.*s: %s",
			 (int)strcspn(p->path, "\t\n"), p->path, text);
	gt_event_write(t, code, GT_DOMAIN_PRIVATEUSE1, value, sentence);
}

void gt_pu1_event(struct gt_pu1 *p, struct gt_thread *t, uint64_t value, const char *text)
{
	write_plugin_event(p, t, GT_EVENT_TOOL, value, text);
}

void gt_pu1_event_of(struct gt_pu1 *p, enum gt_event_code code, uint64_t value, const char *text)
{
	write_plugin_event(p, p->thread, code, value, text);
}
