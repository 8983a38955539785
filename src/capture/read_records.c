/* SPDX-License-Identifier: MIT */
/* Reads records outside of streams, in RECORDS blocks: strings, objects, events, clock readings,
 * lifetimes, call stacks with their code and names, windows. Each record is appended to a list of
 * the capture; the lists are sorted later. A record may contain any bytes, so every length is
 * checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"

static int add_string(struct gt_capture *c, uint32_t process, uint32_t id, const void *text,
		      size_t bytes)
{
	struct string_entry *s;
	int status = GT_LIST_ADD(c, strings, string_count, string_room);

	if (status)
		return status;
	s = &c->strings[c->string_count];
	s->process = process;
	s->id = id;
	s->text = gt_text_keep(c, text, bytes);
	if (!s->text)
		return -ENOMEM;
	c->string_count++;
	return 0;
}

static int add_object(struct gt_capture *c, uint32_t process, const struct gt_record_object *r,
		      const void *text)
{
	struct gt_object_info *o;
	int status = GT_LIST_ADD(c, objects, object_count, object_room);

	if (status)
		return status;
	o = &c->objects[c->object_count];
	*o = (struct gt_object_info){.process = process,
				     .domain = gt_record_domain(&r->head),
				     .number = r->number,
				     .type = r->head.kind == GT_RECORD_MODULE
						     ? GT_OBJECT_MODULE
						     : (enum gt_object_type)r->head.op,
				     .handle = r->handle,
				     .parent = r->parent,
				     .device_index = UINT32_MAX};
	o->text = gt_text_keep(c, text, r->bytes);
	if (!o->text)
		return -ENOMEM;
	c->object_count++;
	return 0;
}

static int add_event(struct gt_capture *c, uint32_t process, const struct gt_record_event *r,
		     const void *text)
{
	struct gt_event_info *e;
	int status = GT_LIST_ADD(c, events, event_count, event_room);

	if (status)
		return status;
	e = &c->events[c->event_count];
	*e = (struct gt_event_info){.process = process,
				    .code = (enum gt_event_code)r->head.op,
				    .domain = gt_record_domain(&r->head),
				    .time_ns = r->time /* ticks until the clocks are known */,
				    .value = r->value};
	e->text = gt_text_keep(c, text, r->bytes);
	if (!e->text)
		return -ENOMEM;
	c->event_count++;
	return 0;
}

static int add_reading(struct gt_capture *c, uint32_t process, const struct gt_record_clock *r)
{
	int status = GT_LIST_ADD(c, readings, reading_count, reading_room);

	if (!status)
		c->readings[c->reading_count++] =
			(struct clock_reading){process, r->head.op, r->device, r->host_before,
					       r->host_after};
	return status;
}

static int add_lifetime(struct gt_capture *c, uint32_t process, const struct gt_record_lifetime *r)
{
	int status = GT_LIST_ADD(c, lifetimes, lifetime_count, lifetime_room);

	if (!status)
		c->lifetimes[c->lifetime_count++] =
			(struct lifetime){r->time, r->number, process,
					  (enum gt_object_type)r->head.op, r->begins != 0};
	return status;
}

static int add_frames(struct gt_capture *c, uint32_t process, const uint8_t *p, size_t bytes)
{
	struct gt_record_frames r;
	uint64_t *words;
	size_t count;
	int status;

	if (bytes < sizeof r)
		return -EBADMSG;
	memcpy(&r, p, sizeof r);
	count = (size_t)r.native + r.python;
	if (count > (bytes - sizeof r) / sizeof *words)
		return -EBADMSG;
	if (!r.head.op) /* gputap does not write such a record: no call has this stack */
		return 0;
	status = GT_LIST_ADD(c, stacks, stack_count, stack_room);
	if (status)
		return status;
	words = malloc((count + 1) * sizeof *words);
	if (!words)
		return gt_error(-ENOMEM, "cannot store the stacks of capture %s", c->files[0].path);
	memcpy(words, p + sizeof r, count * sizeof *words);
	c->stacks[c->stack_count++] = (struct gt_stack_info){.process = process,
							     .number = r.head.op,
							     .generation = r.generation,
							     .native = r.native,
							     .python = r.python,
							     .end = r.head.detail,
							     .frames = words};
	return 0;
}

