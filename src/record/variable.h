/* SPDX-License-Identifier: MIT */
/* Environment variables by which runtimes bring us into a program, as their descriptions say it
 * (`environment` in api/README.md). Who uses them:
 *
 *   collector/environment.c   gputap run sets them for the program
 *   core/exec_environment.c   a program that executes another one passes them on
 *   runtime/tool_attach.c     tools in a process that no gputap run has prepared */
#ifndef GPUTAP_RECORD_VARIABLE_H
#define GPUTAP_RECORD_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/variable_names.h"

enum gt_variable_kind {
	GT_VARIABLE_LIST,    /* of libraries: ours comes first, then the user's */
	GT_VARIABLE_VALUE,   /* is set to `value` */
	GT_VARIABLE_DEFAULT, /* is set to `value` unless the user has set it */
	GT_VARIABLE_LIBRARY, /* is set to our library's path unless the user has set it */
};

struct gt_variable {
	const char *name;
	enum gt_variable_kind kind;
	char separator; /* of a list */
	/* a list with the user's libraries ends with one more of ours, which sees what came of
	 * them; the user's text in between stays as it is, quotes and all */
	bool ends;
	const char *value;
	/* a default is `with_value` if the user has set the variable `other`; NULL: none */
	const char *other, *with_value;
	/* variable of ours. A list: the whole list, as a loader may change its own while it reads.
	 * A value: what the user had there. NULL: none */
	const char *saved;
	/* a list is read once, before a library is mapped that defines the first symbol and not the
	 * second (NULL: whether or not); NULL: it is read whenever there is a need */
	const char *until, *until_without;
	/* the object of libgputap.so for interposition, which must leave libraries alone that this
	 * variable brings us into (runtime/interposition.h) */
	const char *object;
	/* bit per enum gt_domain that comes in by it: a session that records none of them leaves
	 * the variable alone */
	uint32_t domains;
};

extern const struct gt_variable gt_variables[GT_VARIABLE_COUNT];

#endif
