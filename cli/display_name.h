/* SPDX-License-Identifier: MIT */
/* Short forms of kernel names, for tables. A demangled C++ name is folded step by step until it
 * fits its column:
 *
 *   void at::native::elementwise_kernel<4, at::native::MulFunctor<float> >(int, float*)   full
 *   elementwise_kernel<4, MulFunctor<float>>      without result, parameters and namespaces
 *   elementwise_kernel<4, MulFunctor>             template arguments of one level
 *   elementwise_kernel                            no template arguments
 *   element...kernel                              cut in the middle
 */
#ifndef GPUTAP_CLI_DISPLAY_NAME_H
#define GPUTAP_CLI_DISPLAY_NAME_H

#include <stddef.h>

/**
 * display_name() - fold one name
 * @width: available columns; at least 8 are used
 * Return: text that the caller frees; NULL: no memory.
 */
char *display_name(const char *name, unsigned width);

/**
 * display_names() - fold the names of a table, each to a form that no other row has
 * @out: receives @count texts that the caller frees
 * Names that are identical in full get the same form.
 * Return: 0 or -ENOMEM; then @out holds nothing.
 */
int display_names(const char *const *names, size_t count, unsigned width, char **out);

#endif
