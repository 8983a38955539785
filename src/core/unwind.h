/* SPDX-License-Identifier: MIT */
/* Unwinds a thread's own call stack, with the tables that compilers generate for exceptions
 * (.eh_frame), or with frame pointers for code that has no tables.
 *
 *   pc ─► rule {where the caller's frame starts, where its rbp is} ─► return address ─► ..
 *          └─ from the thread's cache, else from the module's .eh_frame (unwind/unwind_rules.h)
 *
 * Memory read: the tables of mapped modules, and the stack between the stack pointer and the end of
 * the stack. If the stack is not the thread's own (a coroutine's, a signal handler's), the kernel
 * copies a piece of the stack, and the copy is read instead, so that a wrong pointer does not
 * fault.
 * Locking: none; each thread has a separate area. Never here: allocation, locks (except
 * dl_iterate_phdr()'s, with a glibc older than 2.35), changes to errno. System calls are made only
 * for a thread's first stack and for stacks that are not the thread's own. */
#ifndef GPUTAP_CORE_UNWIND_H
#define GPUTAP_CORE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind_rules.h"

enum { GT_UNWIND_MOST = 128, GT_UNWIND_RULES = 512, GT_UNWIND_COPY = 16384 };

/* Call once, before the other functions. */
void gt_unwind_init(void);

/* Return false if @pc is in no module. */
bool gt_unwind_find_object(uintptr_t pc, struct gt_unwind_object *object);

/* Buffers of one thread; zeroed initially. */
struct gt_unwind_area {
	uintptr_t low, high; /* bounds of the thread's own stack; 0: not known yet */
	bool looked;
	uint32_t generation; /* generation of the modules for which `rules` is valid */
	struct gt_unwind_rule rules[GT_UNWIND_RULES];
	uint8_t copy[GT_UNWIND_COPY];
};

enum gt_unwind_end {
	GT_UNWIND_WHOLE = 0, /* the stack is complete, up to the first function */
	GT_UNWIND_CUT,       /* the stack was cut at GT_UNWIND_MOST frames; more frames exist */
	GT_UNWIND_BROKEN,    /* neither tables nor frame pointers lead further */
};

/**
 * gt_unwind() - get the calling thread's return addresses, innermost first
 * @area:       the calling thread's area
 * @generation: a number that changes when a module has been unmapped
 * @pcs:        receives at most GT_UNWIND_MOST addresses, starting in the caller of this function
 * @count:      receives the number of addresses
 * Return: the reason why unwinding ended.
 */
enum gt_unwind_end gt_unwind(struct gt_unwind_area *area, uint32_t generation, uintptr_t *pcs,
			     unsigned *count);

#endif
