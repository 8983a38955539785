/* SPDX-License-Identifier: MIT */
/* Looks up entries of an open capture by number. The reader's lists are complete and sorted, and
 * nothing here changes them. The code that sorts the lists also uses these functions. */
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "capture/scope.h"

const struct gt_capture_index *gt_capture_index(const struct gt_capture *c)
{
	return &c->index;
}

const struct gt_capture_health *gt_capture_health(const struct gt_capture *c)
{
	return &c->health;
}

const struct gt_session_info *gt_capture_session(const struct gt_capture *c)
{
	return &c->sessions[0]->public.info;
}

const struct gt_host_clock_map *gt_capture_host_clock(const struct gt_capture *c)
{
	return c->sessions[0]->host;
}

size_t gt_capture_session_count(const struct gt_capture *c)
{
	return c->session_count;
}

const struct gt_capture_session *gt_capture_session_at(const struct gt_capture *c, size_t index)
{
	return index < c->session_count ? &c->sessions[index]->public : NULL;
}

size_t gt_capture_repeated_count(const struct gt_capture *c)
{
	return c->repeated_count;
}

const struct gt_host_clock_map *gt_capture_process_clock(const struct gt_capture *c,
							 uint32_t process)
{
	return process < c->process_count ? gt_session_of(c, process)->host : c->sessions[0]->host;
}

size_t gt_capture_stream_count(const struct gt_capture *c)
{
	return c->stream_count;
}

struct gt_stream_info gt_capture_stream_at(const struct gt_capture *c, size_t index)
{
	return (struct gt_stream_info){c->streams[index].process, c->streams[index].ordinal,
				       gt_stream_bytes(c, index)};
}

size_t gt_capture_process_count(const struct gt_capture *c)
{
	return c->process_count;
}

const struct gt_process_info *gt_capture_process(const struct gt_capture *c, uint32_t index)
{
	return index < c->process_count ? &c->processes[index] : NULL;
}

const struct gt_counts *gt_capture_counts(const struct gt_capture *c, uint32_t process)
{
	static const struct gt_counts none;

	return process < c->process_count && c->sums[process] ? &c->sums[process]->counts : &none;
}

size_t gt_capture_thread_count(const struct gt_capture *c)
{
	return c->thread_count;
}

const struct gt_thread_info *gt_capture_thread(const struct gt_capture *c, size_t index)
{
	return index < c->thread_count ? &c->threads[index] : NULL;
}

const struct gt_thread_info *gt_capture_thread_find(const struct gt_capture *c, uint32_t process,
						    uint32_t ordinal)
{
	struct gt_thread_info key = {.process = process, .ordinal = ordinal};

	return c->thread_count
		       ? bsearch(&key, c->threads, c->thread_count, sizeof key, gt_compare_threads)
		       : NULL;
}

const char *gt_capture_string(const struct gt_capture *c, uint32_t process, uint32_t id)
{
	const struct string_entry *first, *hit;
	struct string_entry key = {process, id, NULL};
	size_t count;

	if (process >= c->process_count || !c->string_count)
		return "";
	first = c->strings + c->string_first[process];
	count = c->string_first[process + 1] - c->string_first[process];
	if (!count || id < first->id)
		return "";
	/* ids are consecutive: without losses, the id gives the position */
	if (id - first->id < count && first[id - first->id].id == id)
		return first[id - first->id].text;
	hit = bsearch(&key, first, count, sizeof key, gt_compare_strings);
	return hit ? hit->text : "";
}

size_t gt_capture_event_count(const struct gt_capture *c)
{
	return c->event_count;
}

const struct gt_event_info *gt_capture_event(const struct gt_capture *c, size_t index)
{
	return index < c->event_count ? &c->events[index] : NULL;
}

int gt_compare_threads(const void *a, const void *b)
{
	const struct gt_thread_info *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

int gt_compare_strings(const void *a, const void *b)
{
	const struct string_entry *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

int gt_compare_objects(const void *a, const void *b)
{
	const struct gt_object_info *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

const char *gt_object_value(const struct gt_object_info *object, const char *key)
{
	size_t n = strlen(key);
	const char *p;

	for (p = object->text; *p; p += strlen(p) + 1)
		if (!strncmp(p, key, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

int gt_compare_device_clocks(const void *a, const void *b)
{
	const struct device_clock *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static struct gt_device_clock *find_clock(const struct gt_capture *c, uint32_t process,
					  uint32_t device)
{
	struct device_clock key = {process, device, NULL}, *hit;

	hit = c->clock_count ? bsearch(&key, c->clocks, c->clock_count, sizeof key,
				       gt_compare_device_clocks)
			     : NULL;
	return hit ? hit->clock : NULL;
}

struct gt_device_clock *gt_device_clock_find(const struct gt_capture *c, uint32_t process,
					     uint32_t device)
{
	struct gt_device_clock *clock = find_clock(c, process, device);

	return clock ? clock : find_clock(c, process, 0);
}

const struct gt_device_clock *gt_capture_device_clock(const struct gt_capture *c, uint32_t process,
						      uint64_t device_number)
{
	return device_number <= UINT32_MAX
		       ? gt_device_clock_find(c, process, (uint32_t)device_number)
		       : NULL;
}

size_t gt_capture_object_count(const struct gt_capture *c)
{
	return c->object_count;
}

const struct gt_object_info *gt_capture_object(const struct gt_capture *c, size_t index)
{
	return index < c->object_count ? &c->objects[index] : NULL;
}

const struct gt_object_info *gt_capture_object_find(const struct gt_capture *c, uint32_t process,
						    enum gt_object_type type, uint64_t number)
{
	struct gt_object_info key = {.process = process, .type = type, .number = number};

	return c->object_count
		       ? bsearch(&key, c->objects, c->object_count, sizeof key, gt_compare_objects)
		       : NULL;
}

size_t gt_capture_device_count(const struct gt_capture *c)
{
	return c->device_count;
}

const struct gt_object_info *gt_capture_device(const struct gt_capture *c, uint32_t device_index)
{
	return device_index < c->device_count ? c->devices[device_index] : NULL;
}
