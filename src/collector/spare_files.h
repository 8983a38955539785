/* SPDX-License-Identifier: MIT */
/* Descriptors that are left for the segments of new processes, when states of threads and samples
 * of their stacks keep files open for each thread. */
#ifndef GPUTAP_COLLECTOR_SPARE_FILES_H
#define GPUTAP_COLLECTOR_SPARE_FILES_H

#include <errno.h>
#include <unistd.h>

enum { GT_SPARE_FILES = 32 };

/* Return @fd; if it is one of the last descriptors, close it and return -1 with errno EMFILE. */
static inline int gt_keep_spare_files(int fd)
{
	if (fd < 0 || fd < sysconf(_SC_OPEN_MAX) - GT_SPARE_FILES)
		return fd;
	close(fd);
	errno = EMFILE;
	return -1;
}

#endif
