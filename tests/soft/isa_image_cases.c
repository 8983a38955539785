/* SPDX-License-Identifier: MIT */
/* Images and typed buffers: loads, stores and samples in every supported format and kind, compared
 * with an evaluation in bits and doubles. */
#include "tests/soft/isa_test.h"

enum {
	WIDTH = 9,
	HEIGHT = 5,
	DEPTH = 3,
	PITCH = 16,
	RESOURCE = 16,
	BYTES = 16 * PITCH * HEIGHT * DEPTH
};

static const struct {
	unsigned code, channels, bits;
} formats[] = {
	{1, 1, 8},  {2, 1, 16},  {3, 2, 8},   {4, 1, 32},  {5, 2, 16},
	{10, 4, 8}, {11, 2, 32}, {12, 4, 16}, {14, 4, 32},
};
enum { UNSIGNED_NORM, SIGNED_NORM, UNSIGNED = 4, SIGNED, FLOATING = 7 };
static const unsigned numbers[] = {UNSIGNED_NORM, SIGNED_NORM, UNSIGNED, SIGNED, FLOATING};
static const unsigned kinds[] = {8, 9, 10, 12, 13}; /* 1D 2D 3D, arrays of 1D and 2D images */

static struct image { /* image of the current step */
	unsigned format, number, kind, select[4];
	uint8_t *base;
} image;
static uint8_t model[BYTES];

static void choose_image(void)
{
	do {
		image.format = (unsigned)(isa_random() % (sizeof(formats) / sizeof(*formats)));
		image.number = numbers[isa_random() % 5];
	} while ((image.number <= SIGNED_NORM && formats[image.format].bits == 32) ||
		 (image.number == FLOATING && formats[image.format].bits == 8));
	image.kind = kinds[isa_random() % 5];
	/* channels in order, with 0 and 1 for missing channels; or red and blue exchanged */
	for (unsigned i = 0; i < 4; i++)
		image.select[i] = i < formats[image.format].channels ? 4 + i : i == 3;
	if (formats[image.format].channels == 4 && isa_random() & 1)
		image.select[0] = 6, image.select[2] = 4;
	image.base = (uint8_t *)(((uintptr_t)bench.memory + 255) & ~(uintptr_t)255);
	for (unsigned i = 0; i < BYTES; i++)
		model[i] = image.base[i] = (uint8_t)(isa_random() >> 7);
}

static void put_resource(void)
{
	uint32_t *r = &bench.w.s[RESOURCE];
	uint64_t base = (uint64_t)(uintptr_t)image.base >> 8;

	r[0] = (uint32_t)base;
	r[1] = (uint32_t)(base >> 32) | formats[image.format].code << 20 | image.number << 26;
	r[2] = (WIDTH - 1) | (HEIGHT - 1) << 14;
	r[3] = image.select[0] | image.select[1] << 3 | image.select[2] << 6 |
	       image.select[3] << 9 | image.kind << 28;
	r[4] = (DEPTH - 1) | (PITCH - 1) << 13;
	r[5] = r[6] = r[7] = 0;
}

/* Choose random coordinates, some of them outside. Return the position of the element in the
 * image's bytes, or -1. */
static int place(unsigned l)
{
	uint32_t x = (uint32_t)(isa_random() % (WIDTH + 2)),
		 y = (uint32_t)(isa_random() % (HEIGHT + 1)),
		 z = (uint32_t)(isa_random() % (DEPTH + 1));
	uint32_t *second = &bench.w.v[A + 1][l], *third = &bench.w.v[A + 2][l];

	bench.w.v[A][l] = x;
	*second = *third = 0xdeadbeef; /* unused coordinates must not be read */
	switch (image.kind) {
	case 8: y = z = 0; break;
	case 9:
		*second = y;
		z = 0;
		break;
	case 12:
		*second = z;
		y = 0;
		break;
	default: *second = y, *third = z;
	}
	if (x >= WIDTH || y >= HEIGHT || z >= DEPTH)
		return -1;
	y += z * (image.kind == 12 ? 1 : HEIGHT);
	return (int)((y * PITCH + x) * formats[image.format].channels * formats[image.format].bits /
		     8);
}

