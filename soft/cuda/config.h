/* SPDX-License-Identifier: MIT */
/* Properties of the software CUDA devices, read once from the environment. `gputap soft cuda` sets
 * these variables from its options.
 *
 * | variable | meaning; default |
 * | SOFT_CUDA_DEVICES | number of devices, 0 to 8; 1 |
 * | SOFT_CUDA_MEMORY | memory of each device, "16G"; 8G |
 * | SOFT_CUDA_FAIL | "launch:2,allocate:10+": faults, see enum soft_cu_fault, faults.h |
 * | SOFT_CUDA_CUPTI_VERSION | record version of the CUPTI substitute; 13.0 |
 * | SOFT_CUDA_CUPTI_FAIL | faults of the CUPTI substitute, see enum soft_cupti_fault | */
#ifndef SOFT_CUDA_CONFIG_H
#define SOFT_CUDA_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/common/faults.h"

enum { SOFT_CU_DEVICES_MOST = 8 };

/* Operations that can be made to fail. */
enum soft_cu_fault {
	SOFT_CU_FAIL_INIT,     /* cuInit() finds no device */
	SOFT_CU_FAIL_ALLOCATE, /* an allocation fails for lack of memory */
	SOFT_CU_FAIL_MODULE,   /* a module's image is invalid */
	SOFT_CU_FAIL_LAUNCH,   /* a launch is refused */
	SOFT_CU_FAIL_KERNEL,   /* a kernel faults and makes its context unusable */
	SOFT_CU_FAIL_COUNT
};

/* Faults of the CUPTI substitute. */
enum soft_cupti_fault {
	SOFT_CUPTI_FAIL_SUBSCRIBE,  /* another subscriber exists: error 39 */
	SOFT_CUPTI_FAIL_REGISTER,   /* another copy of CUPTI uses the activity API: error 39 */
	SOFT_CUPTI_FAIL_PRIVILEGES, /* a kind cannot be enabled: error 35 */
	SOFT_CUPTI_FAIL_COMPATIBLE, /* a kind cannot be enabled: error 14 */
	/* the client returns no buffer: records are dropped and counted */
	SOFT_CUPTI_FAIL_BUFFERS,
	SOFT_CUPTI_FAIL_START, /* the start time of a record is 0 */
	SOFT_CUPTI_FAIL_COUNT
};

enum soft_cupti_version {
	SOFT_CUPTI_11_8,
	SOFT_CUPTI_12_9,
	SOFT_CUPTI_13_0,
	SOFT_CUPTI_13_5,
	SOFT_CUPTI_NONE, /* `gputap soft cuda` omits the CUPTI substitute */
	SOFT_CUPTI_VERSIONS
};

struct soft_cu_config {
	unsigned devices;
	uint64_t memory_bytes;
	struct soft_fault faults[SOFT_CU_FAIL_COUNT + 1];
	enum soft_cupti_version cupti_version;
	struct soft_fault cupti_faults[SOFT_CUPTI_FAIL_COUNT + 1];
};

/* Read the environment. Return false if a variable is invalid; @why contains its name and the
 * expected value. */
bool soft_cu_config_read(struct soft_cu_config *config, char *why, size_t size);

#endif
