/* SPDX-License-Identifier: MIT */
/* Vector instructions, lane by lane. */
#include "tests/soft/isa_test.h"

/* Keep the upper half of the register. */
#define HIGH(x) (((uint64_t)((uint32_t)(x)&0xffff)) | (n->d & 0xffff0000))
/* Apply one expression to both halves of the operands. */
#define PACKED(expression)                                                   \
	n->r = 0;                                                            \
	for (unsigned i = 0; i < 2; i++) {                                   \
		uint32_t x = (uint32_t)(n->a >> 16 * i & 0xffff),            \
			 y = (uint32_t)(n->b >> 16 * i & 0xffff);            \
		uint32_t z = (uint32_t)(n->c >> 16 * i & 0xffff);            \
                                                                             \
		(void)z;                                                     \
		n->r |= (uint64_t)((uint32_t)(expression)&0xffff) << 16 * i; \
	}

static float flushed(float x)
{
	return isnormal(x) || !isfinite(x) ? x : copysignf(0, x);
}

/* Return the smaller value: a number rather than a NaN, -0 rather than 0. */
static double least(double x, double y)
{
	if (isnan(x))
		return y;
	if (isnan(y) || x < y)
		return x;
	return y < x ? y : signbit(x) ? x : y;
}

static double middle(double x, double y, double z)
{
	double t;

	if (isnan(x) || isnan(y) || isnan(z))
		return least(least(x, y), z);
#define LESS(p, q) ((p) < (q) || ((p) == (q) && signbit(p) && !signbit(q)))
#define ORDER(p, q)     \
	if (LESS(q, p)) \
		t = p, p = q, q = t;
	ORDER(x, y)
	ORDER(y, z)
	ORDER(x, y)
	return y;
}

static uint64_t bytes_chosen(uint64_t a, uint64_t b, uint64_t select)
{
	uint8_t from[8], r[4];

	memcpy(from, &b, 4);
	memcpy(from + 4, &a, 4);
	for (int i = 0; i < 4; i++) {
		uint8_t s = (uint8_t)(select >> 8 * i);

		if (s < 8)
			r[i] = from[s];
		else if (s < 12)
			r[i] = from[2 * (s - 8) + 1] & 0x80 ? 255 : 0;
		else
			r[i] = s == 12 ? 0 : 255;
	}
	return r[0] | (uint32_t)r[1] << 8 | (uint32_t)r[2] << 16 | (uint32_t)r[3] << 24;
}

/* Return the half-precision number with the largest absolute value not above that of x. */
static uint32_t half_down(float x)
{
	uint32_t h = 0, sign = signbit(x) ? 0x8000 : 0;

	if (isnan(x) || isinf(x))
		return HB(x);
	for (int bit = 14; bit >= 0; bit--)
		if ((h | 1u << bit) < 0x7c00 && H(h | 1u << bit) <= fabsf(x))
			h |= 1u << bit;
	return sign | h;
}

/* Compute 53 bits of 2/pi by bitwise division, from the first 1300 bits of pi in 32-bit digits
 * (Machin's formula). */
#define DIGITS 44
static void series(uint32_t *sum, uint32_t factor, uint32_t of)
{
	uint32_t term[DIGITS] = {factor}, part[DIGITS];
	int sign = 1;

#define DIVIDE(x, by)                                         \
	for (uint64_t i_ = 0, rest_ = 0; i_ < DIGITS; i_++) { \
		rest_ = rest_ << 32 | (x)[i_];                \
		(x)[i_] = (uint32_t)(rest_ / (by));           \
		rest_ %= (by);                                \
	}
	DIVIDE(term, of)
	for (uint32_t n = 1; n < 1300; n += 2, sign = -sign) {
		int64_t carry = 0;

		memcpy(part, term, sizeof(part));
		DIVIDE(part, n)
		for (int i = DIGITS - 1; i >= 0; i--) {
			carry += (int64_t)sum[i] + sign * (int64_t)part[i];
			sum[i] = (uint32_t)carry;
			carry >>= 32;
		}
		DIVIDE(term, of * of)
	}
}

