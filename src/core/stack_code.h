/* SPDX-License-Identifier: MIT */
/* What the frames of stacks lie in: GT_RECORD_CODE, once a process. */
#ifndef GPUTAP_CORE_STACK_CODE_H
#define GPUTAP_CORE_STACK_CODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"

enum { GT_STACK_MODULES = 4096 };

/* Zeroed at first, and in a fork's child. */
struct gt_stack_modules {
	_Atomic uint64_t keys[GT_STACK_MODULES];
};

/* The modules of these addresses are written if they are not yet. Return: was Python among those
 * that were written, and its frames are known from now on? */
bool gt_stack_code_note(struct gt_stack_modules *known, struct gt_thread *t, uint32_t generation,
			const uintptr_t *pcs, unsigned count);

#endif
