/* SPDX-License-Identifier: MIT */
/* Runs a dispatch: its workgroups run one after another, with the waves of a workgroup interleaved.
 * In a cooperative dispatch all waves are interleaved.
 *
 *   packet + kernel descriptor ─► launch ─► for each workgroup: make waves ─► turns until all
 *     end
 *   turn: steps until the wave ends, waits at a barrier, sleeps, or has used up its share of
 *         instructions
 *
 * A barrier opens when every wave of its workgroup that has not ended waits at it. The grid's
 * barrier (global wave sync) opens when the configured number of waves has arrived. Turns let waves
 * progress that wait for each other in loops, for example for a flag in LDS. Registers that a wave
 * does not receive a value for start at 0, so that repeated runs give the same results. The caller
 * may leave a run with a jump at any access to global memory: nothing is locked then, and the
 * machine owns all memory. */
#include "soft/amdgpu/isa/isa_machine.h"
#include "soft/amdgpu/isa/isa_numbers.h"

#include <stdio.h>
#include <stdlib.h>

#define UNIT_WAVES 40    /* capacity of a compute unit */
#define TURN_STEPS 50000 /* maximum number of steps between two reads of the queue's stop flag */

struct launch { /* parameters of one dispatch, from the packet and the kernel descriptor */
	uint32_t size[3], grid[3], groups[3];
	uint32_t lds_bytes, scratch_bytes; /* scratch_bytes: per lane */
	uint32_t rsrc1, rsrc2;
	uint16_t properties;
	uint64_t entry, kernarg;
	unsigned waves;
};

const char *soft_isa_result_text(enum soft_isa_result result)
{
	static const char *const texts[] = {
#define X(name, text) [name] = text,
		SOFT_ISA_RESULTS(X)
#undef X
	};

	return result < sizeof(texts) / sizeof(*texts) ? texts[result] : "?";
}

bool soft_isa_has(uint32_t gfx)
{
	return gfx == 0x906;
}

const char *soft_isa_targets(void)
{
	return "gfx906";
}

struct soft_isa *soft_isa_create(const struct soft_isa_gpu *gpu)
{
	struct soft_isa *isa = soft_isa_has(gpu->gfx) ? calloc(1, sizeof(*isa)) : NULL;

	if (!isa)
		return NULL;
	isa->gpu = *gpu;
	return isa;
}

/* Free all residents except the first @count. */
static void free_residents(struct soft_isa *isa, size_t count)
{
	while (isa->resident_count > count) {
		struct resident *r = &isa->residents[--isa->resident_count];

		for (unsigned i = 0; i < MAX_WAVES; i++)
			free(r->waves[i]);
		free(r->lds);
		free(r->scratch);
	}
}

void soft_isa_destroy(struct soft_isa *isa)
{
	if (!isa)
		return;
	soft_code_clear(&isa->code);
	free_residents(isa, 0);
	free(isa->residents);
	free(isa);
}

/* ---- steps ---- */

/* Return the decoded step at @pc. Return NULL if out of memory. If @pc is outside the kernel's
 * code, set *@event and return NULL. */
static struct soft_step *fetch_step(struct soft_isa *isa, struct code_page **page, uint64_t pc,
				    int *event)
{
	const struct soft_dispatch *d = isa->dispatch;
	struct soft_step *s;
	uint32_t words[4];
	uint64_t left;
	unsigned count;

	*page = soft_code_page(&isa->code, pc);
	if (!*page)
		return NULL;
	s = &(*page)->steps[pc / 4 % CODE_PAGE_STEPS];
	if (s->run)
		return s;
	left = pc - d->code_base < d->code_bytes ? d->code_bytes - (pc - d->code_base) : 0;
	count = left / 4 > 4 ? 4 : (unsigned)(left / 4);
	if (!count) {
		*event = SOFT_EVENT_FAULT;
		return NULL;
	}
	memcpy(words, (const void *)(uintptr_t)pc, 4 * count);
	soft_decode(s, words, count, &isa->gpu);
	return s;
}

/* Run until a step returns an event. Return the event, or 0 if out of memory. w->pc is then after
 * the instruction that returned the event, or at that instruction if it failed. */
