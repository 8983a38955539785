/* SPDX-License-Identifier: MIT */
/* Adds queues, lists and kernels, when the program creates them or when gputap meets earlier ones
 * (level_zero_late.c), and writes the records that describe them. */
#include <stdlib.h>
#include <string.h>

#include "core/kernels.h"
#include "runtime/level_zero/level_zero_objects.h"

bool gt_lz_can_follow(const struct gt_table *table)
{
	return GT_LZ(table, zeEventPoolCreate) && GT_LZ(table, zeEventCreate) &&
	       GT_LZ(table, zeEventQueryStatus) && GT_LZ(table, zeEventHostReset) &&
	       GT_LZ(table, zeEventQueryKernelTimestamp);
}

static void end_process(void)
{
	gt_lz_harvest_all();
}

void gt_lz_queue_describe(struct gt_lz_queue *queue)
{
	struct gt_text text = {0};

	gt_text_add(&text, "name", queue->immediate ? "immediate list" : "queue");
	gt_lz_describe(&queue->description,
		       &(struct gt_object){.type = GT_OBJECT_QUEUE,
					   .domain = GT_DOMAIN_LEVEL_ZERO,
					   .number = queue->number,
					   .handle = (uintptr_t)queue->object.handle,
					   .parent = queue->device->number},
		       &text);
}

static void fill_queue(void *object, const void *data)
{
	const struct gt_lz_queue *like = data;
	struct gt_lz_queue *queue = object;

	queue->table = like->table;
	queue->context = like->context;
	queue->device = like->device;
	queue->immediate = like->immediate;
	queue->synchronous = like->synchronous;
	queue->look = 256;
	queue->number = gt_object_number(GT_OBJECT_QUEUE);
}

struct gt_lz_queue *gt_lz_queue_add(const void *handle, const struct gt_lz_queue *like)
{
	struct gt_lz_queue *queue = gt_lz_add_filled(GT_LZ_QUEUE, handle, fill_queue, like);
	static atomic_flag registered = ATOMIC_FLAG_INIT;

	if (!queue)
		return NULL;
	if (!atomic_flag_test_and_set(&registered))
		atexit(end_process);
	gt_lz_queue_describe(queue);
	return queue;
}

static void fill_list(void *object, const void *data)
{
	const struct gt_lz_list *like = data;
	struct gt_lz_list *list = object;

	list->table = like->table;
	list->context = like->context;
	list->device = like->device;
	list->queue = like->queue;
	list->ordinal = like->ordinal;
	list->in_order = like->in_order;
	list->earlier = like->earlier;
}

struct gt_lz_list *gt_lz_list_add(const void *handle, const struct gt_lz_list *like)
{
	return gt_lz_add_filled(GT_LZ_LIST, handle, fill_list, like);
}

/* Kernels ---------------------------------------------------------------------------- */

/* Write an object that describes the kernel's code with the driver's data. The kernel's activities
 * refer to this object. The recorded subgroup size is the compiled size, or otherwise the largest
 * size. */
static void describe_kernel(const struct gt_table *table, const char *name, struct gt_lz_kernel *k)
{
	struct lz_kernel_properties p = {.head = {LZ_KERNEL_PROPERTIES, NULL}};
	void *handle = (void *)k->object.handle;
	struct gt_text text = {0};

	if (!GT_LZ(table, zeKernelGetProperties) || GT_LZ(table, zeKernelGetProperties)(handle, &p))
		return;
	k->group_bytes = p.local_bytes;
	k->private_bytes = p.private_bytes;
	k->symbol = (uint32_t)gt_object_number(GT_OBJECT_KERNEL_SYMBOL);
	gt_text_add(&text, "name", name);
	gt_text_add_number(&text, "simd",
			   p.required_subgroup_size ? p.required_subgroup_size
						    : p.max_subgroup_size);
	gt_text_add_number(&text, "group_bytes", p.local_bytes);
	gt_text_add_number(&text, "private_bytes", p.private_bytes);
	gt_text_add_number(&text, "spill_bytes", p.spill_bytes);
	gt_lz_describe(&k->description,
		       &(struct gt_object){.type = GT_OBJECT_KERNEL_SYMBOL,
					   .domain = GT_DOMAIN_LEVEL_ZERO,
					   .number = k->symbol,
					   .handle = (uintptr_t)handle},
		       &text);
}

void gt_lz_kernel_name(const struct gt_table *table, struct gt_lz_kernel *k, const char *name)
{
	size_t length = strlen(name);

	k->unwanted = !gt_kernel_wanted(name, length);
	atomic_store_explicit(&k->epoch, atomic_load_explicit(gt_epoch, memory_order_relaxed),
			      memory_order_relaxed);
	k->name = gt_string_id(gt_thread_own(), name, length);
	describe_kernel(table, name, k);
}
