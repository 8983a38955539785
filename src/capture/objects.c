/* SPDX-License-Identifier: MIT */
/* Devices, queues, contexts and modules of a capture. Merges the entries of several processes for
 * the same device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"

/* Identity of a device in one process: its machine, its name, and its position among the process's
 * devices with the same name (two devices of one platform may share a uuid, or have only a
 * name). */
struct identity {
	const char *text;
	size_t object;
	uint32_t machine, process, nth;
	char kind; /* a uuid and a name never match each other */
};

static bool is_set(const char *value)
{
	return value && value[strspn(value, "0-")] != '\0';
}

static void identify(const struct gt_object_info *o, struct identity *id)
{
	const char *value = gt_object_value(o, "uuid");

	id->kind = 'u';
	if (!is_set(value)) {
		value = gt_object_value(o, "pci");
		id->kind = 'p';
	}
	if (!is_set(value)) {
		value = gt_object_value(o, "name");
		id->kind = 'n';
	}
	id->text = value ? value : "";
}

static int compare_names(const struct identity *x, const struct identity *y)
{
	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int compare_in_process(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	int names = compare_names(x, y);

	if (names)
		return names;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

static int compare_devices(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	int names = compare_names(x, y);

	if (names)
		return names;
	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

/* Find the objects of each device. @ids: identities of all devices; @same: receives, for each
 * object, the first object of the same device */
static void find_same(struct identity *ids, size_t n, size_t *same)
{
	size_t i;

	if (!n)
		return;
	qsort(ids, n, sizeof *ids, compare_in_process);
	for (i = 1; i < n; i++)
		if (!compare_names(&ids[i - 1], &ids[i]) && ids[i - 1].process == ids[i].process)
			ids[i].nth = ids[i - 1].nth + 1;
	qsort(ids, n, sizeof *ids, compare_devices);
	for (i = 0; i < n; i++)
		if (i && !compare_names(&ids[i - 1], &ids[i]) && ids[i - 1].nth == ids[i].nth)
			same[ids[i].object] = same[ids[i - 1].object];
		else
			same[ids[i].object] = ids[i].object;
}

static int merge_devices(struct gt_capture *c)
{
	struct identity *ids = calloc(c->object_count + 1, sizeof *ids);
	size_t *same = calloc(c->object_count + 1, sizeof *same);
	size_t i, n = 0;
	int status = 0;

	if (!ids || !same) {
		status = gt_error(-ENOMEM, "cannot store the devices of capture %s",
				  c->files[0].path);
		goto out;
	}
	for (i = 0; i < c->object_count; i++) {
		if (c->objects[i].type != GT_OBJECT_DEVICE)
			continue;
		identify(&c->objects[i], &ids[n]);
		ids[n].process = c->objects[i].process;
		ids[n].machine = gt_session_of(c, ids[n].process)->public.machine;
		ids[n++].object = i;
	}
	find_same(ids, n, same);
	for (i = 0; i < c->object_count; i++) {
		struct gt_object_info *o = &c->objects[i];

		if (o->type != GT_OBJECT_DEVICE)
			continue;
		if (same[i] != i) { /* this is the same device as an earlier object */
			o->device_index = c->objects[same[i]].device_index;
			continue;
		}
		status = GT_LIST_ADD(c, devices, device_count, device_room);
		if (status)
			goto out;
		o->device_index = (uint32_t)c->device_count;
		c->devices[c->device_count++] = o;
	}
out:
	free(same);
	free(ids);
	return status;
}

struct queue_row {
	uint32_t process;
	uint64_t device;
	size_t object;
};

static int compare_queues(const void *a, const void *b)
{
	const struct queue_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

static int number_queues(struct gt_capture *c)
{
	struct queue_row *q = calloc(c->object_count + 1, sizeof *q);
	size_t i, n = 0;

	if (!q)
		return gt_error(-ENOMEM, "cannot store the queues of capture %s", c->files[0].path);
	for (i = 0; i < c->object_count; i++)
		if (c->objects[i].type == GT_OBJECT_QUEUE)
			q[n++] = (struct queue_row){c->objects[i].process, c->objects[i].parent, i};
	qsort(q, n, sizeof *q, compare_queues);
	for (i = 0; i < n; i++) {
		struct gt_object_info *o = &c->objects[q[i].object];
		const struct gt_object_info *device =
			gt_capture_object_find(c, o->process, GT_OBJECT_DEVICE, o->parent);

		if (device)
			o->device_index = device->device_index;
		o->ordinal = i && q[i - 1].process == q[i].process && q[i - 1].device == q[i].device
				     ? c->objects[q[i - 1].object].ordinal + 1
				     : 1;
	}
	free(q);
	return 0;
}

static void apply_lifetimes(struct gt_capture *c)
{
	for (size_t i = 0; i < c->lifetime_count; i++) {
		const struct lifetime *l = &c->lifetimes[i];
		/* the cast is safe, because this code owns the list */
		struct gt_object_info *o =
			(struct gt_object_info *)gt_capture_object_find(c, l->process, l->type,
									l->number);
		uint64_t ns = gt_host_clock_to_ns(gt_session_of(c, l->process)->host, l->ticks);

		if (o && l->begins)
			o->begin_ns = ns;
		else if (o)
			o->end_ns = ns;
	}
}

/* Name all threads of the process that had this tid: several threads may have used the tid one
 * after the other. */
static void name_threads_by_tid(struct gt_capture *c, const struct gt_object_info *o,
				const char *name)
{
	for (size_t i = 0; i < gt_capture_thread_count(c); i++) {
		/* the cast is safe, because this code owns the list */
		struct gt_thread_info *t = (struct gt_thread_info *)gt_capture_thread(c, i);

		if (t->process == o->process && t->tid == (uint32_t)o->number)
			t->name = name;
	}
}

/* Apply thread names that the program has set. */
static void apply_thread_names(struct gt_capture *c)
{
	for (size_t i = 0; i < c->object_count; i++) {
		const struct gt_object_info *o = &c->objects[i];
		const char *name = o->type == GT_OBJECT_THREAD ? gt_object_value(o, "name") : NULL;
		struct gt_thread_info *t;

		if (!name)
			continue;
		if (GT_THREAD_IS_TID(o->number)) {
			name_threads_by_tid(c, o, name);
			continue;
		}
		t = o->number > UINT32_MAX
			    ? NULL
			    : (struct gt_thread_info *)gt_capture_thread_find(c, o->process,
									      (uint32_t)o->number);
		if (t)
			t->name = name;
	}
}

int gt_objects_finish(struct gt_capture *c)
{
	size_t i, n = 0;
	int status =
		gt_sort_stable(c->objects, c->object_count, sizeof *c->objects, gt_compare_objects);

	if (status)
		return status;
	for (i = 0; i < c->object_count; i++) {
		if (n && !gt_compare_objects(&c->objects[n - 1], &c->objects[i]))
			n--; /* an object was written again: the newest entry counts */
		c->objects[n++] = c->objects[i];
	}
	c->object_count = n;
	apply_lifetimes(c);
	apply_thread_names(c);
	status = merge_devices(c);
	return status ? status : number_queues(c);
}
