/* SPDX-License-Identifier: MIT */
/* File names for `gputap run -o`, which can differ for each rank of a job.
 *
 *   %p        process id of gputap run          %q{NAME}  environment variable
 *   %h        host                              %%        a percent sign
 *   %r        rank, from the launcher */
#ifndef GPUTAP_CLI_OUTPUT_NAME_H
#define GPUTAP_CLI_OUTPUT_NAME_H

#include <stddef.h>

/* Copy @pattern and expand its %x. Return 0, or an exit status after reporting an error. */
int output_name_expand(const char *pattern, char *out, size_t size);

/* Check that the file's folder exists. Return 0, or an exit status after reporting an error. */
int output_name_check_folder(const char *name);

/* If a launcher may start all ranks with the same @pattern, which was expanded to @name, print on
 * stderr how to get a separate file for each rank. */
void output_name_note_ranks(const char *name, const char *pattern);

#endif
