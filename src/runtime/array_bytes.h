/* SPDX-License-Identifier: MIT */
/* Sizes in bytes of CUDA and HIP arrays as the program requested them. Padding that the driver adds
 * between rows is not known. Both runtimes use the same numbers and structs. */
#ifndef GPUTAP_RUNTIME_ARRAY_BYTES_H
#define GPUTAP_RUNTIME_ARRAY_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_array_shape {
	uint64_t width, height, depth; /* 0: the array lacks this dimension */
	uint64_t element_bytes;        /* 0: not known */
	uint32_t levels;
	uint32_t flags; /* enum gt_array_flag */
};

enum gt_array_flag {
	GT_ARRAY_LAYERED = 1, /* `depth` counts layers */
	GT_ARRAY_CUBEMAP = 4, /* `depth` counts faces */
	GT_ARRAY_SPARSE = 0x40,
	GT_ARRAY_DEFERRED = 0x80, /* CUDA and HIP: memory is mapped later */
};

/* CUDA_ARRAY_DESCRIPTOR, HIP_ARRAY_DESCRIPTOR */
struct gt_array_descriptor {
	size_t width, height;
	uint32_t format, channels;
};

/* CUDA_ARRAY3D_DESCRIPTOR, HIP_ARRAY3D_DESCRIPTOR */
struct gt_array3d_descriptor {
	size_t width, height, depth;
	uint32_t format, channels, flags;
};

/* Return the bytes of an element. @format: CUarray_format, hipArray_Format. Return 0 for other
 * formats (compressed, video). */
static inline uint64_t gt_array_element_bytes(uint32_t format, uint32_t channels)
{
	switch (format) {
	case 0x01: /* 8 bits, unsigned or signed */
	case 0x08: return channels;
	case 0x02: /* 16 bits, or half */
	case 0x09:
	case 0x10: return UINT64_C(2) * channels;
	case 0x03: /* 32 bits, or float */
	case 0x0a:
	case 0x20: return UINT64_C(4) * channels;
	default: return 0;
	}
}

static inline uint64_t gt_array_extent(uint64_t extent, uint32_t level)
{
	return level < 64 && extent >> level ? extent >> level : 1;
}

/* Return the size of all levels in bytes, or UINT64_MAX if not known. */
static inline uint64_t gt_array_bytes(const struct gt_array_shape *a)
{
	const bool layered = a->flags & (GT_ARRAY_LAYERED | GT_ARRAY_CUBEMAP);
	uint64_t bytes = 0;

	if (!a->element_bytes || !a->width)
		return UINT64_MAX;
	if (a->flags & (GT_ARRAY_SPARSE | GT_ARRAY_DEFERRED))
		return 0;
	for (uint32_t level = 0; level < a->levels && level < 64; level++)
		bytes += gt_array_extent(a->width, level) * gt_array_extent(a->height, level) *
			 gt_array_extent(a->depth, layered ? 0 : level) * a->element_bytes;
	return bytes;
}

static inline uint64_t gt_array_descriptor_bytes(const struct gt_array_descriptor *d)
{
	return gt_array_bytes(
		&(struct gt_array_shape){d->width, d->height, 0,
					 gt_array_element_bytes(d->format, d->channels), 1, 0});
}

static inline uint64_t gt_array3d_descriptor_bytes(const struct gt_array3d_descriptor *d,
						   uint32_t levels)
{
	return gt_array_bytes(
		&(struct gt_array_shape){d->width, d->height, d->depth,
					 gt_array_element_bytes(d->format, d->channels), levels,
					 d->flags});
}

#endif