static int run_wave(struct soft_isa *isa, struct soft_wave *w)
{
	const struct soft_step *steps = NULL, *s; /* decoded steps of the page at @base */
	uint64_t pc = w->pc, base = 1;            /* 1: no page yet */
	unsigned left = TURN_STEPS;
	int event = 0;

	do {
		uint64_t at = pc - base;

		if (__builtin_expect(at >= CODE_PAGE_BYTES || !(s = &steps[at / 4])->run, 0)) {
			struct code_page *page;
			int why = 0;

			s = fetch_step(isa, &page, pc, &why);
			if (!s) {
				w->fault = pc;
				w->instructions += TURN_STEPS - left;
				return why;
			}
			steps = page->steps;
			base = page->address;
		}
		w->pc = pc + s->bytes;
		event = __builtin_expect(w->special, 0) ? soft_special_step(w, s) : s->run(w, s);
		left--;
		if (event) {
			if (event > SOFT_EVENT_STOP)
				w->pc = pc;
			break;
		}
		pc = w->pc;
	} while (left);
	w->instructions += TURN_STEPS - left;
	return event ? event : soft_isa_stops(w) ? SOFT_EVENT_STOP : SOFT_EVENT_YIELD;
}

/* ---- errors ---- */

static enum soft_isa_result fail_wave(const struct soft_isa *isa, const struct soft_wave *w,
				      int event, struct soft_isa_error *error)
{
	const struct soft_dispatch *d = isa->dispatch;
	struct soft_step s;
	uint64_t left =
		w->pc - d->code_base < d->code_bytes ? d->code_bytes - (w->pc - d->code_base) : 0;
	unsigned count = left / 4 > 4 ? 4 : (unsigned)(left / 4);

	memset(error, 0, sizeof(*error));
	memcpy(error->workgroup, w->group->id, sizeof(error->workgroup));
	error->pc = w->pc;
	if (!event) {
		snprintf(error->text, sizeof(error->text), "decoded instructions");
		return SOFT_ISA_NO_MEMORY;
	}
	if (event == SOFT_EVENT_STOP)
		return SOFT_ISA_STOPPED;
	if (count) {
		memcpy(error->words, (const void *)(uintptr_t)w->pc, 4 * count);
		soft_decode(&s, error->words, count, &isa->gpu);
		memset(error->words + s.bytes / 4, 0, sizeof(error->words) - s.bytes);
	}
	error->address = w->fault;
	error->trap = w->trap;
	if (!count)
		snprintf(error->text, sizeof(error->text),
			 "the next instruction, outside of the kernel's code");
	else if (event == SOFT_EVENT_FAULT || event == SOFT_EVENT_TRAP)
		snprintf(error->text, sizeof(error->text), "%s",
			 s.op ? s.op->name : "an instruction");
	else if (s.op)
		snprintf(error->text, sizeof(error->text), "%s %s", s.op->name,
			 w->why ? w->why : "in this form");
	else
		snprintf(error->text, sizeof(error->text), "%s",
			 w->why ? w->why : "an instruction without a name");
	switch (event) {
	case SOFT_EVENT_FAULT: return SOFT_ISA_MEMORY_FAULT;
	case SOFT_EVENT_TRAP: return SOFT_ISA_TRAP;
	case SOFT_EVENT_ILLEGAL: return SOFT_ISA_ILLEGAL;
	default: return SOFT_ISA_UNSUPPORTED;
	}
}

static enum soft_isa_result refuse_launch(struct soft_isa_error *error, enum soft_isa_result result,
					  const char *text)
{
	memset(error, 0, sizeof(*error));
	snprintf(error->text, sizeof(error->text), "%s", text);
	return result;
}

/* ---- waves ---- */

