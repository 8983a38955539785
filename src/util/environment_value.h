/* SPDX-License-Identifier: MIT */
/* Look up a variable in an environment other than this process's current one. */
#ifndef GPUTAP_UTIL_ENVIRONMENT_VALUE_H
#define GPUTAP_UTIL_ENVIRONMENT_VALUE_H

#include <string.h>

/* Return the value, borrowed, or NULL if the variable is not set. Signal: safe. @environment: as
 * for execve(), or NULL. */
static inline const char *gt_environment_value(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

#endif
