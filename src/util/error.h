/* SPDX-License-Identifier: MIT */
/* A per-thread chain of causes. Each failing step adds one: what it was about to do, to which
 * object, with which errno. The command prints the chain, outermost first; libraries print nothing.
 * Not in the injected library, which counts and reports events instead. */
#ifndef GPUTAP_UTIL_ERROR_H
#define GPUTAP_UTIL_ERROR_H

#include <stdio.h>

/**
 * gt_error() - add a cause and return a status
 * @status: negative errno (-EINVAL, ..); its text is printed behind the sentence, but not for
 *          -EBADMSG, -ENODATA and -ENOTSUP, of which the sentence says more; 0: no errno text
 * Return: @status, or -EINVAL for 0, so that `return gt_error(..)` reads well.
 */
int gt_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forget the chain: what failed was tried another way. */
void gt_error_clear(void);

/* Print "gputap: outer: inner: errno text" to @out and clear the chain. */
void gt_error_print(FILE *out);

/* The chain as one line, for tests; valid until the next call in this thread. */
const char *gt_error_text(void);

#endif
