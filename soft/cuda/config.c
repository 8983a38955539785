/* SPDX-License-Identifier: MIT */
/* Reads the settings from the environment; config.h describes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/common/settings.h"
#include "soft/cuda/config.h"

static bool complain(char *why, size_t size, const char *name, const char *wanted)
{
	snprintf(why, size, "%s=%s: expected %s", name, getenv(name), wanted);
	return false;
}

static bool read_cupti(struct soft_cu_config *c, char *why, size_t size)
{
	static const char *const names[SOFT_CUPTI_FAIL_COUNT] = {
		[SOFT_CUPTI_FAIL_SUBSCRIBE] = "subscribe",
		[SOFT_CUPTI_FAIL_REGISTER] = "register",
		[SOFT_CUPTI_FAIL_PRIVILEGES] = "privileges",
		[SOFT_CUPTI_FAIL_COMPATIBLE] = "compatible",
		[SOFT_CUPTI_FAIL_BUFFERS] = "buffers",
		[SOFT_CUPTI_FAIL_START] = "start",
	};
	static const char *const versions[SOFT_CUPTI_VERSIONS] = {"11.8", "12.9", "13.0", "13.5",
								  "none"};
	const char *version = getenv("SOFT_CUDA_CUPTI_VERSION");
	const char *fail = getenv("SOFT_CUDA_CUPTI_FAIL");
	unsigned v = SOFT_CUPTI_13_0;

	for (unsigned i = 0; i < SOFT_CUPTI_FAIL_COUNT; i++)
		c->cupti_faults[i].name = names[i];
	if (version && *version)
		for (v = 0; v < SOFT_CUPTI_VERSIONS && strcmp(versions[v], version) != 0;)
			v++;
	c->cupti_version = v < SOFT_CUPTI_VERSIONS ? v : SOFT_CUPTI_13_0;
	if (v == SOFT_CUPTI_VERSIONS)
		return complain(why, size, "SOFT_CUDA_CUPTI_VERSION",
				"11.8, 12.9, 13.0, 13.5 or none");
	if (fail && *fail && !soft_faults_parse(c->cupti_faults, fail))
		return complain(why, size, "SOFT_CUDA_CUPTI_FAIL",
				"subscribe, register, privileges, compatible, buffers or start, "
				"with :3 (the third) or :3+ (from the third on)");
	return true;
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
				":3+ (from the third on)");
	return read_cupti(c, why, size);
}
