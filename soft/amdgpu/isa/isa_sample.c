/* SPDX-License-Identifier: MIT */
/* Sampled images (HIP's textures) and typed buffers (textures of linear memory, tex1Dfetch).
 *
 *   four SGPRs (the sampler) ─► struct image_sampler: coordinates beyond the image, the filter
 *   VGPRs: gradients (sample_d) x y z, level (sample_l) ─► positions ─► elements
 *   elements ─► one element, or a sum weighted with the distance ─► channels
 *
 * There is one level, so gradients and levels have no effect. A sampler whose filters for
 * magnification and minification differ is refused. Positions are rounded to 8 fractional bits, as
 * in hardware: device code relies on the rounding when it addresses elements as the quotient of
 * their number and the size. Sums are computed in double and rounded once. If the sampler does not
 * specify a depth filter, the filter for rows and columns applies. */
#include "soft/amdgpu/isa/isa_image.h"
#include "soft/amdgpu/isa/isa_numbers.h"

enum { WRAP, MIRROR, CLAMP, MIRROR_ONCE, BORDER = 6 };
enum { SAMPLE_D = 0x22, GATHER4 = 0x47 };
enum { OUTSIDE = -1 };

struct image_sampler {
	uint8_t mode[3];
	uint8_t linear, deep; /* interpolate: linear: in rows and columns; deep: between slices */
	/* true if coordinates are element numbers; false if they range from 0 to 1 */
	uint8_t counts;
	uint8_t border; /* 0: transparent black, 1: opaque black, 2: white */
};

/* Read the sampler. Return a message about an unsupported feature, or NULL. */
static const char *read_sampler(struct image_sampler *p, const uint32_t *r,
				const struct soft_image *m)
{
	unsigned near_filter = r[2] >> 20 & 3, far_filter = r[2] >> 22 & 3, deep = r[2] >> 24 & 3;

	for (unsigned i = 0; i < 3; i++) {
		p->mode[i] = r[0] >> 3 * i & 7;
		if (p->mode[i] > MIRROR_ONCE && p->mode[i] != BORDER)
			return "with a border of halves";
	}
	p->counts = r[0] >> 15 & 1;
	p->border = (uint8_t)(r[3] >> 30);
	if (near_filter > 1 || near_filter != far_filter || r[0] >> 29 & 3)
		return "with an unknown filter";
	if (r[0] >> 9 & 0x3f || r[0] >> 20 & 1 || p->border == 3)
		return "with anisotropy, a comparison, gamma or a custom border colour";
	p->linear = (uint8_t)near_filter;
	p->deep = m->type == IMAGE_3D && (deep ? deep == 2 : near_filter);
	if (p->linear && soft_element_is_integer(&m->element))
		return "with a linear filter on integers";
	return NULL;
}

/* Map a position into 0 to @size - 1, or return OUTSIDE. */
static int64_t inside(unsigned mode, int64_t i, int64_t size)
{
	int64_t m;

	switch (mode) {
	case WRAP: m = i % size; return m < 0 ? m + size : m;
	case MIRROR:
		m = i % (2 * size);
		m = m < 0 ? m + 2 * size : m;
		return m < size ? m : 2 * size - 1 - m;
	case MIRROR_ONCE: i = i < 0 ? -1 - i : i; return MIN(i, size - 1);
	case CLAMP: return MIN(MAX(i, 0), size - 1);
	default: return i >= 0 && i < size ? i : OUTSIDE;
	}
}

/* For one coordinate: the positions on both sides, and the weight of the second position. */
struct texel_span {
	int64_t at[2];
	double weight;
};

/* @half: interpolate between element centres. */
static void find_span(struct texel_span *s, const struct image_sampler *p, unsigned axis,
		      float coordinate, uint32_t size, int half)
{
	double x = p->counts ? coordinate : (double)coordinate * size, whole;

	if (!(fabs(x) < 0x1p40)) /* also true for NaN and infinities, which leave no fraction */
		x = x > 0 ? 0x1p40 : x < 0 ? -0x1p40 : 0;
	x = rint(x * 256) / 256 - (half ? 0.5 : 0);
	whole = floor(x);
	s->at[0] = inside(p->mode[axis], (int64_t)whole, size);
	s->at[1] = half ? inside(p->mode[axis], (int64_t)whole + 1, size) : s->at[0];
	s->weight = half ? x - whole : 0;
}

static void find_layer(struct texel_span *s, float coordinate, uint32_t layers)
{
	double x = rint(coordinate);

	s->at[0] = s->at[1] = !(x > 0) ? 0 : x >= layers ? layers - 1 : (int64_t)x;
	s->weight = 0;
}

/* Load register @i of the element at these three positions. */
static uint32_t load_texel(const struct soft_image *m, const struct image_sampler *p,
			   const int64_t at[3], unsigned i)
{
	unsigned from = m->element.from[i];

	if (at[0] == OUTSIDE || at[1] == OUTSIDE || at[2] == OUTSIDE) {
		int one = from == 1 ||
			  (from >= 4 && (p->border == 2 || (p->border == 1 && from == 7)));

		return !one ? 0 : soft_element_is_integer(&m->element) ? 1 : bits32(1);
	}
	return soft_element_get(&m->element,
				soft_image_element(m, (uint32_t)at[0], (uint32_t)at[1],
						   (uint32_t)at[2]),
				i);
}

