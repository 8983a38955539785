/* SPDX-License-Identifier: MIT */
/* Runtimes that were tested with this library. Other runtimes also work, but a message is
 * printed. */
#ifndef SOFT_AMDGPU_KNOWN_H
#define SOFT_AMDGPU_KNOWN_H

#include <stdbool.h>
#include <string.h>

#define SOFT_KNOWN_ROCR                                                                        \
	"tested: ROCr 5.2.3 with HIP 5.2.3 (Debian 12), ROCr 5.7.1 with HIP 5.7.1 (Ubuntu "    \
	"24.04), ROCr 6.1.2 with HIP 5.7.1 (Debian 13) and ROCr 7.2.4 with HIP 7.2.4 (Debian " \
	"experimental)"

/* @file: path of libhsa-runtime64, with links resolved. */
static inline bool soft_knows_rocr(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	return !strcmp(name, "libhsa-runtime64.so.1.5.0") ||
	       !strcmp(name, "libhsa-runtime64.so.1.11.0") ||
	       !strcmp(name, "libhsa-runtime64.so.1.13.0") ||
	       !strcmp(name, "libhsa-runtime64.so.1.18.0");
}

#endif
