/* SPDX-License-Identifier: MIT */
/* The supported kinds of GPU. Values that programs query are those of the real GPUs. */
#include <stdio.h>
#include <string.h>

#include "soft/amdgpu/config.h"

#define GiB (1ull << 30)

static const struct soft_gpu_type types[] = {
	{.name = "gfx900",
	 .gfx = 0x900,
	 .major = 9,
	 .minor = 0,
	 .stepping = 0,
	 .marketing_name = "Software GPU gfx900",
	 .device_id = 0x6860,
	 .shader_engines = 4,
	 .arrays_per_engine = 1,
	 .units_per_array = 16,
	 .simds_per_unit = 4,
	 .waves_per_simd = 10,
	 .wave_size = 64,
	 .lds_kib = 64,
	 .l2_kib = 4096,
	 .vgpr_bytes_per_unit = 262144,
	 .sgpr_bytes_per_unit = 12800,
	 .clock_mhz = 1500,
	 .firmware = 472,
	 .sdma_firmware = 421,
	 .memory_bytes = 16 * GiB},
	{.name = "gfx906",
	 .gfx = 0x906,
	 .major = 9,
	 .minor = 0,
	 .stepping = 6,
	 .marketing_name = "Software GPU gfx906",
	 .device_id = 0x66a1,
	 .shader_engines = 4,
	 .arrays_per_engine = 1,
	 .units_per_array = 15,
	 .simds_per_unit = 4,
	 .waves_per_simd = 10,
	 .wave_size = 64,
	 .lds_kib = 64,
	 .l2_kib = 4096,
	 .vgpr_bytes_per_unit = 262144,
	 .sgpr_bytes_per_unit = 12800,
	 .clock_mhz = 1725,
	 .firmware = 472,
	 .sdma_firmware = 421,
	 .memory_bytes = 16 * GiB},
	{.name = "gfx908",
	 .gfx = 0x908,
	 .major = 9,
	 .minor = 0,
	 .stepping = 8,
	 .marketing_name = "Software GPU gfx908",
	 .device_id = 0x738c,
	 .shader_engines = 8,
	 .arrays_per_engine = 1,
	 .units_per_array = 15,
	 .simds_per_unit = 4,
	 .waves_per_simd = 10,
	 .wave_size = 64,
	 .lds_kib = 64,
	 .l2_kib = 8192,
	 .vgpr_bytes_per_unit = 524288,
	 .sgpr_bytes_per_unit = 12800,
	 .clock_mhz = 1502,
	 .firmware = 62,
	 .sdma_firmware = 18,
	 .memory_bytes = 32 * GiB},
	{.name = "gfx90a",
	 .gfx = 0x90a,
	 .major = 9,
	 .minor = 0,
	 .stepping = 10,
	 .marketing_name = "Software GPU gfx90a",
	 .device_id = 0x7408,
	 .shader_engines = 8,
	 .arrays_per_engine = 1,
	 .units_per_array = 13,
	 .simds_per_unit = 4,
	 .waves_per_simd = 8,
	 .wave_size = 64,
	 .lds_kib = 64,
	 .l2_kib = 8192,
	 .vgpr_bytes_per_unit = 524288,
	 .sgpr_bytes_per_unit = 12800,
	 .clock_mhz = 1700,
	 .firmware = 71,
	 .sdma_firmware = 8,
	 .memory_bytes = 64 * GiB},
};

const struct soft_gpu_type *soft_gpu_type_find(const char *name)
{
	if (!strncmp(name, "gfx", 3))
		name += 3;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i].name + 3, name))
			return &types[i];
	return NULL;
}

/* Built on the first call, without a lock: settings are read before worker threads exist. */
const char *soft_gpu_type_names(void)
{
	static char names[128];

	if (!*names)
		for (size_t i = 0, n = 0; i < sizeof types / sizeof *types; i++)
			n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? " " : "",
					      types[i].name);
	return names;
}
