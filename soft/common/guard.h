/* SPDX-License-Identifier: MIT */
/* Memory faults of a software accelerator: a load or store of its worker threads that hits an
 * unmapped page becomes a fault of the device instead of the program's SIGSEGV.
 *
 * Threads: the handlers belong to the process, the guarded call to its thread. A handler that the
 * program installs later than ours hides it: then the program sees the signal, as it would without
 * us.
 * What the program does outside of guarded calls goes to the handler that was there before. */
#ifndef SOFT_GUARD_H
#define SOFT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers for SIGSEGV and SIGBUS if they are not installed now. Any thread. */
void soft_guard_init(void);

/* Calls @function(@argument). Return: true when it returned; false when it faulted at *@address
 * and was left by a jump (its locks stay locked, what it allocated is lost: it must be written
 * for that). Not nested. */
bool soft_guard_call(void (*function)(void *), void *argument, uint64_t *address);

#endif
