/* SPDX-License-Identifier: MIT */
/* Loads, stores and atomics outside of LDS: scalar loads, flat, global and scratch instructions,
 * scratch through buffers.
 *
 * Addresses below 2^48 refer to the host's memory, which the caller of soft_isa_run() guards. The
 * two apertures refer to LDS and to scratch (flat instructions only). An access to any other
 * address is a fault. Scratch is swizzled, so that registers spilled in a wave are adjacent: dword
 * i of lane l is at 256 i + 4 l. */
#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

static int is_host(uint64_t address, unsigned bytes)
{
	return !((address | (address + bytes)) >> (SOFT_ISA_HOST_BITS + 1));
}

static uint8_t *host_pointer(uint64_t address)
{
	return (uint8_t *)(uintptr_t)(address & (SOFT_ISA_ALIAS - 1));
}

int soft_scalar_load(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t address = pair(w, s->base) + (uint64_t)(int64_t)s->offset;

	if (s->source[0] < REG_COUNT)
		address += w->s[s->source[0]];
	address &= ~3ull;
	if (!is_host(address, s->op->bytes))
		return soft_fault(w, address);
	switch (s->op->bytes) { /* constant sizes let compilers inline the copy */
	case 4: memcpy(&w->s[s->result], host_pointer(address), 4); break;
	case 8: memcpy(&w->s[s->result], host_pointer(address), 8); break;
	case 16: memcpy(&w->s[s->result], host_pointer(address), 16); break;
	default: memcpy(&w->s[s->result], host_pointer(address), s->op->bytes);
	}
	return 0;
}

int soft_scalar_time(struct soft_wave *w, const struct soft_step *s)
{
	const struct soft_isa_gpu *gpu = soft_isa_gpu(w);

	/* s_memtime */
	set_pair(w, s->result,
		 (s->op->number == 0x24 ? gpu->read_cycles : gpu->read_clock)(gpu->data));
	return 0;
}

/* ---- one element of one lane, at any address ---- */

static int move_scratch(struct soft_wave *w, unsigned lane, uint32_t at, void *data, unsigned bytes,
			int store)
{
	uint8_t *d = data;

	if (at > w->scratch_bytes || bytes > w->scratch_bytes - at)
		return soft_fault(w, soft_isa_gpu(w)->private_aperture + at);
	for (unsigned i = 0; i < bytes;) {
		uint32_t a = at + i;
		uint8_t *p = w->scratch + (size_t)(a >> 2) * 4 * SOFT_LANES + 4 * lane + (a & 3);
		unsigned n = 4 - (a & 3);

		n = MIN(n, bytes - i);
		if (store)
			memcpy(p, d + i, n);
		else
			memcpy(d + i, p, n);
		i += n;
	}
	return 0;
}

/* Return the LDS or host memory at a flat address, or NULL if the address is in neither. */
static uint8_t *flat_memory(struct soft_wave *w, uint64_t address, unsigned bytes)
{
	const struct soft_isa_gpu *gpu = soft_isa_gpu(w);

	if ((address & ~(uint64_t)UINT32_MAX) == gpu->lds_aperture) {
		uint32_t at = (uint32_t)address;

		return at <= w->group->lds_bytes && bytes <= w->group->lds_bytes - at
			       ? w->group->lds + at
			       : NULL;
	}
	return is_host(address, bytes) ? host_pointer(address) : NULL;
}

static int move_element(struct soft_wave *w, const struct soft_step *s, unsigned lane,
			uint64_t address, void *data, int store)
{
	unsigned bytes = s->op->bytes;
	uint8_t *p;

	if (s->segment == SOFT_SCRATCH)
		return move_scratch(w, lane, (uint32_t)address, data, bytes, store);
	if (s->segment == SOFT_FLAT &&
	    (address & ~(uint64_t)UINT32_MAX) == soft_isa_gpu(w)->private_aperture)
		return move_scratch(w, lane, (uint32_t)address, data, bytes, store);
	p = s->segment == SOFT_FLAT   ? flat_memory(w, address, bytes)
	    : is_host(address, bytes) ? host_pointer(address)
				      : NULL;
	if (!p)
		return soft_fault(w, address);
	if (store)
		memcpy(p, data, bytes);
	else
		memcpy(data, p, bytes);
	return 0;
}

