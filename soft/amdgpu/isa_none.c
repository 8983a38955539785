// SPDX-License-Identifier: MIT
/* In place of the interpreter while there is none in the build: each kernel ends its queue with an error that says so. */
#include <stdio.h>
#include <stdlib.h>

#include "soft/amdgpu/isa/isa.h"

struct soft_isa {
	uint32_t gfx;
};

bool soft_isa_has(uint32_t gfx)
{
	(void)gfx;
	return false;
}

const char *soft_isa_targets(void)
{
	return "no GPU";
}

struct soft_isa *soft_isa_create(const struct soft_isa_gpu *gpu)
{
	(void)gpu;
	return NULL;
}

void soft_isa_destroy(struct soft_isa *isa)
{
	free(isa);
}

enum soft_isa_result soft_isa_run(struct soft_isa *isa, const struct soft_dispatch *dispatch, struct soft_isa_error *error,
				  struct soft_isa_stats *stats)
{
	(void)isa;
	(void)dispatch;
	(void)stats;
	*error = (struct soft_isa_error){.text = "none"};
	return SOFT_ISA_UNSUPPORTED;
}

void soft_isa_forget(uint64_t base, uint64_t bytes)
{
	(void)base;
	(void)bytes;
}

const char *soft_isa_result_text(enum soft_isa_result result)
{
	static const char *const texts[] = {
#define X(name, text) [name] = text,
		SOFT_ISA_RESULTS(X)
#undef X
	};
	return texts[result];
}
