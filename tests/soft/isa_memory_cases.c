/* SPDX-License-Identifier: MIT */
/* Loads, stores and atomics, outside of LDS and in LDS, compared with copies of the memories that
 * are written byte by byte. */
#include "tests/soft/isa_test.h"

enum { HOST, LDS, SCRATCH };
#define RANGE 2048

struct access { /* meaning of a name */
	const char *name;
	unsigned bytes, is_signed;
	enum { WHOLE, LOW, UPPER } part;
};

static const struct access
	loads[] =
		{
			{"load_ubyte", 1, 0, WHOLE},    {"load_sbyte", 1, 1, WHOLE},
			{"load_ushort", 2, 0, WHOLE},   {"load_sshort", 2, 1, WHOLE},
			{"load_dword", 4, 0, WHOLE},    {"load_dwordx2", 8, 0, WHOLE},
			{"load_dwordx3", 12, 0, WHOLE}, {"load_dwordx4", 16, 0, WHOLE},
			{"load_ubyte_d16", 1, 0, LOW},  {"load_ubyte_d16_hi", 1, 0, UPPER},
			{"load_sbyte_d16", 1, 1, LOW},  {"load_sbyte_d16_hi", 1, 1, UPPER},
			{"load_short_d16", 2, 0, LOW},  {"load_short_d16_hi", 2, 0, UPPER},
},
	stores[] =
		{
			{"store_byte", 1, 0, WHOLE},     {"store_byte_d16_hi", 1, 0, UPPER},
			{"store_short", 2, 0, WHOLE},    {"store_short_d16_hi", 2, 0, UPPER},
			{"store_dword", 4, 0, WHOLE},    {"store_dwordx2", 8, 0, WHOLE},
			{"store_dwordx3", 12, 0, WHOLE}, {"store_dwordx4", 16, 0, WHOLE},
},
	ds_reads[] =
		{
			{"ds_read_u8", 1, 0, WHOLE},    {"ds_read_i8", 1, 1, WHOLE},
			{"ds_read_u16", 2, 0, WHOLE},   {"ds_read_i16", 2, 1, WHOLE},
			{"ds_read_b32", 4, 0, WHOLE},   {"ds_read_b64", 8, 0, WHOLE},
			{"ds_read_b96", 12, 0, WHOLE},  {"ds_read_b128", 16, 0, WHOLE},
			{"ds_read_u8_d16", 1, 0, LOW},  {"ds_read_u8_d16_hi", 1, 0, UPPER},
			{"ds_read_i8_d16", 1, 1, LOW},  {"ds_read_i8_d16_hi", 1, 1, UPPER},
			{"ds_read_u16_d16", 2, 0, LOW}, {"ds_read_u16_d16_hi", 2, 0, UPPER},
},
	ds_writes[] = {
		{"ds_write_b8", 1, 0, WHOLE},   {"ds_write_b8_d16_hi", 1, 0, UPPER},
		{"ds_write_b16", 2, 0, WHOLE},  {"ds_write_b16_d16_hi", 2, 0, UPPER},
		{"ds_write_b32", 4, 0, WHOLE},  {"ds_write_b64", 8, 0, WHOLE},
		{"ds_write_b96", 12, 0, WHOLE}, {"ds_write_b128", 16, 0, WHOLE},
};

/* the memories before the step, to which the expected stores are then applied */
static struct bench model;

static uint8_t *byte_at(struct bench *b, int space, unsigned lane, uint32_t at)
{
	switch (space) {
	case HOST: return b->memory + at;
	case LDS: return b->lds + at;
	default: return b->scratch + at / 4 * 256 + lane * 4 + at % 4;
	}
}

static void fill_memories(void)
{
	for (size_t i = 0; i < RANGE; i++) {
		bench.memory[i] = (uint8_t)isa_random();
		bench.lds[i] = (uint8_t)isa_random();
	}
	for (size_t i = 0; i < sizeof(bench.scratch); i++)
		bench.scratch[i] = (uint8_t)(isa_random() >> 9);
	memcpy(model.memory, bench.memory, RANGE);
	memcpy(model.lds, bench.lds, sizeof(bench.lds));
	memcpy(model.scratch, bench.scratch, sizeof(bench.scratch));
}

