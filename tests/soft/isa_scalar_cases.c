/* SPDX-License-Identifier: MIT */
/* Scalar instructions: registers and the condition bit. */
#include "tests/soft/isa_test.h"

/* Return @count bits of @x from @at on. Bits beyond the top are the sign or 0. */
static uint64_t bits_of(uint64_t x, unsigned at, unsigned count, int with_sign)
{
	uint64_t r = 0, top = with_sign ? x >> 63 : 0, bit = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned from = at + (i < count || !count ? i : count - 1);

		if (i < count || with_sign)
			bit = from < 64 ? x >> from & 1 : top;
		else
			bit = 0;
		r |= bit << i;
	}
	return count ? r : 0;
}

static void expect(int line, struct lane *n)
{
	switch (line) {
#define S(text, result, a, b, code) \
	case __LINE__: {            \
		code;               \
	} break;
#include "tests/soft/isa_scalar_cases.inc"
#undef S
	}
}

static int run(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	const char *result = c->types[0];
	int wide = !strcmp(result, "u64") || !strcmp(result, "save") || !strcmp(result, "write");
	int writes_exec = !strcmp(result, "save") || !strcmp(result, "write");
	struct lane n = {.a = isa_value(c->types[1]),
			 .b = isa_value(c->types[2]),
			 .d = isa_value("i")};
	uint64_t got, want;

	(void)bytes;
	if (isa_random() & 1)
		/* bit fields that lie within the operand */
		n.b = (n.b & ~0xffffffffull) | (isa_random() & 0x7f003f);
	if (!(isa_random() & 3))
		n.b = n.a;
	set_pair(&bench.w, SA, n.a);
	set_pair(&bench.w, SB, n.b);
	set_pair(&bench.w, SR, n.d);
	n.exec = pair(&bench.w, REG_EXEC);
	n.scc = n.out = bench.w.scc;
	expect(c->line, &n);
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (bench.w.scc != (n.out & 1))
		return isa_complain(c, "condition bit", bench.w.scc, n.out, 0);
	if (writes_exec && isa_pair(REG_EXEC) != n.r)
		return isa_complain(c, "EXEC", isa_pair(REG_EXEC), n.r, 0);
	want = !strcmp(result, "save") ? n.exec : n.r;
	got = isa_pair(SR);
	if (strcmp(result, "scc") && (wide ? got != want : (uint32_t)got != (uint32_t)want)) {
		printf("  a %#llx b %#llx d %#llx\n", (unsigned long long)n.a,
		       (unsigned long long)n.b, (unsigned long long)n.d);
		return isa_complain(c, "result", got, want, 0);
	}
	return isa_others_kept(c, 0, 0, SR, strcmp(result, "scc") ? wide ? 2 : 1 : 0, 0,
			       writes_exec);
}

void isa_add_scalar_cases(void)
{
#define S(text, result, a, b, code) isa_add((struct isa_case){text, run, __LINE__, {result, a, b}});
#include "tests/soft/isa_scalar_cases.inc"
#undef S
}
