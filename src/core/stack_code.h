/* SPDX-License-Identifier: MIT */
/* Writes the modules and code objects of stack frames as GT_RECORD_CODE, once per process. */
#ifndef GPUTAP_CORE_STACK_CODE_H
#define GPUTAP_CORE_STACK_CODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"

enum { GT_STACK_MODULES = 4096 };

/* Known modules. Zeroed initially, and in a fork's child. */
struct gt_stack_modules {
	_Atomic uint64_t keys[GT_STACK_MODULES];
};

/* Write the modules of these addresses, unless they were written already. Return true if Python was
 * among the modules written now, so that Python frames are available from now on. */
bool gt_stack_code_note(struct gt_stack_modules *known, struct gt_thread *t, uint32_t generation,
			const uintptr_t *pcs, unsigned count);

#endif
