/* SPDX-License-Identifier: MIT */
/* A per-thread chain of causes. Each failing step adds a cause: the intended action, its object,
 * and errno. The command prints the chain, outermost cause first; libraries print nothing. Not for
 * the injected library, which counts and reports events instead. */
#ifndef GPUTAP_UTIL_ERROR_H
#define GPUTAP_UTIL_ERROR_H

#include <stdio.h>

/**
 * gt_error() - add a cause and return a status
 * @status: negative errno (such as -EINVAL), whose text is printed after the sentence, except for
 *          -EBADMSG, -ENODATA and -ENOTSUP, where the sentence is more precise; 0: no errno text
 * Return: @status, or -EINVAL for 0, so that callers can `return gt_error(..)`.
 */
int gt_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Clear the chain. Call if another attempt succeeded after a failed step. */
void gt_error_clear(void);

/* Print "gputap: outer: inner: errno text" to @out and clear the chain. */
void gt_error_print(FILE *out);

/* Return the chain as one line, for tests; valid until the next call in this thread. */
const char *gt_error_text(void);

#endif