/* ---- all lanes ---- */

/* Extend a loaded byte or word to its register. */
static uint32_t widen_value(const struct soft_op *op, uint32_t x, uint32_t before)
{
	if (op->bytes == 1)
		x = op->is_signed ? (uint32_t)(int8_t)x : x & 0xff;
	else
		x = op->is_signed ? (uint32_t)(int16_t)x : x & 0xffff;
	if (op->flags & SOFT_FLAG_LOW)
		return (x & 0xffff) | (before & 0xffff0000);
	return op->flags & SOFT_FLAG_HIGH ? x << 16 | (before & 0xffff) : x;
}

static int load_lanes(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
		      const uint64_t *address)
{
	unsigned words = s->op->bytes / 4;

	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint32_t x[4] = {0};
		int event;

		if (!(exec >> l & 1))
			continue;
		event = move_element(w, s, l, address[l], x, 0);
		if (event)
			return event;
		if (!words)
			w->v[s->result][l] = widen_value(s->op, x[0], w->v[s->result][l]);
		for (unsigned i = 0; i < words; i++)
			w->v[s->result + i][l] = x[i];
	}
	return 0;
}

static int store_lanes(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
		       const uint64_t *address)
{
	unsigned words = (s->op->bytes + 3) / 4;

	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint32_t x[4];
		int event;

		if (!(exec >> l & 1))
			continue;
		for (unsigned i = 0; i < words; i++)
			x[i] = w->v[s->data + i][l];
		if (s->op->flags & SOFT_FLAG_HIGH)
			x[0] >>= 16;
		event = move_element(w, s, l, address[l], x, 1);
		if (event)
			return event;
	}
	return 0;
}

/* Convert consecutive elements of @words words to one row per word, or back. Constant counts let
 * compilers vectorise the loops. */
#define EACH(words, code)                            \
	for (unsigned i = 0; i < (words); i++)       \
		for (unsigned n = 0; n < count; n++) \
			code;

static void take_apart(uint32_t (*d)[SOFT_LANES], unsigned first, unsigned count, unsigned words,
		       const uint32_t *x)
{
	switch (words) {
	case 2: EACH(2, d[i][first + n] = x[2 * n + i]) break;
	case 3: EACH(3, d[i][first + n] = x[3 * n + i]) break;
	default: EACH(4, d[i][first + n] = x[4 * n + i])
	}
}

static void put_together(uint32_t *x, const uint32_t (*d)[SOFT_LANES], unsigned first,
			 unsigned count, unsigned words)
{
	switch (words) {
	case 2: EACH(2, x[2 * n + i] = d[i][first + n]) break;
	case 3: EACH(3, x[3 * n + i] = d[i][first + n]) break;
	default: EACH(4, x[4 * n + i] = d[i][first + n])
	}
}
#undef EACH

/* Same as load_lanes(), but only for host memory, the most frequent case. */
static void load_host(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
		      const uint64_t *address)
{
	unsigned bytes = s->op->bytes;

	if (exec == UINT64_MAX && bytes == 16) { /* sizes used by HIP's rectangular copies */
		uint32_t x[4 * SOFT_LANES];

		for (unsigned l = 0; l < SOFT_LANES; l++)
			memcpy(x + 4 * l, host_pointer(address[l]), 16);
		take_apart(&w->v[s->result], 0, SOFT_LANES, 4, x);
		return;
	}
	for (uint64_t left = exec; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		const uint8_t *p = host_pointer(address[l]);
		uint16_t half;

		if (bytes == 1)
			w->v[s->result][l] = widen_value(s->op, *p, w->v[s->result][l]);
		else if (bytes == 2)
			memcpy(&half, p, 2),
				w->v[s->result][l] = widen_value(s->op, half, w->v[s->result][l]);
		for (unsigned i = 0; i < bytes / 4; i++)
			memcpy(&w->v[s->result + i][l], p + 4 * i, 4);
	}
}

