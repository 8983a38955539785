/* SPDX-License-Identifier: MIT */
/* Fault switches: let the n-th of some calls fail, as a test wants it.
 *
 *   "queue:2"        the second one fails
 *   "allocate:10+"   the tenth and all later ones
 *   "event"          each one
 *   "queue:2,kernel" several
 *
 * The names and what failing means are the accelerator's. Counting is atomic; switches are set
 * once, before the first call. */
#ifndef SOFT_FAULTS_H
#define SOFT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct soft_fault {
	const char *name;
	uint64_t first, last; /* of the calls that fail, counted from 1; 0, 0: none */
	uint64_t calls;       /* atomic */
};

/* Sets the switches of @faults (ended by one without a name). Return: false for text that is
 * none, or names no switch. */
bool soft_faults_parse(struct soft_fault *faults, const char *text);

/* One more call. Return: whether it is to fail. */
static inline bool soft_fault_now(struct soft_fault *fault)
{
	uint64_t n;

	if (!fault->last) /* nobody wants it: no shared counter on the way */
		return false;
	n = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
	return n >= fault->first && n <= fault->last;
}

#endif
