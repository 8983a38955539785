/* SPDX-License-Identifier: MIT */
/* What a SPIR-V module says of its kernels: names, parameters, group sizes that they insist on,
 * specialization constants. OpenCL tells none of a parameter's kind and size for SPIR-V.
 *
 * The words may be anything: what does not fit together is refused, and nothing is read beyond. */
#ifndef SOFT_LEVEL_ZERO_SPIRV_H
#define SOFT_LEVEL_ZERO_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_SPIRV_MAGIC 0x07230203u

enum soft_spirv_parameter_kind {
	SOFT_SPIRV_VALUE,
	SOFT_SPIRV_POINTER, /* to memory of the device */
	SOFT_SPIRV_LOCAL,   /* to memory of the group: its argument is a size */
	SOFT_SPIRV_IMAGE,   /* a handle, as the next */
	SOFT_SPIRV_SAMPLER
};

struct soft_spirv_parameter {
	enum soft_spirv_parameter_kind kind;
	size_t bytes; /* of a value; 0: not known */
};

struct soft_spirv_kernel {
	char *name;
	uint32_t group[3], subgroup; /* required; 0: any */
	uint32_t hint[3];            /* of the group's size; 0: none */
	struct soft_spirv_parameter *parameters;
	unsigned parameter_count;
};

struct soft_spirv_constant {
	uint32_t id; /* as the program names it */
	size_t bytes;
};

struct soft_spirv {
	struct soft_spirv_kernel *kernels;
	unsigned kernel_count;
	struct soft_spirv_constant *constants;
	unsigned constant_count;
};

/* Adds what @words say to @out, which is zeroed before the first one. Return: false: they are no
 * SPIR-V, or there is no memory; then @out has what was there. */
bool soft_spirv_read(struct soft_spirv *out, const uint32_t *words, size_t count);
/* A kernel without parameters. Return: NULL: no memory. */
struct soft_spirv_kernel *soft_spirv_add_kernel(struct soft_spirv *spirv, const char *name);
bool soft_spirv_add_parameter(struct soft_spirv_kernel *kernel, enum soft_spirv_parameter_kind kind,
			      size_t bytes);
const struct soft_spirv_kernel *soft_spirv_find(const struct soft_spirv *spirv, const char *name);
void soft_spirv_fini(struct soft_spirv *spirv);

#endif