static int same_memories(const struct isa_case *c)
{
	for (size_t i = 0; i < RANGE; i++)
		if (bench.memory[i] != model.memory[i] || bench.lds[i] != model.lds[i])
			return isa_complain(c, "memory's byte", bench.memory[i] << 8 | bench.lds[i],
					    model.memory[i] << 8 | model.lds[i], (unsigned)i);
	for (size_t i = 0; i < sizeof(bench.scratch); i++)
		if (bench.scratch[i] != model.scratch[i])
			return isa_complain(c, "scratch's byte", bench.scratch[i], model.scratch[i],
					    (unsigned)i);
	return 0;
}

/* Choose the addresses that the lanes access, according to the text of the case. Set the address
 * registers accordingly. */
struct where {
	int space[SOFT_LANES];
	uint32_t at[SOFT_LANES];
};

static void set_address(unsigned l, uint64_t x)
{
	bench.w.v[A][l] = (uint32_t)x;
	bench.w.v[A + 1][l] = (uint32_t)(x >> 32);
}

static void choose(const struct isa_case *c, struct where *p, unsigned bytes, unsigned align)
{
	int flat = !strncmp(c->text, "flat", 4), buffer = !strncmp(c->text, "buffer", 6),
	    scratch = buffer || !strncmp(c->text, "scratch", 7);
	int by_scalar = strstr(c->text, ", s12 ") != NULL;
	const char *o = strstr(c->text, "offset:");
	int32_t offset = o ? atoi(o + 7) : 0;
	uint64_t host = (uint64_t)(uintptr_t)bench.memory;
	int no_register = buffer && strstr(c->text, ", off, s[12:15]");
	uint32_t same = (uint32_t)(isa_random() % 64 / align * align),
		 layout = align == 1 ? isa_random() & 3 : 0;
	uint32_t stride = layout == 1   ? ((const struct access *)(const void *)c->types[0])->bytes
			  : layout == 2 ? 4
					: 0;

	for (unsigned l = 0; l < SOFT_LANES; l++) {
		int space = scratch ? SCRATCH : flat ? (int)(isa_random() % 3) : HOST;
		uint32_t at =
			(uint32_t)(isa_random() % ((space == SCRATCH ? 256 : RANGE) - bytes - 160) /
				   align * align) +
			128;

		if (strstr(c->text, "atomic") && space == SCRATCH)
			space = LDS;
		if (by_scalar)
			at = 128 + same; /* one address for all lanes */
		else if (layout && space == HOST)
			/* consecutive, all with the same layout, as in most kernels */
			at = 128 + same + stride * l;
		if (no_register)
			at = 16 + (uint32_t)offset;
		p->space[l] = space;
		p->at[l] = at;
		if (space == HOST)
			set_address(l, strstr(c->text, "s[12:13]")
					       ? (uint64_t)at - 64
					       : host + at - (uint64_t)(int64_t)offset);
		else if (space == LDS)
			set_address(l, bench.gpu.lds_aperture + at - (uint64_t)(int64_t)offset);
		else
			set_address(l, (flat ? bench.gpu.private_aperture : 0) + at -
					       (uint32_t)offset - (buffer ? 16 : 0));
	}
	if (by_scalar)
		bench.w.s[SA] = p->at[0] - (uint32_t)offset;
	if (strstr(c->text, "s[12:13]"))
		set_pair(&bench.w, SA, host + 64 - (uint64_t)(int64_t)offset);
	/* descriptor in the form that kernels get; the offset of the wave is 16 bytes for each
	 * lane */
	if (buffer) {
		uint64_t base = (uint64_t)(uintptr_t)bench.scratch;

		set_pair(&bench.w, SA, base | 1ull << 63);
		set_pair(&bench.w, SA + 2, 0x00e80000ffffffff);
		bench.w.s[24] = 16 * 64;
	}
}

static const struct access *access_of(const struct isa_case *c)
{
	return (const struct access *)(const void *)c->types[0];
}

