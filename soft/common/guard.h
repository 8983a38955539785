/* SPDX-License-Identifier: MIT */
/* Memory faults of a software accelerator: a load or store in a worker thread that hits an unmapped
 * page becomes a fault of the device instead of a SIGSEGV of the program.
 *
 * Threads: the handlers apply to the process, a guarded call to its thread. A handler that the
 * program installs later replaces ours. The program then receives the signal, as without this
 * library.
 * Faults of the program outside guarded calls are passed to the previous handler. */
#ifndef SOFT_GUARD_H
#define SOFT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Install the handlers for SIGSEGV and SIGBUS unless they are already installed. Call from any
 * thread. */
void soft_guard_init(void);

/* Call @function(@argument). Return true if the function returned, or false if it faulted at
 * *@address and was left with a jump. @function must tolerate the jump: locks that it holds stay
 * locked, and its allocations leak. Calls do not nest. */
bool soft_guard_call(void (*function)(void *), void *argument, uint64_t *address);

#endif
