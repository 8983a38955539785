/* SPDX-License-Identifier: MIT */
/* Images and samplers. Pixels are stored row by row in this process's memory (opencl_image.c), so
 * image_copy.c copies regions of memory. The OpenCL driver determines the supported formats.
 * Other formats, media and bindless images are refused. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdlib.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

enum {
	MOST_1D = 16384,
	MOST_2D = 16384,
	MOST_3D = 2048,
	MOST_LAYERS = 2048,
	MOST_IN_BUFFER = 1 << 27,
	SAMPLERS_MOST = 16,
	ARGUMENTS_MOST = 128,
	PITCH_ALIGNMENT = 64
};

struct soft_ze_sampler {
	uint32_t kind;
	struct soft_cl_object *object;
};

/* Formats -------------------------------------------------------------------------------- */

/* Get the number of channels of a plain layout, and the bits per channel. */
static bool measure_layout(ze_image_format_layout_t layout, unsigned *channels, unsigned *bits)
{
	static const struct {
		ze_image_format_layout_t layout;
		unsigned channels, bits;
	} all[] = {
		{ZE_IMAGE_FORMAT_LAYOUT_8, 1, 8},
		{ZE_IMAGE_FORMAT_LAYOUT_16, 1, 16},
		{ZE_IMAGE_FORMAT_LAYOUT_32, 1, 32},
		{ZE_IMAGE_FORMAT_LAYOUT_8_8, 2, 8},
		{ZE_IMAGE_FORMAT_LAYOUT_16_16, 2, 16},
		{ZE_IMAGE_FORMAT_LAYOUT_32_32, 2, 32},
		{ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4, 8},
		{ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 4, 16},
		{ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 4, 32},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].layout == layout) {
			*channels = all[i].channels;
			*bits = all[i].bits;
			return true;
		}
	return false;
}

/* Return the OpenCL type of a channel, or 0 if OpenCL has none. */
static unsigned find_type(ze_image_format_type_t type, unsigned bits)
{
	static const unsigned types[][3] = {
		[ZE_IMAGE_FORMAT_TYPE_UINT] = {CL_UNSIGNED_INT8, CL_UNSIGNED_INT16,
					       CL_UNSIGNED_INT32},
		[ZE_IMAGE_FORMAT_TYPE_SINT] = {CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32},
		[ZE_IMAGE_FORMAT_TYPE_UNORM] = {CL_UNORM_INT8, CL_UNORM_INT16, 0},
		[ZE_IMAGE_FORMAT_TYPE_SNORM] = {CL_SNORM_INT8, CL_SNORM_INT16, 0},
		[ZE_IMAGE_FORMAT_TYPE_FLOAT] = {0, CL_HALF_FLOAT, CL_FLOAT},
	};

	if (type > ZE_IMAGE_FORMAT_TYPE_FLOAT)
		return 0;
	return types[type][bits == 8 ? 0 : bits == 16 ? 1 : 2];
}

/* Return the OpenCL channel order for the bytes of a pixel, or 0 if OpenCL has none. */
static unsigned find_order(const ze_image_format_t *f, unsigned channels)
{
	enum { R = ZE_IMAGE_FORMAT_SWIZZLE_R, G, B, A };
	static const struct {
		unsigned order, channels, each[4];
	} all[] = {
		{CL_RGBA, 4, {R, G, B, A}},
		{CL_BGRA, 4, {B, G, R, A}},
		{CL_ARGB, 4, {A, R, G, B}},
		{CL_ABGR, 4, {A, B, G, R}},
		{CL_RG, 2, {R, G}},
		{CL_RA, 2, {R, A}},
		{CL_A, 1, {A}},
		{CL_R, 1, {R}},
	};
	const unsigned asked[4] = {f->x, f->y, f->z, f->w};

	if (channels == 1 && asked[0] == R && asked[1] == R && asked[2] == R)
		return asked[3] == R ? CL_INTENSITY : CL_LUMINANCE;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		unsigned same = 0;
		while (same < channels && asked[same] == all[i].each[same])
			same++;
		if (all[i].channels == channels && same == channels)
			return all[i].order;
	}
	return 0;
}

