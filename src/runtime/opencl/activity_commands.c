/* SPDX-License-Identifier: MIT */
/* Wraps the functions for command buffers (cl_khr_command_buffer). The kind of each command is
 * stored when the program adds the command. An enqueued command buffer is one GPU activity, because
 * the runtime provides one event for all of it:
 *   name       "command buffer: advance x2, copy" (kernel names in order of first appearance)
 *   global[0]  number of commands
 *   replay     launch of this command buffer, counted from 1
 * Its times are those of that event. PoCL 3.1 stamps only the end of the whole command buffer, not
 * its start.
 *
 * Extension 0.9.5 added an argument to most of these functions. Only arguments common to both forms
 * are used. */
#include "runtime/opencl/activity.h"

#include <string.h>

#define INCOMPATIBLE_COMMAND_QUEUE_KHR (-1140)

enum { KINDS = 12, NAME_BYTES = 64, QUEUES = 8 };

struct command_buffer {
	struct gt_cl_node node;
	struct gt_cl_lock lock;
	uint32_t total; /* number of commands */
	uint32_t kind_count;
	_Atomic uint32_t name; /* string id; 0: not created yet */
	_Atomic uint32_t replay;
	uint32_t queue_count;
	cl_command_queue queues[QUEUES];
	struct {
		uint32_t count;
		char name[NAME_BYTES]; /* truncated and NUL-terminated */
	} kinds[KINDS];
};

GT_CL_MAP(command_buffers, 8);

void *gt_opencl_wrap_clCreateCommandBufferKHR(const struct gt_call *call, cl_uint num_queues,
					      const cl_command_queue *queues,
					      const cl_ulong *properties, cl_int *errcode_ret)
{
	void *handle = GT_CL_REAL(call, clCreateCommandBufferKHR)(num_queues, queues, properties,
								  errcode_ret);
	struct command_buffer *c = gt_cl_map_find(&command_buffers, handle);
	struct gt_thread *t = gt_cl_thread_find(call);

	if (!handle || (!c && (!t || !(c = gt_cl_memory_take(t->epoch, sizeof *c)))))
		return handle;
	if (c->node.handle != handle)
		gt_cl_map_add(&command_buffers, &c->node, handle);
	c->total = c->kind_count = c->queue_count = 0;
	c->name = c->replay = 0;
	for (cl_uint i = 0; queues && i < num_queues && i < QUEUES; i++)
		c->queues[c->queue_count++] = queues[i];
	return handle;
}

/* Add a command. @name: is truncated to NAME_BYTES */
static void add_command(const struct gt_call *call, const void *handle, const char *name)
{
	struct command_buffer *c = gt_cl_map_find(&command_buffers, handle);
	struct gt_thread *t = gt_cl_thread_find(call);
	uint32_t i;

	if (!c || !t || !gt_cl_lock_take(&c->lock, t->epoch))
		return;
	for (i = 0; i < c->kind_count && strncmp(c->kinds[i].name, name, NAME_BYTES - 1) != 0; i++)
		;
	if (i == c->kind_count && i < KINDS) {
		strncpy(c->kinds[i].name, name, NAME_BYTES - 1);
		c->kinds[i].name[NAME_BYTES - 1] = '\0';
		c->kinds[i].count = 0;
		c->kind_count++;
	}
	if (i < KINDS)
		c->kinds[i].count++;
	c->total++;
	c->name = 0;
	gt_cl_lock_release(&c->lock);
}

static char *put_text(char *p, const char *end, const char *text)
{
	while (*text && p < end)
		*p++ = *text++;
	return p;
}

static char *put_count(char *p, const char *end, uint32_t n)
{
	char digits[12], *d = &digits[sizeof digits - 1];

	*d = '\0';
	do {
		*--d = (char)('0' + n % 10);
	} while (n /= 10);
	return put_text(p, end, d);
}

