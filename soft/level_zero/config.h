/* SPDX-License-Identifier: MIT */
/* Properties of the software Level Zero devices, read once from the environment.
 * `gputap soft level-zero` sets these variables from its options.
 *
 * | variable | meaning; default |
 * | SOFT_LEVEL_ZERO_DEVICES | number of devices, 1 to 8; 1 |
 * | SOFT_LEVEL_ZERO_TILES | sub-devices of each device, 0 or 2 to 4; 0 |
 * | SOFT_LEVEL_ZERO_MEMORY | memory of each device, "16G"; 8G |
 * | SOFT_LEVEL_ZERO_OPENCL | library of the OpenCL driver that runs kernels; the driver found |
 * | SOFT_LEVEL_ZERO_EXECUTE | 0: kernels do nothing, and SPIR-V needs no OpenCL; 1 |
 * | SOFT_LEVEL_ZERO_THREADS | 0: commands run in the thread that submits them or that signals the
 * |                         |    event they wait for; 1 |
 * | SOFT_LEVEL_ZERO_COUNTER_EVENTS | 1: offer Intel's function for counter-based events; 0 |
 * | SOFT_LEVEL_ZERO_CLOCK_HZ | ticks per second; 12500000 |
 * | SOFT_LEVEL_ZERO_KERNEL_BITS | valid bits in kernel time stamps, 16 to 64; 32 |
 * | SOFT_LEVEL_ZERO_CLOCK_EPOCH, _SKEW, _DRIFT | "5s", "20us", "50ppm" |
 * | SOFT_LEVEL_ZERO_FAIL | "kernel:2,allocate:10+": faults, see enum soft_ze_fault, faults.h |
 * | SOFT_LEVEL_ZERO_TRACE | 1: errors, and counts at the end; 2: each kernel; on stderr | */
#ifndef SOFT_LEVEL_ZERO_CONFIG_H
#define SOFT_LEVEL_ZERO_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/common/clock.h"
#include "soft/common/faults.h"

enum { SOFT_ZE_DEVICES_MOST = 8, SOFT_ZE_TILES_MOST = 4 };

/* Operations that can be made to fail. */
enum soft_ze_fault {
	SOFT_ZE_FAIL_ALLOCATE, /* an allocation fails for lack of memory */
	SOFT_ZE_FAIL_QUEUE,    /* all queues are in use, including those of immediate lists */
	SOFT_ZE_FAIL_LIST,     /* a command list cannot be created */
	SOFT_ZE_FAIL_EVENT,    /* an event cannot be created */
	SOFT_ZE_FAIL_MODULE,   /* a module cannot be built; its log gives the reason */
	SOFT_ZE_FAIL_APPEND,   /* the list refuses a command */
	SOFT_ZE_FAIL_KERNEL,   /* a kernel loses the device */
	SOFT_ZE_FAIL_HANG,     /* a kernel ends only when its queue is destroyed */
	SOFT_ZE_FAIL_STAMPS,   /* both time stamps of a command are 0 */
	SOFT_ZE_FAIL_TIMES,    /* an event pool or counter-based event cannot have time stamps */
	SOFT_ZE_FAIL_COUNT
};

struct soft_ze_config {
	unsigned devices, tiles;
	uint64_t memory_bytes;
	char opencl[PATH_MAX]; /* "": the driver found */
	bool execute, threads, counter_events;
	unsigned kernel_bits, trace;
	struct soft_clock clock;
	struct soft_fault faults[SOFT_ZE_FAIL_COUNT + 1];
};

/* Read the environment. Return false if a variable is invalid; @why contains its name and the
 * expected value. */
bool soft_ze_config_read(struct soft_ze_config *config, char *why, size_t size);

#endif