static int run_load(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	const struct access *a = access_of(c);
	uint64_t exec = pair(&bench.w, REG_EXEC);
	struct where p;

	(void)bytes;
	fill_memories();
	choose(c, &p, 16, 1);
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", bench.w.fault, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint8_t x[16] = {0};

		for (unsigned i = 0; i < a->bytes; i++)
			x[i] = *byte_at(&model, p.space[l], l, p.at[l] + i);
		for (unsigned i = 0; i < (a->bytes + 3) / 4; i++) {
			uint32_t was = bench.before.v[R + i][l], want;

			memcpy(&want, x + 4 * i, 4);
			if (a->is_signed && x[a->bytes - 1] & 0x80)
				want |= UINT32_MAX << 8 * a->bytes;
			if (a->part == LOW)
				want = (was & 0xffff0000) + want % 65536;
			if (a->part == UPPER)
				want = was % 65536 + (want << 16);
			if (!(exec >> l & 1))
				want = was;
			if (bench.w.v[R + i][l] != want)
				return isa_complain(c, "result", bench.w.v[R + i][l], want, l);
		}
	}
	return isa_others_kept(c, R, (a->bytes + 3) / 4, 0, 0, 0, 0) || same_memories(c);
}

static int run_store(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	const struct access *a = access_of(c);
	uint64_t exec = pair(&bench.w, REG_EXEC);
	struct where p;

	(void)bytes;
	fill_memories();
	choose(c, &p, 16, 1);
	for (unsigned l = 0; l < SOFT_LANES; l++)
		for (unsigned i = 0; i < a->bytes && exec >> l & 1; i++) {
			unsigned from = i + (a->part == UPPER ? 2 : 0);

			*byte_at(&model, p.space[l], l, p.at[l] + i) =
				(uint8_t)(bench.w.v[B + from / 4][l] >> from % 4 * 8);
		}
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", bench.w.fault, 0, 0);
	return isa_others_kept(c, 0, 0, 0, 0, 0, 0) || same_memories(c);
}

/* ---- atomics ---- */

static double as_float(uint64_t x, unsigned bytes)
{
	return bytes == 4 ? F(x) : D(x);
}

/* @name: the part between "atomic_" or "ds_" and the type. */
static uint64_t merged(const char *name, unsigned bytes, uint64_t m, uint64_t x, uint64_t y,
		       char type)
{
	uint64_t all = bytes == 4 ? UINT32_MAX : UINT64_MAX, top = (all >> 1) + 1;
	/* inverts the sign bit, so that values can be compared as unsigned */
	uint64_t mark = type == 'i' ? top : 0;

#define IS(text) (!strncmp(name, text, strlen(text)))
	if (IS("cmpswap"))
		return m == y ? x : m;
	if (IS("cmpst") && type == 'f')
		return as_float(m, bytes) == as_float(x, bytes) ? y : m;
	if (IS("cmpst"))
		return m == x ? y : m;
	if (IS("mskor"))
		return (m & (all ^ x)) | y;
	if (IS("swap") || IS("wrxchg"))
		return x;
	if (IS("add") && type == 'f')
		return FB(F(m) + F(x));
	if ((IS("min") || IS("max")) && type == 'f') {
		double f = as_float(m, bytes), g = as_float(x, bytes);
		int less = f < g || (f == g && signbit(f));

		return isnan(f) ? x : isnan(g) || less == IS("min") ? m : x;
	}
	if (IS("add"))
		return (m + x) & all;
	if (IS("sub"))
		return (m - x) & all;
	if (IS("rsub"))
		return (x - m) & all;
	if (IS("inc"))
		return m >= x ? 0 : m + 1;
	if (IS("dec"))
		return m == 0 || m > x ? x : m - 1;
	if (IS("min"))
		return (m ^ mark) < (x ^ mark) ? m : x;
	if (IS("max"))
		return (m ^ mark) > (x ^ mark) ? m : x;
	if (IS("and"))
		return m & x;
	if (IS("or"))
		return m | x;
	if (IS("xor"))
		return m ^ x;
	abort();
}

static uint64_t lane_value(unsigned r, unsigned l, unsigned bytes)
{
	return bench.before.v[r][l] | (bytes == 8 ? (uint64_t)bench.before.v[r + 1][l] << 32 : 0);
}

