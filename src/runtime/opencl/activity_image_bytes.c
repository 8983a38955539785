/* SPDX-License-Identifier: MIT */
/* Gets the size of an image in bytes from the runtime, because only the runtime knows the pitch of
 * the image's rows. An image created from a buffer or another image has no separate memory. */
#include "runtime/opencl/activity.h"

/* Add the size of an image to @facts. @values: the image, and its description if the call has
 * one */
void gt_opencl_ask(struct gt_thread *t, const struct gt_table *table, unsigned index,
		   const uint64_t *values, struct gt_facts *facts)
{
	cl_mem image = (cl_mem)(uintptr_t)values[0];
	const cl_image_desc *desc = NULL;
	size_t bytes = 0;

	(void)t;
	if (index == GT_OPENCL_INDEX_clCreateImage ||
	    index == GT_OPENCL_INDEX_clCreateImageWithProperties)
		desc = (const cl_image_desc *)(uintptr_t)values[1];
	if (desc && desc->mem_object) {
		facts->bytes = 0;
		return;
	}
	if (!image || !gt_tap_options.follow_devices || !GT_CL(table, clGetMemObjectInfo))
		return;
	gt_internal_enter();
	if (!GT_CL(table, clGetMemObjectInfo)(image, CL_MEM_SIZE, sizeof bytes, &bytes, NULL))
		facts->bytes = bytes;
	gt_internal_leave();
}
