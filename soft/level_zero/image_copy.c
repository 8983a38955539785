/* SPDX-License-Identifier: MIT */
/* Copies between images, and between images and memory: the functions that append copies to
 * lists. */
#include <stdlib.h>

#include "soft/level_zero/level_zero_parts.h"

struct copy_use {
	ze_event_handle_t signal;
	uint32_t wait_count;
	ze_event_handle_t *waits;
};

/* Start and pitches of a region in an image or in memory. */
struct copy_side {
	struct soft_cl_object *object; /* NULL: memory */
	char *start;
	size_t row_pitch, slice_pitch;
};

static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

/* Check a region. A NULL region is the whole image. A height or depth of 0 means 1. */
static bool cut_region(const struct soft_ze_image *image, const ze_image_region_t *asked,
		       ze_image_region_t *out)
{
	const size_t *all = image->extent;

	if (!asked) {
		*out = (ze_image_region_t){.width = (uint32_t)all[0],
					   .height = (uint32_t)all[1],
					   .depth = (uint32_t)all[2]};
		return true;
	}
	*out = *asked;
	out->height = at_least_one(asked->height);
	out->depth = at_least_one(asked->depth);
	if (all[2] == 1) { /* dimensions that the image lacks are ignored */
		out->originZ = 0;
		out->depth = 1;
	}
	return out->width && (uint64_t)out->originX + out->width <= all[0] &&
	       (uint64_t)out->originY + out->height <= all[1] &&
	       (uint64_t)out->originZ + out->depth <= all[2];
}

/* Find the start of a region. In an array of 1D images, the slices are the rows. */
static struct copy_side find_side(const struct soft_ze_image *image, const ze_image_region_t *r)
{
	const struct soft_cl_image *about = soft_cl_image_of(image->object);

	return (struct copy_side){image->object,
				  about->pixels + r->originX * image->pixel_bytes +
					  r->originY * about->row_pitch +
					  r->originZ * about->slice_pitch,
				  about->row_pitch, about->slice_pitch};
}

static struct copy_side find_memory(void *memory, size_t pixel_bytes, const ze_image_region_t *r,
				    size_t row_pitch, size_t slice_pitch)
{
	size_t row = row_pitch ? row_pitch : r->width * pixel_bytes;

	return (struct copy_side){NULL, memory, row, slice_pitch ? slice_pitch : row * r->height};
}

static ze_result_t append_copy(ze_command_list_handle_t list, const struct copy_side *to,
			       const struct copy_side *from, const ze_image_region_t *r,
			       size_t pixel_bytes, const struct copy_use *use)
{
	struct soft_ze_command *c = soft_ze_command_create(SOFT_ZE_COPY_IMAGE);

	if (c) {
		c->to = to->start;
		c->from = from->start;
		c->images[0] = soft_cl_object_get(to->object);
		c->images[1] = soft_cl_object_get(from->object);
		c->region = malloc(sizeof *c->region);
		if (!c->region) {
			soft_ze_command_destroy(c);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
		*c->region = (struct soft_ze_region){.width = r->width * pixel_bytes,
						     .height = r->height,
						     .depth = r->depth,
						     .to_pitch = to->row_pitch,
						     .to_slice = to->slice_pitch,
						     .from_pitch = from->row_pitch,
						     .from_slice = from->slice_pitch};
	}
	return soft_ze_list_append(list, c, use->signal, use->wait_count, use->waits);
}

ze_result_t zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list, ze_image_handle_t to,
					       ze_image_handle_t from,
					       const ze_image_region_t *to_region,
					       const ze_image_region_t *from_region,
					       ze_event_handle_t signal, uint32_t wait_count,
					       ze_event_handle_t *waits)
{
	SOFT_ZE_OBJECT(out, soft_ze_image, to, SOFT_ZE_IMAGE);
	SOFT_ZE_OBJECT(in, soft_ze_image, from, SOFT_ZE_IMAGE);
	ze_image_region_t r, s;
	struct copy_side a, b;

	if (!cut_region(out, to_region, &r) || !cut_region(in, from_region, &s) ||
	    r.width != s.width || r.height != s.height || r.depth != s.depth ||
	    out->pixel_bytes != in->pixel_bytes)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	a = find_side(out, &r);
	b = find_side(in, &s);
	return append_copy(list, &a, &b, &r, out->pixel_bytes,
			   &(struct copy_use){signal, wait_count, waits});
}

ze_result_t zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t to,
					 ze_image_handle_t from, ze_event_handle_t signal,
					 uint32_t wait_count, ze_event_handle_t *waits)
{
	return zeCommandListAppendImageCopyRegion(list, to, from, NULL, NULL, signal, wait_count,
						  waits);
}

ze_result_t zeCommandListAppendImageCopyToMemoryExt(ze_command_list_handle_t list, void *to,
						    ze_image_handle_t from,
						    const ze_image_region_t *region,
						    uint32_t row_pitch, uint32_t slice_pitch,
						    ze_event_handle_t signal, uint32_t wait_count,
						    ze_event_handle_t *waits)
{
	SOFT_ZE_OBJECT(in, soft_ze_image, from, SOFT_ZE_IMAGE);
	ze_image_region_t r;
	struct copy_side a, b;

	if (!to)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!cut_region(in, region, &r))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	a = find_memory(to, in->pixel_bytes, &r, row_pitch, slice_pitch);
	b = find_side(in, &r);
	return append_copy(list, &a, &b, &r, in->pixel_bytes,
			   &(struct copy_use){signal, wait_count, waits});
}

ze_result_t zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *to,
						 ze_image_handle_t from,
						 const ze_image_region_t *region,
						 ze_event_handle_t signal, uint32_t wait_count,
						 ze_event_handle_t *waits)
{
	return zeCommandListAppendImageCopyToMemoryExt(list, to, from, region, 0, 0, signal,
						       wait_count, waits);
}

ze_result_t zeCommandListAppendImageCopyFromMemoryExt(ze_command_list_handle_t list,
						      ze_image_handle_t to, const void *from,
						      const ze_image_region_t *region,
						      uint32_t row_pitch, uint32_t slice_pitch,
						      ze_event_handle_t signal, uint32_t wait_count,
						      ze_event_handle_t *waits)
{
	SOFT_ZE_OBJECT(out, soft_ze_image, to, SOFT_ZE_IMAGE);
	ze_image_region_t r;
	struct copy_side a, b;

	if (!from)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!cut_region(out, region, &r))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	a = find_side(out, &r);
	b = find_memory((void *)from, out->pixel_bytes, &r, row_pitch, slice_pitch);
	return append_copy(list, &a, &b, &r, out->pixel_bytes,
			   &(struct copy_use){signal, wait_count, waits});
}

ze_result_t zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list,
						   ze_image_handle_t to, const void *from,
						   const ze_image_region_t *region,
						   ze_event_handle_t signal, uint32_t wait_count,
						   ze_event_handle_t *waits)
{
	return zeCommandListAppendImageCopyFromMemoryExt(list, to, from, region, 0, 0, signal,
							 wait_count, waits);
}