static int run_atomic(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned size = (unsigned)c->line & 15, is_ds = c->line >> 4 & 1;
	int returns = c->line >> 5 & 1, cmpswap = strstr(c->text, "cmpswap") != NULL;
	uint64_t exec = pair(&bench.w, REG_EXEC);
	struct where p;

	(void)bytes;
	fill_memories();
	choose(c, &p, 16, 8);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		if (is_ds) {
			p.space[l] = LDS;
			p.at[l] = (uint32_t)(isa_random() % 64) * 8 + 64;
			bench.w.v[A][l] = p.at[l] - (strstr(c->text, "offset:24") ? 24 : 0);
		}
		/* set the memory to a small value, an edge case, or the value to compare with */
		for (unsigned i = 0; i < 8; i++) {
			uint64_t x = isa_value(strchr(c->types[1], 'f') ? size == 4 ? "f32" : "f64"
									: "i");

			*byte_at(&bench, p.space[l], l, p.at[l] + i) =
				*byte_at(&model, p.space[l], l, p.at[l] + i) =
					(uint8_t)(x >> 8 * i);
		}
		for (unsigned i = 0; i < 4; i++) {
			uint64_t x = isa_random() & 1
					     ? isa_value(strchr(c->types[1], 'f')
								 ? size == 4 ? "f32" : "f64"
								 : "i")
					     : 0;

			if (!x)
				memcpy(&x, byte_at(&model, p.space[l], l, p.at[l]), 8);
			bench.w.v[B + i][l] = (uint32_t)(size == 8 && i % 2 ? x >> 32 : x);
		}
	}
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", bench.w.fault, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint64_t m = 0,
			 got = bench.w.v[R][l] |
			       (size == 8 ? (uint64_t)bench.w.v[R + 1][l] << 32 : 0),
			 r;

		if (exec >> l & 1) {
			memcpy(&m, byte_at(&model, p.space[l], l, p.at[l]), size);
			r = merged(c->types[0], size, m, lane_value(B, l, size),
				   lane_value(cmpswap && size == 4 ? B + 1 : C, l, size),
				   c->types[1][0]);
			memcpy(byte_at(&model, p.space[l], l, p.at[l]), &r, size);
		}
		if (c->types[1][0] == 'f' && isnan(as_float(m, size)) && isnan(as_float(got, size)))
			continue;
		if (returns && got != (exec >> l & 1 ? m : lane_value(R, l, size)))
			return isa_complain(c, "value before", got, m, l);
	}
	if (c->types[1][0] == 'f') /* any NaN is accepted */
		for (unsigned i = 0; i < RANGE; i += size) {
			uint64_t x = 0, y = 0;

			memcpy(&x, bench.lds + i, size);
			memcpy(&y, model.lds + i, size);
			if (isnan(as_float(x, size)) && isnan(as_float(y, size)))
				memcpy(model.lds + i, bench.lds + i, size);
		}
	return isa_others_kept(c, R, returns ? size / 4 : 0, 0, 0, 0, 0) || same_memories(c);
}

/* ---- LDS ---- */

static int run_ds(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	const struct access *a = access_of(c);
	const char *name = c->text;
	uint64_t exec = pair(&bench.w, REG_EXEC);
	unsigned scale = strstr(name, "st64") ? 64 : 1,
		 two = name[strcspn(name, "2")] == '2' &&
		       (strstr(name, "read2") || strstr(name, "write2"));
	unsigned first = two ? 3 * scale * a->bytes : 20, second = 5 * scale * a->bytes,
		 n = (a->bytes + 3) / 4;
	int reads = strstr(name, "read") != NULL;

	(void)bytes;
	fill_memories();
	bench.group.lds_bytes = RANGE; /* some lanes access memory beyond LDS */
	for (unsigned l = 0; l < SOFT_LANES; l++)
		bench.w.v[A][l] = (uint32_t)(isa_random() % (RANGE + 64));
	for (unsigned l = 0; l < SOFT_LANES && !reads; l++)
		for (unsigned pass = 0; pass <= two && exec >> l & 1; pass++) {
			uint32_t at = bench.w.v[A][l] + (pass ? second : first);

			for (unsigned i = 0; i < a->bytes && at + a->bytes <= RANGE; i++) {
				unsigned from = i + (a->part == UPPER ? 2 : 0);

				model.lds[at + i] =
					(uint8_t)(bench.w.v[(pass ? C : B) + from / 4][l] >>
						  from % 4 * 8);
			}
		}
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES && reads; l++)
		for (unsigned pass = 0; pass <= two; pass++) {
			uint32_t at = bench.before.v[A][l] + (pass ? second : first);
			uint8_t x[16] = {0};

			if (at + a->bytes <= RANGE)
				memcpy(x, model.lds + at, a->bytes);
			for (unsigned i = 0; i < n; i++) {
				unsigned r = R + pass * n + i;
				uint32_t was = bench.before.v[r][l], want;

				memcpy(&want, x + 4 * i, 4);
				if (a->is_signed && x[a->bytes - 1] & 0x80)
					want |= UINT32_MAX << 8 * a->bytes;
				want = a->part == LOW     ? (was & 0xffff0000) + want % 65536
				       : a->part == UPPER ? was % 65536 + (want << 16)
							  : want;
				if (bench.w.v[r][l] != (exec >> l & 1 ? want : was))
					return isa_complain(c, "result", bench.w.v[r][l], want, l);
			}
		}
	return isa_others_kept(c, R, reads ? n * (two + 1) : 0, 0, 0, 0, 0) || same_memories(c);
}

