/* SPDX-License-Identifier: MIT */
/* Reads a part of a file that may be truncated concurrently. */
#include "capture/scan.h"

#include <errno.h>
#include <unistd.h>

int gt_scan_read(int fd, void *buffer, size_t bytes, uint64_t at)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pread(fd, (char *)buffer + done, bytes - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		done += (size_t)n;
	}
	return 0;
}
