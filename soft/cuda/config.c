/* SPDX-License-Identifier: MIT */
/* Reading the settings from the environment; what they are, says config.h. */
#include <stdio.h>
#include <stdlib.h>

#include "soft/common/settings.h"
#include "soft/cuda/config.h"

static bool complain(char *why, size_t size, const char *name, const char *wanted)
{
	snprintf(why, size, "%s=%s: wanted is %s", name, getenv(name), wanted);
	return false;
}

bool soft_cu_config_read(struct soft_cu_config *c, char *why, size_t size)
{
	static const char *const names[SOFT_CU_FAIL_COUNT] = {
		[SOFT_CU_FAIL_INIT] = "init",     [SOFT_CU_FAIL_ALLOCATE] = "allocate",
		[SOFT_CU_FAIL_MODULE] = "module", [SOFT_CU_FAIL_LAUNCH] = "launch",
		[SOFT_CU_FAIL_KERNEL] = "kernel",
	};
	const char *devices = getenv("SOFT_CUDA_DEVICES"), *memory = getenv("SOFT_CUDA_MEMORY");
	const char *fail = getenv("SOFT_CUDA_FAIL");
	uint64_t count = 1;

	*c = (struct soft_cu_config){.memory_bytes = UINT64_C(8) << 30};
	for (unsigned i = 0; i < SOFT_CU_FAIL_COUNT; i++)
		c->faults[i].name = names[i];
	if (devices && *devices &&
	    (!soft_parse_count(devices, &count) || count > SOFT_CU_DEVICES_MOST))
		return complain(why, size, "SOFT_CUDA_DEVICES", "0 to 8");
	c->devices = (unsigned)count;
	if (memory && *memory &&
	    (!soft_parse_bytes(memory, &c->memory_bytes) || c->memory_bytes < UINT64_C(1) << 20 ||
	     c->memory_bytes > UINT64_C(1) << 40))
		return complain(why, size, "SOFT_CUDA_MEMORY", "a size from 1M to 1T");
	if (fail && *fail && !soft_faults_parse(c->faults, fail))
		return complain(why, size, "SOFT_CUDA_FAIL",
				"init, allocate, module, launch or kernel, with :3 (the third) or "
				":3+ (from there on)");
	return true;
}
