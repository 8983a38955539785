/* SPDX-License-Identifier: MIT */
/* Runtimes that offer their tables through librocprofiler-register (runtime/register): each one's
 * folder says by which name, and what is done with them. */
#ifndef GPUTAP_RUNTIME_REGISTERED_H
#define GPUTAP_RUNTIME_REGISTERED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "util/provided.h"

struct gt_registered {
	const char *name;
	/* Takes the tables. Return: 0, or what is wrong. NULL: there is one table, its size in
	 * bytes and then functions in the order of the operations, and what follows says whose */
	int (*take)(uint64_t version, void **tables, uint64_t count);
	enum gt_domain domain;
	const char *library;     /* "HIP": what an event calls a copy of it */
	struct gt_table *tables; /* by instance */
	_Atomic(void *) *taken;  /* by instance: the library's table, by which it is known again */
	/* False: the instance is another way's. NULL: there is no other way to attach */
	bool (*may_take)(enum gt_domain domain, uint32_t instance);
};
/* Several, one behind the other. */
GT_INTERFACE(gt_registered);

#endif
