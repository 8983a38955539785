/* SPDX-License-Identifier: MIT */
/* Growing arrays and tables of the analyses never return a failure. If memory runs out, the
 * innermost guard_memory() of the thread returns -ENOMEM instead.
 *
 *   guard_memory(step, data) -> step -> .. lookup_grow() -> memory_ran_out()
 *         ▲                                                      |
 *         └──────────────── longjmp(): -ENOMEM ──────────────────┘
 *
 * The structs that @step fills stay consistent, because a table is replaced only after its new
 * memory was allocated; the caller releases them as after any other error. A cursor that is open in
 * @step is not closed. */
#ifndef GPUTAP_ANALYSIS_BASE_GUARD_MEMORY_H
#define GPUTAP_ANALYSIS_BASE_GUARD_MEMORY_H

/**
 * guard_memory() - call a function that may run out of memory
 * Return: result of @step; -ENOMEM with a cause if memory ran out.
 * Thread: any; guards nest.
 */
int guard_memory(int (*step)(void *data), void *data);

/* Leave the innermost guard of this thread. Without a guard, abort. */
__attribute__((noreturn)) void memory_ran_out(void);

#endif
