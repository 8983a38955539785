/* SPDX-License-Identifier: MIT */
/* Runs the cases that isa_test.h describes.
 *
 * usage: isa_cases --texts                 print the instructions, one per line, for an assembler
 *        isa_cases --claimed | --tested    print names, in the order of the table
 *        isa_cases FILE [PREFIX]           FILE contains the words of each line as hex bytes;
 *                                          PREFIX: only cases whose text begins with PREFIX */
#include "tests/soft/isa_test.h"

#include <ctype.h>

#define ROUNDS      64
/* for instructions that also have a form for lines, for which all operands must be lines */
#define LINE_ROUNDS 1500

struct bench bench;
static struct isa_case *cases;
static size_t case_count;

const struct soft_isa_gpu *soft_isa_gpu(const struct soft_wave *w)
{
	(void)w;
	return &bench.gpu;
}

void soft_grid_barrier_set(struct soft_wave *w, uint32_t more)
{
	(void)w;
	bench.grid_barrier = more;
}

int soft_grid_barrier(struct soft_wave *w, uint32_t next)
{
	soft_grid_barrier_set(w, next);
	return SOFT_EVENT_GRID_BARRIER;
}

int soft_isa_stops(const struct soft_wave *w)
{
	(void)w;
	return bench.stop;
}

uint64_t isa_random(void)
{
	static uint64_t s = 88172645463325252ull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s * 0x2545f4914f6cdd1dull;
}

uint64_t isa_value(const char *type)
{
	static const uint32_t f32[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,
				       0x800000,   0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
				       0xff800000, 0x7fc00000, 0xffc00001, 0x3f800000, 0xbf800000,
				       0x3f000000, 0x40490fdb, 0x4b800000, 0xcb800001, 0x4f000000,
				       0x4effffff, 0xcf000000, 0x4f800000, 0x3f7fffff, 0x3fc00000,
				       0x40200000, 0xbf000000, 0x5f000000, 0x20000000};
	/* clang-format off */
	static const uint64_t f64[] = {
		0, 1ull << 63, 1, 0x8000000000000001, 0xfffffffffffff, 0x10000000000000,
		0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000,
		0x4004000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000,
		0x41efffffffe00000, 0x41f0000000000000, 0x4330000000000000, 0x3fefffffffffffff,
		0x47efffffe0000000, 0x36a0000000000000, 0x4350000000000001,
	};
	/* clang-format on */
	static const uint16_t f16[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x8400,
				       0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x3c00,
				       0xbc00, 0x3800, 0x4248, 0x6400, 0x6401, 0x3bff, 0x3e00,
				       0x4100, 0xb800, 0x77ff, 0x7800};
	/* clang-format off */
	static const uint64_t integers[] = {
		0, 1, 2, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffff,
		0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x80008000, 0x7fff7fff,
		0x80808080, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX, UINT64_MAX - 1,
		0xffffffff00000000, 0x100000000,
	};
	/* clang-format on */
	unsigned pick = (unsigned)(isa_random() >> 40);
	uint64_t any = isa_random();

#define ONE_OF(list) list[pick / 8 % (sizeof(list) / sizeof(*list))]
	if (pick % 8 >= 5)
		return any;
	if (!strcmp(type, "f32")) /* medium values keep results finite */
		return pick % 8 < 2 ? ONE_OF(f32)
				    : (any & 0x8fffffff) | ((uint32_t)(any >> 32) % 24 + 116) << 23;
	if (!strcmp(type, "f64"))
		return pick % 8 < 2 ? ONE_OF(f64)
				    : (any & 0x800fffffffffffff) | ((any >> 52) % 60 + 1000) << 52;
	if (!strcmp(type, "f16"))
		return (any & 0xffff0000) |
		       (pick % 8 < 3 ? ONE_OF(f16) : (any & 0x83ff) | ((any >> 10) % 12 + 9) << 10);
	return pick % 8 < 4 ? ONE_OF(integers) : any & 63;
}