static uint32_t filtered(const struct soft_image *m, const struct image_sampler *p,
			 const struct texel_span span[3], unsigned i)
{
	double sum = 0;

	if (!p->linear && !p->deep)
		return load_texel(m, p,
				  (const int64_t[3]){span[0].at[0], span[1].at[0], span[2].at[0]},
				  i);
	for (unsigned corner = 0; corner < 8; corner++) {
		int64_t at[3];
		double weight = 1;

		for (unsigned axis = 0; axis < 3; axis++) {
			at[axis] = span[axis].at[corner >> axis & 1];
			weight *= corner >> axis & 1 ? span[axis].weight : 1 - span[axis].weight;
		}
		if (weight != 0)
			sum += weight * float32(load_texel(m, p, at, i));
	}
	return bits32((float)sum);
}

/* Gather one channel of the four surrounding elements, counter-clockwise from the lower left. */
static void gather(struct soft_wave *w, const struct soft_step *s, unsigned l,
		   const struct soft_image *m, const struct image_sampler *p,
		   const struct texel_span span[3])
{
	static const uint8_t x[4] = {0, 1, 1, 0}, y[4] = {1, 1, 0, 0};
	unsigned channel = (unsigned)__builtin_ctz(s->control);

	for (unsigned i = 0; i < 4; i++)
		w->v[s->result + i][l] =
			load_texel(m, p,
				   (const int64_t[3]){span[0].at[x[i]], span[1].at[y[i]],
						      span[2].at[0]},
				   channel);
}

static void sample_lane(struct soft_wave *w, const struct soft_step *s, unsigned l,
			const struct soft_image *m, const struct image_sampler *p)
{
	unsigned axes = m->type == IMAGE_1D || m->type == IMAGE_1D_ARRAY ? 1
			: m->type == IMAGE_3D                            ? 3
									 : 2;
	const uint32_t size[3] = {m->width, m->height, m->depth};
	unsigned v = s->source[0] + (s->op->number == SAMPLE_D ? 2 * axes : 0), n = s->result;
	int gathers = s->op->number == GATHER4;
	struct texel_span span[3] = {{{0, 0}, 0}};

	for (unsigned i = 0; i < axes; i++)
		find_span(&span[i], p, i, float32(w->v[v + i][l]), size[i],
			  gathers || (i < 2 ? p->linear : p->deep));
	if (m->type == IMAGE_1D_ARRAY || m->type == IMAGE_2D_ARRAY)
		find_layer(&span[2], float32(w->v[v + axes][l]), m->depth);
	if (gathers) {
		gather(w, s, l, m, p, span);
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		if (s->control >> i & 1)
			w->v[n++][l] = filtered(m, p, span, i);
}

int soft_sample(struct soft_wave *w, const struct soft_step *s)
{
	struct soft_image m;
	struct image_sampler p;
	const char *why = soft_image_read(&m, &w->s[s->base]);

	if (!why)
		why = read_sampler(&p, &w->s[s->sampler], &m);
	if (!why && s->op->number == GATHER4 &&
	    (__builtin_popcount(s->control) != 1 ||
	     (m.type != IMAGE_2D && m.type != IMAGE_2D_ARRAY)))
		why = "of several channels or of an image that is not 2D";
	if (why)
		return soft_unsupported(w, why);
	for (uint64_t left = pair(w, REG_EXEC); left; left &= left - 1)
		sample_lane(w, s, (unsigned)__builtin_ctzll(left), &m, &p);
	return 0;
}

/* ---- typed buffers ---- */

/* Access a resource of four words: base, stride, total bytes, format. Beyond the total bytes, loads
 * return 0 and stores are ignored. Hardware counts elements in the third word, but ROCr sets it to
 * bytes. */
int soft_typed_buffer(struct soft_wave *w, const struct soft_step *s)
{
	const uint32_t *r = &w->s[s->base];
	unsigned first = s->source[0] >= REG_VECTOR ? s->source[0] - REG_VECTOR : 0,
		 channels = s->op->bytes / 4u;
	uint8_t *base = (uint8_t *)(uintptr_t)((r[0] | (uint64_t)(r[1] & 0xffff) << 32) &
					       (SOFT_ISA_ALIAS - 1));
	uint32_t stride = r[1] >> 16 & 0x3fff, wave_offset = source32(w, s, 1);
	struct soft_element e;
	const char *why = soft_element_read(&e, r[3] >> 15 & 15, r[3] >> 12 & 7, r[3] & 0xfff);
	unsigned bytes;

	if (!why && (r[1] >> 31 || r[3] >> 23 & 1 || r[3] >> 30))
		why = "of a swizzled buffer";
	if (why)
		return soft_unsupported(w, why);
	bytes = e.channels * e.bits / 8;
	for (uint64_t left = pair(w, REG_EXEC); left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint64_t index = s->control & 1 ? w->v[first][l] : 0;
		uint64_t offset = s->control & 2 ? w->v[(first + (s->control & 1)) & 255][l] : 0;
		uint64_t at = index * stride + offset + (uint32_t)s->offset + wave_offset;
		uint8_t *p = at + bytes <= r[2] ? base + at : NULL;

		for (unsigned i = 0; i < channels; i++) {
			if (s->op->kind == SOFT_KIND_LOAD)
				w->v[s->result + i][l] = soft_element_get(&e, p, i);
			else if (p)
				soft_element_put(&e, p, i, w->v[s->data + i][l]);
		}
	}
	return 0;
}
