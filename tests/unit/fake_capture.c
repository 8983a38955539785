/* SPDX-License-Identifier: MIT */
#include "fake_capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/callstacks.h"
#include "capture/frame_names.h"

void fake_capture_init(struct gt_capture *c)
{
	memset(c, 0, sizeof *c);
	c->session = (struct gt_session_info){
		.hostname = "host",
		.boot_id = "boot",
		.kernel = "6.1.0",
		.cpu = "a cpu",
		.gputap_version = "0.1.0",
		.command = "prog\0-x\0",
		.options = "",
		.directory = "/",
		.start_ns = 1000000,
		.start_realtime_ns = UINT64_C(1763679937000000000),
		.rank = -1,
	};
	c->health.end = GT_CAPTURE_COMPLETE;
	c->string[1] = "saxpy";
	fake_process(c, 1000, "/bin/prog");
	fake_thread(c, 0, 0, 1000, "prog");
	fake_device(c, 0, "name=a device\0");
	fake_queue(c, 0, 1);
}

void fake_capture_fini(struct gt_capture *c)
{
	free(c->item);
	free(c->args);
}

uint32_t fake_process(struct gt_capture *c, uint32_t pid, const char *exe)
{
	c->process[c->processes] = (struct gt_process_info){
		.index = (uint32_t)c->processes,
		.pid = pid,
		.start_ns = c->session.start_ns,
		.exe = exe,
		.argv = "./bin/prog\0-x\0",
	};
	return (uint32_t)c->processes++;
}

void fake_thread(struct gt_capture *c, uint32_t process, uint32_t ordinal, uint32_t tid,
		 const char *name)
{
	c->thread[c->threads++] = (struct gt_thread_info){.process = process,
							  .ordinal = ordinal,
							  .tid = tid,
							  .name = name};
}

const struct gt_object_info *fake_device(struct gt_capture *c, uint32_t process, const char *text)
{
	struct gt_object_info *o = &c->object[c->objects++];

	*o = (struct gt_object_info){.process = process,
				     .type = GT_OBJECT_DEVICE,
				     .domain = GT_DOMAIN_OPENCL,
				     .number = c->devices + 1,
				     .text = text,
				     .device_index = (uint32_t)c->devices};
	c->devices++;
	return o;
}

const struct gt_object_info *fake_queue(struct gt_capture *c, uint32_t process, uint64_t device)
{
	struct gt_object_info *o = &c->object[c->objects++];
	uint32_t count = 1;

	for (size_t i = 0; i + 1 < c->objects; i++)
		count += c->object[i].type == GT_OBJECT_QUEUE && c->object[i].process == process;
	*o = (struct gt_object_info){.process = process,
				     .type = GT_OBJECT_QUEUE,
				     .domain = GT_DOMAIN_OPENCL,
				     .number = count,
				     .parent = device,
				     .text = "\0",
				     .device_index = (uint32_t)device - 1,
				     .ordinal = count};
	return o;
}

static struct gt_item *append(struct gt_capture *c)
{
	if (c->items == c->capacity) {
		c->capacity = c->capacity ? c->capacity * 2 : 64;
		c->item = realloc(c->item, c->capacity * sizeof *c->item);
		c->args = realloc(c->args, c->capacity * sizeof *c->args);
		if (!c->item || !c->args)
			abort();
	}
	c->item[c->items] = (struct gt_item){0};
	return &c->item[c->items++];
}

struct gt_item *fake_call(struct gt_capture *c, uint32_t ordinal, const char *name, uint64_t start,
			  uint64_t end, unsigned depth, const uint64_t *args)
{
	const struct gt_operation_info *info = gt_operation_find(GT_DOMAIN_OPENCL, name);
	struct gt_item *item = append(c);

	if (!info)
		abort();
	item->kind = GT_RECORD_CALL;
	item->ordinal = ordinal;
	item->op = info->op;
	item->depth = (uint8_t)depth;
	item->id = GT_ID(ordinal, ++c->sequence[ordinal]);
	item->start_ns = start;
	item->end_ns = end;
	if (args) {
		memcpy(c->args[c->items - 1], args, info->nargs * sizeof *args);
		item->args = args; /* set again when the capture is read, because the array moves */
	}
	return item;
}

struct gt_item *fake_state(struct gt_capture *c, uint32_t ordinal, enum gt_host_detail detail,
			   unsigned state, uint64_t start, uint64_t end, const uint64_t value[8])
{
	struct gt_item *item = append(c);

	item->kind = GT_RECORD_HOST;
	item->ordinal = ordinal;
	item->op = state;
	item->push = (uint8_t)detail;
	item->start_ns = start;
	item->end_ns = end;
	memcpy(c->args[c->items - 1], value, 8 * sizeof *value);
	item->args = c->args[c->items - 1];
	return item;
}

