/* SPDX-License-Identifier: MIT */
/* All 216 comparisons, and the classes of floats. Each condition is looked up in a table, indexed
 * by the relation of two values. */
#include "tests/soft/isa_test.h"

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
	const char *name;
	unsigned holds;
} conditions[] = {
	{"f", 0},
	{"lt", LESS},
	{"eq", EQUAL},
	{"le", LESS | EQUAL},
	{"gt", GREATER},
	{"lg", LESS | GREATER},
	{"ge", GREATER | EQUAL},
	{"o", LESS | EQUAL | GREATER},
	{"u", UNORDERED},
	{"nge", LESS | UNORDERED},
	{"nlg", EQUAL | UNORDERED},
	{"ngt", LESS | EQUAL | UNORDERED},
	{"nle", GREATER | UNORDERED},
	{"neq", LESS | GREATER | UNORDERED},
	{"nlt", GREATER | EQUAL | UNORDERED},
	{"tru", 15},
	{"ne", LESS | GREATER},
	{"t", 15},
};

static unsigned relation(const char *type, uint64_t x, uint64_t y)
{
	double f, g;

	if (type[0] == 'f') {
		f = type[1] == '1' ? H(x & 0xffff) : type[1] == '3' ? F(x) : D(x);
		g = type[1] == '1' ? H(y & 0xffff) : type[1] == '3' ? F(y) : D(y);
		return isnan(f) || isnan(g) ? UNORDERED : f < g ? LESS : f > g ? GREATER : EQUAL;
	}
	if (strcmp(type + 1, "64")) {
		/* shift to the top, so that all widths compare in the same way */
		unsigned up = type[1] == '1' ? 48 : 32;

		x <<= up;
		y <<= up;
	}
	if (type[0] == 'i') { /* with the sign bit inverted, signed values compare as unsigned */
		x ^= 1ull << 63;
		y ^= 1ull << 63;
	}
	return x < y ? LESS : x > y ? GREATER : EQUAL;
}

static unsigned class_bit(const char *type, uint64_t x)
{
	unsigned mantissa_bits = type[1] == '1'   ? 10
				 : type[1] == '3' ? 23
						  : 52,
		 bits = atoi(type + 1);
	uint64_t mantissa = x & ((1ull << mantissa_bits) - 1), negative = x >> (bits - 1) & 1;
	double f = type[1] == '1' ? H(x & 0xffff) : type[1] == '3' ? F(x) : D(x);

	if (isnan(f))
		return mantissa >> (mantissa_bits - 1) ? 1 : 0;
	if (isinf(f))
		return negative ? 2 : 9;
	if (f == 0)
		return negative ? 5 : 6;
	return (x >> mantissa_bits & ((1u << (bits - 1 - mantissa_bits)) - 1)) ? (negative ? 3 : 8)
									       : (negative ? 4 : 7);
}

/* Make lines of both operands. In all lanes, a line may be equal or close to the value in one lane
 * of the other operand. */
static void make_lines(void)
{
	unsigned a = isa_random() & 1 ? A : B, l = isa_random() & 63;

	isa_make_line(A, 1);
	isa_make_line(B, 1);
	if (isa_random() & 1) {
		uint64_t x = (bench.w.v[a][l] | (uint64_t)bench.w.v[a + 1][l] << 32) +
			     isa_random() % 5 - 2;

		for (l = 0; l < SOFT_LANES; l++) {
			bench.w.v[a ^ A ^ B][l] = (uint32_t)x;
			bench.w.v[(a ^ A ^ B) + 1][l] = (uint32_t)(x >> 32);
		}
	}
}

static int run(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	const char *type = c->types[1];
	int is_class = !strcmp(c->types[0], "class"), writes_exec = !strncmp(c->text, "v_cmpx", 6);
	unsigned at = strstr(c->text, "s[20:21]") ? MASK_OUT : REG_VCC, holds = (unsigned)c->line;
	uint64_t want = 0;

	(void)bytes;
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint64_t x = isa_value(type), y = is_class           ? isa_random() & 1023
						  : isa_random() & 3 ? isa_value(type)
								     : x;

		bench.w.v[A][l] = (uint32_t)x;
		bench.w.v[A + 1][l] = (uint32_t)(x >> 32);
		bench.w.v[B][l] = (uint32_t)y;
		bench.w.v[B + 1][l] = (uint32_t)(y >> 32);
	}
	if (!is_class && isa_random() & 1)
		make_lines();
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint64_t x = bench.w.v[A][l] | (uint64_t)bench.w.v[A + 1][l] << 32,
			 y = bench.w.v[B][l] | (uint64_t)bench.w.v[B + 1][l] << 32;

		if (is_class ? y >> class_bit(type, x) & 1 : relation(type, x, y) & holds)
			want |= 1ull << l;
	}
	want &= pair(&bench.w, REG_EXEC);
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (isa_pair(at) != want)
		return isa_complain(c, "mask", isa_pair(at), want,
				    (unsigned)__builtin_ctzll(isa_pair(at) ^ want));
	if (writes_exec && isa_pair(REG_EXEC) != want)
		return isa_complain(c, "EXEC", isa_pair(REG_EXEC), want, 0);
	return isa_others_kept(c, 0, 0, at, 2, 0, writes_exec);
}

static void add(const char *condition, const char *type, int line, int is_class)
{
	static const char *const prefixes[] = {"v_cmp", "v_cmpx"};
	int wide = strstr(type, "64") != NULL;

	for (unsigned p = 0; p < 2; p++)
		for (unsigned form = 0; form < 2; form++) {
			char *text;

			if (asprintf(&text, "%s_%s_%s_%s %s, %s, %s", prefixes[p], condition, type,
				     form ? "e64" : "e32", form ? "s[20:21]" : "vcc",
				     wide ? "v[2:3]" : "v2",
				     wide && !is_class ? "v[4:5]" : "v4") < 0)
				abort();
			isa_add((struct isa_case){
				text, run, line, {is_class ? "class" : "mask", type}});
		}
}

void isa_add_compare_cases(void)
{
	static const char *const types[] = {"f16", "f32", "f64", "i16", "u16",
					    "i32", "u32", "i64", "u64"};

	for (unsigned t = 0; t < sizeof(types) / sizeof(*types); t++)
		for (unsigned i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
			int of_floats = strchr("ou", conditions[i].name[0]) ||
					strstr(conditions[i].name, "lg") ||
					!strcmp(conditions[i].name, "tru") ||
					(conditions[i].name[0] == 'n' && conditions[i].name[2]);
			int of_integers = !strcmp(conditions[i].name, "ne") ||
					  !strcmp(conditions[i].name, "t");

			if (types[t][0] == 'f' ? !of_integers : !of_floats)
				add(conditions[i].name, types[t], (int)conditions[i].holds, 0);
		}
	for (unsigned t = 0; t < 3; t++)
		add("class", types[t], 0, 1);
}
