/* SPDX-License-Identifier: MIT */
/* Instructions between lanes, and between lanes and scalars: DPP, readlane and similar
 * instructions, permutations through LDS, indexed registers. */
#include "tests/soft/isa_test.h"

static int run_dpp(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	const char *text = c->text;
	uint64_t exec = pair(&bench.w, REG_EXEC);
	const char *p;
	unsigned rows = 15, banks = 15;
	int zero = strstr(text, "bound_ctrl") != NULL, n = 0;

	(void)bytes;
	if (isa_step(words))
		return isa_complain(c, bench.w.why ? bench.w.why : "event", 1, 0, 0);
	if ((p = strstr(text, "row_mask:")))
		rows = (unsigned)strtoul(p + 9, NULL, 16);
	if ((p = strstr(text, "bank_mask:")))
		banks = (unsigned)strtoul(p + 10, NULL, 16);
	if ((p = strchr(text, ':')))
		n = atoi(p + 1);
	for (int l = 0; l < SOFT_LANES; l++) {
		int i = l % 16, from = -1;
		uint32_t want = bench.before.v[R][l];

		if (strstr(text, "quad_perm:[3,1,0,2]"))
			from = l / 4 * 4 + (const int[]){3, 1, 0, 2}[l % 4];
		else if (strstr(text, "row_shl"))
			from = i + n <= 15 ? l + n : -1;
		else if (strstr(text, "row_shr"))
			from = i >= n ? l - n : -1;
		else if (strstr(text, "row_ror"))
			from = l / 16 * 16 + (i + 16 - n) % 16;
		else if (strstr(text, "wave_shl"))
			from = l + 1 < 64 ? l + 1 : -1;
		else if (strstr(text, "wave_rol"))
			from = (l + 1) % 64;
		else if (strstr(text, "wave_shr"))
			from = l - 1;
		else if (strstr(text, "wave_ror"))
			from = (l + 63) % 64;
		else if (strstr(text, "row_mirror"))
			from = l / 16 * 16 + 15 - i;
		else if (strstr(text, "row_half_mirror"))
			from = l / 8 * 8 + 7 - l % 8;
		else if (strstr(text, "row_bcast:15"))
			from = l / 16 * 16 - 1;
		else if (strstr(text, "row_bcast:31"))
			from = l < 32 ? -1 : 31;
		if (from >= 0 && !(exec >> from & 1))
			from = -1;
		if ((exec >> l & 1) && (from >= 0 || zero) && (rows >> l / 16 & 1) &&
		    (banks >> l % 16 / 4 & 1)) {
			want = from >= 0 ? bench.before.v[A][from] : 0;
			if (strstr(text, "v_add_u32"))
				want += bench.before.v[B][l];
		}
		if (bench.w.v[R][l] != want)
			return isa_complain(c, "result", bench.w.v[R][l], want, (unsigned)l);
	}
	return isa_others_kept(c, R, 1, 0, 0, 0, 0);
}

static int run_scalar(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint64_t exec = pair(&bench.w, REG_EXEC);
	unsigned first = exec ? (unsigned)__builtin_ctzll(exec) : 0, lane = bench.w.s[SB] % 64;
	uint32_t want;

	(void)bytes;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (!strncmp(c->text, "v_write", 7)) {
		want = strstr(c->text, "v8, 17,") ? 17 : bench.before.s[SA];
		for (unsigned l = 0; l < SOFT_LANES; l++)
			if (bench.w.v[R][l] != (l == lane ? want : bench.before.v[R][l]))
				return isa_complain(c, "result", bench.w.v[R][l], want, l);
		return isa_others_kept(c, R, 1, 0, 0, 0, 0);
	}
	want = bench.before.v[A][strstr(c->text, "first")  ? first
				 : strstr(c->text, ", 63") ? 63
							   : lane];
	if (bench.w.s[SR] != want)
		return isa_complain(c, "result", bench.w.s[SR], want, lane);
	return isa_others_kept(c, 0, 0, SR, 1, 0, 0);
}

static int run_permute(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint64_t exec = pair(&bench.w, REG_EXEC);
	unsigned offset = strstr(c->text, "offset:8") ? 2 : 0;
	int sends = strstr(c->text, "bpermute") == NULL;
	uint32_t want[SOFT_LANES] = {0};

	(void)bytes;
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		unsigned other = (bench.w.v[A][l] / 4 + offset) % 64;

		if (sends && exec >> l & 1)
			want[other] = bench.w.v[B][l];
		if (!sends && exec >> other & 1)
			want[l] = bench.w.v[B][other];
	}
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++)
		if (bench.w.v[R][l] != (exec >> l & 1 ? want[l] : bench.before.v[R][l]))
			return isa_complain(c, "result", bench.w.v[R][l], want[l], l);
	return isa_others_kept(c, R, 1, 0, 0, 0, 0);
}

static int run_swizzle(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint64_t exec = pair(&bench.w, REG_EXEC);

	(void)bytes;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		unsigned from = l;
		uint32_t want;

		if (strstr(c->text, "QUAD_PERM,3,0,2,1"))
			from = l / 4 * 4 + (const unsigned[]){3, 0, 2, 1}[l % 4];
		else if (strstr(c->text, "SWAP,8"))
			from = l ^ 8;
		else if (strstr(c->text, "REVERSE,16"))
			from = l / 16 * 16 + 15 - l % 16;
		else if (strstr(c->text, "BROADCAST,4,2"))
			from = l / 4 * 4 + 2;
		want = exec >> from & 1 ? bench.before.v[A][from] : 0;
		if (bench.w.v[R][l] != (exec >> l & 1 ? want : bench.before.v[R][l]))
			return isa_complain(c, "result", bench.w.v[R][l], want, l);
	}
	return isa_others_kept(c, R, 1, 0, 0, 0, 0);
}