static uint64_t two_over_pi(uint64_t x, uint32_t segment)
{
	static uint32_t pi[DIGITS];
	static uint8_t bits[1300];
	unsigned exponent = x >> 52 & 2047, at = (segment & 31) * 53;
	double r = 0;

	if (!pi[0]) {
		uint32_t rest[DIGITS] = {2}, quarter[DIGITS] = {0};

		series(pi, 16, 5);
		series(quarter, 4, 239);
		for (int64_t i = DIGITS - 1, carry = 0; i >= 0; i--) {
			carry += (int64_t)pi[i] - quarter[i];
			pi[i] = (uint32_t)carry;
			carry >>= 32;
		}
		for (int n = 0; n < 1300; n++) { /* long division: 2, 4, 8, ... by pi */
			int i = 0;

			for (int64_t k = DIGITS - 1, carry = 0; k >= 0; k--) {
				carry += 2 * (int64_t)rest[k];
				rest[k] = (uint32_t)carry;
				carry >>= 32;
			}
			while (i < DIGITS - 1 && rest[i] == pi[i])
				i++;
			bits[n] = rest[i] >= pi[i];
			for (int64_t k = DIGITS - 1, carry = 0; bits[n] && k >= 0; k--) {
				carry += (int64_t)rest[k] - pi[k];
				rest[k] = (uint32_t)carry;
				carry >>= 32;
			}
		}
	}
	if (exponent > 1077)
		at += exponent - 1077;
	for (int i = 0; i < 53; i++)
		if (at + (unsigned)i <= 1200 && bits[at + (unsigned)i])
			r += ldexp(1, 52 - i);
	return DB(ldexp(r, -53 - (int)at + (exponent >= 1968 ? 128 : 0)));
}

/* Constants of a format, which the division instructions depend on. */
struct format {
	int lowest, top, scale, far, tiny;
};
static const struct format single = {-126, 128, 64, 96, 23}, dual = {-1022, 1024, 128, 768, 53};

/* Return the biased exponent field. */
static int field(double x, const struct format *f)
{
	if (isnan(x) || isinf(x))
		return f->top - f->lowest + 1;
	return x == 0 || ilogb(x) < f->lowest ? 0 : ilogb(x) - f->lowest + 1;
}

static int too_small(long double x, const struct format *f)
{
	/* rounded to the format */
	long double r = f == &single ? (long double)(float)x : (long double)(double)x;

	return r != 0 && !isnan(r) && !isinf(r) && fabsl(r) < ldexpl(1, f->lowest);
}

static double div_scaled(double x, double y, double z, const struct format *f, uint32_t *out)
{
	int by = 0, is_y = DB(x) == DB(y), is_z = DB(x) == DB(z);
	int quotient =
		too_small(f == &single ? (long double)((float)z / (float)y) : (long double)(z / y),
			  f);
	int inverse =
		too_small(f == &single ? (long double)(1 / (float)y) : (long double)(1 / y), f);

	*out = 0;
	if (y == 0 || z == 0)
		return NAN;
	if (field(z, f) - field(y, f) >= f->far) {
		*out = 1;
		by = is_y;
	} else if (too_small(y, f)) {
		by = 1;
	} else if (inverse && quotient) { /* down: y is near the largest number */
		*out = 1;
		by = -is_y;
	} else if (inverse) {
		by = -1;
	} else if (quotient) {
		*out = 1;
		by = is_z;
	} else if (field(z, f) <= f->tiny) {
		by = 1;
	}
	return f == &single ? (double)ldexpf((float)x, by * f->scale) : ldexp(x, by * f->scale);
}

static double div_fixed(double x, double y, double z, int least_difference, const struct format *f)
{
	int negative = signbit(y) != signbit(z);
	double r;

	if (isnan(z) || isnan(y) || (z == 0 && y == 0) || (isinf(z) && isinf(y)))
		return NAN;
	if (y == 0 || isinf(z))
		r = INFINITY;
	else if (isinf(y) || z == 0)
		r = 0;
	else if (field(z, f) - field(y, f) < least_difference)
		r = 0;
	else
		/* an overflow, subtracted earlier */
		r = isnan(x) && least_difference > -5000 ? INFINITY : fabs(x);
	return negative ? -r : r;
}

/* Compute x * y + z in 113 bits, so that only the scaled result is rounded. */
static double scaled_sum(double x, double y, double z, int by)
{
	_Float128 sum = (_Float128)x * y;

	sum += z;
	for (; by < 0; by++)
		sum /= 2;
	for (; by > 0; by--)
		sum *= 2;
	return isfinite(fma(x, y, z)) ? (double)sum : fma(x, y, z);
}

static void expect(int line, struct lane *n)
{
	switch (line) {
#define V(text, result, a, b, c, code) \
	case __LINE__: {               \
		code;                  \
	} break;
#include "tests/soft/isa_vector_cases.inc"
#undef V
	}
}

static void set_lane(unsigned r, unsigned l, uint64_t x)
{
	bench.w.v[r][l] = (uint32_t)x;
	bench.w.v[r + 1][l] = (uint32_t)(x >> 32);
}