static uint32_t loaded(uint32_t bits_of, unsigned bits)
{
	double all = ldexp(1, (int)bits), x = bits_of, s = x >= all / 2 ? x - all : x;

	switch (image.number) {
	case UNSIGNED_NORM: return FB((float)(x / (all - 1)));
	case SIGNED_NORM: return FB((float)fmax(s / (all / 2 - 1), -1));
	case SIGNED: return (uint32_t)(int32_t)s;
	case FLOATING: return bits == 16 ? FB((float)isa_from_half(bits_of)) : bits_of;
	default: return bits_of;
	}
}

static uint32_t stored(uint32_t x, unsigned bits)
{
	double all = ldexp(1, (int)bits), f = F(x), s = (int32_t)x;

	switch (image.number) {
	case UNSIGNED_NORM: return (uint32_t)nearbyint(fmin(fmax(f, 0), 1) * (all - 1));
	case SIGNED_NORM:
		return isnan(f)
			       ? 0
			       : (uint32_t)(int32_t)nearbyint(fmin(fmax(f, -1), 1) * (all / 2 - 1));
	case SIGNED: return (uint32_t)(int32_t)fmin(fmax(s, -all / 2), all / 2 - 1);
	case FLOATING: return bits == 16 ? isa_to_half(f) : x;
	default: return x > all - 1 ? (uint32_t)(all - 1) : x;
	}
}

/* Floats between -2 and 2, small and big integers. */
static uint32_t number_to_store(void)
{
	if (image.number < UNSIGNED || image.number == FLOATING)
		return FB((float)((double)(isa_random() % 4001) / 1000 - 2));
	return (uint32_t)(isa_random() >> 13) >> (isa_random() & 31);
}

static int run_image(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned mask = (unsigned)c->line & 15, stores_it = c->line >> 4 & 1,
		 first = stores_it ? C + 2 : R;
	uint64_t exec = pair(&bench.w, REG_EXEC);
	int at[SOFT_LANES];

	(void)bytes;
	choose_image();
	put_resource();
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		at[l] = place(l);
		for (unsigned i = 0; i < 4; i++)
			if (stores_it)
				bench.w.v[first + i][l] = number_to_store();
	}
	for (unsigned l = 0; l < SOFT_LANES && stores_it; l++)
		for (unsigned i = 0, n = first; i < 4; i++) {
			unsigned bits = formats[image.format].bits;
			uint32_t x;

			if (!(mask >> i & 1))
				continue;
			x = stored(bench.w.v[n++][l], bits);
			if (exec >> l & 1 && at[l] >= 0 && image.select[i] >= 4)
				memcpy(model + at[l] + (image.select[i] - 4) * bits / 8, &x,
				       bits / 8);
		}
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES && !stores_it; l++)
		for (unsigned i = 0, n = R; i < 4; i++) {
			unsigned bits = formats[image.format].bits;
			uint32_t want = 0;

			if (!(mask >> i & 1))
				continue;
			if (at[l] >= 0 && image.select[i] >= 4) {
				memcpy(&want, model + at[l] + (image.select[i] - 4) * bits / 8,
				       bits / 8);
				want = loaded(want, bits);
			} else if (at[l] >= 0 && image.select[i] == 1) {
				want = image.number == UNSIGNED || image.number == SIGNED
					       ? 1
					       : FB(1.0f);
			}
			if (!(exec >> l & 1))
				want = bench.before.v[n][l];
			if (bench.w.v[n][l] != want &&
			    !(image.number == FLOATING && isnan(F(want)) &&
			      isnan(F(bench.w.v[n][l]))))
				return isa_complain(c, "channel", bench.w.v[n][l], want, l);
			n++;
		}
	if (memcmp(image.base, model, BYTES))
		return isa_complain(c, "image", 1, 0, 0);
	return isa_others_kept(c, R, stores_it ? 0 : (unsigned)__builtin_popcount(mask), 0, 0, 0,
			       0);
}

/* ---- sizes, levels ---- */

