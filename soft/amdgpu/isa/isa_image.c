/* SPDX-License-Identifier: MIT */
/* Images: loads and stores of elements. HIP's kernels use these instructions to copy between
 * buffers and arrays, and programs use them to access surfaces.
 *
 *   eight SGPRs (the resource) ─► struct soft_image: address, size, channels
 *   VGPRs of an address: x y z, according to the resource's type ─► element
 *   element ─► up to four channels, one VGPR each
 *
 * The hardware's memory layout of a non-linear image is undocumented. This file stores all elements
 * row by row, with the resource's pitch, which needs no more memory. Programs do not notice,
 * because the host accesses arrays only through such kernels. Outside the image a load returns 0
 * and a store does nothing. There is one level; accesses to other levels are outside the image. */
#include "soft/amdgpu/isa/isa_image.h"
#include "soft/amdgpu/isa/isa_numbers.h"

enum { LOAD_MIP = 0x01, STORE_MIP = 0x09, GET_RESINFO = 0x0e };

const char *soft_element_read(struct soft_element *e, unsigned format, unsigned number,
			      unsigned select)
{
	/* Channels and bits of each channel, for each data format. */
	static const struct {
		uint8_t channels, bits;
	} formats[] = {
		[1] = {1, 8},  [2] = {1, 16},  [3] = {2, 8},   [4] = {1, 32},  [5] = {2, 16},
		[10] = {4, 8}, [11] = {2, 32}, [12] = {4, 16}, [14] = {4, 32},
	};

	if (format >= sizeof(formats) / sizeof(*formats) || !formats[format].channels)
		return "of an unknown image format";
	e->channels = formats[format].channels;
	e->bits = formats[format].bits;
	e->number = number;
	for (unsigned i = 0; i < 4; i++)
		e->from[i] = select >> 3 * i & 7;
	if (number != IMAGE_UINT && number != IMAGE_SINT && number != IMAGE_UNORM &&
	    number != IMAGE_SNORM && number != IMAGE_FLOAT)
		return "of an unknown image number format";
	if ((number == IMAGE_FLOAT && e->bits == 8) || (number < IMAGE_UINT && e->bits == 32))
		return "of an invalid image format";
	return NULL;
}

const char *soft_image_read(struct soft_image *m, const uint32_t *r)
{
	const char *why;

	m->base = (uint8_t *)(uintptr_t)(((uint64_t)(r[1] & 0xff) << 40 | (uint64_t)r[0] << 8) &
					 (SOFT_ISA_ALIAS - 1));
	m->width = (r[2] & 0x3fff) + 1;
	m->height = (r[2] >> 14 & 0x3fff) + 1;
	m->type = r[3] >> 28;
	m->depth = (r[4] & 0x1fff) + 1;
	m->pitch = (r[4] >> 13 & 0xffff) + 1;
	if (m->pitch < m->width) /* an image of one row has no pitch */
		m->pitch = m->width;
	why = soft_element_read(&m->element, r[1] >> 20 & 63, r[1] >> 26 & 15, r[3] & 0xfff);
	if (why)
		return why;
	if (m->type != IMAGE_1D && m->type != IMAGE_2D && m->type != IMAGE_3D &&
	    m->type != IMAGE_1D_ARRAY && m->type != IMAGE_2D_ARRAY)
		return "of an unknown kind of image";
	if (r[3] >> 12 & 0xff || r[5] & 0x1fff)
		return "of a mipmapped image or a part of an array";
	return NULL;
}

uint8_t *soft_image_element(const struct soft_image *m, uint32_t x, uint32_t y, uint32_t z)
{
	if (x >= m->width || (y && y >= m->height) || (z && z >= m->depth))
		return NULL;
	return m->base +
	       (((uint64_t)z * (m->type == IMAGE_1D_ARRAY ? 1 : m->height) + y) * m->pitch + x) *
		       (m->element.channels * m->element.bits / 8);
}

/* Return the number of coordinates of an image. */
static unsigned dimensions(const struct soft_image *m)
{
	return m->type == IMAGE_1D ? 1 : m->type == IMAGE_2D || m->type == IMAGE_1D_ARRAY ? 2 : 3;
}

