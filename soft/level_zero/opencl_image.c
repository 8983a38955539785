/* SPDX-License-Identifier: MIT */
/* Images and samplers for kernels that OpenCL runs. The pixels are in this process's memory, where
 * copies operate on them. Each OpenCL that runs a kernel on an image has a CL image over that
 * memory (CL_MEM_USE_HOST_PTR), created on first use.
 *
 *   image   pixels <-- CL image, one for each OpenCL       a view holds the image that it shows
 *
 * Writes by the host are passed to OpenCL before a kernel runs, and the pixels are fetched
 * afterwards, because OpenCL may have used a copy.
 *
 * Locking: a lock per object, while its handle is created. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "soft/level_zero/opencl_parts.h"

enum { FORMATS_MOST = 1024 };

/* Zeroed pages, which take no memory until they are written. */
#define PIXELS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

struct soft_cl_object {
	uint32_t users; /* atomic */
	bool is_sampler, owns_pixels;
	struct soft_cl_image image;
	struct soft_cl_object *whole; /* image that this view shows; reference-counted */
	bool normalized;
	unsigned addressing, filter;
	pthread_mutex_t lock;
	struct {
		const struct soft_cl_runtime *runtime;
		cl_mem image, buffer; /* for a buffer image: the buffer that stores its pixels */
		cl_sampler sampler;
	} handles[SOFT_CL_LANGUAGES];
};

/* Creation ----------------------------------------------------------------------------- */

/* Return true for a combination that PoCL 3.1 cannot run: PoCL ends the program when a kernel gets
 * both a buffer image and a pointer that was set with clSetKernelArgSVMPointer. */
static bool breaks(const struct soft_cl_runtime *r, unsigned shape)
{
	return shape == CL_MEM_OBJECT_IMAGE1D_BUFFER && !r->set_pointer;
}

bool soft_cl_takes_image(const char *opencl, const struct soft_cl_image *image)
{
	const struct soft_cl_runtime *r = soft_cl_find_runtime(opencl, SOFT_CL_SPIRV);
	cl_image_format *all;
	bool good = false;
	cl_uint count = 0;

	if (!r)
		r = soft_cl_find_runtime(opencl, SOFT_CL_TEXT);
	if (!r)
		return true;
	all = calloc(FORMATS_MOST, sizeof *all);
	if (!all || breaks(r, image->shape) ||
	    r->call->clGetSupportedImageFormats(r->context, CL_MEM_READ_WRITE, image->shape,
						FORMATS_MOST, all, &count))
		count = 0;
	for (cl_uint i = 0; i < count && i < FORMATS_MOST && !good; i++)
		good = all[i].image_channel_order == image->channels &&
		       all[i].image_channel_data_type == image->type;
	free(all);
	return good;
}

static struct soft_cl_object *create_object(void)
{
	struct soft_cl_object *o = calloc(1, sizeof *o);

	if (o) {
		o->users = 1;
		pthread_mutex_init(&o->lock, NULL);
	}
	return o;
}

struct soft_cl_object *soft_cl_image_create(const struct soft_cl_image *image,
					    struct soft_cl_object *whole)
{
	struct soft_cl_object *o = create_object();
	void *pixels;

	if (!o)
		return NULL;
	o->image = *image;
	if (image->pixels)
		return o;
	if (whole) {
		o->whole = soft_cl_object_get(whole);
		o->image.pixels = whole->image.pixels;
		return o;
	}
	pixels = mmap(NULL, image->bytes, PROT_READ | PROT_WRITE, PIXELS, -1, 0);
	if (pixels == MAP_FAILED) {
		soft_cl_object_put(o);
		return NULL;
	}
	o->image.pixels = pixels;
	o->owns_pixels = true;
	return o;
}

struct soft_cl_object *soft_cl_sampler_create(bool normalized, unsigned addressing, unsigned filter)
{
	struct soft_cl_object *o = create_object();

	if (o) {
		o->is_sampler = true;
		o->normalized = normalized;
		o->addressing = addressing;
		o->filter = filter;
	}
	return o;
}

const struct soft_cl_image *soft_cl_image_of(const struct soft_cl_object *o)
{
	return &o->image;
}

struct soft_cl_object *soft_cl_object_get(struct soft_cl_object *o)
{
	if (o)
		__atomic_add_fetch(&o->users, 1, __ATOMIC_RELAXED);
	return o;
}

static void release_handles(struct soft_cl_object *o)
{
	for (unsigned i = 0; i < SOFT_CL_LANGUAGES; i++) {
		const struct soft_cl_runtime *r = o->handles[i].runtime;
		if (o->handles[i].image)
			r->call->clReleaseMemObject(o->handles[i].image);
		if (o->handles[i].buffer)
			r->call->clReleaseMemObject(o->handles[i].buffer);
		if (o->handles[i].sampler)
			r->call->clReleaseSampler(o->handles[i].sampler);
	}
}