static uint64_t get_lane(const struct soft_wave *w, unsigned r, unsigned l)
{
	return w->v[r][l] | (uint64_t)w->v[r + 1][l] << 32;
}

static uint64_t value(const char *type)
{
	if (!strcmp(type, "2f16"))
		return (isa_value("f16") & 0xffff) | isa_value("f16") << 16;
	if (!strcmp(type, "e")) /* an exponent */
		return (isa_random() & 7) ? isa_random() % 80 - 40 : isa_value("i");
	return strcmp(type, "seg") ? isa_value(type) : isa_random() & 31;
}

/* "sin": within 2^-20, "sin16": within 2^-10, ignoring the sign of 0; "2f16": two halves. */
static int same(const char *type, uint64_t got, uint64_t want)
{
	if (!strcmp(type, "2f16"))
		return isa_same("f16", got & 0xffff, want & 0xffff) &&
		       isa_same("f16", got >> 16 & 0xffff, want >> 16 & 0xffff);
	if (!strcmp(type, "sin"))
		return (isnan(F(got)) && isnan(F(want))) || fabsf(F(got) - F(want)) <= 0x1p-20f;
	if (!strcmp(type, "sin16"))
		return (isnan(H((uint32_t)got)) && isnan(H((uint32_t)want))) ||
		       fabs(H((uint32_t)got) - H((uint32_t)want)) <= 0x1p-10;
	return isa_same(strcmp(type, "swap") ? type : "u32", got, want);
}

static int run(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	static const unsigned operands[3] = {A, B, C};
	int wide = strstr(c->types[0], "64") != NULL, swaps = !strcmp(c->types[0], "swap");
	int out = strstr(c->text, "s[20:21]")    ? MASK_OUT
		  : strstr(c->text, ", vcc, v2") ? REG_VCC
						 : -1;
	int scalar = strstr(c->text, " s12,") || strstr(c->text, " s[12:13],");
	unsigned in = strstr(c->text, "s[22:23]") ? MASK_IN : REG_VCC;
	uint64_t exec, mask = 0;

	(void)bytes;
	for (unsigned l = 0; l < SOFT_LANES; l++)
		for (unsigned i = 0; i < 3; i++)
			set_lane(operands[i], l, value(c->types[i + 1]));
	for (unsigned l = 0; l < SOFT_LANES; l++)
		set_lane(R, l, value(strstr(c->types[0], "f32") ? "f32" : "i"));
	for (unsigned i = 0, lines = isa_random() & 1 ? 15 : isa_random() & 15; i < 4; i++)
		if (lines >> i & 1)
			isa_make_line(i < 3 ? operands[i] : R, 1);
	if (isa_random() & 1) /* carry in: for all lanes, or for no lane */
		set_pair(&bench.w, in, isa_random() & 1 ? UINT64_MAX : 0);
	if (scalar)
		set_pair(&bench.w, SA, value(c->types[1]));
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	exec = isa_exec();
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		const struct soft_wave *b = &bench.before;
		struct lane n = {.a = scalar ? pair(b, SA) : get_lane(b, A, l),
				 .b = get_lane(b, B, l),
				 .c = get_lane(b, C, l),
				 .d = get_lane(b, R, l),
				 .k = pair(b, in) >> l & 1,
				 .l = l};
		uint64_t got = get_lane(&bench.w, R, l), full = wide ? UINT64_MAX : UINT32_MAX;

		expect(c->line, &n);
		if (!(exec >> l & 1)) {
			if ((got ^ n.d) & full)
				return isa_complain(c, "inactive lane", got & full, n.d & full, l);
			continue;
		}
		if (!same(c->types[0], got & full, n.r & full))
			return isa_complain(c, "result", got & full, n.r & full, l);
		if (swaps && bench.w.v[A][l] != (uint32_t)n.d)
			return isa_complain(c, "other result", bench.w.v[A][l], n.d, l);
		mask |= (uint64_t)(n.out & 1) << l;
	}
	if (out >= 0 && isa_pair((unsigned)out) != mask)
		return isa_complain(c, "mask", isa_pair((unsigned)out), mask, 0);
	if (swaps)
		return 0;
	return isa_others_kept(c, R, wide ? 2 : 1, out >= 0 ? (unsigned)out : 0, out >= 0 ? 2 : 0,
			       0, 0);
}

void isa_add_vector_cases(void)
{
#define V(text, result, a, b, c, code) \
	isa_add((struct isa_case){text, run, __LINE__, {result, a, b, c}});
#include "tests/soft/isa_vector_cases.inc"
#undef V
}