static void store_host(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
		       const uint64_t *address)
{
	unsigned bytes = s->op->bytes, shift = s->op->flags & SOFT_FLAG_HIGH ? 16 : 0;

	if (exec == UINT64_MAX && bytes == 16) {
		uint32_t x[4 * SOFT_LANES];

		put_together(x, (const uint32_t(*)[SOFT_LANES]) & w->v[s->data], 0, SOFT_LANES, 4);
		for (unsigned l = 0; l < SOFT_LANES; l++)
			memcpy(host_pointer(address[l]), x + 4 * l, 16);
		return;
	}
	for (uint64_t left = exec; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint8_t *p = host_pointer(address[l]);
		uint16_t half = (uint16_t)(w->v[s->data][l] >> shift);

		if (bytes < 4)
			memcpy(p, &half, bytes);
		for (unsigned i = 0; i < bytes / 4; i++)
			memcpy(p + 4 * i, &w->v[s->data + i][l], 4);
	}
}

static int all_host(const struct soft_step *s, uint64_t exec, const uint64_t *address)
{
	uint64_t high = 0;

	if (s->segment == SOFT_SCRATCH)
		return 0;
	for (uint64_t left = exec; left; left &= left - 1) {
		uint64_t a = address[__builtin_ctzll(left)];

		high |= a | (a + 16);
	}
	return !(high >> (SOFT_ISA_HOST_BITS + 1));
}

/* ---- neighbours ---- */

/* The most frequent access patterns. ROW: `count` consecutive elements; lane `first` accesses the
 * first element, at `p`. ONE: all lanes access the same element. */
enum layout { ANY, ROW, ONE };

struct row {
	uint8_t *p;
	unsigned first, count;
};

/* Determine which host memory the active lanes access, with 32-bit arithmetic, before their
 * addresses are computed. */
static enum layout find_layout(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
			       struct row *r)
{
	const uint32_t *low = w->v[s->source[0]], *high = w->v[(s->source[0] + 1) & 255],
		       *live = soft_live(w, exec);
	unsigned first = (unsigned)__builtin_ctzll(exec),
		 last = 63 - (unsigned)__builtin_clzll(exec), bytes = s->op->bytes;
	uint32_t start = low[first] - bytes * first, steps = 0, differs = 0;
	uint64_t address = low[first], span = (uint64_t)bytes * (last - first + 1);
	int holes = ((exec >> first) & ((exec >> first) + 1)) != 0;

	if (s->segment == SOFT_SCRATCH || address + span > UINT32_MAX)
		return ANY;
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		steps |= (low[l] ^ (start + bytes * l)) & live[l];
		differs |= (low[l] ^ low[first]) & live[l];
	}
	if (s->base < REG_COUNT) {
		address += pair(w, s->base);
	} else {
		uint32_t apart = 0;

		for (unsigned l = 0; l < SOFT_LANES; l++)
			apart |= (high[l] ^ high[first]) & live[l];
		if (apart)
			return ANY;
		address |= (uint64_t)high[first] << 32;
	}
	address += (uint64_t)(int64_t)s->offset;
	if ((differs && (steps || holes)) || !is_host(address, (unsigned)span))
		return ANY;
	r->p = host_pointer(address);
	r->first = first;
	r->count = last - first + 1;
	return !steps && !holes ? ROW : ONE;
}

/* Copy @x to the active lanes of a register. */
static void put_live(uint32_t *d, const uint32_t *live, const uint32_t *x)
{
	for (unsigned l = 0; l < SOFT_LANES; l++)
		d[l] = (x[l] & live[l]) | (d[l] & ~live[l]);
}

