/* SPDX-License-Identifier: MIT */
/* Computes the sizes of images and of their texels, which determine the number of bytes in a copy.
 * In formats with several planes, the bits per texel are the sum over all planes. */
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

/* Bits per texel, indexed by ze_image_format_layout_t. */
static const uint8_t texel_bits[] = {
	8,  16, 32, 16, 32, 32, 64, 64, 128, /* 8 to 32_32_32_32 */
	32, 32, 16, 16, 16,                  /* 10_10_10_2, 11_11_10, 5_6_5, 5_5_5_1, 4_4_4_4 */
	8,  12, 16, 16, 16, 16, 32,          /* Y8, NV12, YUYV, VYUY, YVYU, UYVY, AYUV */
	24, 32, 24, 16, 24, 32, 32,          /* P010, Y410, P012, Y16, P016, Y216, P216 */
	8,  16, 16, 8,  8,  64, 32,          /* P8, YUY2, A8P8, IA44, AI44, Y416, Y210 */
	12, 12, 8,  16, 16, 24, 24, 24,      /* I420, YV12, 400P, 422H, 422V, 444P, RGBP, BRGP */
	24, 48, 96,                          /* 8_8_8, 16_16_16, 32_32_32 */
};

static uint32_t at_least_1(uint32_t n)
{
	return n ? n : 1;
}

static void measure_image(struct gt_lz_image *image, const struct lz_image_desc *d)
{
	image->bits = d->layout < sizeof texel_bits ? texel_bits[d->layout] : 0;
	image->texels = d->width;
	switch (d->type) {
	case LZ_IMAGE_2D: image->texels *= at_least_1(d->height); break;
	case LZ_IMAGE_3D:
		image->texels *= (uint64_t)at_least_1(d->height) * at_least_1(d->depth);
		break;
	case LZ_IMAGE_1D_ARRAY: image->texels *= at_least_1(d->array_levels); break;
	case LZ_IMAGE_2D_ARRAY:
		image->texels *= (uint64_t)at_least_1(d->height) * at_least_1(d->array_levels);
		break;
	case LZ_IMAGE_BUFFER: image->bits = 8; break; /* the image's width is in bytes */
	default: break;
	}
}

uint64_t gt_lz_image_bytes(const void *handle, const void *region)
{
	const struct gt_lz_image *image = gt_lz_find(GT_LZ_IMAGE, handle);
	const struct lz_copy_region *r = region;
	uint64_t texels = !image ? 0
			  : r    ? (uint64_t)r->width * at_least_1(r->height) * at_least_1(r->depth)
				 : image->texels;

	if (!image)
		gt_lz_name_missing(handle, "sizes of copies of image",
				   "created before gputap attached");
	return image ? texels * image->bits / 8 : 0;
}

static int add_image(int status, const void *desc, void *const *handle)
{
	struct gt_lz_image *image =
		status || !desc || !handle ? NULL : gt_lz_add(GT_LZ_IMAGE, *handle);

	if (image)
		measure_image(image, desc);
	return status;
}

int gt_level_zero_wrap_zeImageCreate(const struct gt_call *call, void *context, void *device,
				     const void *desc, void **image)
{
	return add_image(REAL(zeImageCreate)(context, device, desc, image), desc, image);
}

int gt_level_zero_wrap_zeImageViewCreateExt(const struct gt_call *call, void *context, void *device,
					    const void *desc, void *of, void **image)
{
	return add_image(REAL(zeImageViewCreateExt)(context, device, desc, of, image), desc, image);
}

int gt_level_zero_wrap_zeImageViewCreateExp(const struct gt_call *call, void *context, void *device,
					    const void *desc, void *of, void **image)
{
	return add_image(REAL(zeImageViewCreateExp)(context, device, desc, of, image), desc, image);
}

int gt_level_zero_wrap_zeImageDestroy(const struct gt_call *call, void *image)
{
	gt_lz_remove(GT_LZ_IMAGE, image);
	return REAL(zeImageDestroy)(image);
}
