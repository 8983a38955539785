/* SPDX-License-Identifier: MIT */
/* Branches, calls, ends, messages, clocks, hardware registers, and instructions that do nothing. */
#include "tests/soft/isa_test.h"

static int run_branch(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint64_t vcc = isa_random() & 1 ? isa_random() : 0,
		 exec = isa_random() & 1 ? isa_random() | 1 : 0;
	int taken, far = strstr(c->text, "65526") ? -10 : 100;

	(void)bytes;
	set_pair(&bench.w, REG_VCC, vcc);
	set_pair(&bench.w, REG_EXEC, exec);
	taken = strstr(c->text, "scc0")     ? !bench.w.scc
		: strstr(c->text, "scc1")   ? (int)bench.w.scc
		: strstr(c->text, "vccz")   ? !vcc
		: strstr(c->text, "vccnz")  ? !!vcc
		: strstr(c->text, "execz")  ? !exec
		: strstr(c->text, "execnz") ? !!exec
					    : 1;
	bench.stop = 0;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (bench.w.pc != 0x10004 + (uint64_t)(taken ? 4 * far : 0))
		return isa_complain(c, "pc", bench.w.pc, 0x10004 + (uint64_t)(taken ? 4 * far : 0),
				    0);
	if (isa_others_kept(c, 0, 0, 0, 0, 0, 0))
		return 1;
	if (far < 0) { /* a loop ends once its queue is being destroyed */
		int event;

		bench.stop = 1;
		bench.w.pc = 0x10000;
		event = isa_step(words);
		bench.stop = 0;
		if (event != (taken ? SOFT_EVENT_STOP : 0))
			return isa_complain(c, "event of a loop that is stopped", (uint64_t)event,
					    SOFT_EVENT_STOP, 0);
	}
	return 0;
}

static int run_call(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	int links = !strstr(c->text, "setpc");

	(void)bytes;
	set_pair(&bench.w, SA, 0x7f1234567890);
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (bench.w.pc != (strstr(c->text, "call") ? 0x10004 + 4 * 100 : 0x7f1234567890))
		return isa_complain(c, "pc", bench.w.pc, 0, 0);
	if (links && isa_pair(SR) != 0x10004)
		return isa_complain(c, "address of return", isa_pair(SR), 0x10004, 0);
	return isa_others_kept(c, 0, 0, SR, links ? 2 : 0, 0, 0);
}

static int run_event(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint32_t messages = bench.messages, m0 = bench.w.s[REG_M0];
	int event = isa_step(words);

	(void)bytes;
	if (event != c->line)
		return isa_complain(c, "event", (uint64_t)event, (uint64_t)c->line, 0);
	if (strstr(c->text, "sendmsg") && (bench.messages != messages + 1 || bench.message != m0))
		return isa_complain(c, "message", bench.message, m0, 0);
	if (strstr(c->text, "s_trap") && bench.w.trap != 2)
		return isa_complain(c, "trap", bench.w.trap, 2, 0);
	return isa_others_kept(c, 0, 0, 0, 0, 0, 0);
}

/* Global wave sync: takes the value of the first active lane, and supports only the first barrier;
 * other barriers are refused. */
static int run_wave_sync(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint64_t exec = pair(&bench.w, REG_EXEC);
	uint32_t want = 0;
	int event, first = isa_random() & 1;

	(void)bytes;
	for (unsigned l = SOFT_LANES; l--;)
		if (exec >> l & 1)
			want = bench.w.v[A][l];
	bench.w.s[REG_M0] = first ? 0xffff : 5 << 16;
	bench.grid_barrier = ~want;
	event = isa_step(words);
	if (event != (first ? c->line : SOFT_EVENT_UNSUPPORTED))
		return isa_complain(c, "event", (uint64_t)event, (uint64_t)c->line, 0);
	if (bench.grid_barrier != (first ? want : ~want))
		return isa_complain(c, "count", bench.grid_barrier, want, 0);
	return isa_others_kept(c, 0, 0, 0, 0, 0, 0);
}

static int run_clock(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	(void)bytes;
	bench.clock += isa_random() >> 20;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (isa_pair(SR) != bench.clock * c->line)
		return isa_complain(c, "clock", isa_pair(SR), bench.clock * c->line, 0);
	return isa_others_kept(c, 0, 0, SR, 2, 0, 0);
}

static int run_getreg(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	uint32_t want;

	(void)bytes;
	bench.w.index = isa_random() % 16;
	bench.group.flat_id = isa_random() % 1000;
	want = strstr(c->text, "MODE")     ? MODE_PLAIN >> 4 & 15
	       : strstr(c->text, "SH_MEM") ? (uint32_t)(bench.gpu.lds_aperture >> 48)
					   : bench.w.index;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (bench.w.s[SR] != want)
		return isa_complain(c, "result", bench.w.s[SR], want, 0);
	return isa_others_kept(c, 0, 0, SR, 1, 0, 0);
}

