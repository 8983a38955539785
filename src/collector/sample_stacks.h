/* SPDX-License-Identifier: MIT */
/* The stacks that samples of one process found: gives each a number, and writes its frames, modules
 * and Python code objects to the capture once. */
#ifndef GPUTAP_COLLECTOR_SAMPLE_STACKS_H
#define GPUTAP_COLLECTOR_SAMPLE_STACKS_H

#include "capture/capture.h"
#include "collector/remote_modules.h"
#include "collector/remote_python.h"
#include "collector/remote_unwind.h"

/* A set of 64-bit keys with consecutive numbers. Zeroed initially. */
struct gt_sample_set {
	uint64_t *keys;
	uint32_t *numbers;
	uint32_t count, room;
};

struct gt_sample_stacks {
	struct gt_remote_modules modules;
	struct gt_remote_python python;
	struct gt_sample_set stacks, codes;
	uint32_t skipped; /* numbers of stacks and code objects that are not used at first */
};

struct gt_sample_stack {
	uintptr_t pcs[GT_REMOTE_FRAMES];
	struct gt_remote_python_frame python[GT_REMOTE_PYTHON_FRAMES];
	unsigned count, python_count, end;
};

void gt_sample_stacks_init(struct gt_sample_stacks *s, uint32_t pid);
void gt_sample_stacks_fini(struct gt_sample_stacks *s);

/* Return the number of a stack, after writing it to @stream if it is new. 0: not written. */
uint32_t gt_sample_stacks_number(struct gt_sample_stacks *s, struct gt_remote_memory *memory,
				 const struct gt_sample_stack *stack, struct gt_stream *stream);

#endif
