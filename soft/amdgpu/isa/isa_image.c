/* SPDX-License-Identifier: MIT */
/* Images: image_load and image_store, which HIP's own kernels use to copy between buffers and arrays.
 *
 *   eight SGPRs (the resource) ─► struct image: where, which size, which channels
 *   VGPRs of an address: x y z as the resource's type wants ─► element ─► up to four channels, one VGPR each
 *
 * How elements lie in memory is a secret of the hardware where an image is not linear; here all lie row by row, with the
 * resource's pitch, which needs no more room. Nobody else looks: the host gets at arrays by such kernels only.
 * Outside of the image a load gives 0 and a store does nothing. */
#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

enum { UNORM = 0, SNORM = 1, UINT = 4, SINT = 5, FLOAT = 7 };
enum { TYPE_1D = 8, TYPE_2D = 9, TYPE_3D = 10, TYPE_1D_ARRAY = 12, TYPE_2D_ARRAY = 13 };

struct image {
	uint8_t *base;
	uint32_t width, height, depth, pitch, type; /* pitch: elements from row to row */
	unsigned channels, bits, number;            /* of an element: all channels are of one size */
	uint8_t from[4];                            /* 0 and 1: that number; 4..7: a channel */
};

/* Return: what is not done, or NULL. */
static const char *read_resource(struct image *m, const uint32_t *r)
{
	/* By data format: channels, and bits of each. */
	static const struct { uint8_t channels, bits; } formats[] = {
		[1] = { 1, 8 }, [2] = { 1, 16 }, [3] = { 2, 8 }, [4] = { 1, 32 }, [5] = { 2, 16 }, [10] = { 4, 8 }, [11] = { 2, 32 },
		[12] = { 4, 16 }, [14] = { 4, 32 },
	};
	unsigned format = r[1] >> 20 & 63;

	m->base = (uint8_t *)(uintptr_t)(((uint64_t)(r[1] & 0xff) << 40 | (uint64_t)r[0] << 8) & (SOFT_ISA_ALIAS - 1));
	m->number = r[1] >> 26 & 15;
	m->width = (r[2] & 0x3fff) + 1;
	m->height = (r[2] >> 14 & 0x3fff) + 1;
	for (unsigned i = 0; i < 4; i++)
		m->from[i] = r[3] >> 3 * i & 7;
	m->type = r[3] >> 28;
	m->depth = (r[4] & 0x1fff) + 1;
	m->pitch = (r[4] >> 13 & 0xffff) + 1;
	if (m->pitch < m->width) /* a single row says no pitch */
		m->pitch = m->width;
	if (format >= sizeof(formats) / sizeof(*formats) || !formats[format].channels)
		return "of an image format that is not known";
	m->channels = formats[format].channels;
	m->bits = formats[format].bits;
	if (m->number != UINT && m->number != SINT && m->number != UNORM && m->number != SNORM && m->number != FLOAT)
		return "of an image's number format that is not known";
	if ((m->number == FLOAT && m->bits == 8) || (m->number < UINT && m->bits == 32))
		return "of an image format that there is not";
	if (m->type != TYPE_1D && m->type != TYPE_2D && m->type != TYPE_3D && m->type != TYPE_1D_ARRAY && m->type != TYPE_2D_ARRAY)
		return "of a kind of image that is not known";
	if (r[3] >> 12 & 0xff || r[5] & 0x1fff)
		return "of one of several levels or of a part of an array";
	return NULL;
}

/* The element that a lane's coordinates name. NULL: there is none. */
static uint8_t *element(const struct image *m, const struct soft_wave *w, const struct soft_step *s, unsigned l)
{
	unsigned v = s->source[0];
	uint32_t x = w->v[v][l], y = 0, z = 0;

	if (m->type == TYPE_1D_ARRAY)
		z = w->v[v + 1][l];
	else if (m->type != TYPE_1D)
		y = w->v[v + 1][l];
	if (m->type == TYPE_3D || m->type == TYPE_2D_ARRAY)
		z = w->v[v + 2][l];
	if (x >= m->width || (y && y >= m->height) || (z && z >= m->depth))
		return NULL;
	return m->base + (((uint64_t)z * (m->type == TYPE_1D_ARRAY ? 1 : m->height) + y) * m->pitch + x) * (m->channels * m->bits / 8);
}

static uint32_t decode(const struct image *m, uint32_t x)
{
	int32_t sign = (int32_t)(x << (32 - m->bits)) >> (32 - m->bits);
	uint32_t most = m->bits == 32 ? UINT32_MAX : (1u << m->bits) - 1;

	switch (m->number) {
	case SINT: return (uint32_t)sign;
	case UNORM: return bits32((float)x / (float)most);
	case SNORM: return bits32(MAX((float)sign / (float)(most >> 1), -1.0f));
	case FLOAT: return m->bits == 16 ? bits32(float16(x)) : x;
	default: return x;
	}
}

static uint32_t encode(const struct image *m, uint32_t x)
{
	uint32_t most = m->bits == 32 ? UINT32_MAX : (1u << m->bits) - 1;
	float f = float32(x);
	int32_t sign = (int32_t)x, top = (int32_t)(most >> 1);

	switch (m->number) {
	case UINT: return MIN(x, most);
	case SINT: return m->bits == 32 ? x : (uint32_t)(sign > top ? top : sign < -top - 1 ? -top - 1 : sign);
	case UNORM: return (uint32_t)rint(!(f > 0) ? 0 : f > 1 ? most : (double)f * most);
	case SNORM: return (uint32_t)(int32_t)rint(!(f == f) ? 0 : f < -1 ? -top : f > 1 ? top : (double)f * top);
	default: return m->bits == 16 ? bits16(f) : x;
	}
}

static void load_element(const struct image *m, struct soft_wave *w, const struct soft_step *s, unsigned l, const uint8_t *p)
{
	unsigned n = s->result;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t x = 0;

		if (!(s->control >> i & 1))
			continue;
		if (p && m->from[i] >= 4 && m->from[i] - 4u < m->channels) {
			memcpy(&x, p + (m->from[i] - 4) * m->bits / 8, m->bits / 8);
			x = decode(m, x);
		} else if (p && m->from[i] == 1) {
			x = m->number == UINT || m->number == SINT ? 1 : bits32(1);
		}
		w->v[n++][l] = x;
	}
}

static void store_element(const struct image *m, const struct soft_wave *w, const struct soft_step *s, unsigned l, uint8_t *p)
{
	unsigned n = s->data;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t x;

		if (!(s->control >> i & 1))
			continue;
		x = encode(m, w->v[n++][l]);
		if (m->from[i] >= 4 && m->from[i] - 4u < m->channels)
			memcpy(p + (m->from[i] - 4) * m->bits / 8, &x, m->bits / 8);
	}
}

int soft_image(struct soft_wave *w, const struct soft_step *s)
{
	struct image m;
	const char *why = read_resource(&m, &w->s[s->base]);

	if (why)
		return soft_unsupported(w, why);
	for (uint64_t left = pair(w, REG_EXEC); left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint8_t *p = element(&m, w, s, l);

		if (s->op->kind == SOFT_KIND_LOAD)
			load_element(&m, w, s, l, p);
		else if (p)
			store_element(&m, w, s, l, p);
	}
	return 0;
}