/* ---- scalar loads ---- */

static int run_smem(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned n = (unsigned)c->line, at = (unsigned)(isa_random() % 256) * 4 + 64;
	const char *o = strstr(c->text, "0x");

	(void)bytes;
	fill_memories();
	set_pair(&bench.w, SA,
		 (uint64_t)(uintptr_t)bench.memory + at - (o ? (uint64_t)strtol(o, NULL, 16) : 0));
	if (strstr(c->text, "s24")) {
		bench.w.s[24] = 32;
		set_pair(&bench.w, SA, (uint64_t)(uintptr_t)bench.memory + at - 32);
	}
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (memcmp(&bench.w.s[48], bench.memory + at, 4 * n))
		return isa_complain(c, "result", bench.w.s[48], bench.memory[at], 0);
	return isa_others_kept(c, 0, 0, 48, n, 0, 0);
}

/* ---- texts ---- */

static const char *registers(unsigned first, unsigned bytes)
{
	static char texts[8][16];
	static unsigned next;
	char *t = texts[next++ % 8];

	if (bytes <= 4)
		snprintf(t, 16, "v%u", first);
	else
		snprintf(t, 16, "v[%u:%u]", first, first + bytes / 4 - 1);
	return t;
}

#define ADD(run, line, t0, t1, ...)                                                        \
	do {                                                                               \
		char *text_;                                                               \
                                                                                           \
		if (asprintf(&text_, __VA_ARGS__) < 0)                                     \
			abort();                                                           \
		isa_add((struct isa_case){                                                 \
			text_, run, (int)(line), {(const char *)(const void *)(t0), t1}}); \
	} while (0)

static void add_segments(const struct access *a, int stores_it)
{
	const char *data = registers(stores_it ? B : R, a->bytes), *order[2];
	int (*run)(const struct isa_case *, const uint32_t *, unsigned) =
		stores_it ? run_store : run_load;

#define FORM(prefix, address, tail)                                                   \
	order[0] = stores_it ? address : data, order[1] = stores_it ? data : address; \
	ADD(run, 0, a, NULL, prefix "_%s %s, %s" tail, a->name, order[0], order[1]);
	FORM("flat", "v[2:3]", "")
	FORM("flat", "v[2:3]", " offset:77")
	FORM("global", "v[2:3]", ", off offset:-30")
	FORM("global", "v2", ", s[12:13] offset:20")
	FORM("scratch", "v2", ", off offset:12")
	FORM("scratch", "off", ", s12 offset:8")
	ADD(run, 0, a, NULL, "buffer_%s %s, v2, s[12:15], s24 offen offset:4", a->name, data);
	ADD(run, 0, a, NULL, "buffer_%s %s, off, s[12:15], s24 offset:8", a->name, data);
	ADD(run, 0, a, NULL, "buffer_%s %s, off, s[12:15], s24 offset:13", a->name, data);
}