static uint32_t make_name(struct command_buffer *c, struct gt_thread *t)
{
	char text[KINDS * (NAME_BYTES + 16)], *p = text, *end = text + sizeof text;
	uint32_t named = 0, id = c->name;

	if (id || !gt_cl_lock_take(&c->lock, t->epoch))
		return id;
	p = put_text(p, end, "command buffer:");
	for (uint32_t i = 0; i < c->kind_count; i++) {
		p = put_text(p, end, i ? ", " : " ");
		p = put_text(p, end, c->kinds[i].name);
		if (c->kinds[i].count > 1)
			p = put_count(put_text(p, end, " x"), end, c->kinds[i].count);
		named += c->kinds[i].count;
	}
	if (c->total > named)
		p = put_count(put_text(p, end, ", others x"), end, c->total - named);
	gt_cl_lock_release(&c->lock);
	id = gt_string_id(t, text, (size_t)(p - text));
	c->name = id;
	return id;
}

/* Return true if the runtime would reject the queues as incompatible without gputap. The program
 * requested different properties, but the forced properties are equal, so the runtime's check would
 * pass. All other errors come from the runtime. It is called with an invalid wait list, so that it
 * returns the first error that precedes the error for the wait list. */
static bool incompatible(const struct gt_call *call, cl_uint num_queues, cl_command_queue *queues,
			 void *handle, const struct command_buffer *c, cl_int *error)
{
	struct gt_cl_queue *a, *b;
	bool differ = false;

	for (cl_uint i = 0; c && queues && i < num_queues && i < c->queue_count; i++) {
		a = gt_cl_queue_find(queues[i]);
		b = gt_cl_queue_find(c->queues[i]);
		differ |= a && b && (a->forced || b->forced) && a->asked != b->asked;
	}
	if (!differ)
		return false;
	*error = GT_CL_REAL(call, clEnqueueCommandBufferKHR)(num_queues, queues, handle, 1, NULL,
							     NULL);
	if (*error == CL_INVALID_EVENT_WAIT_LIST)
		*error = INCOMPATIBLE_COMMAND_QUEUE_KHR;
	return true;
}

cl_int gt_opencl_wrap_clEnqueueCommandBufferKHR(const struct gt_call *call, cl_uint num_queues,
						cl_command_queue *queues, void *handle,
						cl_uint count, const cl_event *list,
						cl_event *event)
{
	struct command_buffer *c = gt_cl_map_find(&command_buffers, handle);
	cl_command_queue queue = queues && num_queues  ? queues[0]
				 : c && c->queue_count ? c->queues[0]
						       : NULL;
	struct gt_cl_activity w = {.what.object = {(uintptr_t)handle}};
	cl_int ret;

	if (gt_unlikely(incompatible(call, num_queues, queues, handle, c, &ret)))
		return ret;
	if (!queue) /* not known if it was created while nothing was recorded */
		return GT_CL_REAL(call, clEnqueueCommandBufferKHR)(num_queues, queues, handle,
								   count, list, event);
	ret = GT_CL_REAL(call, clEnqueueCommandBufferKHR)(
		num_queues, queues, handle, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_COMMAND_BUFFER, &w, event));
	if (ret == CL_SUCCESS && w.table && c) {
		w.what.name = make_name(c, w.thread);
		w.what.global[0] = c->total;
		w.what.replay = atomic_fetch_add_explicit(&c->replay, 1, memory_order_relaxed) + 1;
	}
	return gt_cl_activity_follow(call, queue, GT_DEVICE_COMMAND_BUFFER, false, &w, ret);
}

/* The commands ---------------------------------------------------------------- */

cl_int gt_opencl_wrap_clCommandNDRangeKernelKHR(const struct gt_call *call, void *handle,
						cl_command_queue queue, const cl_ulong *properties,
						cl_kernel kernel, cl_uint work_dim,
						const size_t *offset, const size_t *global,
						const size_t *local, cl_uint count,
						const void *list, void *sync_point,
						void *mutable_handle)
{
	cl_int ret =
		GT_CL_REAL(call, clCommandNDRangeKernelKHR)(handle, queue, properties, kernel,
							    work_dim, offset, global, local, count,
							    list, sync_point, mutable_handle);
	const struct gt_table *table = gt_cl_table_find(call);
	char name[2048] = "kernel";

	if (ret != CL_SUCCESS || !table)
		return ret;
	gt_internal_enter();
	if (GT_CL(table, clGetKernelInfo)(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name,
					  NULL) != CL_SUCCESS)
		strcpy(name, "kernel");
	gt_internal_leave();
	add_command(call, handle, name);
	return ret;
}

