/* SPDX-License-Identifier: MIT */
/* Export captures to another format, for the commands that do this. */
#ifndef GPUTAP_CLI_EXPORT_H
#define GPUTAP_CLI_EXPORT_H

#include <stdbool.h>

#include "export/export.h"

struct export_request {
	char **inputs;
	int input_count;
	const char *output, *format; /* format NULL: from the output's extension */
	const char *command_line;
	const char *where;  /* NULL: all records */
	const char *weight; /* NULL: the format's default */
	bool replace, mangled;
	bool captures; /* true if OUT may also be a capture, which messages then list */
};

/* Words of a command for its messages. */
struct export_words {
	const char *command, *output; /* "prog.pftrace" */
	bool several;
	void (*help)(void);
};

/* Parse the options. Return GT_EXIT_OK; GT_EXIT_USAGE, reported; -1: help was printed. */
int export_options(int argc, char **argv, const struct export_words *words,
		   struct export_request *request);
/* Return a command line such as "gputap export a.gputap -o a.csv", for the file's metadata; free()
 * it. NULL: no memory. */
char *export_command_line(int argc, char **argv);
/* Return true if @output ends in .db, the extension of two formats. */
bool export_is_ambiguous(const char *output);
/* Choose the exporter. Return NULL, reported, if there is none. */
const struct gt_exporter *export_choose(const struct export_request *request);
/* Report damaged and missing parts of the captures to the user. Call after reading them. */
void export_note_health(const struct gt_capture *capture);
/* Export. Return the exit code; errors are reported. */
int export_files(const struct export_request *request, const struct gt_exporter *exporter);

#endif