static void load_one(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
		     const uint8_t *p)
{
	const uint32_t *live = soft_live(w, exec);
	unsigned bytes = s->op->bytes, words = (bytes + 3) / 4;
	uint32_t x[4] = {0};

	memcpy(x, p, bytes);
	if (exec == UINT64_MAX && !(s->op->flags & (SOFT_FLAG_LOW | SOFT_FLAG_HIGH))) {
		for (unsigned i = 0; i < words; i++)
			soft_set_line(w, s->result + i,
				      bytes < 4 ? widen_value(s->op, x[0], 0) : x[i], 0);
		return;
	}
	soft_want_rows(w, s->result, words);
	for (unsigned i = 0; i < words; i++) {
		uint32_t *d = w->v[s->result + i];

		for (unsigned l = 0; l < SOFT_LANES; l++)
			d[l] = ((bytes < 4 ? widen_value(s->op, x[0], d[l]) : x[i]) & live[l]) |
			       (d[l] & ~live[l]);
	}
}

/* Extend consecutive bytes and halves to words. */
static void widen_row(const struct soft_op *op, uint32_t *restrict d, const uint8_t *restrict p,
		      unsigned count)
{
	uint16_t halves[SOFT_LANES];

	if (op->flags & (SOFT_FLAG_LOW | SOFT_FLAG_HIGH)) {
		for (unsigned n = 0; n < count; n++) {
			halves[0] = p[n * op->bytes];
			memcpy(halves, p + n * op->bytes, op->bytes);
			d[n] = widen_value(op, halves[0], d[n]);
		}
		return;
	}
	if (op->bytes == 2) {
		memcpy(halves, p, 2 * (size_t)count);
		for (unsigned n = 0; n < count; n++)
			d[n] = op->is_signed ? (uint32_t)(int16_t)halves[n] : halves[n];
	} else {
		for (unsigned n = 0; n < count; n++)
			d[n] = op->is_signed ? (uint32_t)(int8_t)p[n] : p[n];
	}
}

static void load_row(struct soft_wave *w, const struct soft_step *s, const struct row *r)
{
	uint32_t(*d)[SOFT_LANES] = &w->v[s->result];
	uint32_t x[4 * SOFT_LANES];
	unsigned words = s->op->bytes / 4;

	if (r->count == SOFT_LANES && words)
		for (unsigned i = 0; i < words; i++)
			soft_row_comes(w, s->result + i);
	else
		soft_want_rows(w, s->result, words + !words);
	if (words == 1) {
		memcpy(d[0] + r->first, r->p, 4 * (size_t)r->count);
		return;
	}
	if (!words) {
		widen_row(s->op, d[0] + r->first, r->p, r->count);
		return;
	}
	memcpy(x, r->p, 4 * (size_t)words * r->count);
	take_apart(d, r->first, r->count, words, x);
}

static void store_row(struct soft_wave *w, const struct soft_step *s, const struct row *r)
{
	const uint32_t(*d)[SOFT_LANES] = (const uint32_t(*)[SOFT_LANES]) & w->v[s->data];
	unsigned words = s->op->bytes / 4, shift = s->op->flags & SOFT_FLAG_HIGH ? 16 : 0;
	uint32_t x[4 * SOFT_LANES];
	uint16_t halves[SOFT_LANES];
	uint8_t bytes[SOFT_LANES];

	soft_want_rows(w, s->data, words + !words);
	if (words == 1) {
		memcpy(r->p, d[0] + r->first, 4 * (size_t)r->count);
		return;
	}
	if (s->op->bytes == 1) {
		for (unsigned n = 0; n < r->count; n++)
			bytes[n] = (uint8_t)(d[0][r->first + n] >> shift);
		memcpy(r->p, bytes, r->count);
		return;
	}
	if (s->op->bytes == 2) {
		for (unsigned n = 0; n < r->count; n++)
			halves[n] = (uint16_t)(d[0][r->first + n] >> shift);
		memcpy(r->p, halves, 2 * (size_t)r->count);
		return;
	}
	put_together(x, d, r->first, r->count, words);
	memcpy(r->p, x, 4 * (size_t)words * r->count);
}

