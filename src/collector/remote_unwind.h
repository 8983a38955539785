/* SPDX-License-Identifier: MIT */
/* Unwinds the call stack of a thread of another process, with the rules of core/unwind.h. The
 * thread is stopped, or blocked in a system call. The frame pointer of a blocked thread is not
 * known: most frames do not need it, and a frame that has saved it makes it known again. Otherwise
 * the caller is found by a return address on the stack after a call of the function.
 * Memory is read without faults; a wrong stack ends the walk. */
#ifndef GPUTAP_COLLECTOR_REMOTE_UNWIND_H
#define GPUTAP_COLLECTOR_REMOTE_UNWIND_H

#include "collector/remote_memory.h"
#include "collector/remote_modules.h"

enum { GT_REMOTE_FRAMES = 128 };

struct gt_remote_registers {
	uintptr_t pc, sp, bp;
	bool has_bp; /* false: bp is not known */
};

/**
 * gt_remote_unwind() - get a thread's return addresses, innermost first, pc included
 * @pcs: receives at most GT_REMOTE_FRAMES addresses
 * Return: GT_FRAMES_WHOLE, _CUT or _BROKEN.
 */
unsigned gt_remote_unwind(struct gt_remote_modules *modules, struct gt_remote_memory *memory,
			  const struct gt_remote_registers *registers, uintptr_t *pcs,
			  unsigned *count);

#endif
