/* SPDX-License-Identifier: MIT */
/* Kernels in a SPIR-V module: names, parameters, required group sizes, specialization constants.
 * OpenCL does not report the kind and size of a SPIR-V kernel's parameters.
 *
 * The words may be anything: inconsistent input is refused, and reads stay within the input. */
#ifndef SOFT_LEVEL_ZERO_SPIRV_H
#define SOFT_LEVEL_ZERO_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_SPIRV_MAGIC 0x07230203u

enum soft_spirv_parameter_kind {
	SOFT_SPIRV_VALUE,
	SOFT_SPIRV_POINTER, /* a pointer to device memory */
	SOFT_SPIRV_LOCAL,   /* a pointer to group memory: its argument is a size */
	SOFT_SPIRV_IMAGE,   /* a handle, like SOFT_SPIRV_SAMPLER */
	SOFT_SPIRV_SAMPLER
};

struct soft_spirv_parameter {
	enum soft_spirv_parameter_kind kind;
	size_t bytes; /* size of a value; 0: unknown */
};

struct soft_spirv_kernel {
	char *name;
	uint32_t group[3], subgroup; /* required sizes; 0: any */
	uint32_t hint[3];            /* hint for the group size; 0: none */
	struct soft_spirv_parameter *parameters;
	unsigned parameter_count;
};

struct soft_spirv_constant {
	uint32_t id; /* SpecId, which the program passes */
	size_t bytes;
};

struct soft_spirv {
	struct soft_spirv_kernel *kernels;
	unsigned kernel_count;
	struct soft_spirv_constant *constants;
	unsigned constant_count;
};

/* Add the contents of @words to @out, which the caller zeroes before the first call. Return false
 * and leave @out unchanged if the words are not SPIR-V or if out of memory. */
bool soft_spirv_read(struct soft_spirv *out, const uint32_t *words, size_t count);
/* Add a kernel without parameters. Return NULL if out of memory. */
struct soft_spirv_kernel *soft_spirv_add_kernel(struct soft_spirv *spirv, const char *name);
bool soft_spirv_add_parameter(struct soft_spirv_kernel *kernel, enum soft_spirv_parameter_kind kind,
			      size_t bytes);
const struct soft_spirv_kernel *soft_spirv_find(const struct soft_spirv *spirv, const char *name);
void soft_spirv_fini(struct soft_spirv *spirv);

#endif