static int run_sizes(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned mask = (unsigned)c->line;
	uint64_t exec = pair(&bench.w, REG_EXEC);

	(void)bytes;
	choose_image();
	put_resource();
	for (unsigned l = 0; l < SOFT_LANES; l++)
		bench.w.v[A][l] = isa_random() & 1 ? 0 : (uint32_t)(isa_random() & 3);
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++)
		for (unsigned i = 0, n = R; i < 4; i++) {
			int flat = image.kind == 8, layers = image.kind == 12;
			uint32_t size[4] = {WIDTH,
					    flat     ? 1
					    : layers ? DEPTH
						     : HEIGHT,
					    flat || layers || image.kind == 9 ? 1 : DEPTH, 1},
				 want;

			if (!(mask >> i & 1))
				continue;
			want = bench.before.v[A][l] && i < 3 ? 0 : size[i];
			if (!(exec >> l & 1))
				want = bench.before.v[n][l];
			if (bench.w.v[n][l] != want)
				return isa_complain(c, "size", bench.w.v[n][l], want, l);
			n++;
		}
	return isa_others_kept(c, R, (unsigned)__builtin_popcount(mask), 0, 0, 0, 0);
}

/* Like run_image(), with the level after the coordinates. */
static int run_level(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned stores = c->line >> 4 & 1, coordinates;
	int at[SOFT_LANES];

	(void)bytes;
	choose_image();
	put_resource();
	coordinates = image.kind == 8 ? 1 : image.kind == 9 || image.kind == 12 ? 2 : 3;
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		at[l] = place(l);
		bench.w.v[R][l] = number_to_store();
		bench.w.v[A + coordinates][l] = (uint32_t)(isa_random() & 1);
	}
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		const struct soft_wave *b = &bench.before;
		unsigned bits = formats[image.format].bits;
		int there = at[l] >= 0 && !b->v[A + coordinates][l] && image.select[0] >= 4;
		uint8_t *channel = (stores ? model : image.base) + at[l] +
				   (there ? (image.select[0] - 4) * bits / 8 : 0);
		uint32_t x = 0;

		if (!(b->s[REG_EXEC + l / 32] >> l % 32 & 1))
			continue;
		if (stores) {
			x = stored(b->v[R][l], bits);
			if (there)
				memcpy(channel, &x, bits / 8);
			continue;
		}
		if (there) {
			memcpy(&x, channel, bits / 8);
			x = loaded(x, bits);
		}
		if (bench.w.v[R][l] != x && !(image.number == FLOATING && isnan(F(x))))
			return isa_complain(c, "channel", bench.w.v[R][l], x, l);
	}
	if (memcmp(image.base, model, BYTES))
		return isa_complain(c, "image", 1, 0, 0);
	return isa_others_kept(c, R, stores ? 0 : 1, 0, 0, 0, 0);
}

/* ---- samples ---- */

enum { SAMPLER = 12, COORDINATES = 16 };
enum { REPEAT, REFLECT, LAST, REFLECT_ONCE, AROUND = 6 };

static struct {
	unsigned mode[3], linear, deep, counts, border;
} sampler;

/* Fill the image with numbers of similar magnitude, so that weighted sums stay accurate. */
static void fill_with_numbers(void)
{
	unsigned bits = formats[image.format].bits;

	for (unsigned i = 0; i < BYTES; i += bits / 8) {
		float f = (float)((double)(isa_random() % 2000001) / 1000 - 1000);
		uint32_t x = bits == 32 ? FB(f) : bits == 16 ? isa_to_half(f) : 0;

		if (image.number == FLOATING)
			memcpy(image.base + i, &x, bits / 8);
	}
	memcpy(model, image.base, BYTES);
}

static void choose_sampler(void)
{
	static const unsigned modes[] = {REPEAT, REFLECT, LAST, REFLECT_ONCE, AROUND};
	uint32_t *r = &bench.w.s[SAMPLER];

	for (unsigned i = 0; i < 3; i++)
		sampler.mode[i] = modes[isa_random() % 5];
	sampler.linear = image.number != UNSIGNED && image.number != SIGNED && isa_random() & 1;
	/* interpolate between slices: as in rows and columns, never, always */
	sampler.deep = (unsigned)(isa_random() % 3);
	if (sampler.deep == 2 && !sampler.linear)
		sampler.deep = 0;
	sampler.counts = isa_random() & 1;
	sampler.border = (unsigned)(isa_random() % 3);
	r[0] = sampler.mode[0] | sampler.mode[1] << 3 | sampler.mode[2] << 6 | sampler.counts << 15;
	r[1] = 4095 << 12;
	r[2] = sampler.linear << 20 | sampler.linear << 22 | sampler.deep << 24;
	r[3] = sampler.border << 30;
}

