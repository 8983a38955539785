/* SPDX-License-Identifier: MIT */
/* Runs ROCr's own copy and fill shaders. ROCr needs them before any code object is loaded, because
 * it loads a code object with such a copy. The shaders have no symbols and no kernel descriptor,
 * only an amd_kernel_code_t that ROCr itself puts at the start of an executable allocation, before
 * the code.
 * The register counts in that struct distinguish the three shaders. The argument blocks of the
 * shaders contain the start and end of the copy. */
#include <hsa/amd_hsa_kernel_code.h>
#include <string.h>

#include "soft/amdgpu/queue.h"

/* Argument blocks. A copy is cut into consecutive phases; the last phase ends where the copy
 * ends. */
struct copy_aligned {
	uint64_t source, target, between[6], source_end, target_end;
	uint32_t work_items;
};

struct copy_misaligned {
	uint64_t source, target, between[2], source_end, target_end;
	uint32_t work_items;
};

struct fill {
	uint64_t target, between, target_end;
	uint32_t value, work_items;
};

enum soft_kernel_kind soft_blit_recognise(uint64_t object, uint64_t base, uint64_t bytes)
{
	amd_kernel_code_t code;
	unsigned scalars, vectors;

	if (object != base || bytes < sizeof code)
		return SOFT_KERNEL_CODE;
	memcpy(&code, (const void *)object, sizeof code);
	if (code.kernel_code_entry_byte_offset != sizeof code ||
	    code.amd_kernel_code_version_major ||
	    AMD_HSA_BITS_GET(code.compute_pgm_rsrc2, AMD_COMPUTE_PGM_RSRC_TWO_USER_SGPR_COUNT) != 2)
		return SOFT_KERNEL_CODE;
	scalars = AMD_HSA_BITS_GET(code.compute_pgm_rsrc1,
				   AMD_COMPUTE_PGM_RSRC_ONE_GRANULATED_WAVEFRONT_SGPR_COUNT);
	vectors = AMD_HSA_BITS_GET(code.compute_pgm_rsrc1,
				   AMD_COMPUTE_PGM_RSRC_ONE_GRANULATED_WORKITEM_VGPR_COUNT);
	if (scalars == 3 && vectors == 2) /* 32 and 12 */
		return SOFT_KERNEL_COPY_ALIGNED;
	if (scalars == 2 && vectors == 2) /* 23 and 10 */
		return SOFT_KERNEL_COPY_MISALIGNED;
	if (scalars == 2 && vectors == 1) /* 19 and 8 */
		return SOFT_KERNEL_FILL;
	return SOFT_KERNEL_CODE;
}

void soft_blit_run(enum soft_kernel_kind kind, const void *arguments)
{
	if (kind == SOFT_KERNEL_COPY_ALIGNED) {
		const struct copy_aligned *c = arguments;
		memmove(soft_host(c->target), soft_host(c->source), c->target_end - c->target);
	} else if (kind == SOFT_KERNEL_COPY_MISALIGNED) {
		const struct copy_misaligned *c = arguments;
		memmove(soft_host(c->target), soft_host(c->source), c->target_end - c->target);
	} else {
		const struct fill *f = arguments;
		for (uint32_t *word = soft_host(f->target), *end = soft_host(f->target_end);
		     word < end; word++)
			*word = f->value;
	}
}