static void add_atomics(void)
{
	static const char *const names[] = {"swap", "cmpswap", "add", "sub", "smin", "umin", "smax",
					    "umax", "and",     "or",  "xor", "inc",  "dec"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (unsigned size = 4; size <= 8; size += 4)
			for (unsigned form = 0; form < 3; form++) {
				int has_sign = (names[i][0] == 's' || names[i][0] == 'u') &&
					       strchr("m", names[i][1]);
				const char *name = has_sign ? names[i] + 1 : names[i],
					   *tail = size == 8 ? "_x2" : "";
				const char *data = registers(B, i == 1 ? 2 * size : size),
					   *result = registers(R, size);
				const char *type = has_sign && names[i][0] == 's' ? "i" : "u";

				if (form == 0)
					ADD(run_atomic, size, name, type,
					    "global_atomic_%s%s v[2:3], %s, off offset:16",
					    names[i], tail, data);
				else if (form == 1)
					ADD(run_atomic, size | 32, name, type,
					    "global_atomic_%s%s %s, v[2:3], %s, off glc", names[i],
					    tail, result, data);
				else
					ADD(run_atomic, size | 32, name, type,
					    "flat_atomic_%s%s %s, v[2:3], %s glc", names[i], tail,
					    result, data);
			}
}

void isa_add_memory_cases(void)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		add_segments(&loads[i], 0);
	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
		add_segments(&stores[i], 1);
	add_atomics();
	for (unsigned n = 1; n <= 16; n += n) {
		char tail[8] = "";

		if (n > 1)
			snprintf(tail, sizeof(tail), "x%u", n);
		ADD(run_smem, n, NULL, NULL, "s_load_dword%s s[48:%u], s[12:13], 0x40", tail,
		    47 + n);
	}
	ADD(run_smem, 2, NULL, NULL, "s_load_dwordx2 s[48:49], s[12:13], s24");
}

static void add_ds_atomic(const char *name, char type, unsigned size, int two, int with_rtn)
{
	for (int returns = !with_rtn ? 1 : 0; returns < 2; returns++) {
		char types[2] = {type};
		char *kept = strdup(types);
		const char *letter = type == 'i'   ? "i"
				     : type == 'f' ? "f"
				     : type == 'b' ? "b"
						   : "u";
		const char *data = registers(B, size), *other = registers(C, size),
			   *result = registers(R, size);

		if (!kept)
			abort();
		ADD(run_atomic, size | 16u | (unsigned)returns << 5, name, kept,
		    "ds_%s%s_%s%u %s%sv2, %s%s%s%s", name, returns ? "_rtn" : "", letter, size * 8,
		    returns ? result : "", returns ? ", " : "", data, two ? ", " : "",
		    two ? other : "", returns ? " offset:24" : "");
	}
}

void isa_add_lds_cases(void)
{
	static const char *const names[] = {"add", "sub", "rsub", "inc", "dec"},
				 *const bits[] = {"and", "or", "xor"};
	static const struct access pairs[] = {{"b32", 4, 0, WHOLE}, {"b64", 8, 0, WHOLE}};

	for (size_t i = 0; i < sizeof(ds_reads) / sizeof(*ds_reads); i++)
		ADD(run_ds, 0, &ds_reads[i], NULL, "%s %s, v2 offset:20", ds_reads[i].name,
		    registers(R, ds_reads[i].bytes));
	for (size_t i = 0; i < sizeof(ds_writes) / sizeof(*ds_writes); i++)
		ADD(run_ds, 0, &ds_writes[i], NULL, "%s v2, %s offset:20", ds_writes[i].name,
		    registers(B, ds_writes[i].bytes));
	for (size_t i = 0; i < 2; i++)
		for (int far = 0; far < 2; far++) {
			const char *st64 = far ? "st64" : "";

			ADD(run_ds, 0, &pairs[i], NULL, "ds_read2%s_%s %s, v2 offset0:3 offset1:5",
			    st64, pairs[i].name, registers(R, 2 * pairs[i].bytes));
			ADD(run_ds, 0, &pairs[i], NULL,
			    "ds_write2%s_%s v2, %s, %s offset0:3 offset1:5", st64, pairs[i].name,
			    registers(B, pairs[i].bytes), registers(C, pairs[i].bytes));
		}
	for (unsigned size = 4; size <= 8; size += 4) {
		for (size_t i = 0; i < 5; i++)
			add_ds_atomic(names[i], 'u', size, 0, 1);
		for (size_t i = 0; i < 3; i++)
			add_ds_atomic(bits[i], 'b', size, 0, 1);
		for (const char *t = "iuf"; *t; t++) {
			add_ds_atomic("min", *t, size, 0, 1);
			add_ds_atomic("max", *t, size, 0, 1);
		}
		add_ds_atomic("mskor", 'b', size, 1, 1);
		add_ds_atomic("cmpst", 'b', size, 1, 1);
		add_ds_atomic("cmpst", 'f', size, 1, 1);
		add_ds_atomic("wrxchg", 'b', size, 0, 0);
	}
	add_ds_atomic("add", 'f', 4, 0, 1);
}