/* If the address registers are lines, determine the memory that the lanes access without reading
 * single lanes. */
static enum layout line_layout(const struct soft_wave *w, const struct soft_step *s, struct row *r)
{
	unsigned low = s->source[0], high = (low + 1) & 255, bytes = s->op->bytes;
	const struct soft_line *line = &w->line[low];
	uint64_t address = line->base;

	if (s->segment == SOFT_SCRATCH || !soft_is_line(w, low) || !soft_line_is_straight(line))
		return ANY;
	if (s->base < REG_COUNT)
		address += pair(w, s->base);
	else if (soft_is_line(w, high) && !w->line[high].step)
		address |= (uint64_t)w->line[high].base << 32;
	else
		return ANY;
	address += (uint64_t)(int64_t)s->offset;
	if ((line->step != bytes && line->step) || !is_host(address, bytes * SOFT_LANES))
		return ANY;
	*r = (struct row){host_pointer(address), 0, SOFT_LANES};
	return line->step ? ROW : ONE;
}

static int execute_load(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
			const uint64_t *address)
{
	if (!all_host(s, exec, address))
		return load_lanes(w, s, exec, address);
	load_host(w, s, exec, address);
	return 0;
}

static int execute_store(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
			 const uint64_t *address)
{
	if (!all_host(s, exec, address))
		return store_lanes(w, s, exec, address);
	store_host(w, s, exec, address);
	return 0;
}

/* ---- atomics ---- */

static uint64_t merge_memory32(const struct soft_op *op, uint32_t *p, uint64_t x, uint64_t y)
{
	uint32_t m = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(p, &m, (uint32_t)op->merge(m, x, y), 1,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return m;
}

static uint64_t merge_memory64(const struct soft_op *op, uint64_t *p, uint64_t x, uint64_t y)
{
	uint64_t m = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(p, &m, op->merge(m, x, y), 1, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	return m;
}

static uint64_t data_of(const struct soft_wave *w, unsigned r, unsigned l, int wide)
{
	return w->v[r][l] | (wide ? (uint64_t)w->v[r + 1][l] << 32 : 0);
}

static int merge_lanes(struct soft_wave *w, const struct soft_step *s, uint64_t exec,
		       const uint64_t *address)
{
	int wide = s->op->bytes == 8;

	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint64_t x, y = 0, m;
		uint8_t *p;

		if (!(exec >> l & 1))
			continue;
		p = s->segment == SOFT_FLAT || is_host(address[l], 8)
			    ? flat_memory(w, address[l], s->op->bytes)
			    : NULL;
		if (!p || address[l] % s->op->bytes)
			return soft_fault(w, address[l]);
		x = data_of(w, s->data, l, wide);
		if (s->op->flags & SOFT_FLAG_COMPARE)
			y = data_of(w, s->data + 1u + (unsigned)wide, l, wide);
		m = wide ? merge_memory64(s->op, (uint64_t *)(void *)p, x, y)
			 : merge_memory32(s->op, (uint32_t *)(void *)p, x, y);
		if (!s->returns)
			continue;
		w->v[s->result][l] = (uint32_t)m;
		if (wide)
			w->v[s->result + 1][l] = (uint32_t)(m >> 32);
	}
	return 0;
}

/* ---- instructions ---- */

static void want_data_rows(struct soft_wave *w, const struct soft_step *s)
{
	unsigned words = (s->op->bytes + 3u) / 4;

	soft_want_rows(w, s->data, s->op->flags & SOFT_FLAG_COMPARE ? 2 * words : words);
	soft_want_rows(w, s->result, words);
}

int soft_memory(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC), base = 0;
	uint64_t address[SOFT_LANES];
	const uint32_t *low = w->v[s->source[0]], *high = w->v[(s->source[0] + 1) & 255];
	struct row row;

	if (!exec)
		return 0;
	if (s->op->kind != SOFT_KIND_ATOMIC) {
		enum layout layout = exec == UINT64_MAX ? line_layout(w, s, &row) : ANY;

		if (!layout) {
			soft_want_rows(w, s->source[0], 2);
			layout = find_layout(w, s, exec, &row);
		}
		if (layout == ROW) {
			(s->op->kind == SOFT_KIND_LOAD ? load_row : store_row)(w, s, &row);
			return 0;
		}
		if (layout == ONE && s->op->kind == SOFT_KIND_LOAD) {
			load_one(w, s, exec, row.p);
			return 0;
		}
	}
	soft_want_rows(w, s->source[0], 2);
	want_data_rows(w, s);
	/* an offset from a vector register or from a scalar one */
	if (s->segment == SOFT_SCRATCH) {
		for (unsigned l = 0; l < SOFT_LANES; l++)
			address[l] = (uint32_t)((s->base < REG_COUNT ? w->s[s->base] : low[l]) +
						(uint32_t)s->offset);
	} else if (s->base < REG_COUNT) {
		base = pair(w, s->base) + (uint64_t)(int64_t)s->offset;
		for (unsigned l = 0; l < SOFT_LANES; l++)
			address[l] = base + low[l];
	} else {
		for (unsigned l = 0; l < SOFT_LANES; l++)
			address[l] =
				(low[l] | (uint64_t)high[l] << 32) + (uint64_t)(int64_t)s->offset;
	}
	switch (s->op->kind) {
	case SOFT_KIND_LOAD: return execute_load(w, s, exec, address);
	case SOFT_KIND_STORE: return execute_store(w, s, exec, address);
	default: return merge_lanes(w, s, exec, address);
	}
}