struct gt_item *fake_activity(struct gt_capture *c, const struct gt_object_info *queue,
			      enum gt_device_op op, uint32_t name, uint64_t start, uint64_t end,
			      uint64_t id)
{
	struct gt_item *item = append(c);

	item->kind = GT_RECORD_DEVICE;
	item->process = queue ? queue->process : 0;
	item->op = GT_DEVICE_REF(GT_DOMAIN_OPENCL, queue ? queue->parent : 0);
	item->device_op = op;
	item->queue = queue;
	item->name = name;
	item->start_ns = start;
	item->end_ns = end;
	item->id = id;
	return item;
}

/* capture/capture.h ------------------------------------------------------------ */

const struct gt_capture_health *gt_capture_health(const struct gt_capture *c)
{
	return &c->health;
}

const struct gt_session_info *gt_capture_session(const struct gt_capture *c)
{
	return &c->session;
}

size_t gt_capture_session_count(const struct gt_capture *c)
{
	(void)c;
	return 1;
}

const struct gt_capture_session *gt_capture_session_at(const struct gt_capture *c, size_t index)
{
	return index ? NULL : &c->only;
}

const struct gt_host_clock_map *gt_capture_host_clock(const struct gt_capture *c)
{
	(void)c;
	return NULL;
}

const struct gt_host_clock_map *gt_capture_process_clock(const struct gt_capture *c,
							 uint32_t process)
{
	(void)c;
	(void)process;
	return NULL;
}

size_t gt_capture_process_count(const struct gt_capture *c)
{
	return c->processes;
}

const struct gt_process_info *gt_capture_process(const struct gt_capture *c, uint32_t index)
{
	return index < c->processes ? &c->process[index] : NULL;
}

const struct gt_counts *gt_capture_counts(const struct gt_capture *c, uint32_t process)
{
	return &c->counts[process];
}

size_t gt_capture_thread_count(const struct gt_capture *c)
{
	return c->threads;
}

const struct gt_thread_info *gt_capture_thread(const struct gt_capture *c, size_t index)
{
	return &c->thread[index];
}

const struct gt_thread_info *gt_capture_thread_find(const struct gt_capture *c, uint32_t process,
						    uint32_t ordinal)
{
	for (size_t i = 0; i < c->threads; i++)
		if (c->thread[i].process == process && c->thread[i].ordinal == ordinal)
			return &c->thread[i];
	return NULL;
}

const char *gt_capture_string(const struct gt_capture *c, uint32_t process, uint32_t id)
{
	(void)process;
	return id < FAKE_MAX && c->string[id] ? c->string[id] : "";
}

size_t gt_capture_object_count(const struct gt_capture *c)
{
	return c->objects;
}

const struct gt_object_info *gt_capture_object(const struct gt_capture *c, size_t index)
{
	return &c->object[index];
}

const struct gt_object_info *gt_capture_object_find(const struct gt_capture *c, uint32_t process,
						    enum gt_object_type type, uint64_t number)
{
	for (size_t i = 0; i < c->objects; i++)
		if (c->object[i].process == process && c->object[i].type == type &&
		    c->object[i].number == number)
			return &c->object[i];
	return NULL;
}

const char *gt_object_value(const struct gt_object_info *object, const char *key)
{
	size_t length = strlen(key);

	for (const char *pair = object->text; *pair; pair += strlen(pair) + 1)
		if (!strncmp(pair, key, length) && pair[length] == '=')
			return pair + length + 1;
	return NULL;
}

size_t gt_capture_device_count(const struct gt_capture *c)
{
	return c->devices;
}

const struct gt_object_info *gt_capture_device(const struct gt_capture *c, uint32_t device_index)
{
	for (size_t i = 0; i < c->objects; i++)
		if (c->object[i].type == GT_OBJECT_DEVICE &&
		    c->object[i].device_index == device_index)
			return &c->object[i];
	return NULL;
}

size_t gt_capture_event_count(const struct gt_capture *c)
{
	return c->events;
}

const struct gt_event_info *gt_capture_event(const struct gt_capture *c, size_t index)
{
	return &c->event[index];
}

int64_t gt_host_clock_realtime_offset_ns(const struct gt_host_clock_map *map, uint64_t boottime_ns)
{
	(void)map;
	(void)boottime_ns;
	return 0;
}

struct gt_cursor {
	const struct gt_capture *capture;
	size_t next;
	struct gt_item item;
};

int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		return -ENOMEM;
	(*out)->capture = c;
	return 0;
}

void gt_cursor_destroy(struct gt_cursor *cursor)
{
	free(cursor);
}

