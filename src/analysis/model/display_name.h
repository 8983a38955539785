/* SPDX-License-Identifier: MIT */
/* Short forms of kernel names for tables. A demangled C++ name is shortened step by step until it
 * fits its column:
 *
 *   void at::native::elementwise_kernel<4, at::native::MulFunctor<float> >(int, float*)   full
 *   elementwise_kernel<4, MulFunctor<float>>      no result, parameters and namespaces
 *   elementwise_kernel<4, MulFunctor>             template arguments of one level
 *   elementwise_kernel                            no template arguments
 *   element...kernel                              cut in the middle */
#ifndef GPUTAP_ANALYSIS_MODEL_DISPLAY_NAME_H
#define GPUTAP_ANALYSIS_MODEL_DISPLAY_NAME_H

#include <stddef.h>

/**
 * display_name() - shorten one name
 * @width: available columns; values below 8 count as 8
 * Return: text that the caller frees; NULL: out of memory.
 */
char *display_name(const char *name, unsigned width);

/**
 * display_names() - shorten the names of a table, each to a form that is unique in the table
 * @out: receives @count texts that the caller frees
 * Names that are identical in full get the same form.
 * Return: 0 or -ENOMEM; on failure, @out contains no texts to free.
 */
int display_names(const char *const *names, size_t count, unsigned width, char **out);

#endif
