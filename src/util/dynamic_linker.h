/* SPDX-License-Identifier: MIT */
/* Recognise the dynamic linker of a C library by its file name: the PT_INTERP of a program, or the
 * program file of "ld.so PROGRAM". */
#ifndef GPUTAP_UTIL_DYNAMIC_LINKER_H
#define GPUTAP_UTIL_DYNAMIC_LINKER_H

#include <string.h>

enum gt_dynamic_linker {
	GT_LINKER_UNKNOWN = 0,
	GT_LINKER_GLIBC,
	/* ends a program with status 127 if it cannot resolve the symbols of a preloaded library */
	GT_LINKER_MUSL,
};

static inline enum gt_dynamic_linker gt_dynamic_linker_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	/* the name in PT_INTERP is often a link to the C library itself */
	if (!strncmp(name, "ld-musl-", 8) || !strncmp(name, "libc.musl-", 10) ||
	    (!strcmp(name, "libc.so") && strstr(path, "musl")))
		return GT_LINKER_MUSL;
	if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) ||
	    !strncmp(name, "ld64.so", 7) || !strncmp(name, "ld.so", 5))
		return GT_LINKER_GLIBC;
	return GT_LINKER_UNKNOWN;
}

#endif
