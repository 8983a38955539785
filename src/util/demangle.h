/* SPDX-License-Identifier: MIT */
/* Names of C++ as people write them. For the command only: it loads libstdc++, which the
 * injected library must not. */
#ifndef GPUTAP_UTIL_DEMANGLE_H
#define GPUTAP_UTIL_DEMANGLE_H

/**
 * gt_demangle() - `_Z4fillPfi` as `fill(float*, int)`
 * Return: the text, which the caller frees; NULL: it is not a mangled name, or nobody can read it:
 * show it as it is.
 */
char *gt_demangle(const char *name);

#endif
