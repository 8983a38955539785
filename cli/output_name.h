/* SPDX-License-Identifier: MIT */
/* File names of `gputap run -o`, which can differ for each rank of a job.
 *
 *   %p        process number of gputap run      %q{NAME}  environment variable
 *   %h        host                              %%        a percent sign
 *   %r        rank, from the launcher */
#ifndef GPUTAP_CLI_OUTPUT_NAME_H
#define GPUTAP_CLI_OUTPUT_NAME_H

#include <stddef.h>

/* Copy @pattern with its %x replaced. Return 0, or an exit status if an error was reported. */
int output_name_expand(const char *pattern, char *out, size_t size);

/* Check that the file's folder exists. Return 0, or an exit status if an error was reported. */
int output_name_check_folder(const char *name);

/* Under a launcher, all ranks may have the same @pattern, which became @name: print on stderr how
 * each can get a separate file. */
void output_name_note_ranks(const char *name, const char *pattern);

#endif
