/* SPDX-License-Identifier: MIT */
/* Converts lines to rows: writes one word per lane for a register that is a line (isa_line.c). */
#include "soft/amdgpu/isa/isa_wave.h"

void soft_make_row(struct soft_wave *w, unsigned r)
{
	struct soft_line line = w->line[r];
	uint32_t *row = w->v[r];

	for (unsigned l = 0; l < SOFT_LANES; l++)
		row[l] = line.base + l * line.step;
	soft_row_comes(w, r);
}

void soft_make_all_rows(struct soft_wave *w)
{
	for (unsigned i = 0; i < 4; i++)
		while (w->lines[i])
			soft_make_row(w, 64 * i + (unsigned)__builtin_ctzll(w->lines[i]));
}