/* Find a packed format. OpenCL supports two of them. */
static bool find_packed(const ze_image_format_t *f, struct soft_cl_image *out, size_t *bytes)
{
	if (f->type != ZE_IMAGE_FORMAT_TYPE_UNORM)
		return false;
	if (f->layout == ZE_IMAGE_FORMAT_LAYOUT_5_6_5) {
		out->channels = CL_RGB;
		out->type = CL_UNORM_SHORT_565;
		*bytes = 2;
		return true;
	}
	if (f->layout == ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2) {
		out->channels = CL_RGBA;
		out->type = CL_UNORM_INT_101010_2;
		*bytes = 4;
		return true;
	}
	return false;
}

static bool find_format(const ze_image_format_t *f, struct soft_cl_image *out, size_t *bytes)
{
	unsigned channels, bits;

	if (!measure_layout(f->layout, &channels, &bits))
		return find_packed(f, out, bytes);
	out->channels = find_order(f, channels);
	out->type = find_type(f->type, bits);
	*bytes = (size_t)channels * bits / 8;
	return out->channels && out->type;
}

/* Shapes ----------------------------------------------------------------------------------- */

static const void *find_next(const ze_image_desc_t *desc, int stype)
{
	for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext)
		if ((int)next->stype == stype)
			return next;
	return NULL;
}

static bool is_up_to(uint64_t size, uint64_t most)
{
	return size && size <= most;
}

static bool find_shape(const ze_image_desc_t *desc, struct soft_cl_image *out)
{
	uint64_t w = desc->width, h = desc->height, d = desc->depth, n = desc->arraylevels;

	out->width = w;
	switch (desc->type) {
	case ZE_IMAGE_TYPE_1D: out->shape = CL_MEM_OBJECT_IMAGE1D; return is_up_to(w, MOST_1D);
	case ZE_IMAGE_TYPE_1DARRAY:
		out->shape = CL_MEM_OBJECT_IMAGE1D_ARRAY;
		out->layers = n ? n : 1;
		return is_up_to(w, MOST_1D) && is_up_to(out->layers, MOST_LAYERS);
	case ZE_IMAGE_TYPE_2D:
	case ZE_IMAGE_TYPE_2DARRAY:
		out->shape = CL_MEM_OBJECT_IMAGE2D;
		out->height = h;
		if (desc->type == ZE_IMAGE_TYPE_2DARRAY) {
			out->shape = CL_MEM_OBJECT_IMAGE2D_ARRAY;
			out->layers = n ? n : 1;
		}
		return is_up_to(w, MOST_2D) && is_up_to(h, MOST_2D) && out->layers <= MOST_LAYERS;
	case ZE_IMAGE_TYPE_3D:
		out->shape = CL_MEM_OBJECT_IMAGE3D;
		out->height = h;
		out->depth = d;
		return is_up_to(w, MOST_3D) && is_up_to(h, MOST_3D) && is_up_to(d, MOST_3D);
	default: out->shape = CL_MEM_OBJECT_IMAGE1D_BUFFER; return is_up_to(w, MOST_IN_BUFFER);
	}
}

static size_t or_one(size_t n)
{
	return n ? n : 1;
}

static size_t find_pitch(size_t row_bytes)
{
	return (row_bytes + PITCH_ALIGNMENT - 1) & ~(size_t)(PITCH_ALIGNMENT - 1);
}

/* Describe the whole image. Memory provided by the program has the pitch that
 * zeMemGetPitchFor2dImage returns. */
static ze_result_t describe_image(const ze_image_desc_t *desc, struct soft_cl_image *out,
				  size_t *pixel_bytes)
{
	const struct newer_pitched_image *pitched = find_next(desc, NEWER_STYPE_PITCHED_IMAGE);
	const char *opencl = *soft_ze_config.opencl ? soft_ze_config.opencl : NULL;

	*out = (struct soft_cl_image){0};
	if (desc->type > ZE_IMAGE_TYPE_BUFFER)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (find_next(desc, NEWER_STYPE_BINDLESS_IMAGE) || desc->miplevels)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	if (!find_format(&desc->format, out, pixel_bytes))
		return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
	if (!find_shape(desc, out))
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	if (soft_ze_config.execute && !soft_cl_takes_image(opencl, out))
		return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
	out->row_pitch = out->width * *pixel_bytes;
	if (pitched && pitched->memory) {
		out->pixels = pitched->memory;
		if (desc->type == ZE_IMAGE_TYPE_2D)
			out->row_pitch = find_pitch(out->row_pitch);
	}
	out->slice_pitch = out->row_pitch * or_one(out->height);
	out->bytes = out->slice_pitch * or_one(out->layers) * or_one(out->depth);
	return ZE_RESULT_SUCCESS;
}

