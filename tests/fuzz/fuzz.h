/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_FUZZ_H
#define GPUTAP_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A file in memory that is opened by its path. */
static inline void fuzz_file(int *fd, char *path)
{
	if (*fd >= 0)
		return;
	*fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (*fd < 0)
		abort();
	sprintf(path, "/proc/self/fd/%d", *fd);
}

#endif
