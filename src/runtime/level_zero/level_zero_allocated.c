/* SPDX-License-Identifier: MIT */
/* Finds the device that holds a call's allocation, and the size of an image in bytes. The size is
 * computed from the image's description, because the padding that the driver adds between rows is
 * unknown. */
#include "runtime/level_zero/level_zero_objects.h"

enum { IMAGE_1D, IMAGE_1D_ARRAY, IMAGE_2D, IMAGE_2D_ARRAY, IMAGE_3D };

/* ze_image_desc_t */
struct image_description {
	uint32_t stype;
	const void *next;
	uint32_t flags, type;
	uint32_t layout, format, swizzle[4];
	uint64_t width;
	uint32_t height, depth, layers, levels;
};

/* Bytes per element, indexed by ze_image_format_layout_t. Other layouts are packed formats or video
 * formats. */
static const uint8_t element_bytes[] = {1, 2, 4, 2, 4, 4, 8, 8, 16, 4, 4, 2, 2, 2};

static uint64_t at_least_1(uint64_t extent)
{
	return extent ? extent : 1;
}

/* Return the size in bytes, or UINT64_MAX if unknown. A description with a chained extension is not
 * evaluated, because the extension may import memory allocated elsewhere. */
static uint64_t get_bytes(const struct image_description *d)
{
	uint64_t bytes;

	if (d->next || d->layout >= sizeof element_bytes || d->type > IMAGE_3D || d->levels > 1)
		return UINT64_MAX;
	bytes = element_bytes[d->layout] * d->width;
	if (d->type >= IMAGE_2D)
		bytes *= at_least_1(d->height);
	if (d->type == IMAGE_3D)
		bytes *= at_least_1(d->depth);
	if (d->type == IMAGE_1D_ARRAY || d->type == IMAGE_2D_ARRAY)
		bytes *= at_least_1(d->layers);
	return bytes;
}

void gt_level_zero_ask(struct gt_thread *t, const struct gt_table *table, unsigned index,
		       const uint64_t *values, struct gt_facts *facts)
{
	const struct gt_lz_device *d = values[0] && gt_tap_options.follow_devices
					       ? gt_lz_device(table, (void *)(uintptr_t)values[0])
					       : NULL;

	(void)t;
	if (d)
		facts->device = (uint32_t)d->number;
	if (index == GT_LEVEL_ZERO_INDEX_zeImageCreate)
		facts->bytes = get_bytes((const void *)(uintptr_t)values[1]);
}