/* Set scalar registers in the order of the descriptor's bits. */
static void set_scalars(const struct soft_isa *isa, const struct launch *a, struct soft_wave *w)
{
	const struct soft_dispatch *d = isa->dispatch;
	const uint32_t *id = w->group->id;
	uint64_t scratch = (uint64_t)(uintptr_t)w->scratch;
	unsigned n = 0;

	memset(w->s, 0, sizeof(w->s));
	/* descriptor of the scratch buffer: 4 bytes per lane, swizzled over 64 lanes, plus the lane
	 * number */
	if (a->properties & 1) {
		w->s[0] = (uint32_t)scratch;
		w->s[1] = (uint32_t)(scratch >> 32 & 0xffff) | 0x80000000;
		w->s[2] = UINT32_MAX;
		w->s[3] = 0x00e80000;
		n = 4;
	}
#define PAIR(bit, value)                 \
	if (a->properties >> (bit)&1) {  \
		set_pair(w, n, (value)); \
		n += 2;                  \
	}
	PAIR(1, d->packet_address)
	PAIR(2, d->queue_address)
	PAIR(3, a->kernarg)
	PAIR(4, d->dispatch_id)
	PAIR(5, scratch)
#undef PAIR
	if (a->properties >> 6 & 1)
		w->s[n] = a->scratch_bytes;
	n = a->rsrc2 >> 1 & 31;
	for (unsigned i = 0; i < 3; i++)
		if (a->rsrc2 >> (7 + i) & 1)
			w->s[n++] = id[i];
	if (a->rsrc2 >> 10 & 1)
		w->s[n++] = a->waves | (w->index == 0) << 31; /* workgroup info */
	/* The last register is the wave's offset within scratch. It stays 0, because the base in
	 * the descriptor belongs to the wave. */
}

/* Set the work-item ids. Return the mask of existing lanes, because the grid may end within a
 * workgroup. */
static uint64_t set_ids(const struct launch *a, struct soft_wave *w)
{
	uint32_t x = w->index * SOFT_LANES, y, z, end[3], items;
	uint64_t exec = 0;

	y = x / a->size[0];
	z = y / a->size[1];
	x -= y * a->size[0];
	y -= z * a->size[1];
	for (unsigned i = 0; i < 3; i++)
		end[i] = MIN(a->size[i], a->grid[i] - w->group->id[i] * a->size[i]);
	if (x + SOFT_LANES <= a->size[0]) { /* the lanes are in one row of the workgroup */
		soft_set_line(w, 0, x, 1);
		soft_set_line(w, 1, a->rsrc2 >> 11 & 3 ? y : 0, 0);
		soft_set_line(w, 2, a->rsrc2 >> 12 & 1 ? z : 0, 0);
		if (x >= end[0] || y >= end[1] || z >= end[2])
			return 0;
		return UINT64_MAX >> (SOFT_LANES - MIN(end[0] - x, SOFT_LANES));
	}
	items = a->size[0] * a->size[1] * a->size[2] - w->index * SOFT_LANES;
	soft_want_rows(w, 0, 3); /* the rows are zero */
	for (unsigned l = 0; l < MIN(items, SOFT_LANES); l++) {
		w->v[0][l] = x;
		w->v[1][l] = a->rsrc2 >> 11 & 3 ? y : 0;
		w->v[2][l] = a->rsrc2 >> 12 & 1 ? z : 0;
		exec |= (uint64_t)(x < end[0] && y < end[1] && z < end[2]) << l;
		if (++x == a->size[0]) {
			x = 0;
			if (++y == a->size[1])
				y = 0, z++;
		}
	}
	return exec;
}

static void start_wave(struct soft_isa *isa, const struct launch *a, struct resident *r,
		       unsigned index)
{
	struct soft_wave *w = r->waves[index];
	unsigned registers = ((a->rsrc1 & 63) + 1) * 4;
	uint64_t exec;

	w->isa = isa;
	w->group = &r->group;
	w->index = index;
	w->scratch_bytes = a->scratch_bytes;
	w->scratch = a->scratch_bytes ? r->scratch + (size_t)index * a->scratch_bytes * SOFT_LANES
				      : NULL;
	w->pc = a->entry;
	w->scc = w->trap = 0;
	w->fault = 0;
	w->why = NULL;
	w->waits = w->indexed = 0;
	w->mode = a->rsrc1 >> 12 & 0xff;
	soft_set_special(w);
	memset(w->lines, 0, sizeof(w->lines));
	for (unsigned i = 0; i < MAX(registers, 3); i++)
		soft_set_line(w, i, 0, 0);
	set_scalars(isa, a, w);
	exec = set_ids(a, w);
	set_pair(w, REG_EXEC, exec);
	w->done = !exec;
	isa->stats.waves += !!exec;
}

/* ---- workgroups ---- */