static int add_code(struct gt_capture *c, uint32_t process, const uint8_t *p, size_t bytes)
{
	struct gt_record_code r;
	struct gt_code_info *code;
	const char *text;
	size_t name, detail;
	int status;

	if (bytes < sizeof r)
		return -EBADMSG;
	memcpy(&r, p, sizeof r);
	if (r.bytes > bytes - sizeof r)
		return -EBADMSG;
	status = GT_LIST_ADD(c, code, code_count, code_room);
	if (status)
		return status;
	text = gt_text_keep(c, p + sizeof r, r.bytes); /* gt_text_keep() appends two NULs */
	if (!text)
		return -ENOMEM;
	name = strlen(text);
	name += name < r.bytes;
	detail = strlen(text + name);
	detail += name + detail < r.bytes;
	code = &c->code[c->code_count++];
	*code = (struct gt_code_info){.process = process,
				      .generation = r.generation,
				      .type = (enum gt_code_type)r.head.op,
				      .number = r.number,
				      .start = r.start,
				      .end = r.end,
				      .base = r.base,
				      .name = text,
				      .detail = text + name,
				      .lines = (const uint8_t *)text + name + detail,
				      .lines_bytes = r.bytes - name - detail};
	return 0;
}

static int add_names(struct gt_capture *c, uint32_t process, const uint8_t *p, size_t bytes)
{
	struct gt_record_names r;
	const char *text;
	int status;

	if (bytes < sizeof r)
		return -EBADMSG;
	memcpy(&r, p, sizeof r);
	if (r.bytes > bytes - sizeof r)
		return -EBADMSG;
	status = GT_LIST_ADD(c, names, name_count, name_room);
	if (status)
		return status;
	text = gt_text_keep(c, p + sizeof r, r.bytes);
	if (!text)
		return -ENOMEM;
	c->names[c->name_count++] = (struct gt_names_info){.process = process,
							   .generation = r.generation,
							   .address = r.address,
							   .flags = r.head.detail,
							   .bytes = r.bytes,
							   .text = text};
	return 0;
}

static int add_window(struct gt_capture *c, uint32_t process, const struct gt_record_window *r)
{
	int status = GT_LIST_ADD(c, changes, change_count, change_room);

	if (!status)
		c->changes[c->change_count++] =
			(struct window_change){r->time, r->missed, process,
					       r->head.op < GT_WINDOW_WHY_COUNT
						       ? (uint8_t)r->head.op
						       : GT_WINDOW_UNKNOWN,
					       r->head.detail != 0};
	return status;
}

/* Read one record of @bytes. Copies the fixed part, because blocks are not aligned. */
static int read_record(struct gt_capture *c, uint32_t process, const uint8_t *p, size_t bytes)
{
	union {
		struct gt_record head;
		struct gt_record_string string;
		struct gt_record_object object;
		struct gt_record_event event;
		struct gt_record_clock clock;
		struct gt_record_lifetime lifetime;
		struct gt_record_window window;
		struct gt_record_open open;
	} r;
	const size_t string = sizeof r.string, object = sizeof r.object, event = sizeof r.event;

	memset(&r, 0, sizeof r);
	memcpy(&r, p, bytes < sizeof r ? bytes : sizeof r);
	switch (r.head.kind) {
	case GT_RECORD_STRING:
		if (bytes < string || r.string.bytes > bytes - string)
			return -EBADMSG;
		return add_string(c, process, r.head.op, p + string, r.string.bytes);
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		if (bytes < object || r.object.bytes > bytes - object)
			return -EBADMSG;
		return add_object(c, process, &r.object, p + object);
	case GT_RECORD_EVENT:
		if (bytes < event || r.event.bytes > bytes - event)
			return -EBADMSG;
		return add_event(c, process, &r.event, p + event);
	case GT_RECORD_CLOCK:
		if (bytes < sizeof r.clock)
			return -EBADMSG;
		return add_reading(c, process, &r.clock);
	case GT_RECORD_LIFETIME:
		if (bytes < sizeof r.lifetime)
			return -EBADMSG;
		return add_lifetime(c, process, &r.lifetime);
	case GT_RECORD_FRAMES: return add_frames(c, process, p, bytes);
	case GT_RECORD_CODE: return add_code(c, process, p, bytes);
	case GT_RECORD_NAMES: return add_names(c, process, p, bytes);
	case GT_RECORD_WINDOW:
		if (bytes < sizeof r.window)
			return -EBADMSG;
		return add_window(c, process, &r.window);
	case GT_RECORD_OPEN:
		if (bytes < sizeof r.open)
			return -EBADMSG;
		return gt_open_call_read(c, process, &r.open);
	default: return 0; /* from a later version */
	}
}

int gt_records_read(struct gt_capture *c, uint32_t process, const uint8_t *p, size_t bytes)
{
	int bad = 0;

	while (bytes) {
		uint16_t words;
		int status;

		if (bytes < 8)
			return -EBADMSG;
		memcpy(&words, p, sizeof words);
		if (!words || words > bytes / 8)
			return -EBADMSG;
		status = read_record(c, process, p, (size_t)words * 8);
		if (status == -EBADMSG)
			bad = status;
		else if (status)
			return status;
		p += (size_t)words * 8;
		bytes -= (size_t)words * 8;
	}
	return bad;
}
