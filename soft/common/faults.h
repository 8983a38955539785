/* SPDX-License-Identifier: MIT */
/* Fault switches for tests: make the n-th of some calls fail.
 *
 *   "queue:2"        the second call fails
 *   "allocate:10+"   the tenth call and all later calls fail
 *   "event"          each call fails
 *   "queue:2,kernel" two switches
 *
 * The accelerator defines the names and the meaning of a failure. Counting is atomic. Switches are
 * set once, before the first call. */
#ifndef SOFT_FAULTS_H
#define SOFT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct soft_fault {
	const char *name;
	uint64_t first, last; /* range of calls that fail, counted from 1; 0, 0: none */
	uint64_t calls;       /* atomic */
};

/* Set the switches in @faults, which ends with an entry without a name. Return false if the text is
 * invalid or contains an unknown name. */
bool soft_faults_parse(struct soft_fault *faults, const char *text);

/* Count a call. Return true if this call must fail. */
static inline bool soft_fault_now(struct soft_fault *fault)
{
	uint64_t n;

	if (!fault->last) /* if no switch is set, do not touch the shared counter */
		return false;
	n = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
	return n >= fault->first && n <= fault->last;
}

#endif