void isa_begin(int round)
{
	struct soft_wave *w = &bench.w;
	uint64_t exec = isa_random(), some = UINT64_MAX << (isa_random() & 31);

	switch (round % 8) {
	case 0:
	case 4: exec = UINT64_MAX; break;
	case 1: exec = 0; break;
	case 3: exec = some & UINT64_MAX >> (isa_random() & 31); break; /* neighbours */
	case 5: exec = 1ull << (isa_random() & 63); break;
	}

	for (unsigned r = 0; r < 32; r++)
		for (unsigned l = 0; l < SOFT_LANES; l++)
			w->v[r][l] = (uint32_t)(isa_random() >> 16);
	for (unsigned r = 0; r < REG_COUNT; r++)
		w->s[r] = (uint32_t)(isa_random() >> 16);
	memset(w->lines, 0, sizeof(w->lines));
	w->live_mask = 0;
	memset(w->live, 0, sizeof(w->live));
	w->pc = 0x10000;
	w->scc = round & 1;
	w->mode = MODE_PLAIN;
	w->indexed = w->special = 0;
	w->group = &bench.group;
	w->scratch = bench.scratch;
	w->scratch_bytes = 256;
	w->why = NULL;
	bench.group.lds = bench.lds;
	bench.group.lds_bytes = sizeof(bench.lds);
	set_pair(w, REG_EXEC, exec);
}

uint64_t isa_exec(void)
{
	return pair(&bench.before, REG_EXEC);
}
uint64_t isa_pair(unsigned n)
{
	return pair(&bench.w, n);
}

/* Pass most rows that are lines as lines, and overwrite the row. */
static void hide_lines(struct soft_wave *w)
{
	for (unsigned r = 0; r < 32; r++) {
		uint32_t base = w->v[r][0], step = w->v[r][1] - base;
		unsigned l = 0;

		while (l < SOFT_LANES && w->v[r][l] == base + l * step)
			l++;
		if (l < SOFT_LANES || !(isa_random() & 7))
			continue;
		memset(w->v[r], 0xa5, sizeof(w->v[r]));
		soft_set_line(w, r, base, step);
	}
}

int isa_step(const uint32_t *words)
{
	struct soft_step s;
	int event;

	memcpy(&bench.before, &bench.w, sizeof(bench.w));
	hide_lines(&bench.w);
	soft_decode(&s, words, 4, &bench.gpu);
	bench.w.pc += s.bytes;
	event = bench.w.special ? soft_special_step(&bench.w, &s) : s.run(&bench.w, &s);
	soft_make_all_rows(&bench.w);
	return event;
}

/* Make mostly short steps, so that neither 32 nor 64 bits overflow, but also all other steps. */
void isa_make_line(unsigned r, int wide)
{
	/* clang-format off */
	static const uint32_t steps[] = {
		0, 0, 0, 1, 1, 2, 4, 8, 12, 16, 64, (uint32_t)-1, (uint32_t)-4, 0x10000, 0x4000000,
		0x80000000,
	};
	/* clang-format on */
	uint64_t base = isa_random() & 1   ? isa_value("u64")
			: isa_random() & 1 ? isa_random() & 7
					   : isa_value("u32") - isa_random() % 300;
	uint64_t step = steps[isa_random() & 15];

	if (!(isa_random() & 15))
		step = isa_random();
	if (wide && !(isa_random() & 7)) {
		isa_make_line(r, 0);
		isa_make_line(r + 1, 0);
		return;
	}
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint64_t x = base + l * (uint64_t)(int64_t)(int32_t)step;

		bench.w.v[r][l] = (uint32_t)x;
		if (wide)
			bench.w.v[r + 1][l] = (uint32_t)(x >> 32);
	}
}

int isa_complain(const struct isa_case *c, const char *what, uint64_t got, uint64_t want,
		 unsigned lane)
{
	const struct bench *b = &bench;

	printf("%s: lane %u: %s %#llx, want %#llx  (a %08x%08x b %08x%08x c %08x%08x d %08x%08x "
	       "exec %016llx)\n",
	       c->text, lane, what, (unsigned long long)got, (unsigned long long)want,
	       b->before.v[A + 1][lane], b->before.v[A][lane], b->before.v[B + 1][lane],
	       b->before.v[B][lane], b->before.v[C + 1][lane], b->before.v[C][lane],
	       b->before.v[R + 1][lane], b->before.v[R][lane], (unsigned long long)isa_exec());
	return 1;
}

