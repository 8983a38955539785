/* SPDX-License-Identifier: MIT */
/* Functions through which steps access the machine of their wave: see isa_machine.h. */
#include "soft/amdgpu/isa/isa_machine.h"

const struct soft_isa_gpu *soft_isa_gpu(const struct soft_wave *w)
{
	return &w->isa->gpu;
}

int soft_isa_stops(const struct soft_wave *w)
{
	const int *stop = w->isa->dispatch->stop;

	return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

void soft_grid_barrier_set(struct soft_wave *w, uint32_t more)
{
	w->isa->grid_barrier = more;
}

int soft_grid_barrier(struct soft_wave *w, uint32_t next)
{
	struct soft_isa *isa = w->isa;

	if (!isa->dispatch->cooperative)
		return soft_unsupported(w, "in a dispatch that is not cooperative");
	if (isa->grid_barrier) {
		isa->grid_barrier--;
		w->waits = AT_GRID_BARRIER;
		return SOFT_EVENT_GRID_BARRIER;
	}
	isa->grid_barrier = next;
	for (size_t i = 0; i < isa->resident_count; i++)
		for (unsigned k = 0; k < MAX_WAVES && isa->residents[i].waves[k]; k++)
			if (isa->residents[i].waves[k]->waits == AT_GRID_BARRIER)
				isa->residents[i].waves[k]->waits = 0;
	return 0;
}
