/* SPDX-License-Identifier: MIT */
/* Changes variables of a running program while its threads may call getenv().
 *
 *   environ ─► old array: | A=1 | B=2 | NULL          readers that have started stay here
 *      └─────► new array: | A=1 | B=2 | OURS=.. | NULL     one atomic store
 *
 * libc's setenv() and unsetenv() cannot be used for this: setenv() may free the array that getenv()
 * is reading, and unsetenv() moves entries past a reader, which then misses a variable. */
#ifndef GPUTAP_UTIL_ENVIRON_PUBLISH_H
#define GPUTAP_UTIL_ENVIRON_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>

struct gt_environ_change {
	const char *name;
	/* "NAME=value", which must stay valid and unchanged for ever; NULL: remove the variable */
	const char *entry;
	/* change the variable only if this is its present entry; NULL: whatever the entry is */
	const char *only_if;
};

/* Return the variable's entry "NAME=value", borrowed from the program, or NULL if it is not set.
 * Thread: any, like getenv(). */
const char *gt_environ_entry(const char *name);

/**
 * gt_environ_publish() - change variables of this process
 * @changes: of different variables
 * Neither entries nor arrays of the program are changed, copied or freed, except that an entry of
 * the program is replaced or removed as requested. The new array is never freed.
 * Return: false if out of memory, or if other threads change the environment without a pause.
 * Thread: any, also while others call getenv(), setenv() and unsetenv(). Signal: not safe.
 */
bool gt_environ_publish(const struct gt_environ_change *changes, size_t count);

#endif