/* Step to the coordinate one reflection or repetition at a time. */
static int walk(unsigned mode, double at, int size)
{
	for (;;) {
		if (at >= 0 && at < size)
			return (int)at;
		switch (mode) {
		case REPEAT: at += at < 0 ? size : -size; break;
		case REFLECT: at = at < 0 ? -1 - at : 2 * size - 1 - at; break;
		case REFLECT_ONCE: at = at < 0 ? fmin(-1 - at, size - 1) : size - 1; break;
		case LAST: return at < 0 ? 0 : size - 1;
		default: return -1;
		}
	}
}

static uint32_t texel_at(const double at[3], unsigned i)
{
	static const int size[3] = {WIDTH, HEIGHT, DEPTH};
	unsigned bits = formats[image.format].bits, from = image.select[i];
	int k[3], integer = image.number == UNSIGNED || image.number == SIGNED,
		  layers = image.kind == 12 || image.kind == 13;
	uint32_t x = 0, one = integer ? 1 : FB(1.0f);

	for (unsigned n = 0; n < 3; n++)
		k[n] = walk(layers && n == 2 ? LAST : sampler.mode[n], at[n], size[n]);
	if (from == 1)
		return one;
	if (from < 4)
		return 0;
	if (k[0] < 0 || k[1] < 0 || k[2] < 0)
		return sampler.border == 2 || (sampler.border == 1 && from == 7) ? one : 0;
	memcpy(&x,
	       model + (((k[2] * (image.kind == 12 ? 1 : HEIGHT) + k[1]) * PITCH + k[0]) *
				(int)formats[image.format].channels +
			(int)from - 4) *
			       (int)bits / 8,
	       bits / 8);
	return loaded(x, bits);
}

/* Interpolate between neighbours, first along one coordinate, then along the next. */
static double between(double at[3], const int half[3], unsigned axis, unsigned i)
{
	double whole, low, high, t;

	if (axis == 3)
		return F(texel_at(at, i));
	if (!half[axis])
		return between(at, half, axis + 1, i);
	t = at[axis];
	whole = floor(t);
	at[axis] = whole;
	low = t == whole + 1 ? 0 : between(at, half, axis + 1, i);
	at[axis] = whole + 1;
	high = t == whole ? 0 : between(at, half, axis + 1, i);
	at[axis] = t;
	return low + (high - low) * (t - whole);
}

static double random_coordinate(int size)
{
	double x = (double)(isa_random() % 8001) / 1000 - 4;

	if (isa_random() & 3)
		/* quarters of an element */
		x = (double)((int)(isa_random() % (unsigned)(6 * 4 * size)) - 3 * 4 * size) /
		    (4.0 * size);
	return sampler.counts ? (float)(x * size) : (float)x;
}

static int run_sample(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	static const int size[3] = {WIDTH, HEIGHT, DEPTH};
	unsigned mask = (unsigned)c->line & 15, gathers = c->line >> 4 & 1,
		 gradients = c->line >> 5 & 1, axes, registers;
	uint64_t exec = pair(&bench.w, REG_EXEC);

	(void)bytes;
	do
		choose_image();
	while (gathers && image.kind != 9 && image.kind != 13);
	fill_with_numbers();
	put_resource();
	choose_sampler();
	axes = image.kind == 8 || image.kind == 12 ? 1 : image.kind == 10 ? 3 : 2;
	registers = gathers ? 4 : (unsigned)__builtin_popcount(mask);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		unsigned v = COORDINATES + (gradients ? 2 * axes : 0);

		for (unsigned i = 0; i < axes; i++)
			bench.w.v[v + i][l] = FB((float)random_coordinate(size[i]));
		/* a layer, a level, or not used */
		bench.w.v[v + axes][l] = FB((float)((int)(isa_random() % 24) - 6) / 4);
	}
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		const struct soft_wave *b = &bench.before;
		unsigned v = COORDINATES + (gradients ? 2 * axes : 0), n = R;
		double at[3] = {0};
		int half[3] = {0};

		for (unsigned i = 0; i < axes; i++) {
			half[i] = gathers || (i < 2          ? sampler.linear
					      : sampler.deep ? sampler.deep == 2
							     : sampler.linear);
			at[i] = F(b->v[v + i][l]) * (sampler.counts ? 1.0 : size[i]);
			at[i] = nearbyint(at[i] * 256) / 256;
			at[i] = half[i] ? at[i] - 0.5 : floor(at[i]);
		}
		if (image.kind == 12 || image.kind == 13)
			at[2] = nearbyint(F(b->v[v + axes][l]));
		for (unsigned i = 0; i < 4; i++) {
			double corner[3] = {floor(at[0]) + (i == 1 || i == 2),
					    floor(at[1]) + (i < 2), at[2]};
			uint32_t got = bench.w.v[n][l], want;

			if (!gathers && !(mask >> i & 1))
				continue;
			if (!(exec >> l & 1)) {
				if (got != b->v[n][l])
					return isa_complain(c, "inactive lane", got, b->v[n][l], l);
			} else if (gathers || !(half[0] || half[1] || half[2])) {
				want = gathers ? texel_at(corner, (unsigned)__builtin_ctz(mask))
					       : texel_at(at, i);
				if (got != want)
					return isa_complain(c, "texel", got, want, l);
			} else {
				double x = between(at, half, 0, i);

				if (!(fabs(F(got) - x) <= 2e-4 * fmin(1, 1e-3 + fabs(x)) + 1e-7))
					return isa_complain(c, "filtered texel", got, FB((float)x),
							    l);
			}
			n++;
		}
	}
	return isa_others_kept(c, R, registers, 0, 0, 0, 0);
}

