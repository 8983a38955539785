/* SPDX-License-Identifier: MIT */
/* See program_line.h. */
#include "analysis/symbols/program_line.h"

#include <string.h>

#include "util/file_name.h"

static bool is_python_library(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python3") || file[0] == '<';
}

static bool is_c_library(const char *module)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux", "libpthread", "[vdso]"};
	const char *name = gt_file_name(module);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_shared_library(const char *module)
{
	return !module || strstr(module, ".so");
}

/* Return the preference for a frame, higher is better; 0: not a line of the program. */
static unsigned rate_frame(const struct gt_frame *f)
{
	if (f->origin == GT_ORIGIN_PYTHON)
		return f->file && !is_python_library(f->file) ? 7 : 6;
	if (!f->function)
		return 0;
	if (f->module && is_c_library(f->module))
		return 1;
	if (f->file && f->line && strncmp(f->file, "/usr/include/", 13) != 0)
		return is_shared_library(f->module) ? 3 : 5;
	return is_shared_library(f->module) ? 2 : 4;
}

const struct gt_frame *gt_frames_program_line(const struct gt_frames *frames)
{
	const struct gt_frame *best = NULL;

	for (size_t i = 0; i < frames->count; i++)
		if (rate_frame(&frames->list[i]) > (best ? rate_frame(best) : 0))
			best = &frames->list[i];
	return best;
}
