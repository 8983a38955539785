/* SPDX-License-Identifier: MIT */
/* Environment variables that make runtimes load gputap into a program, as their descriptions define
 * them (`environment` in api/README.md). Used in:
 *
 *   collector/environment.c   gputap run sets them for the program
 *   core/exec_environment.c   a program that executes another one passes them on
 *   runtime/tool_attach.c     tools in a process that was not started through gputap run */
#ifndef GPUTAP_RECORD_VARIABLE_H
#define GPUTAP_RECORD_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/variable_names.h"

enum gt_variable_kind {
	GT_VARIABLE_LIST,    /* list of libraries: ours comes first, then the user's */
	GT_VARIABLE_VALUE,   /* set to `value` */
	GT_VARIABLE_DEFAULT, /* set to `value` unless the user has set it */
	GT_VARIABLE_LIBRARY, /* set to our library's path unless the user has set it */
};

struct gt_variable {
	const char *name;
	enum gt_variable_kind kind;
	char separator; /* separator of a list */
	/* a list with the user's libraries ends with a second gputap one, which sees their effects;
	 * the user's text in between stays unchanged, including quotes */
	bool ends;
	const char *value;
	/* a default is `with_value` if the user has set the variable `other`; NULL: none */
	const char *other, *with_value;
	/* variable of ours with a copy. For a list: the whole list, as a loader may change its own
	 * while it reads. For a value: the user's value. NULL: none */
	const char *saved;
	/* a list is read once, before a library is mapped that defines the first symbol and not the
	 * second (NULL: whether or not); NULL: it is read on every use */
	const char *until, *until_without;
	/* object of libgputap.so for interposition, which must ignore libraries that this variable
	 * already loads gputap into (runtime/interposition.h) */
	const char *object;
	/* bit per enum gt_domain that this variable intercepts: a session that records none of them
	 * leaves the variable unset */
	uint32_t domains;
};

extern const struct gt_variable gt_variables[GT_VARIABLE_COUNT];

#endif