static void start_group(struct soft_isa *isa, const struct launch *a, struct resident *r,
			const uint32_t id[3], uint32_t flat_id)
{
	r->group = (struct soft_workgroup){.lds = r->lds,
					   .lds_bytes = a->lds_bytes,
					   .id = {id[0], id[1], id[2]},
					   .flat_id = flat_id};
	r->alive = 0;
	for (unsigned i = 0; i < a->waves; i++) {
		start_wave(isa, a, r, i);
		r->alive += !r->waves[i]->done;
	}
	isa->stats.workgroups++;
}

/* Run a turn for each wave that does not wait. @ran: set to true if a wave ran. */
static enum soft_isa_result run_turns(struct soft_isa *isa, const struct launch *a,
				      struct resident *r, struct soft_isa_error *error, bool *ran)
{
	unsigned waiting = 0;

	for (unsigned i = 0; i < a->waves; i++) {
		struct soft_wave *w = r->waves[i];
		int event;

		if (w->done)
			continue;
		if (!w->waits) {
			*ran = true;
			event = run_wave(isa, w);
			isa->stats.instructions += w->instructions;
			w->instructions = 0;
			if (event == SOFT_EVENT_END)
				w->done = 1;
			else if (event == SOFT_EVENT_BARRIER)
				w->waits = AT_BARRIER;
			else if (event != SOFT_EVENT_YIELD && event != SOFT_EVENT_GRID_BARRIER)
				return fail_wave(isa, w, event, error);
			r->alive -= w->done;
		}
		waiting += !w->done && w->waits == AT_BARRIER;
	}
	for (unsigned i = 0; i < a->waves && waiting && waiting == r->alive; i++)
		r->waves[i]->waits = 0;
	*ran |= waiting && waiting == r->alive;
	return SOFT_ISA_DONE;
}

/* Run the first @count residents until all have ended. */
static enum soft_isa_result run_groups(struct soft_isa *isa, const struct launch *a, size_t count,
				       struct soft_isa_error *error)
{
	for (;;) {
		bool alive = false, ran = false;

		for (size_t i = 0; i < count; i++) {
			struct resident *r = &isa->residents[i];
			enum soft_isa_result result =
				r->alive ? run_turns(isa, a, r, error, &ran) : SOFT_ISA_DONE;

			if (result)
				return result;
			alive |= r->alive > 0;
		}
		if (!alive)
			return SOFT_ISA_DONE;
		if (!ran)
			return refuse_launch(error, SOFT_ISA_DEADLOCK, "the grid's barrier");
	}
}

/* ---- dispatch ---- */

static uint32_t read32(const void *p, size_t at)
{
	uint32_t x;

	memcpy(&x, (const char *)p + at, sizeof(x));
	return x;
}

static uint64_t read64(const void *p, size_t at)
{
	uint64_t x;

	memcpy(&x, (const char *)p + at, sizeof(x));
	return x;
}

/* Read the fields, at the offsets of hsa_kernel_dispatch_packet_t and of the kernel descriptor.
 * Return an error message, or NULL. */
static const char *read_launch(struct launch *a, const void *packet)
{
	uint64_t object = read64(packet, 32);
	const void *kd = (const void *)(uintptr_t)object;
	unsigned dimensions = read32(packet, 0) >> 16 & 3;
	uint64_t items = 1;

	for (unsigned i = 0; i < 3; i++) {
		uint16_t size;

		memcpy(&size, (const char *)packet + 4 + 2 * i, sizeof(size));
		a->size[i] = i < dimensions && size ? size : 1;
		a->grid[i] = i < dimensions ? read32(packet, 12 + 4 * i) : 1;
		a->groups[i] = (uint32_t)(((uint64_t)a->grid[i] + a->size[i] - 1) / a->size[i]);
		items *= a->size[i];
	}
	a->scratch_bytes = MAX(read32(packet, 24), read32(kd, 4));
	a->scratch_bytes = (a->scratch_bytes + 15) & ~15u;
	a->lds_bytes = MAX(read32(packet, 28), read32(kd, 0));
	a->kernarg = read64(packet, 40);
	a->entry = object + read64(kd, 16);
	a->rsrc1 = read32(kd, 48);
	a->rsrc2 = read32(kd, 52);
	a->properties = (uint16_t)read32(kd, 56);
	a->waves = (unsigned)((items + SOFT_LANES - 1) / SOFT_LANES);
	if (a->waves > MAX_WAVES)
		return "a workgroup of more than 1024 work-items";
	if (a->lds_bytes > LDS_BYTES)
		return "more than 64 KiB of LDS";
	if (a->properties >> 10 & 1)
		return "waves of 32 lanes";
	if (a->entry & 3)
		return "code that is not aligned";
	return NULL;
}

