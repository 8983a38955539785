/* SPDX-License-Identifier: MIT */
/* What the software devices of Level Zero are like, read once from the environment.
 * `gputap soft level-zero` sets these variables from its options.
 *
 * | variable | meaning, default |
 * | SOFT_LEVEL_ZERO_DEVICES | how many, 1 to 8; 1 |
 * | SOFT_LEVEL_ZERO_TILES | sub-devices of each, 0 or 2 to 4; 0 |
 * | SOFT_LEVEL_ZERO_MEMORY | memory of each, "16G"; 8G |
 * | SOFT_LEVEL_ZERO_OPENCL | the OpenCL driver that runs kernels, a library; what is found |
 * | SOFT_LEVEL_ZERO_EXECUTE | 0: kernels do nothing, and no OpenCL is needed for SPIR-V |
 * | SOFT_LEVEL_ZERO_THREADS | 0: commands run in the thread that submits them, or brings the event
 * |                         |    that they wait for; 1 |
 * | SOFT_LEVEL_ZERO_COUNTER_EVENTS | 1: Intel's function for counter-based events is there; 0 |
 * | SOFT_LEVEL_ZERO_CLOCK_HZ | ticks a second; 12500000 |
 * | SOFT_LEVEL_ZERO_KERNEL_BITS | valid bits of kernels' time stamps, 16 to 64; 32 |
 * | SOFT_LEVEL_ZERO_CLOCK_EPOCH, _SKEW, _DRIFT | "5s", "20us", "50ppm" |
 * | SOFT_LEVEL_ZERO_FAIL | "kernel:2,allocate:10+": what fails, see enum soft_ze_fault, faults.h |
 * | SOFT_LEVEL_ZERO_TRACE | 1: errors, and at the end what was done; 2: each kernel; on stderr |
 */
#ifndef SOFT_LEVEL_ZERO_CONFIG_H
#define SOFT_LEVEL_ZERO_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/common/clock.h"
#include "soft/common/faults.h"

enum { SOFT_ZE_DEVICES_MOST = 8, SOFT_ZE_TILES_MOST = 4 };

/* What can be made to fail. */
enum soft_ze_fault {
	SOFT_ZE_FAIL_ALLOCATE, /* an allocation finds no memory */
	SOFT_ZE_FAIL_QUEUE,    /* there is no queue left; immediate lists have one, too */
	SOFT_ZE_FAIL_LIST,     /* a command list cannot be made */
	SOFT_ZE_FAIL_EVENT,    /* an event cannot be made */
	SOFT_ZE_FAIL_MODULE,   /* a module does not build, and its log says why */
	SOFT_ZE_FAIL_APPEND,   /* a command is refused by its list */
	SOFT_ZE_FAIL_KERNEL,   /* a kernel loses the device */
	SOFT_ZE_FAIL_HANG,     /* a kernel ends when its queue is destroyed, not before */
	SOFT_ZE_FAIL_STAMPS,   /* time stamps of a command are 0 */
	SOFT_ZE_FAIL_TIMES,    /* a pool of events, or a counter-based event, cannot have times */
	SOFT_ZE_FAIL_COUNT
};

struct soft_ze_config {
	unsigned devices, tiles;
	uint64_t memory_bytes;
	char opencl[PATH_MAX]; /* "": what is found */
	bool execute, threads, counter_events;
	unsigned kernel_bits, trace;
	struct soft_clock clock;
	struct soft_fault faults[SOFT_ZE_FAIL_COUNT + 1];
};

/* Reads the environment. Return: false if a variable is not understood; @why says which, and what
 * is wanted. */
bool soft_ze_config_read(struct soft_ze_config *config, char *why, size_t size);

#endif
