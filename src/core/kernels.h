/* SPDX-License-Identifier: MIT */
/* Selects the kernels to record: `gputap run --kernels REGEX`. Called when a kernel becomes known
 * (a code object is loaded, a kernel object created), never at a launch. */
#ifndef GPUTAP_CORE_KERNELS_H
#define GPUTAP_CORE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * gt_kernel_wanted() - return true if dispatches of this kernel are to be recorded
 * @name: name in the code object, maybe mangled; matched both unchanged and demangled
 * Return: true, or false: let the kernel's dispatches run as if gputap were not there, and count
 *         nothing.
 * Thread: any; takes a lock and allocates unless all kernels are wanted.
 */
bool gt_kernel_wanted(const char *name, size_t bytes);

#endif
