/* SPDX-License-Identifier: MIT */
/* Images: loads and stores of every format and kind that is done, against an evaluation in bits and doubles. */
#include "tests/soft/isa_test.h"

enum { WIDTH = 9, HEIGHT = 5, DEPTH = 3, PITCH = 16, RESOURCE = 16, BYTES = 16 * PITCH * HEIGHT * DEPTH };

static const struct { unsigned code, channels, bits; } formats[] = {
	{ 1, 1, 8 }, { 2, 1, 16 }, { 3, 2, 8 }, { 4, 1, 32 }, { 5, 2, 16 }, { 10, 4, 8 }, { 11, 2, 32 }, { 12, 4, 16 }, { 14, 4, 32 },
};
enum { UNSIGNED_NORM, SIGNED_NORM, UNSIGNED = 4, SIGNED, FLOATING = 7 };
static const unsigned numbers[] = { UNSIGNED_NORM, SIGNED_NORM, UNSIGNED, SIGNED, FLOATING };
static const unsigned kinds[] = { 8, 9, 10, 12, 13 }; /* 1D 2D 3D, arrays of 1D and 2D */

static struct image { /* of one step */
	unsigned format, number, kind, select[4];
	uint8_t *base;
} image;
static uint8_t model[BYTES];

static void choose_image(void)
{
	do {
		image.format = (unsigned)(isa_random() % (sizeof(formats) / sizeof(*formats)));
		image.number = numbers[isa_random() % 5];
	} while ((image.number <= SIGNED_NORM && formats[image.format].bits == 32) || (image.number == FLOATING && formats[image.format].bits == 8));
	image.kind = kinds[isa_random() % 5];
	for (unsigned i = 0; i < 4; i++) /* channels in order, the others 0 and 1; or red and blue exchanged */
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
	r[3] = image.select[0] | image.select[1] << 3 | image.select[2] << 6 | image.select[3] << 9 | image.kind << 28;
	r[4] = (DEPTH - 1) | (PITCH - 1) << 13;
	r[5] = r[6] = r[7] = 0;
}

/* Random coordinates, some outside. Return: the place of the element in the image's bytes, or -1. */
static int place(unsigned l)
{
	uint32_t x = (uint32_t)(isa_random() % (WIDTH + 2)), y = (uint32_t)(isa_random() % (HEIGHT + 1)), z = (uint32_t)(isa_random() % (DEPTH + 1));
	uint32_t *second = &bench.w.v[A + 1][l], *third = &bench.w.v[A + 2][l];

	bench.w.v[A][l] = x;
	*second = *third = 0xdeadbeef; /* what is no coordinate is not looked at */
	switch (image.kind) {
	case 8: y = z = 0; break;
	case 9: *second = y; z = 0; break;
	case 12: *second = z; y = 0; break;
	default: *second = y, *third = z;
	}
	if (x >= WIDTH || y >= HEIGHT || z >= DEPTH)
		return -1;
	y += z * (image.kind == 12 ? 1 : HEIGHT);
	return (int)((y * PITCH + x) * formats[image.format].channels * formats[image.format].bits / 8);
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
	case SIGNED_NORM: return isnan(f) ? 0 : (uint32_t)(int32_t)nearbyint(fmin(fmax(f, -1), 1) * (all / 2 - 1));
	case SIGNED: return (uint32_t)(int32_t)fmin(fmax(s, -all / 2), all / 2 - 1);
	case FLOATING: return bits == 16 ? isa_to_half(f) : x;
	default: return x > all - 1 ? (uint32_t)(all - 1) : x;
	}
}

static int run_image(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned mask = (unsigned)c->line & 15, stores_it = c->line >> 4 & 1, first = stores_it ? C + 2 : R;
	uint64_t exec = pair(&bench.w, REG_EXEC);
	int at[SOFT_LANES];

	(void)bytes;
	choose_image();
	put_resource();
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		at[l] = place(l);
		for (unsigned i = 0; i < 4; i++) /* floats between -2 and 2, small and big integers */
			if (stores_it)
				bench.w.v[first + i][l] = image.number < UNSIGNED || image.number == FLOATING
					? FB((float)((double)(isa_random() % 4001) / 1000 - 2)) : (uint32_t)(isa_random() >> 13) >> (isa_random() & 31);
	}
	for (unsigned l = 0; l < SOFT_LANES && stores_it; l++)
		for (unsigned i = 0, n = first; i < 4; i++) {
			unsigned bits = formats[image.format].bits;
			uint32_t x;

			if (!(mask >> i & 1))
				continue;
			x = stored(bench.w.v[n++][l], bits);
			if (exec >> l & 1 && at[l] >= 0 && image.select[i] >= 4)
				memcpy(model + at[l] + (image.select[i] - 4) * bits / 8, &x, bits / 8);
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
				memcpy(&want, model + at[l] + (image.select[i] - 4) * bits / 8, bits / 8);
				want = loaded(want, bits);
			} else if (at[l] >= 0 && image.select[i] == 1) {
				want = image.number == UNSIGNED || image.number == SIGNED ? 1 : FB(1.0f);
			}
			if (!(exec >> l & 1))
				want = bench.before.v[n][l];
			if (bench.w.v[n][l] != want && !(image.number == FLOATING && isnan(F(want)) && isnan(F(bench.w.v[n][l]))))
				return isa_complain(c, "channel", bench.w.v[n][l], want, l);
			n++;
		}
	if (memcmp(image.base, model, BYTES))
		return isa_complain(c, "image", 1, 0, 0);
	return isa_others_kept(c, R, stores_it ? 0 : (unsigned)__builtin_popcount(mask), 0, 0, 0, 0);
}

void isa_add_image_cases(void)
{
#define CASE(text, line) isa_add((struct isa_case){ text, run_image, line, { 0 } });
	CASE("image_load v[8:11], v[2:4], s[16:23] dmask:0xf unorm", 15)
	CASE("image_load v[8:11], v[2:4], s[16:23] dmask:0xf unorm glc slc da", 15)
	CASE("image_load v[8:9], v[2:4], s[16:23] dmask:0x9 unorm", 9)
	CASE("image_load v8, v[2:4], s[16:23] dmask:0x2 unorm da", 2)
	CASE("image_store v[8:11], v[2:4], s[16:23] dmask:0xf unorm", 16 + 15)
	CASE("image_store v[8:11], v[2:4], s[16:23] dmask:0xf unorm da", 16 + 15)
	CASE("image_store v[8:9], v[2:4], s[16:23] dmask:0x6 unorm", 16 + 6)
	CASE("image_store v8, v[2:4], s[16:23] dmask:0x1 unorm da", 16 + 1)
#undef CASE
}
