/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files that implement core/stacks.h. */
#ifndef GPUTAP_CORE_STACK_CHOICE_H
#define GPUTAP_CORE_STACK_CHOICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/python_frames.h"
#include "core/stack_code.h"
#include "core/unloads.h"
#include "core/unwind.h"

enum { GT_STACKS_BITS = 18, GT_STACKS_MOST = 1 << GT_STACKS_BITS };

/* Memory that the kernel wipes in a fork's child. */
struct gt_stacks_shared {
	/* 0: free entry. The number of a stack is its index + 1 */
	_Atomic uint64_t hashes[GT_STACKS_MOST];
	struct gt_stack_modules modules;
	struct gt_python_codes codes;
	_Atomic uint32_t is_full; /* nonzero once an event has reported that the table is full */
};

/* Constant after recording has started. */
extern struct gt_stacks_chosen {
	struct gt_stacks_shared *shared; /* NULL: no stacks requested */
	uint32_t wanted;                 /* enum gt_stacks */
	uint64_t slow_ns;
	struct gt_unwind_object own; /* libgputap.so, whose frames are omitted */
} gt_stacks __attribute__((visibility("hidden")));

extern struct gt_unloads gputap_attach_unloads __attribute__((visibility("default")));

#endif
