/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_UTIL_FILE_NAME_H
#define GPUTAP_UTIL_FILE_NAME_H

#include <string.h>

/* Return the last part of a path, or the whole path if that part is empty. The result points into
 * @path. Thread: any. */
static inline const char *gt_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
