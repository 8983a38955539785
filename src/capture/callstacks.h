/* SPDX-License-Identifier: MIT */
/* Call stacks of a capture (`gputap run --stacks`): the stack of each call, its frames, and the
 * modules and code objects that contain the frames. Names come from the capture
 * (capture/frame_names.h) or from analysis/symbols/code_files.h. */
#ifndef GPUTAP_CAPTURE_CALLSTACKS_H
#define GPUTAP_CAPTURE_CALLSTACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

struct gt_stack_info {
	uint32_t process, number;
	uint32_t generation; /* generation of the process's modules */
	uint32_t native, python;
	uint8_t end; /* GT_FRAMES_WHOLE, .. */
	/* frames in the order of struct gt_record_frames, native frames first; valid while the
	 * capture is open */
	const uint64_t *frames;
};

struct gt_code_info {
	uint32_t process, generation;
	enum gt_code_type type;
	uint64_t number;           /* Python: number of the code object */
	uint64_t start, end, base; /* module: addresses; Python: `start` is the first line */
	/* module: path and build id; Python: name and file */
	const char *name, *detail;
	const uint8_t *lines; /* Python: line table */
	size_t lines_bytes;
};

/* Return the number of stacks, sorted by process and number. 0: the session did not request
 * stacks. */
size_t gt_capture_stack_count(const struct gt_capture *c);
const struct gt_stack_info *gt_capture_stack_at(const struct gt_capture *c, size_t index);
/* Return a stack, or NULL if it was lost. */
const struct gt_stack_info *gt_capture_stack_find(const struct gt_capture *c, uint32_t process,
						  uint32_t number);

/* Modules and code objects, by process. */
size_t gt_capture_code_count(const struct gt_capture *c);
const struct gt_code_info *gt_capture_code_at(const struct gt_capture *c, size_t index);
/* Return the module that contained @address, or NULL if the module is unknown. */
const struct gt_code_info *gt_capture_module_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address);
/* Return a Python code object, or NULL. */
const struct gt_code_info *gt_capture_python_find(const struct gt_capture *c, uint32_t process,
						  uint32_t number);

/* Maps calls to their stacks. Built in one pass over the records. */
struct gt_call_stacks;
/* Return 0 and *out, or negative errno with a cause. *out is NULL if there are no stacks. */
int gt_call_stacks_create(const struct gt_capture *c, struct gt_call_stacks **out);
void gt_call_stacks_destroy(struct gt_call_stacks *s);
/* Return the number of the call's stack; 0: none. @s may be NULL. */
uint32_t gt_call_stacks_find(const struct gt_call_stacks *s, uint32_t process, uint64_t id);

#endif