/* ---- typed buffers ---- */

static int run_typed(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned count = (unsigned)c->line & 7, stores = c->line >> 4 & 1,
		 lanes_index = c->line >> 5 & 1, lanes_offset = c->line >> 6 & 1, fixed, size;
	unsigned bits, records = (unsigned)(isa_random() % 40) + 1,
		       wave = strstr(c->text, "s12") ? 8 * (unsigned)(isa_random() & 3) : 0;
	uint64_t exec = pair(&bench.w, REG_EXEC), base;
	uint32_t *r = &bench.w.s[RESOURCE];

	(void)bytes;
	choose_image();
	bits = formats[image.format].bits;
	size = formats[image.format].channels * bits / 8;
	fixed = strstr(c->text, "offset:24") ? 24 : 0;
	base = (uint64_t)(uintptr_t)image.base;
	r[0] = (uint32_t)base;
	r[1] = (uint32_t)(base >> 32) | size << 16;
	r[2] = records * size;
	r[3] = image.select[0] | image.select[1] << 3 | image.select[2] << 6 |
	       image.select[3] << 9 | image.number << 12 | formats[image.format].code << 15;
	bench.w.s[SAMPLER] = wave;
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		bench.w.v[A][l] = (uint32_t)(isa_random() % 48) * (lanes_index ? 1 : size);
		bench.w.v[A + 1][l] = (uint32_t)(isa_random() % 4) * size;
		for (unsigned i = 0; i < 4; i++)
			bench.w.v[R + i][l] = number_to_store();
	}
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		const struct soft_wave *b = &bench.before;
		unsigned at = fixed + wave + (lanes_index ? b->v[A][l] * size : 0) +
			      (lanes_offset ? b->v[A + lanes_index][l] : 0);

		for (unsigned i = 0; i < count; i++) {
			unsigned from = image.select[i];
			int there = at + size <= records * size && from >= 4;
			uint32_t x = 0;

			if (stores) {
				x = stored(b->v[R + i][l], bits);
				if (there && exec >> l & 1)
					memcpy(model + at + (from - 4) * bits / 8, &x, bits / 8);
				continue;
			}
			if (there) {
				memcpy(&x, model + at + (from - 4) * bits / 8, bits / 8);
				x = loaded(x, bits);
			} else if (from == 1 && at + size <= records * size) {
				x = image.number == UNSIGNED || image.number == SIGNED ? 1
										       : FB(1.0f);
			}
			if (!(exec >> l & 1))
				x = b->v[R + i][l];
			if (bench.w.v[R + i][l] != x && !(image.number == FLOATING && isnan(F(x))))
				return isa_complain(c, "channel", bench.w.v[R + i][l], x, l);
		}
	}
	if (memcmp(image.base, model, BYTES))
		return isa_complain(c, "buffer", 1, 0, 0);
	return isa_others_kept(c, R, stores ? 0 : count, 0, 0, 0, 0);
}

