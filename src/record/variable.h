/* SPDX-License-Identifier: MIT */
/* Environment variables that make runtimes load gputap into a program. The descriptions of the
 * runtimes define them (`environment` in api/README.md). Files that use the variables:
 *
 *   collector/environment.c   gputap run sets them for the program
 *   core/exec_environment.c   a process that executes another program passes them on
 *   runtime/tool_attach.c     tools in a process that was not started through gputap run */
#ifndef GPUTAP_RECORD_VARIABLE_H
#define GPUTAP_RECORD_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/variable_names.h"

enum gt_variable_kind {
	GT_VARIABLE_LIST,    /* list of libraries: gputap's library comes first, then the user's */
	GT_VARIABLE_VALUE,   /* set to `value` */
	GT_VARIABLE_DEFAULT, /* set to `value` unless the user has set it */
	GT_VARIABLE_LIBRARY, /* set to the path of gputap's library unless the user has set it */
};

struct gt_variable {
	const char *name;
	enum gt_variable_kind kind;
	char separator; /* separator of a list */
	/* true if a list with the user's libraries ends with a second gputap library, which sees
	 * the effects of the others; the user's text in between stays unchanged, including
	 * quotes */
	bool ends;
	const char *value;
	/* default if the user has set the variable `other`: `with_value`; NULL: no such default */
	const char *other, *with_value;
	/* gputap's variable with a copy; NULL: none. For a list: the whole list, because a loader
	 * may change the variable while reading it. For a value: the user's value */
	const char *saved;
	/* the runtime reads the list only once, before mapping a library that defines the symbol
	 * `until` but not `until_without` (NULL: no second condition); NULL: the runtime reads the
	 * list on every use */
	const char *until, *until_without;
	/* object in libgputap.so for interposition. Interposition must ignore libraries into which
	 * this variable already loads gputap (runtime/interposition.h) */
	const char *object;
	/* one bit per enum gt_domain that this variable intercepts. A session that records none of
	 * these domains leaves the variable unset */
	uint64_t domains;
};

extern const struct gt_variable gt_variables[GT_VARIABLE_COUNT];

#endif
