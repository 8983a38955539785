/* SPDX-License-Identifier: MIT */
/* Properties of the software GPUs, read once from the environment. `gputap soft amdgpu` sets these
 * variables from its options.
 *
 * | variable | meaning; default |
 * | SOFT_AMDGPU_GPUS | number of GPUs, 1 to 8; 1 |
 * | SOFT_AMDGPU_GFX | type: 900, 906, 908, 90a; 906 |
 * | SOFT_AMDGPU_MEMORY | memory of each GPU, "16G", "512M"; the type's |
 * | SOFT_AMDGPU_DURATIONS | file of kernel names and microseconds; none |
 * | SOFT_AMDGPU_EXECUTE | 0: kernels take their time but do nothing; 1 |
 * | SOFT_AMDGPU_CLOCK_EPOCH, _SKEW, _DRIFT | "5s", "20us,-20us", "50ppm": for all, or for each |
 * | SOFT_AMDGPU_FAIL | "queue:2,allocate:10+": faults, see enum soft_amdgpu_fault, faults.h |
 * | SOFT_AMDGPU_LARGE_BAR | 1: ROCr lets the host access all device memory |
 * | SOFT_AMDGPU_SPIN | microseconds that an idle queue spins before it sleeps; 50; 0 on one CPU |
 * | SOFT_AMDGPU_CPU | host CPU for the queues' threads; any CPU that the program may use |
 * | SOFT_AMDGPU_TRACE | 1: queues, kernels and errors; 2: also each call and packet; on stderr | */
#ifndef SOFT_AMDGPU_CONFIG_H
#define SOFT_AMDGPU_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/common/clock.h"
#include "soft/common/faults.h"

#define SOFT_AMDGPU_MAX      8u
#define SOFT_AMDGPU_CLOCK_HZ 100000000ull

/* A kind of GPU, as the topology shows it. To add a kind, add a row to gpu_types.c and the missing
 * instructions to isa/. */
struct soft_gpu_type {
	const char *name; /* "gfx906" */
	uint32_t gfx;     /* 0x906 */
	uint8_t major, minor, stepping;
	const char *marketing_name;
	uint16_t device_id;
	uint32_t shader_engines, arrays_per_engine, units_per_array, simds_per_unit, waves_per_simd;
	uint32_t wave_size, lds_kib, l2_kib, vgpr_bytes_per_unit, sgpr_bytes_per_unit, clock_mhz,
		firmware, sdma_firmware;
	uint64_t memory_bytes;
};

/* Operations that can be made to fail. */
enum soft_amdgpu_fault {
	SOFT_FAIL_ALLOCATE, /* an allocation fails: out of host or device memory */
	/* all events are in use: ROCr then polls its signals, and creates no queue */
	SOFT_FAIL_EVENT,
	SOFT_FAIL_QUEUE,  /* all queues are in use */
	SOFT_FAIL_KERNEL, /* a kernel ends its queue with an error */
	SOFT_FAIL_HANG,   /* a kernel never ends */
	SOFT_FAIL_COUNT
};

struct soft_amdgpu_config {
	const struct soft_gpu_type *type;
	unsigned gpus;
	uint64_t memory_bytes;
	bool execute, large_bar;
	unsigned spin_us, trace;
	int cpu;                  /* for the queues' threads; -1: any */
	char durations[PATH_MAX]; /* "" for none */
	struct soft_clock clock[SOFT_AMDGPU_MAX];
	struct soft_fault faults[SOFT_FAIL_COUNT + 1];
};

/* Find a type. "906" and "gfx906" are the same. Return NULL for an unknown name. */
const struct soft_gpu_type *soft_gpu_type_find(const char *name);
/* "gfx900 gfx906 ..." */
const char *soft_gpu_type_names(void);

/* Read the environment. Return true, or false with a sentence in @why that names the variable. */
bool soft_amdgpu_config_read(struct soft_amdgpu_config *config, char *why, size_t size);

#endif
