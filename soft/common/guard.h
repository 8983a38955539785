/* SPDX-License-Identifier: MIT */
/* Memory faults of a software accelerator: a load or store in its worker threads that hits an
 * unmapped page becomes a fault of the device instead of a SIGSEGV of the program.
 *
 * Threads: the handlers belong to the process, the guarded call to its thread. A handler that the
 * program installs later hides ours: then the program sees the signal, as it would without this
 * library.
 * Faults of the program outside guarded calls go to the previous handler. */
#ifndef SOFT_GUARD_H
#define SOFT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Install the handlers for SIGSEGV and SIGBUS if they are not installed now. Any thread. */
void soft_guard_init(void);

/* Call @function(@argument). Return true if it returned; false if it faulted at *@address and a
 * jump left it: its locks stay locked and its allocations are lost, so it must be written for that.
 * Calls do not nest. */
bool soft_guard_call(void (*function)(void *), void *argument, uint64_t *address);

#endif