/* Images ------------------------------------------------------------------------------------ */

ze_result_t zeDeviceGetImageProperties(ze_device_handle_t handle, ze_device_image_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = (ze_device_image_properties_t){.stype = out->stype,
					      .pNext = out->pNext,
					      .maxImageDims1D = MOST_1D,
					      .maxImageDims2D = MOST_2D,
					      .maxImageDims3D = MOST_3D,
					      .maxImageBufferSize = MOST_IN_BUFFER,
					      .maxImageArraySlices = MOST_LAYERS,
					      .maxSamplers = SAMPLERS_MOST,
					      .maxReadImageArgs = ARGUMENTS_MOST,
					      .maxWriteImageArgs = ARGUMENTS_MOST};
	for (ze_base_properties_t *next = out->pNext; next; next = next->pNext)
		if ((int)next->stype == NEWER_STYPE_PITCHED_DEVICE) {
			((struct newer_pitched_device *)next)->width = MOST_2D;
			((struct newer_pitched_device *)next)->height = MOST_2D;
		}
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeMemGetPitchFor2dImage(ze_context_handle_t context, ze_device_handle_t device,
					  size_t width, size_t height, unsigned pixel_bytes,
					  size_t *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_VALID(device, SOFT_ZE_DEVICE);
	(void)height;
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = find_pitch(width * pixel_bytes);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageGetProperties(ze_device_handle_t handle, const ze_image_desc_t *desc,
				 ze_image_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_DEVICE);
	struct soft_cl_image about;
	ze_result_t status;
	size_t bytes;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	status = describe_image(desc, &about, &bytes);
	if (status)
		return status;
	out->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
	if (desc->format.type >= ZE_IMAGE_FORMAT_TYPE_UNORM)
		out->samplerFilterFlags |= ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
	return ZE_RESULT_SUCCESS;
}

/* Create an image that uses the pixels of @about, the pixels of @whole, or new pixels, which count
 * against the device's budget. */
static ze_result_t create_image(struct soft_ze_device *device, const struct soft_cl_image *about,
				size_t pixel_bytes, struct soft_cl_object *whole,
				ze_image_handle_t *out)
{
	static uint64_t last_id;
	bool own = !about->pixels && !whole;
	struct soft_ze_image *image;

	if (own &&
	    (soft_ze_fails(SOFT_ZE_FAIL_ALLOCATE) || !soft_ze_budget_take(device, about->bytes)))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	image = soft_ze_object_create(SOFT_ZE_IMAGE, sizeof *image);
	if (image)
		image->object = soft_cl_image_create(about, whole);
	if (!image || !image->object) {
		if (image)
			soft_ze_object_destroy(image, SOFT_ZE_IMAGE);
		if (own)
			soft_ze_budget_give(device, about->bytes);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	image->device = own ? device : NULL;
	image->pixel_bytes = pixel_bytes;
	image->extent[0] = about->width;
	image->extent[1] = or_one(about->height);
	image->extent[2] = or_one(about->depth);
	if (about->layers)
		image->extent[about->height ? 2 : 1] = about->layers;
	image->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	*out = (ze_image_handle_t)image;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageCreate(ze_context_handle_t context, ze_device_handle_t handle,
			  const ze_image_desc_t *desc, ze_image_handle_t *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(device, soft_ze_device, handle, SOFT_ZE_DEVICE);
	struct soft_cl_image about;
	ze_result_t status;
	size_t bytes;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	status = describe_image(desc, &about, &bytes);
	return status ? status : create_image(device, &about, bytes, NULL, out);
}

/* Create a view of the same pixels in another format. */
ze_result_t newer_zeImageViewCreateExt(ze_context_handle_t context, ze_device_handle_t handle,
				       const ze_image_desc_t *desc, ze_image_handle_t of,
				       ze_image_handle_t *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(device, soft_ze_device, handle, SOFT_ZE_DEVICE);
	SOFT_ZE_OBJECT(whole, soft_ze_image, of, SOFT_ZE_IMAGE);
	struct soft_cl_image about;
	ze_result_t status;
	size_t bytes;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	status = describe_image(desc, &about, &bytes);
	if (status)
		return status;
	if (about.bytes > soft_cl_image_of(whole->object)->bytes)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	about.pixels = NULL;
	return create_image(device, &about, bytes, whole->object, out);
}

ze_result_t zeImageViewCreateExp(ze_context_handle_t context, ze_device_handle_t device,
				 const ze_image_desc_t *desc, ze_image_handle_t of,
				 ze_image_handle_t *out)
{
	return newer_zeImageViewCreateExt(context, device, desc, of, out);
}

/* Unfinished commands keep the pixels alive. */
ze_result_t zeImageDestroy(ze_image_handle_t handle)
{
	SOFT_ZE_OBJECT(image, soft_ze_image, handle, SOFT_ZE_IMAGE);

	if (image->device)
		soft_ze_budget_give(image->device, soft_cl_image_of(image->object)->bytes);
	soft_cl_object_put(image->object);
	soft_ze_object_destroy(image, SOFT_ZE_IMAGE);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageGetAllocPropertiesExt(ze_context_handle_t context, ze_image_handle_t handle,
					 ze_image_allocation_ext_properties_t *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(image, soft_ze_image, handle, SOFT_ZE_IMAGE);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->id = image->id;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageGetMemoryPropertiesExp(ze_image_handle_t handle,
					  ze_image_memory_properties_exp_t *out)
{
	SOFT_ZE_OBJECT(image, soft_ze_image, handle, SOFT_ZE_IMAGE);
	const struct soft_cl_image *about = soft_cl_image_of(image->object);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->size = about->bytes;
	out->rowPitch = about->row_pitch;
	out->slicePitch = about->slice_pitch;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextMakeImageResident(ze_context_handle_t context, ze_device_handle_t device,
				       ze_image_handle_t image)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_VALID(device, SOFT_ZE_DEVICE);
	SOFT_ZE_VALID(image, SOFT_ZE_IMAGE);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextEvictImage(ze_context_handle_t context, ze_device_handle_t device,
				ze_image_handle_t image)
{
	return zeContextMakeImageResident(context, device, image);
}

/* Samplers ------------------------------------------------------------------------------------ */

ze_result_t zeSamplerCreate(ze_context_handle_t context, ze_device_handle_t device,
			    const ze_sampler_desc_t *desc, ze_sampler_handle_t *out)
{
	static const unsigned modes[] = {
		[ZE_SAMPLER_ADDRESS_MODE_NONE] = CL_ADDRESS_NONE,
		[ZE_SAMPLER_ADDRESS_MODE_REPEAT] = CL_ADDRESS_REPEAT,
		[ZE_SAMPLER_ADDRESS_MODE_CLAMP] = CL_ADDRESS_CLAMP_TO_EDGE,
		[ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER] = CL_ADDRESS_CLAMP,
		[ZE_SAMPLER_ADDRESS_MODE_MIRROR] = CL_ADDRESS_MIRRORED_REPEAT,
	};
	struct soft_ze_sampler *sampler;

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_VALID(device, SOFT_ZE_DEVICE);
	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->addressMode > ZE_SAMPLER_ADDRESS_MODE_MIRROR ||
	    desc->filterMode > ZE_SAMPLER_FILTER_MODE_LINEAR)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	sampler = soft_ze_object_create(SOFT_ZE_SAMPLER, sizeof *sampler);
	if (sampler)
		sampler->object =
			soft_cl_sampler_create(desc->isNormalized, modes[desc->addressMode],
					       desc->filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR
						       ? CL_FILTER_LINEAR
						       : CL_FILTER_NEAREST);
	if (!sampler || !sampler->object) {
		if (sampler)
			soft_ze_object_destroy(sampler, SOFT_ZE_SAMPLER);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	*out = (ze_sampler_handle_t)sampler;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeSamplerDestroy(ze_sampler_handle_t handle)
{
	SOFT_ZE_OBJECT(sampler, soft_ze_sampler, handle, SOFT_ZE_SAMPLER);

	soft_cl_object_put(sampler->object);
	soft_ze_object_destroy(sampler, SOFT_ZE_SAMPLER);
	return ZE_RESULT_SUCCESS;
}

/* Arguments of kernels ------------------------------------------------------------------------- */

struct soft_cl_object *soft_ze_find_object(enum soft_spirv_parameter_kind kind, const void *handle)
{
	const struct soft_ze_image *image;
	const struct soft_ze_sampler *sampler;

	if (kind == SOFT_SPIRV_IMAGE) {
		image = soft_ze_check((void *)handle, SOFT_ZE_IMAGE);
		return image ? image->object : NULL;
	}
	sampler = soft_ze_check((void *)handle, SOFT_ZE_SAMPLER);
	return sampler ? sampler->object : NULL;
}
