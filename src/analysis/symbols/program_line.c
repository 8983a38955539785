/* SPDX-License-Identifier: MIT */
/* See program_line.h. */
#include "analysis/symbols/program_line.h"

#include <string.h>

#include "util/file_name.h"

static bool is_of_library(const struct gt_frame *f)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux", "libpthread", "[vdso]"};
	const char *name = f->module ? gt_file_name(f->module) : "";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

const struct gt_frame *gt_frames_program_line(const struct gt_frames *frames)
{
	const struct gt_frame *with_file = NULL, *with_function = NULL;

	for (size_t i = 0; i < frames->count; i++) {
		const struct gt_frame *f = &frames->list[i];

		if (f->origin == GT_ORIGIN_PYTHON && f->file)
			return f;
		if (!with_file && f->file && f->line &&
		    strncmp(f->file, "/usr/include/", 13) != 0 && !is_of_library(f))
			with_file = f;
		if (!with_function && f->function && !is_of_library(f))
			with_function = f;
	}
	return with_file       ? with_file
	       : with_function ? with_function
	       : frames->count ? frames->list
			       : NULL;
}
