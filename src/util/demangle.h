/* SPDX-License-Identifier: MIT */
/* Demangle C++ names. For the command only: it loads libstdc++, which the injected library must
 * not. */
#ifndef GPUTAP_UTIL_DEMANGLE_H
#define GPUTAP_UTIL_DEMANGLE_H

/**
 * gt_demangle() - return `_Z4fillPfi` as `fill(float*, int)`
 * Return: the text, which the caller frees; NULL if it is not a mangled name or cannot be
 * demangled: show it as it is.
 */
char *gt_demangle(const char *name);

#endif
