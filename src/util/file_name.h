/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_UTIL_FILE_NAME_H
#define GPUTAP_UTIL_FILE_NAME_H

#include <string.h>

/* The last part of a path; the path, where that is empty. Return: into @path. Thread: any. */
static inline const char *gt_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