/* Move spilled registers and variables: whole words at one offset in all lanes, which are rows of
 * scratch. Return 0 for any other access. */
static int move_spilled(struct soft_wave *w, const struct soft_step *s, uint64_t exec, uint32_t at)
{
	const uint32_t *live = soft_live(w, exec);
	unsigned bytes = s->op->bytes;

	if ((at | bytes) & 3 || at > w->scratch_bytes || bytes > w->scratch_bytes - at)
		return 0;
	for (unsigned i = 0; i < bytes / 4; i++) {
		uint32_t *row =
			(uint32_t *)(void *)(w->scratch + (size_t)(at / 4 + i) * 4 * SOFT_LANES);

		if (s->op->kind == SOFT_KIND_LOAD)
			put_live(w->v[s->result + i], live, row);
		else
			put_live(row, live, w->v[s->data + i]);
	}
	return 1;
}

/* Access a buffer through a descriptor in four SGPRs. Only the scratch descriptor of the wave is
 * supported: swizzled memory of the wave. The offset register counts bytes of the whole wave: 64
 * per byte of a lane. */
int soft_buffer(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC);
	uint64_t address[SOFT_LANES];
	uint32_t wave_offset = source32(w, s, 1);

	if ((pair(w, s->base) & 0xffffffffffffull) != (uint64_t)(uintptr_t)w->scratch ||
	    !w->scratch_bytes)
		return soft_unsupported(w, "of a buffer other than scratch");
	if (wave_offset % (4 * SOFT_LANES))
		return soft_unsupported(w, "with a misaligned offset");
	want_data_rows(w, s);
	if (s->source[0] >= REG_VECTOR)
		soft_want_rows(w, s->source[0] - REG_VECTOR, 1);
	if (s->source[0] < REG_VECTOR &&
	    move_spilled(w, s, exec, (uint32_t)s->offset + wave_offset / SOFT_LANES))
		return 0;
	for (unsigned l = 0; l < SOFT_LANES; l++)
		address[l] = (s->source[0] >= REG_VECTOR ? w->v[s->source[0] - REG_VECTOR][l] : 0) +
			     (uint32_t)s->offset + wave_offset / SOFT_LANES;
	return s->op->kind == SOFT_KIND_LOAD ? load_lanes(w, s, exec, address)
					     : store_lanes(w, s, exec, address);
}
