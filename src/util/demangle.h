/* SPDX-License-Identifier: MIT */
/* Demangle C++ names. Only for the command, because it loads libstdc++. The injected library must
 * not load libstdc++. */
#ifndef GPUTAP_UTIL_DEMANGLE_H
#define GPUTAP_UTIL_DEMANGLE_H

/**
 * gt_demangle() - demangle a C++ name: `_Z4fillPfi` becomes `fill(float*, int)`
 * Return: the text, which the caller frees. NULL if the name is not mangled or cannot be demangled:
 *         show the name unchanged.
 */
char *gt_demangle(const char *name);

#endif