static void add_sample_cases(void)
{
#define CASE(text, line) isa_add((struct isa_case){text, run_sample, line, {0}});
	CASE("image_sample_lz v[8:11], v[16:18], s[16:23], s[12:15] dmask:0xf", 15)
	CASE("image_sample_lz v[8:11], v[16:18], s[16:23], s[12:15] dmask:0xf glc slc da", 15)
	CASE("image_sample_lz v[8:9], v[16:18], s[16:23], s[12:15] dmask:0x9", 9)
	CASE("image_sample_lz v8, v[16:18], s[16:23], s[12:15] dmask:0x4 da", 4)
	CASE("image_sample_l v[8:11], v[16:19], s[16:23], s[12:15] dmask:0xf", 15)
	CASE("image_sample_l v8, v[16:19], s[16:23], s[12:15] dmask:0x1 da", 1)
	CASE("image_sample_d v[8:11], v[16:31], s[16:23], s[12:15] dmask:0xf", 32 + 15)
	CASE("image_sample_d v[8:9], v[16:31], s[16:23], s[12:15] dmask:0x6 da", 32 + 6)
	CASE("image_gather4_lz v[8:11], v[16:18], s[16:23], s[12:15] dmask:0x1", 16 + 1)
	CASE("image_gather4_lz v[8:11], v[16:18], s[16:23], s[12:15] dmask:0x8 da", 16 + 8)
#undef CASE
#define CASE(text, line) isa_add((struct isa_case){text, run_typed, line, {0}});
	CASE("buffer_load_format_x v8, v2, s[16:19], 0 idxen", 32 + 1)
	CASE("buffer_load_format_xy v[8:9], v2, s[16:19], s12 idxen", 32 + 2)
	CASE("buffer_load_format_xyz v[8:10], v2, s[16:19], 0 offen", 64 + 3)
	CASE("buffer_load_format_xyzw v[8:11], v[2:3], s[16:19], 0 idxen offen offset:24", 96 + 4)
	CASE("buffer_load_format_xyzw v[8:11], off, s[16:19], s12 offset:24", 4)
	CASE("buffer_store_format_x v8, v2, s[16:19], 0 idxen", 16 + 32 + 1)
	CASE("buffer_store_format_xy v[8:9], v2, s[16:19], s12 offen", 16 + 64 + 2)
	CASE("buffer_store_format_xyz v[8:10], v[2:3], s[16:19], 0 idxen offen", 16 + 96 + 3)
	CASE("buffer_store_format_xyzw v[8:11], v2, s[16:19], 0 idxen glc", 16 + 32 + 4)
#undef CASE
}

void isa_add_image_cases(void)
{
#define CASE(text, line) isa_add((struct isa_case){text, run_image, line, {0}});
	CASE("image_load v[8:11], v[2:4], s[16:23] dmask:0xf unorm", 15)
	CASE("image_load v[8:11], v[2:4], s[16:23] dmask:0xf unorm glc slc da", 15)
	CASE("image_load v[8:9], v[2:4], s[16:23] dmask:0x9 unorm", 9)
	CASE("image_load v8, v[2:4], s[16:23] dmask:0x2 unorm da", 2)
	CASE("image_store v[8:11], v[2:4], s[16:23] dmask:0xf unorm", 16 + 15)
	CASE("image_store v[8:11], v[2:4], s[16:23] dmask:0xf unorm da", 16 + 15)
	CASE("image_store v[8:9], v[2:4], s[16:23] dmask:0x6 unorm", 16 + 6)
	CASE("image_store v8, v[2:4], s[16:23] dmask:0x1 unorm da", 16 + 1)
#undef CASE
	isa_add((struct isa_case){
		"image_load_mip v8, v[2:5], s[16:23] dmask:0x1 unorm", run_level, 1, {0}});
	isa_add((struct isa_case){
		"image_store_mip v8, v[2:5], s[16:23] dmask:0x1 unorm", run_level, 16 + 1, {0}});
	isa_add((struct isa_case){
		"image_get_resinfo v[8:11], v2, s[16:23] dmask:0xf unorm", run_sizes, 15, {0}});
	isa_add((struct isa_case){
		"image_get_resinfo v[8:9], v2, s[16:23] dmask:0x6 unorm da", run_sizes, 6, {0}});
	add_sample_cases();
}