static float flushed(float x)
{
	return isnormal(x) || !isfinite(x) ? x : copysignf(0, x);
}

/* Set a mode, and multiply in this mode. The products are exact in double, which allows a check of
 * the rounding. */
static int run_setreg(const struct isa_case *c, const uint32_t *words, unsigned bytes)
{
	static const uint32_t multiply[] = {0x0a100902, 0}; /* v_mul_f32 v8, v2, v4 */
	int to_zero = strstr(c->text, "0xf3") || strstr(c->text, "s12"),
	    flushes = strstr(c->text, " 0xc0") != NULL;

	(void)bytes;
	bench.w.s[SA] = 0xf3;
	if (isa_step(words))
		return isa_complain(c, "event", 1, 0, 0);
	if (isa_others_kept(c, 0, 0, 0, 0, 0, 0))
		return 1;
	set_pair(&bench.w, REG_EXEC, UINT64_MAX);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		bench.w.v[A][l] = (uint32_t)isa_value("f32");
		bench.w.v[B][l] = (uint32_t)isa_value("f32");
	}
	if (isa_step(multiply))
		return isa_complain(c, "event of the multiplication", 1, 0, 0);
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		float x = F(bench.before.v[A][l]), y = F(bench.before.v[B][l]),
		      got = F(bench.w.v[R][l]), want;
		double exact = flushes ? (double)flushed(x) * flushed(y) : (double)x * y;

		want = (float)exact;
		/* denormal before rounding */
		if (flushes && fabs((double)(float)(exact * 0x1p60)) < 0x1p-66)
			want = copysignf(0, want);
		if (to_zero && fabs((double)want) > fabs(exact) && !(isinf(x) || isinf(y)))
			want = nextafterf(want, 0);
		if (FB(got) != FB(want) && !(isnan(got) && isnan(want)))
			return isa_complain(c, "product in this mode", FB(got), FB(want), l);
	}
	return isa_others_kept(c, R, 1, 0, 0, 0, 0);
}

void isa_add_control_cases(void)
{
	static const char *const branches[] = {"s_branch",        "s_cbranch_scc0",
					       "s_cbranch_scc1",  "s_cbranch_vccz",
					       "s_cbranch_vccnz", "s_cbranch_execz",
					       "s_cbranch_execnz"};
	static const char *const nothing[] = {
		"s_nop 3",          "s_wakeup",        "s_waitcnt vmcnt(0) lgkmcnt(0)",
		"s_setprio 2",      "s_icache_inv",    "s_incperflevel 1",
		"s_decperflevel 1", "s_dcache_inv",    "s_dcache_wb",
		"s_dcache_inv_vol", "s_dcache_wb_vol", "v_nop",
		"ds_nop",           "buffer_wbinvl1",  "buffer_wbinvl1_vol",
	};

	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++)
		for (int back = 0; back < 2; back++) {
			char *text;

			if (asprintf(&text, "%s %d", branches[i], back ? 65526 : 100) < 0)
				abort();
			isa_add((struct isa_case){text, run_branch, 0, {0}});
		}
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		isa_add((struct isa_case){nothing[i], run_event, 0, {0}});
#define CASE(text, run, line) isa_add((struct isa_case){text, run, line, {0}});
	CASE("s_setpc_b64 s[12:13]", run_call, 0)
	CASE("s_swappc_b64 s[16:17], s[12:13]", run_call, 0)
	CASE("s_call_b64 s[16:17], 100", run_call, 0)
	CASE("s_endpgm", run_event, SOFT_EVENT_END)
	CASE("s_barrier", run_event, SOFT_EVENT_BARRIER)
	CASE("ds_gws_init v2 gds", run_wave_sync, 0)
	CASE("ds_gws_barrier v2 gds", run_wave_sync, SOFT_EVENT_GRID_BARRIER)
	CASE("s_sleep 2", run_event, SOFT_EVENT_YIELD)
	CASE("s_sendmsg sendmsg(MSG_INTERRUPT)", run_event, 0)
	CASE("s_trap 2", run_event, SOFT_EVENT_TRAP)
	CASE("s_memtime s[16:17]", run_clock, 3)
	CASE("s_memrealtime s[16:17]", run_clock, 1)
	CASE("s_getreg_b32 s16, hwreg(HW_REG_MODE, 4, 4)", run_getreg, 0)
	CASE("s_getreg_b32 s16, hwreg(HW_REG_SH_MEM_BASES, 16, 16)", run_getreg, 0)
	CASE("s_getreg_b32 s16, hwreg(HW_REG_HW_ID, 0, 4)", run_getreg, 0)
	CASE("s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s12", run_setreg, 0)
	CASE("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf3", run_setreg, 0)
	CASE("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xc0", run_setreg, 0)
	CASE("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0", run_setreg, 0)
}