void soft_cl_object_put(struct soft_cl_object *o)
{
	struct soft_cl_object *whole;

	while (o && !__atomic_sub_fetch(&o->users, 1, __ATOMIC_ACQ_REL)) {
		whole = o->whole;
		release_handles(o);
		if (o->owns_pixels)
			munmap(o->image.pixels, o->image.bytes);
		pthread_mutex_destroy(&o->lock);
		free(o);
		o = whole;
	}
}

/* In OpenCL ------------------------------------------------------------------------------ */

static cl_int make_image(struct soft_cl_object *o, const struct soft_cl_runtime *r)
{
	const struct soft_cl_image *image = &o->image;
	cl_image_format format = {image->channels, image->type};
	cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
	bool is_buffer = image->shape == CL_MEM_OBJECT_IMAGE1D_BUFFER;
	cl_image_desc desc = {.image_type = image->shape,
			      .image_width = image->width,
			      .image_height = image->height,
			      .image_depth = image->depth,
			      .image_array_size = image->layers};
	cl_int status = CL_SUCCESS;

	if (is_buffer) {
		o->handles[r->index].buffer =
			r->call->clCreateBuffer(r->context, flags, image->bytes, image->pixels,
						&status);
		if (status)
			return status;
		desc.buffer = o->handles[r->index].buffer;
		flags = CL_MEM_READ_WRITE;
	} else {
		desc.image_row_pitch = image->row_pitch;
		if (image->shape == CL_MEM_OBJECT_IMAGE3D || image->layers)
			desc.image_slice_pitch = image->slice_pitch;
	}
	o->handles[r->index].image =
		r->call->clCreateImage(r->context, flags, &format, &desc,
				       is_buffer ? NULL : image->pixels, &status);
	return status;
}

static cl_int make_sampler(struct soft_cl_object *o, const struct soft_cl_runtime *r)
{
	cl_int status = CL_SUCCESS;

	o->handles[r->index].sampler = r->call->clCreateSampler(r->context, o->normalized,
								o->addressing, o->filter, &status);
	return status;
}

static cl_int make_handle(struct soft_cl_object *o, const struct soft_cl_runtime *r)
{
	cl_int status = CL_SUCCESS;

	pthread_mutex_lock(&o->lock);
	o->handles[r->index].runtime = r;
	if (o->is_sampler && !o->handles[r->index].sampler)
		status = make_sampler(o, r);
	else if (!o->is_sampler && !o->handles[r->index].image)
		status = make_image(o, r);
	pthread_mutex_unlock(&o->lock);
	return status;
}

cl_int soft_cl_object_set(struct soft_cl_object *o, const struct soft_cl_runtime *r,
			  cl_kernel kernel, cl_uint index)
{
	cl_int status = make_handle(o, r);

	if (status)
		return status;
	if (o->is_sampler)
		return r->call->clSetKernelArg(kernel, index, sizeof(cl_sampler),
					       &o->handles[r->index].sampler);
	return r->call->clSetKernelArg(kernel, index, sizeof(cl_mem), &o->handles[r->index].image);
}

cl_int soft_cl_image_sync(struct soft_cl_object *o, const struct soft_cl_runtime *r,
			  cl_command_queue queue, bool to_device)
{
	cl_map_flags flags = to_device ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
	const struct soft_cl_image *image = &o->image;
	size_t from[3] = {0}, pitch, slice, all[3] = {image->width, 1, 1};
	cl_int status = make_handle(o, r);
	cl_mem memory;
	void *mapped;

	if (status)
		return status;
	if (o->handles[r->index].buffer) {
		memory = o->handles[r->index].buffer;
		mapped = r->call->clEnqueueMapBuffer(queue, memory, CL_TRUE, flags, 0, image->bytes,
						     0, NULL, NULL, &status);
	} else {
		if (image->height)
			all[1] = image->height;
		if (image->layers)
			all[image->height ? 2 : 1] = image->layers;
		else if (image->depth)
			all[2] = image->depth;
		memory = o->handles[r->index].image;
		mapped = r->call->clEnqueueMapImage(queue, memory, CL_TRUE, flags, from, all,
						    &pitch, &slice, 0, NULL, NULL, &status);
	}
	if (status)
		return status;
	status = r->call->clEnqueueUnmapMemObject(queue, memory, mapped, 0, NULL, NULL);
	return status ? status : r->call->clFinish(queue);
}
