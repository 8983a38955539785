/* SPDX-License-Identifier: MIT */
/* LDS: a workgroup's shared memory, and the instructions that move values between lanes through
 * LDS.
 *
 * The waves of a workgroup run on one thread, so LDS atomics are plain loads and stores. Outside
 * LDS, loads return 0 and stores are ignored, as on hardware. */
#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

static uint8_t *lds_at(const struct soft_wave *w, const struct soft_step *s, unsigned l,
		       int32_t offset, unsigned bytes)
{
	uint32_t at = w->v[s->source[0]][l] + (uint32_t)offset, all = w->group->lds_bytes;

	return at <= all && bytes <= all - at ? w->group->lds + at : NULL;
}

static void read_words(struct soft_wave *w, const struct soft_step *s, unsigned l, int32_t offset,
		       uint32_t *x)
{
	const uint8_t *p = lds_at(w, s, l, offset, s->op->bytes);

	if (p)
		memcpy(x, p, s->op->bytes);
}

static void write_words(struct soft_wave *w, const struct soft_step *s, unsigned l, int32_t offset,
			unsigned data)
{
	uint8_t *p = lds_at(w, s, l, offset, s->op->bytes);
	unsigned words = (s->op->bytes + 3) / 4;
	uint32_t x[4];

	for (unsigned i = 0; i < words; i++)
		x[i] = w->v[data + i][l];
	if (s->op->flags & SOFT_FLAG_HIGH)
		x[0] >>= 16;
	if (p)
		memcpy(p, x, s->op->bytes);
}

static void read_lane(struct soft_wave *w, const struct soft_step *s, unsigned l)
{
	const struct soft_op *op = s->op;
	unsigned words = op->bytes / 4;
	uint32_t x[8] = {0}, *d = &w->v[s->result][l];

	read_words(w, s, l, s->offset, x);
	if (op->kind == SOFT_KIND_READ2) {
		read_words(w, s, l, s->offset2, x + words);
		words *= 2;
	}
	for (unsigned i = 0; i < words; i++)
		w->v[s->result + i][l] = x[i];
	if (words)
		return;
	if (op->is_signed)
		x[0] = op->bytes == 1 ? (uint32_t)(int8_t)x[0] : (uint32_t)(int16_t)x[0];
	if (op->flags & SOFT_FLAG_LOW)
		*d = (x[0] & 0xffff) | (*d & 0xffff0000);
	else
		*d = op->flags & SOFT_FLAG_HIGH ? x[0] << 16 | (*d & 0xffff) : x[0];
}

static uint64_t data_of(const struct soft_wave *w, unsigned r, unsigned l, unsigned bytes)
{
	return w->v[r][l] | (bytes == 8 ? (uint64_t)w->v[r + 1][l] << 32 : 0);
}

static void merge_lane(struct soft_wave *w, const struct soft_step *s, unsigned l)
{
	unsigned bytes = s->op->bytes;
	uint8_t *p = lds_at(w, s, l, s->offset, bytes);
	uint64_t m = 0, x = data_of(w, s->data, l, bytes), y = 0, r;

	if (s->op->flags & SOFT_FLAG_TWO)
		y = data_of(w, s->data2, l, bytes);
	if (p) {
		memcpy(&m, p, bytes);
		r = s->op->merge(m, x, y);
		memcpy(p, &r, bytes);
	}
	if (!(s->op->flags & SOFT_FLAG_RTN))
		return;
	w->v[s->result][l] = (uint32_t)m;
	if (bytes == 8)
		w->v[s->result + 1][l] = (uint32_t)(m >> 32);
}

