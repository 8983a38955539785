/* SPDX-License-Identifier: MIT */
/* The lane loops that gen/isa.py generates from gfx906.isa: see isa_lanes.h. SOFT_LANES_SET names
 * the set that this compilation defines. */
#include "soft/amdgpu/isa/isa_lanes.h"
#include "soft/amdgpu/isa/isa_numbers.h"

#include <stddef.h>

#define PASTE_(set, name) soft_lanes_##set##_##name
#define PASTE(set, name)  PASTE_(set, name)
#define LANES(name)       PASTE(SOFT_LANES_SET, name)

/* Two rows are either identical or disjoint, and lane l only touches lane l, so vector code needs
 * no overlap check. */
#define EACH_LANE _Pragma("GCC ivdep") for (unsigned l = 0; l < SOFT_LANES; l++)

#define COMPARE(name, type, get, condition)                \
	static void LANES(name)(struct soft_lanes * n)     \
	{                                                  \
		const uint32_t *a = n->a, *b = n->b;       \
		uint32_t out[SOFT_LANES];                  \
                                                           \
		EACH_LANE                                  \
		{                                          \
			type x = get(a, l), y = get(b, l); \
                                                           \
			(void)x, (void)y;                  \
			out[l] = -(uint32_t)(condition);   \
		}                                          \
		n->mask_out = mask_of(out);                \
	}

#include "generated/gfx906_lanes.inc"
