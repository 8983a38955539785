/* SPDX-License-Identifier: MIT */
/* A machine: the running workgroups, and the memory that it keeps for the next run.
 *
 *   machine ─► residents (running workgroups) ─► waves, LDS, scratch
 *           ─► code: decoded instructions
 *
 * Used by one thread at a time. isa_run.c creates and runs machines; steps access them through
 * isa_machine.c. */
#ifndef SOFT_AMDGPU_ISA_MACHINE_H
#define SOFT_AMDGPU_ISA_MACHINE_H

#include "soft/amdgpu/isa/isa_code.h"

#define MAX_WAVES 16
#define LDS_BYTES 65536

enum { AT_BARRIER = 1, AT_GRID_BARRIER }; /* wait targets of a wave */

struct resident { /* a running workgroup */
	struct soft_workgroup group;
	struct soft_wave *waves[MAX_WAVES];
	uint8_t *lds, *scratch;
	size_t scratch_size;
	unsigned alive; /* number of waves that have not ended */
};

struct soft_isa {
	struct soft_isa_gpu gpu;
	struct code code;
	struct resident *residents; /* one workgroup, or all workgroups of a cooperative dispatch */
	size_t resident_count;
	/* number of waves that must arrive before the wave that opens the barrier */
	uint32_t grid_barrier;
	const struct soft_dispatch *dispatch;
	struct soft_isa_stats stats;
};

#endif