int isa_others_kept(const struct isa_case *c, unsigned row, unsigned rows, unsigned scalar,
		    unsigned count, int vcc, int exec)
{
	for (unsigned r = 0; r < 32; r++)
		if (r - row >= rows &&
		    memcmp(bench.w.v[r], bench.before.v[r], sizeof(bench.w.v[r])))
			return isa_complain(c, "a register that it has nothing to do with: v", r, 0,
					    0);
	for (unsigned r = 0; r < REG_COUNT; r++)
		if (r - scalar >= count && !(vcc && r - REG_VCC < 2) &&
		    !(exec && r - REG_EXEC < 2) && bench.w.s[r] != bench.before.s[r])
			return isa_complain(c, "a register that it has nothing to do with: s", r, 0,
					    0);
	return 0;
}

/* "~f32": the hardware approximates, so the results of the two evaluations may differ in the last
 * bit. */
int isa_same(const char *type, uint64_t got, uint64_t want)
{
	int64_t near = type[0] == '~' ? 1 : 0;

	type += near;
	if (!strcmp(type, "f32"))
		return (isnan(F(got)) && isnan(F(want))) ||
		       llabs((int64_t)(uint32_t)got - (int64_t)(uint32_t)want) <= near;
	if (!strcmp(type, "f64"))
		return (isnan(D(got)) && isnan(D(want))) || llabs((int64_t)(got - want)) <= near;
	if (!strcmp(type, "f16")) {
		if ((got ^ want) >> 16 & 0xffff)
			return 0;
		return (isnan(H((uint32_t)got)) && isnan(H((uint32_t)want))) ||
		       llabs((int64_t)(got & 0xffff) - (int64_t)(want & 0xffff)) <= near;
	}
	return strstr(type, "64") ? got == want : (uint32_t)got == (uint32_t)want;
}

double isa_from_half(uint32_t bits)
{
	int exponent = bits >> 10 & 31, mantissa = bits & 1023;
	double x = exponent == 31 ? (mantissa ? NAN : INFINITY)
		   : exponent     ? ldexp(1024 + mantissa, exponent - 25)
				  : ldexp(mantissa, -24);

	return bits & 0x8000 ? -x : x;
}

uint32_t isa_to_half(double x)
{
	uint32_t sign = signbit(x) ? 0x8000 : 0;
	double scaled, whole;
	int exponent;

	x = fabs(x);
	if (isnan(x))
		return sign | 0x7e00;
	if (x == 0 || isinf(x))
		return sign | (x == 0 ? 0 : 0x7c00);
	frexp(x, &exponent);
	exponent = exponent < -13 ? -13 : exponent;
	if (exponent > 16)
		return sign | 0x7c00;
	scaled = ldexp(x, 11 - exponent); /* below 2048 */
	whole = floor(scaled);
	if (scaled - whole > 0.5 || (scaled - whole == 0.5 && fmod(whole, 2) == 1))
		whole++;
	/* A carry out of the mantissa propagates into the exponent, up to infinity. */
	return sign | (((uint32_t)(exponent + 13) << 10) + (uint32_t)whole);
}

void isa_add(struct isa_case c)
{
	if (!(case_count & (case_count - 1)))
		cases = realloc(cases, (case_count ? 2 * case_count : 1) * sizeof(*cases));
	cases[case_count++] = c;
}

/* ---- the table ---- */

/* Return the name of a text's instruction, without the suffix that only selects an encoding. */
static void name_of(const char *text, char name[64])
{
	static const char *const tails[] = {"_e32", "_e64", "_sdwa", "_dpp"};
	size_t n = strcspn(text, " ");

	snprintf(name, 64, "%.*s", (int)n, text);
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++)
		if (n > strlen(tails[i]) && !strcmp(name + n - strlen(tails[i]), tails[i]))
			name[n - strlen(tails[i])] = 0;
}

