/* SPDX-License-Identifier: MIT */
/* Which kernels are recorded: `gputap run --kernels REGEX`. Asked when a kernel becomes known (a
 * code object is loaded, a kernel object created), never when one is launched. */
#ifndef GPUTAP_CORE_KERNELS_H
#define GPUTAP_CORE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * gt_kernel_wanted() - are dispatches of this kernel to be recorded?
 * @name: as the code object has it, maybe mangled; matched as it is, and demangled
 * Return: false: let them run as if gputap were not there, and count nothing.
 * Thread: any; takes a lock and allocates unless everything is wanted.
 */
bool gt_kernel_wanted(const char *name, size_t bytes);

#endif