/* Return the element at a lane's coordinates. */
static uint8_t *element(const struct soft_image *m, const struct soft_wave *w,
			const struct soft_step *s, unsigned l)
{
	unsigned v = s->source[0], n = dimensions(m);
	uint32_t x = w->v[v][l], y = n > 1 ? w->v[v + 1][l] : 0, z = n > 2 ? w->v[v + 2][l] : 0;

	if ((s->op->number == LOAD_MIP || s->op->number == STORE_MIP) && w->v[v + n][l])
		return NULL;
	return m->type == IMAGE_1D_ARRAY ? soft_image_element(m, x, 0, y)
					 : soft_image_element(m, x, y, z);
}

static uint32_t decode(const struct soft_element *m, uint32_t x)
{
	int32_t sign = (int32_t)(x << (32 - m->bits)) >> (32 - m->bits);
	uint32_t most = m->bits == 32 ? UINT32_MAX : (1u << m->bits) - 1;

	switch (m->number) {
	case IMAGE_SINT: return (uint32_t)sign;
	case IMAGE_UNORM: return bits32((float)x / (float)most);
	case IMAGE_SNORM: return bits32(MAX((float)sign / (float)(most >> 1), -1.0f));
	case IMAGE_FLOAT: return m->bits == 16 ? bits32(float16(x)) : x;
	default: return x;
	}
}

static uint32_t encode(const struct soft_element *m, uint32_t x)
{
	uint32_t most = m->bits == 32 ? UINT32_MAX : (1u << m->bits) - 1;
	float f = float32(x);
	int32_t sign = (int32_t)x, top = (int32_t)(most >> 1);

	switch (m->number) {
	case IMAGE_UINT: return MIN(x, most);
	case IMAGE_SINT:
		return m->bits == 32 ? x
				     : (uint32_t)(sign > top        ? top
						  : sign < -top - 1 ? -top - 1
								    : sign);
	case IMAGE_UNORM: return (uint32_t)rint(!(f > 0) ? 0 : f > 1 ? most : (double)f * most);
	case IMAGE_SNORM:
		return (uint32_t)(int32_t)rint(!(f == f) ? 0
					       : f < -1  ? -top
					       : f > 1   ? top
							 : (double)f * top);
	default: return m->bits == 16 ? bits16(f) : x;
	}
}

uint32_t soft_element_get(const struct soft_element *m, const uint8_t *p, unsigned i)
{
	uint32_t x = 0;

	if (p && m->from[i] >= 4 && m->from[i] - 4u < m->channels) {
		memcpy(&x, p + (m->from[i] - 4) * m->bits / 8, m->bits / 8);
		return decode(m, x);
	}
	if (p && m->from[i] == 1)
		return soft_element_is_integer(m) ? 1 : bits32(1);
	return 0;
}

void soft_element_put(const struct soft_element *m, uint8_t *p, unsigned i, uint32_t x)
{
	x = encode(m, x);
	if (m->from[i] >= 4 && m->from[i] - 4u < m->channels)
		memcpy(p + (m->from[i] - 4) * m->bits / 8, &x, m->bits / 8);
}

/* Write width, height, depth and levels for the level that a lane selects. */
static void write_sizes(const struct soft_image *m, struct soft_wave *w, const struct soft_step *s,
			unsigned l)
{
	int none = w->v[s->source[0]][l] != 0, second_is_depth = m->type == IMAGE_1D_ARRAY;
	uint32_t sizes[4] = {m->width,
			     dimensions(m) > 1 ? (second_is_depth ? m->depth : m->height) : 1,
			     dimensions(m) > 2 ? m->depth : 1, 1};

	for (unsigned i = 0, n = s->result; i < 4; i++)
		if (s->control >> i & 1)
			w->v[n++][l] = none && i < 3 ? 0 : sizes[i];
}

int soft_image(struct soft_wave *w, const struct soft_step *s)
{
	struct soft_image m;
	const char *why = soft_image_read(&m, &w->s[s->base]);

	if (why)
		return soft_unsupported(w, why);
	for (uint64_t left = pair(w, REG_EXEC); left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left), n = s->result;
		uint8_t *p;

		if (s->op->number == GET_RESINFO) {
			write_sizes(&m, w, s, l);
			continue;
		}
		p = element(&m, w, s, l);
		for (unsigned i = 0; i < 4; i++) {
			if (!(s->control >> i & 1))
				continue;
			if (s->op->kind == SOFT_KIND_LOAD)
				w->v[n++][l] = soft_element_get(&m.element, p, i);
			else if (p)
				soft_element_put(&m.element, p, i, w->v[n++][l]);
		}
	}
	return 0;
}