/* Memory instructions of several segments share rows. */
static int is_named(const struct soft_op *op, const char *name)
{
	static const char *const segments[] = {"flat_", "global_", "scratch_", "buffer_"};

	if (!strcmp(op->name, name))
		return 1;
	for (size_t i = 0; i < sizeof(segments) / sizeof(*segments); i++)
		if (op->encoding == SOFT_MEMORY &&
		    !strncmp(name, segments[i], strlen(segments[i])) &&
		    !strcmp(op->name, name + strlen(segments[i])))
			return 1;
	return 0;
}

static void print_claimed(void)
{
	for (unsigned i = 1; i < soft_op_count; i++) {
		const struct soft_op *op = &soft_ops[i];

		if (op->encoding != SOFT_MEMORY) {
			puts(op->name);
			continue;
		}
		printf("flat_%s\nglobal_%s\n", op->name, op->name);
		if (op->kind != SOFT_KIND_ATOMIC)
			printf("scratch_%s\nbuffer_%s\n", op->name, op->name);
	}
}

static void print_tested(void)
{
	char name[64];

	for (size_t i = 0; i < case_count; i++) {
		name_of(cases[i].text, name);
		puts(name);
	}
}

static int run_case(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	struct soft_step s;
	char name[64];

	name_of(c->text, name);
	soft_decode(&s, words, 4, &bench.gpu);
	if (!s.op || !is_named(s.op, name)) {
		printf("%s: decoded as %s\n", c->text,
		       s.op    ? s.op->name
		       : s.why ? s.why
			       : "nothing");
		return 1;
	}
	if (s.bytes != bytes) {
		printf("%s: decoded as %u bytes, has %u\n", c->text, s.bytes, bytes);
		return 1;
	}
	for (int round = 0; round < (s.op->line ? LINE_ROUNDS : ROUNDS); round++) {
		isa_begin(round);
		if (c->run(c, words, bytes))
			return 1;
	}
	return 0;
}

static int run_all(FILE *f, const char *prefix)
{
	char line[256];
	size_t bad = 0, ran = 0;

	for (size_t i = 0; i < case_count; i++) {
		uint8_t bytes[16] = {0};
		uint32_t words[4];
		unsigned n = 0;

		if (!fgets(line, sizeof(line), f))
			return printf("%zu cases, but no words for %s\n", case_count,
				      cases[i].text),
			       1;
		for (char *p = line, *end; n < 12 && isxdigit((unsigned char)*p);
		     p = end + strspn(end, ", "))
			bytes[n++] = (uint8_t)strtoul(p, &end, 16);
		if (strncmp(cases[i].text, prefix, strlen(prefix)))
			continue;
		memcpy(words, bytes, sizeof(words));
		bad += (size_t)run_case(&cases[i], words, n);
		ran++;
	}
	printf("%zu cases, %zu wrong\n", ran, bad);
	return bad || !ran;
}

static uint64_t read_clock(void *data)
{
	(void)data;
	return ++bench.clock;
}

static uint64_t read_cycles(void *data)
{
	return 3 * read_clock(data);
}

static void interrupt(void *data, uint32_t m0)
{
	(void)data;
	bench.messages++;
	bench.message = m0;
}

int main(int argc, char **argv)
{
	FILE *f;

	bench.gpu = (struct soft_isa_gpu){.gfx = 0x906,
					  .compute_units = 60,
					  .lds_aperture = 1ull << 48,
					  .private_aperture = 2ull << 48,
					  .read_clock = read_clock,
					  .read_cycles = read_cycles,
					  .interrupt = interrupt};
	isa_add_scalar_cases();
	isa_add_image_cases();
	isa_add_vector_cases();
	isa_add_compare_cases();
	isa_add_lane_cases();
	isa_add_memory_cases();
	isa_add_lds_cases();
	isa_add_control_cases();
	if (argc == 2 && !strcmp(argv[1], "--texts")) {
		for (size_t i = 0; i < case_count; i++)
			puts(cases[i].text);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--claimed"))
		return print_claimed(), 0;
	if (argc == 2 && !strcmp(argv[1], "--tested"))
		return print_tested(), 0;
	f = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (!f)
		return fprintf(stderr,
			       "usage: isa_cases --texts | --claimed | --tested | FILE [PREFIX]\n"),
		       2;
	return run_all(f, argc > 2 ? argv[2] : "");
}
