/* SPDX-License-Identifier: MIT */
/* The OpenCL driver of this machine, which runs the kernels on the CPU. Its driver is loaded
 * without the OpenCL loader, and called through the table at the start of each of its handles.
 *
 * Two drivers are looked up when the first module of their kind is loaded: a driver that accepts
 * SPIR-V (Intel's OpenCL for CPUs), and any driver for OpenCL C, which is the native format of the
 * software device. */
#ifndef SOFT_LEVEL_ZERO_OPENCL_H
#define SOFT_LEVEL_ZERO_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/level_zero/spirv.h"

enum soft_cl_language { SOFT_CL_SPIRV, SOFT_CL_TEXT, SOFT_CL_LANGUAGES };

/* Prefix that marks OpenCL C text as a module in the native format. */
#define SOFT_CL_TEXT_MAGIC "// OpenCL C"
/* Message if no driver accepts SPIR-V. */
#define SOFT_CL_ADVICE_SHORT \
	"no OpenCL driver here accepts SPIR-V: 'pip install intel-opencl-rt' installs one"
#define SOFT_CL_ADVICE SOFT_CL_ADVICE_SHORT " (SOFT_LEVEL_ZERO_OPENCL names its libintelocl.so)"

struct soft_cl_program; /* reference-counted */
struct soft_cl_kernel;  /* reference-counted; holds its program */
struct soft_cl_queue;
struct soft_cl_object; /* an image or a sampler; reference-counted */

struct soft_cl_constant {
	uint32_t id;
	size_t bytes;
	const void *value;
};

struct soft_cl_input {
	const void *bytes;
	size_t size;
	const struct soft_cl_constant *constants;
	unsigned constant_count;
};

struct soft_cl_argument {
	enum soft_spirv_parameter_kind kind;
	bool is_null;
	size_t bytes;
	void *value;
	struct soft_cl_object *object; /* image or sampler; reference-counted */
};

/* Pixels in this process's memory, described with OpenCL's constants. */
struct soft_cl_image {
	unsigned shape;          /* CL_MEM_OBJECT_IMAGE2D, ... */
	unsigned channels, type; /* CL_RGBA, ..., CL_UNORM_INT8, ... */
	size_t width, height, depth, layers;
	size_t row_pitch, slice_pitch, bytes;
	char *pixels;
};

/* Return true if a driver for @language exists. The driver stays loaded. */
bool soft_cl_is_there(const char *opencl, enum soft_cl_language language);
/* Build a program. @opencl: library of a driver, or NULL for the driver found. *@log: freed by the
 * caller; NULL if the log is empty. Return NULL if the program does not build. */
struct soft_cl_program *soft_cl_build(const char *opencl, enum soft_cl_language language,
				      const struct soft_cl_input *inputs, unsigned count,
				      const char *options, char **log);
void soft_cl_program_put(struct soft_cl_program *program);
/* Read kernel names and parameters from an OpenCL C program. */
bool soft_cl_describe(struct soft_cl_program *program, struct soft_spirv *out);
bool soft_cl_find_global(struct soft_cl_program *program, const char *name, size_t *bytes,
			 void **address);
bool soft_cl_find_function(struct soft_cl_program *program, const char *name, void **address);
struct soft_cl_kernel *soft_cl_kernel_create(struct soft_cl_program *program, const char *name);
struct soft_cl_kernel *soft_cl_kernel_get(struct soft_cl_kernel *kernel);
void soft_cl_kernel_put(struct soft_cl_kernel *kernel);
void soft_cl_kernel_memory(struct soft_cl_kernel *kernel, uint64_t *local, uint64_t *private_bytes);
/* Run the kernel and wait. *@queue: created on first use. Return 0, or an OpenCL status. */
int soft_cl_run(struct soft_cl_queue **queue, struct soft_cl_kernel *kernel,
		const uint32_t offset[3], const uint32_t groups[3], const uint32_t group[3],
		const struct soft_cl_argument *arguments, unsigned count);
void soft_cl_queue_destroy(struct soft_cl_queue *queue);

/* opencl_image.c ---------------------------------------------------------------------- */

/* Return true if the OpenCL driver supports images of this shape and format, or if no OpenCL driver
 * was found. */
bool soft_cl_takes_image(const char *opencl, const struct soft_cl_image *image);
/* Create an image with the pixels of @image, which the program owns; or with the pixels of @whole,
 * to which it holds a reference; or with new zeroed pixels. Return NULL if out of memory. */
struct soft_cl_object *soft_cl_image_create(const struct soft_cl_image *image,
					    struct soft_cl_object *whole);
const struct soft_cl_image *soft_cl_image_of(const struct soft_cl_object *object);
/* Create a sampler. @addressing, @filter: OpenCL's constants. */
struct soft_cl_object *soft_cl_sampler_create(bool normalized, unsigned addressing,
					      unsigned filter);
struct soft_cl_object *soft_cl_object_get(struct soft_cl_object *object);
void soft_cl_object_put(struct soft_cl_object *object);

#endif