/* Test s_set_gpr_idx_*: check M0, and check that a vector instruction then uses other registers. */
static int run_index(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	static const uint32_t move[] = {0x7e100302, 0x7e100302}; /* v_mov_b32 v8, v2 */
	uint32_t m0 = bench.w.s[REG_M0], by = bench.w.s[SA] = isa_random() % 8, want;

	(void)bytes;
	if (!strstr(c->text, "_on"))
		bench.w.indexed = bench.w.special = 1;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	want = strstr(c->text, "_on")        ? (m0 & 0xffff0f00) | by | 0x9000
	       : strstr(c->text, "_idx_idx") ? (m0 & 0xffffff00) | by
	       : strstr(c->text, "_mode")    ? (m0 & 0xffff0fff) | 0x9000
					     : m0;
	if (bench.w.s[REG_M0] != want)
		return isa_complain(c, "M0", bench.w.s[REG_M0], want, 0);
	if (isa_others_kept(c, 0, 0, REG_M0, 1, 0, 0))
		return 1;
	/* as if the wave executed these instructions between on and off */
	if (strstr(c->text, "_mode") || strstr(c->text, "_idx_idx"))
		bench.w.s[REG_M0] = (want & 0xffff0f00) | 0x9000 | by;
	set_pair(&bench.w, REG_EXEC, UINT64_MAX);
	if (isa_step(move))
		return isa_complain(c, "event of a move", 1, 0, 0);
	if (strstr(c->text, "_off"))
		by = 0;
	if (memcmp(bench.w.v[R + by], bench.before.v[A + by], sizeof(bench.w.v[0])))
		return isa_complain(c, "register moved", bench.w.v[R + by][0],
				    bench.before.v[A + by][0], 0);
	return isa_others_kept(c, R + by, 1, 0, 0, 0, 0);
}

static int run_relative(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	unsigned by = bench.w.s[REG_M0] = isa_random() % 4 * 2,
		 count = strstr(c->text, "b64") ? 2 : 1;
	int from_moves = strstr(c->text, "movrels") != NULL;
	unsigned from = SA + (from_moves ? by : 0), to = SR + (from_moves ? 0 : by);

	(void)bytes;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	for (unsigned i = 0; i < count; i++)
		if (bench.w.s[to + i] != bench.before.s[from + i])
			return isa_complain(c, "result", bench.w.s[to + i],
					    bench.before.s[from + i], 0);
	return isa_others_kept(c, 0, 0, to, count, 0, 0);
}

void isa_add_lane_cases(void)
{
	static const char *const dpp[] = {
		"quad_perm:[3,1,0,2]", "row_shl:1",    "row_shl:5",  "row_shr:1",
		"row_shr:15",          "row_ror:4",    "wave_shl:1", "wave_rol:1",
		"wave_shr:1",          "wave_ror:1",   "row_mirror", "row_half_mirror",
		"row_bcast:15",        "row_bcast:31",
	};
	static const char *const masks[] = {"row_mask:0xf bank_mask:0xf",
					    "row_mask:0xa bank_mask:0xf",
					    "row_mask:0xf bank_mask:0x5 bound_ctrl:0"};

	for (unsigned i = 0; i < sizeof(dpp) / sizeof(*dpp); i++)
		for (unsigned m = 0; m < 3; m++) {
			char *text, *add;

			if (asprintf(&text, "v_mov_b32_dpp v8, v2 %s %s", dpp[i], masks[m]) < 0 ||
			    asprintf(&add, "v_add_u32_dpp v8, v2, v4 %s %s", dpp[i], masks[m]) < 0)
				abort();
			isa_add((struct isa_case){text, run_dpp, 0, {0}});
			isa_add((struct isa_case){add, run_dpp, 0, {0}});
		}
#define CASE(text, run) isa_add((struct isa_case){text, run, 0, {0}});
	CASE("v_readfirstlane_b32 s16, v2", run_scalar)
	CASE("v_readlane_b32 s16, v2, s14", run_scalar)
	CASE("v_readlane_b32 s16, v2, 63", run_scalar)
	CASE("v_writelane_b32 v8, 17, s14", run_scalar)
	CASE("ds_permute_b32 v8, v2, v4", run_permute)
	CASE("ds_permute_b32 v8, v2, v4 offset:8", run_permute)
	CASE("ds_bpermute_b32 v8, v2, v4", run_permute)
	CASE("ds_bpermute_b32 v8, v2, v4 offset:8", run_permute)
	CASE("ds_swizzle_b32 v8, v2 offset:swizzle(QUAD_PERM,3,0,2,1)", run_swizzle)
	CASE("ds_swizzle_b32 v8, v2 offset:swizzle(SWAP,8)", run_swizzle)
	CASE("ds_swizzle_b32 v8, v2 offset:swizzle(REVERSE,16)", run_swizzle)
	CASE("ds_swizzle_b32 v8, v2 offset:swizzle(BROADCAST,4,2)", run_swizzle)
	CASE("s_set_gpr_idx_on s12, 0x9", run_index)
	CASE("s_set_gpr_idx_off", run_index)
	CASE("s_set_gpr_idx_mode 0x9", run_index)
	CASE("s_set_gpr_idx_idx s12", run_index)
	CASE("s_movrels_b32 s16, s12", run_relative)
	CASE("s_movrels_b64 s[16:17], s[12:13]", run_relative)
	CASE("s_movreld_b32 s16, s12", run_relative)
	CASE("s_movreld_b64 s[16:17], s[12:13]", run_relative)
}
