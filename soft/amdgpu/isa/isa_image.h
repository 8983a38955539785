/* SPDX-License-Identifier: MIT */
/* Code shared by images, sampled images and typed buffers: elements of one to four channels, and
 * their description in resources. */
#ifndef SOFT_AMDGPU_ISA_IMAGE_H
#define SOFT_AMDGPU_ISA_IMAGE_H

#include "soft/amdgpu/isa/isa_wave.h"

enum { IMAGE_UNORM = 0, IMAGE_SNORM = 1, IMAGE_UINT = 4, IMAGE_SINT = 5, IMAGE_FLOAT = 7 };
enum { IMAGE_1D = 8, IMAGE_2D = 9, IMAGE_3D = 10, IMAGE_1D_ARRAY = 12, IMAGE_2D_ARRAY = 13 };

struct soft_element {                    /* layout of an element */
	unsigned channels, bits, number; /* bits: size of every channel */
	uint8_t from[4];                 /* 0 and 1: this constant; 4 to 7: a channel */
};

struct soft_image {
	uint8_t *base;
	uint32_t width, height, depth, pitch, type; /* pitch: number of elements between rows */
	struct soft_element element;
};

/* Return a message that names an unsupported feature, or NULL. @select: four fields of three
 * bits. */
const char *soft_element_read(struct soft_element *e, unsigned format, unsigned number,
			      unsigned select);
/* @r: the eight words of the resource. */
const char *soft_image_read(struct soft_image *m, const uint32_t *r);
/* Return the element at these coordinates, or NULL outside the image. */
uint8_t *soft_image_element(const struct soft_image *m, uint32_t x, uint32_t y, uint32_t z);
/* Return the value of register @i for a load of the element at @p (NULL: outside the image). */
uint32_t soft_element_get(const struct soft_element *e, const uint8_t *p, unsigned i);
void soft_element_put(const struct soft_element *e, uint8_t *p, unsigned i, uint32_t x);

static inline int soft_element_is_integer(const struct soft_element *e)
{
	return e->number == IMAGE_UINT || e->number == IMAGE_SINT;
}

#endif