int soft_lds(struct soft_wave *w, const struct soft_step *s)
{
	unsigned words = (s->op->bytes + 3u) / 4;

	soft_want_rows(w, s->source[0], 1);
	soft_want_rows(w, s->data, words);
	soft_want_rows(w, s->data2, words);
	soft_want_rows(w, s->result, s->op->kind == SOFT_KIND_READ2 ? 2 * words : words);
	for (uint64_t left = pair(w, REG_EXEC); left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		switch (s->op->kind) {
		case SOFT_KIND_READ:
		case SOFT_KIND_READ2: read_lane(w, s, l); break;
		case SOFT_KIND_WRITE: write_words(w, s, l, s->offset, s->data); break;
		case SOFT_KIND_WRITE2:
			write_words(w, s, l, s->offset, s->data);
			write_words(w, s, l, s->offset2, s->data2);
			break;
		default: merge_lane(w, s, l);
		}
	}
	return 0;
}

/* ---- between lanes ---- */

static void put_live(struct soft_wave *w, const struct soft_step *s, const uint32_t *row)
{
	const uint32_t *live = soft_live(w, pair(w, REG_EXEC));
	uint32_t *d = w->v[s->result];

	for (unsigned l = 0; l < SOFT_LANES; l++)
		d[l] = (row[l] & live[l]) | (d[l] & ~live[l]);
}

/* Each lane sends to the lane at its address. If several lanes send to the same lane, the highest
 * lane wins. A lane that receives nothing gets 0. */
int soft_isa_ds_permute_b32(struct soft_wave *w, const struct soft_step *s)
{
	uint32_t row[SOFT_LANES] = {0};

	for (uint64_t left = pair(w, REG_EXEC); left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		row[(w->v[s->source[0]][l] + (uint32_t)s->offset) >> 2 & 63] = w->v[s->data][l];
	}
	put_live(w, s, row);
	return 0;
}

/* Each lane reads from the lane at its address; inactive lanes give 0. */
int soft_isa_ds_bpermute_b32(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC);
	uint32_t row[SOFT_LANES];

	for (unsigned l = 0; l < SOFT_LANES; l++) {
		unsigned from = (w->v[s->source[0]][l] + (uint32_t)s->offset) >> 2 & 63;

		row[l] = exec >> from & 1 ? w->v[s->data][from] : 0;
	}
	put_live(w, s, row);
	return 0;
}

/* The offset is the pattern. With bit 15 it gives the source of each of four lanes; otherwise masks
 * for and, or, xor with the lane number within 32 lanes. */
int soft_isa_ds_swizzle_b32(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC);
	uint32_t row[SOFT_LANES], pattern = (uint32_t)s->offset;

	if (pattern >= 0xc000)
		return soft_unsupported(w, "with an unknown pattern");
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		unsigned from = pattern & 0x8000
					? (l & ~3u) | (pattern >> (l & 3) * 2 & 3)
					: (l & 32) | ((((l & 31) & pattern) | (pattern >> 5 & 31)) ^
						      (pattern >> 10 & 31));

		row[l] = exec >> (from & 63) & 1 ? w->v[s->source[0]][from & 63] : 0;
	}
	put_live(w, s, row);
	return 0;
}

/* ---- global wave sync: the first active lane holds the count; M0 and the offset select one of 64
 * barriers, of which only the first exists ---- */

static bool first_lane(const struct soft_wave *w, const struct soft_step *s, uint32_t *count)
{
	uint64_t exec = pair(w, REG_EXEC);

	*count = exec ? w->v[s->source[0]][__builtin_ctzll(exec)] : 0;
	return ((w->s[REG_M0] >> 16) + (uint32_t)s->offset) % 64 == 0;
}

int soft_isa_ds_gws_init(struct soft_wave *w, const struct soft_step *s)
{
	uint32_t count;

	if (!first_lane(w, s, &count))
		return soft_unsupported(w, "of a barrier other than the first");
	soft_grid_barrier_set(w, count);
	return 0;
}

int soft_isa_ds_gws_barrier(struct soft_wave *w, const struct soft_step *s)
{
	uint32_t count;

	return first_lane(w, s, &count) ? soft_grid_barrier(w, count)
					: soft_unsupported(w, "of a barrier other than the first");
}
