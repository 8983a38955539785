/* SPDX-License-Identifier: MIT */
/* What the software devices of CUDA are like, read once from the environment. `gputap soft cuda`
 * sets these variables from its options.
 *
 * | variable | meaning, default |
 * | SOFT_CUDA_DEVICES | how many, 0 to 8; 1 |
 * | SOFT_CUDA_MEMORY | memory of each, "16G"; 8G |
 * | SOFT_CUDA_FAIL | "launch:2,allocate:10+": what fails, see enum soft_cu_fault, faults.h |
 * | SOFT_CUDA_CUPTI_VERSION | whose records the stand-in for CUPTI has; 13.0 |
 * | SOFT_CUDA_CUPTI_FAIL | the same for it, see enum soft_cupti_fault |
 */
#ifndef SOFT_CUDA_CONFIG_H
#define SOFT_CUDA_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/common/faults.h"

enum { SOFT_CU_DEVICES_MOST = 8 };

/* What can be made to fail. */
enum soft_cu_fault {
	SOFT_CU_FAIL_INIT,     /* cuInit() finds no device */
	SOFT_CU_FAIL_ALLOCATE, /* an allocation finds no memory */
	SOFT_CU_FAIL_MODULE,   /* a module is no image that fits */
	SOFT_CU_FAIL_LAUNCH,   /* a launch is refused */
	SOFT_CU_FAIL_KERNEL,   /* a kernel faults, and its context with it */
	SOFT_CU_FAIL_COUNT
};

/* Of the stand-in for CUPTI. */
enum soft_cupti_fault {
	SOFT_CUPTI_FAIL_SUBSCRIBE,  /* somebody else has the subscriber: 39 */
	SOFT_CUPTI_FAIL_REGISTER,   /* another copy of CUPTI has the activity: 39 */
	SOFT_CUPTI_FAIL_PRIVILEGES, /* a kind cannot be switched on: 35 */
	SOFT_CUPTI_FAIL_COMPATIBLE, /* the same: 14 */
	SOFT_CUPTI_FAIL_BUFFERS,    /* no buffer can be had: records are dropped and counted */
	SOFT_CUPTI_FAIL_START,      /* a record's start is 0 */
	SOFT_CUPTI_FAIL_COUNT
};

enum soft_cupti_version {
	SOFT_CUPTI_11_8,
	SOFT_CUPTI_12_9,
	SOFT_CUPTI_13_0,
	SOFT_CUPTI_13_5,
	SOFT_CUPTI_NONE, /* `gputap soft cuda` leaves it away */
	SOFT_CUPTI_VERSIONS
};

struct soft_cu_config {
	unsigned devices;
	uint64_t memory_bytes;
	struct soft_fault faults[SOFT_CU_FAIL_COUNT + 1];
	enum soft_cupti_version cupti_version;
	struct soft_fault cupti_faults[SOFT_CUPTI_FAIL_COUNT + 1];
};

/* Reads the environment. Return: false if a variable is not understood; @why says which, and what
 * is wanted. */
bool soft_cu_config_read(struct soft_cu_config *config, char *why, size_t size);

#endif
