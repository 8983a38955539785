/* SPDX-License-Identifier: MIT */
/* File names of `gputap run -o`, which every rank of a job makes its own.
 *
 *   %p        process number of gputap run      %q{NAME}  environment variable
 *   %h        host                              %%        a percent sign
 *   %r        rank, as the launcher says it */
#ifndef GPUTAP_CLI_OUTPUT_NAME_H
#define GPUTAP_CLI_OUTPUT_NAME_H

#include <stddef.h>

/* @pattern with its %x replaced. Return: 0, or an exit status with everything said. */
int output_name_expand(const char *pattern, char *out, size_t size);

/* Is there a folder for a file of that name? Return: 0, or an exit status with everything said. */
int output_name_check_folder(const char *name);

/* Under a launcher, where all ranks may have been given the same @pattern, which became @name:
 * on stderr, how each gets a file of its own. */
void output_name_note_ranks(const char *name, const char *pattern);

#endif
