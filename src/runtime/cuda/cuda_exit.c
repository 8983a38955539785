/* SPDX-License-Identifier: MIT */
/* Wraps _exit() and _Exit(), which end the process without exit handlers. Before the process ends,
 * the wraps only fetch from CUPTI the activities that the device has completed. Signal: safe. */
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/cuda/cuda_parts.h"

#define EXPORT __attribute__((visibility("default"), noreturn))

EXPORT void _exit(int status);
EXPORT void _Exit(int status);

void _exit(int status)
{
	gt_cuda_helper_leave();
	for (;;)
		syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}
