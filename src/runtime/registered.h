/* SPDX-License-Identifier: MIT */
/* Runtimes that offer their tables through librocprofiler-register (runtime/register). Each
 * runtime's folder provides the name to register under and the handling of the tables. */
#ifndef GPUTAP_RUNTIME_REGISTERED_H
#define GPUTAP_RUNTIME_REGISTERED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "util/provided.h"

struct gt_registered {
	const char *name;
	/* Takes the tables. Return: 0, or a reason for refusal. NULL: there is one table that
	 * starts with its size in bytes, followed by functions in the order of the operations; the
	 * fields below describe it. */
	int (*take)(uint64_t version, void **tables, uint64_t count);
	enum gt_domain domain;
	/* name of the library for users ("HIP"), in an event about one of its copies */
	const char *library;
	struct gt_table *tables; /* indexed by instance */
	/* indexed by instance: the library's table, which identifies the library */
	_Atomic(void *) *taken;
	/* Returns false if the instance belongs to another interception method. NULL: there is no
	 * other method. */
	bool (*may_take)(enum gt_domain domain, uint32_t instance);
};
/* A chain of providers. */
GT_INTERFACE(gt_registered);

#endif