static int reserve_group(const struct launch *a, struct resident *r)
{
	size_t scratch = (size_t)a->scratch_bytes * SOFT_LANES * a->waves;

	if (!r->lds)
		r->lds = calloc(1, LDS_BYTES);
	if (!r->lds)
		return -1;
	if (scratch > r->scratch_size) {
		free(r->scratch);
		r->scratch_size = 0;
		r->scratch = aligned_alloc(4096, (scratch + 4095) & ~(size_t)4095);
		if (!r->scratch)
			return -1;
		memset(r->scratch, 0, scratch);
		r->scratch_size = scratch;
	}
	for (unsigned i = 0; i < a->waves; i++) {
		if (r->waves[i])
			continue;
		r->waves[i] = aligned_alloc(64, (sizeof(struct soft_wave) + 63) & ~(size_t)63);
		if (!r->waves[i])
			return -1;
		memset(r->waves[i], 0, sizeof(struct soft_wave));
	}
	return 0;
}

static int reserve_waves(struct soft_isa *isa, const struct launch *a, size_t count)
{
	if (count > isa->resident_count) {
		struct resident *more = realloc(isa->residents, count * sizeof(*more));

		if (!more)
			return -1;
		memset(more + isa->resident_count, 0,
		       (count - isa->resident_count) * sizeof(*more));
		isa->residents = more;
		isa->resident_count = count;
	}
	for (size_t i = 0; i < count; i++)
		if (reserve_group(a, &isa->residents[i]))
			return -1;
	return 0;
}

/* Run all workgroups of the grid at once, or each after the previous one has ended. */
static enum soft_isa_result run_grid(struct soft_isa *isa, const struct launch *a, bool at_once,
				     struct soft_isa_error *error)
{
	enum soft_isa_result result = SOFT_ISA_DONE;
	uint32_t id[3], flat_id = 0;

	for (id[2] = 0; id[2] < a->groups[2] && !result; id[2]++)
		for (id[1] = 0; id[1] < a->groups[1] && !result; id[1]++)
			for (id[0] = 0; id[0] < a->groups[0] && !result; id[0]++, flat_id++) {
				start_group(isa, a, &isa->residents[at_once ? flat_id : 0], id,
					    flat_id);
				if (!at_once)
					result = run_groups(isa, a, 1, error);
			}
	return at_once ? run_groups(isa, a, flat_id, error) : result;
}

/* Return true if the first instruction of a kernel ends it. Such a kernel does nothing, so its
 * waves (up to 2^32) need not run. */
static bool ends_at_once(struct soft_isa *isa, const struct launch *a)
{
	struct code_page *page;
	int event = 0;
	const struct soft_step *s = fetch_step(isa, &page, a->entry, &event);

	return s && s->run == soft_isa_s_endpgm;
}

enum soft_isa_result soft_isa_run(struct soft_isa *isa, const struct soft_dispatch *dispatch,
				  struct soft_isa_error *error, struct soft_isa_stats *stats)
{
	enum soft_isa_result result;
	struct launch a = {0};
	const char *why = read_launch(&a, dispatch->packet);
	uint64_t groups =
		dispatch->cooperative ? (uint64_t)a.groups[0] * a.groups[1] * a.groups[2] : 1;

	soft_code_refresh(&isa->code);
	isa->dispatch = dispatch;
	isa->stats.dispatches++;
	if (why)
		return refuse_launch(error, SOFT_ISA_BAD_DESCRIPTOR, why);
	if (groups * a.waves > MAX(isa->gpu.compute_units, 1) * UNIT_WAVES)
		return refuse_launch(error, SOFT_ISA_BAD_DESCRIPTOR,
				     "more waves at once than the GPU holds");
	free_residents(isa, groups); /* the residents of a whole grid need much memory */
	if (reserve_waves(isa, &a, groups))
		return refuse_launch(error, SOFT_ISA_NO_MEMORY, "registers, LDS and scratch");
	result = ends_at_once(isa, &a) ? SOFT_ISA_DONE
				       : run_grid(isa, &a, dispatch->cooperative, error);
	if (stats)
		*stats = isa->stats;
	return result;
}