int gt_cursor_next(struct gt_cursor *cursor, const struct gt_item **out)
{
	const struct gt_capture *c = cursor->capture;

	if (cursor->next == c->items)
		return 0;
	cursor->item = c->item[cursor->next];
	if (cursor->item.args)
		cursor->item.args = c->args[cursor->next];
	cursor->next++;
	*out = &cursor->item;
	return 1;
}

int gt_cursor_next_several(struct gt_cursor *cursor, const struct gt_item **out)
{
	return gt_cursor_next(cursor, out);
}

void gt_cursor_skip_thread(struct gt_cursor *cursor)
{
	const struct gt_capture *c = cursor->capture;

	while (cursor->next < c->items && c->item[cursor->next].process == cursor->item.process &&
	       c->item[cursor->next].ordinal == cursor->item.ordinal)
		cursor->next++;
}

void gt_cursor_take_all(struct gt_cursor *cursor)
{
	(void)cursor;
}

void gt_cursor_take_host(struct gt_cursor *cursor)
{
	(void)cursor;
}

bool gt_capture_is_filtered(const struct gt_capture *c)
{
	(void)c;
	return false;
}

bool gt_capture_is_relayed(const struct gt_capture *c)
{
	(void)c;
	return false;
}

/* captures here are read in one thread */
int gt_capture_split(const struct gt_capture *c, uint64_t bytes, struct gt_capture_piece **pieces,
		     size_t *count)
{
	(void)c, (void)bytes;
	*pieces = NULL;
	*count = 0;
	return 0;
}

int gt_cursor_take_piece(struct gt_cursor *cursor, const struct gt_capture_piece *piece)
{
	(void)cursor, (void)piece;
	return -ENOTSUP;
}

bool gt_capture_wants(const struct gt_capture *c, const struct gt_item *item)
{
	(void)c, (void)item;
	return true;
}

const struct gt_open_call_info *gt_capture_open_calls(const struct gt_capture *c, size_t *count)
{
	(void)c;
	*count = 0;
	return NULL;
}

const struct gt_window_info *gt_capture_windows(const struct gt_capture *c, uint32_t process,
						size_t *count)
{
	*count = process ? 0 : c->windows;
	return c->window;
}

uint64_t gt_cursor_position(const struct gt_cursor *cursor)
{
	return cursor->next;
}

/* capture/callstacks.h: captures here contain no stacks */
size_t gt_capture_stack_count(const struct gt_capture *c)
{
	(void)c;
	return 0;
}

const struct gt_stack_info *gt_capture_stack_at(const struct gt_capture *c, size_t index)
{
	(void)c, (void)index;
	return NULL;
}

const struct gt_stack_info *gt_capture_stack_find(const struct gt_capture *c, uint32_t process,
						  uint32_t number)
{
	(void)c, (void)process, (void)number;
	return NULL;
}

size_t gt_capture_code_count(const struct gt_capture *c)
{
	(void)c;
	return 0;
}

const struct gt_code_info *gt_capture_code_at(const struct gt_capture *c, size_t index)
{
	(void)c, (void)index;
	return NULL;
}

const struct gt_code_info *gt_capture_module_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address)
{
	(void)c, (void)process, (void)generation, (void)address;
	return NULL;
}

const struct gt_code_info *gt_capture_python_find(const struct gt_capture *c, uint32_t process,
						  uint32_t number)
{
	(void)c, (void)process, (void)number;
	return NULL;
}

/* capture/frame_names.h: captures here contain no names */
const struct gt_names_info *gt_capture_names_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address)
{
	(void)c, (void)process, (void)generation, (void)address;
	return NULL;
}

size_t gt_names_unpack(const struct gt_names_info *names,
		       struct gt_frame_name list[GT_FRAME_NAMES_MOST])
{
	(void)names, (void)list;
	return 0;
}

int gt_call_stacks_create(const struct gt_capture *c, struct gt_call_stacks **out)
{
	(void)c;
	*out = NULL;
	return 0;
}

void gt_call_stacks_destroy(struct gt_call_stacks *s)
{
	(void)s;
}

uint32_t gt_call_stacks_find(const struct gt_call_stacks *s, uint32_t process, uint64_t id)
{
	(void)s, (void)process, (void)id;
	return 0;
}

/* clock/clock.h: captures here have no clock */
uint64_t gt_host_clock_to_ns(const struct gt_host_clock_map *map, uint64_t ticks)
{
	(void)map;
	return ticks;
}

const struct gt_device_clock *gt_capture_device_clock(const struct gt_capture *c, uint32_t process,
						      uint64_t device_number)
{
	(void)c;
	(void)process;
	(void)device_number;
	return NULL;
}

uint64_t gt_device_clock_residual_ns(const struct gt_device_clock *clock)
{
	(void)clock;
	return 0;
}