/* Wraps of the other commands, which pass the call through and store a name. */
#define COMMAND(f, name, parameters, arguments)                                                 \
	cl_int gt_opencl_wrap_##f(const struct gt_call *call, void *handle, cl_command_queue q, \
				  COMMAND_##parameters, cl_uint count, const void *list,        \
				  void *sync_point, void *mutable_handle, void *later)          \
	{                                                                                       \
		cl_int ret = GT_CL_REAL(call, f)(handle, q, COMMAND_##arguments, count, list,   \
						 sync_point, mutable_handle, later);            \
                                                                                                \
		if (ret == CL_SUCCESS)                                                          \
			add_command(call, handle, name);                                        \
		return ret;                                                                     \
	}

#define COMMAND_COPY_P cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset, size_t size
#define COMMAND_COPY_A src, dst, src_offset, dst_offset, size
#define COMMAND_RECT_P                                                                  \
	cl_mem src, cl_mem dst, const size_t *src_origin, const size_t *dst_origin,     \
		const size_t *region, size_t src_row, size_t src_slice, size_t dst_row, \
		size_t dst_slice
#define COMMAND_RECT_A \
	src, dst, src_origin, dst_origin, region, src_row, src_slice, dst_row, dst_slice
#define COMMAND_TO_IMAGE_P \
	cl_mem src, cl_mem dst, size_t src_offset, const size_t *origin, const size_t *region
#define COMMAND_TO_IMAGE_A src, dst, src_offset, origin, region
#define COMMAND_IMAGE_P                                                             \
	cl_mem src, cl_mem dst, const size_t *src_origin, const size_t *dst_origin, \
		const size_t *region
#define COMMAND_IMAGE_A src, dst, src_origin, dst_origin, region
#define COMMAND_TO_BUFFER_P \
	cl_mem src, cl_mem dst, const size_t *origin, const size_t *region, size_t dst_offset
#define COMMAND_TO_BUFFER_A src, dst, origin, region, dst_offset
#define COMMAND_FILL_P \
	cl_mem dst, const void *pattern, size_t pattern_size, size_t offset, size_t size
#define COMMAND_FILL_A dst, pattern, pattern_size, offset, size
#define COMMAND_FILL_IMAGE_P \
	cl_mem dst, const void *color, const size_t *origin, const size_t *region
#define COMMAND_FILL_IMAGE_A dst, color, origin, region

COMMAND(clCommandCopyBufferKHR, "copy", COPY_P, COPY_A)
COMMAND(clCommandCopyBufferRectKHR, "copy", RECT_P, RECT_A)
COMMAND(clCommandCopyBufferToImageKHR, "copy", TO_IMAGE_P, TO_IMAGE_A)
COMMAND(clCommandCopyImageKHR, "copy", IMAGE_P, IMAGE_A)
COMMAND(clCommandCopyImageToBufferKHR, "copy", TO_BUFFER_P, TO_BUFFER_A)
COMMAND(clCommandFillBufferKHR, "fill", FILL_P, FILL_A)
COMMAND(clCommandFillImageKHR, "fill", FILL_IMAGE_P, FILL_IMAGE_A)

cl_int gt_opencl_wrap_clCommandBarrierWithWaitListKHR(const struct gt_call *call, void *handle,
						      cl_command_queue queue, cl_uint count,
						      const void *list, void *sync_point,
						      void *mutable_handle, void *later)
{
	cl_int ret = GT_CL_REAL(call, clCommandBarrierWithWaitListKHR)(handle, queue, count, list,
								       sync_point, mutable_handle,
								       later);

	if (ret == CL_SUCCESS)
		add_command(call, handle, "barrier");
	return ret;
}
