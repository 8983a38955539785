/* SPDX-License-Identifier: MIT */
/* analysis/symbols/program_line.h: the frame that names a line of the program. */
#include "analysis/symbols/program_line.h"

#include <string.h>

#include "unit.h"

static const struct gt_frame nothing = {.module = "/prog"},
			     sleeps = {.function = "nanosleep",
				       .file = "nanosleep.c",
				       .line = 25,
				       .module = "/lib/libc.so.6"},
			     library = {.function = "wait", .module = "/lib/libcl.so.1"},
			     library_line = {.function = "run",
					     .file = "/src/run.c",
					     .line = 3,
					     .module = "/lib/librun.so"},
			     program = {.function = "main", .module = "/prog"},
			     header = {.function = "copy",
				       .file = "/usr/include/c++/copy.h",
				       .line = 9,
				       .module = "/prog"},
			     program_line = {.function = "step",
					     .file = "/src/step.c",
					     .line = 7,
					     .module = "/prog"},
			     package = {.origin = GT_ORIGIN_PYTHON,
					.function = "get",
					.file = "/usr/lib/python3/dist-packages/a.py",
					.line = 1},
			     script = {.origin = GT_ORIGIN_PYTHON,
				       .function = "train",
				       .file = "/data/train.py",
				       .line = 12};

/* Return the function that is chosen from two frames, the first one innermost. */
static const char *choose(struct gt_frame inner, struct gt_frame outer)
{
	const struct gt_frame list[] = {inner, outer};
	const struct gt_frames frames = {.list = list, .count = 2};
	const struct gt_frame *frame = gt_frames_program_line(&frames);

	return frame ? frame->function : "";
}

UNIT_TEST(a_better_kind_wins_in_any_place)
{
	const struct gt_frame kinds[] = {nothing, sleeps,       library, library_line,
					 program, program_line, package, script};

	for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++) {
		CHECK(!strcmp(choose(kinds[i - 1], kinds[i]), kinds[i].function));
		CHECK(!strcmp(choose(kinds[i], kinds[i - 1]), kinds[i].function));
	}
}

UNIT_TEST(the_innermost_frame_of_a_kind_wins)
{
	struct gt_frame other = script;

	other.function = "main";
	CHECK(!strcmp(choose(script, other), "train"));
	CHECK(!strcmp(choose(other, script), "main"));
}

UNIT_TEST(system_headers_are_not_lines_of_the_program)
{
	CHECK(!strcmp(choose(header, program_line), "step"));
	CHECK(!strcmp(choose(header, program), "copy"));
}

UNIT_TEST(without_functions_there_is_no_line)
{
	CHECK(!strcmp(choose(nothing, nothing), ""));
}
