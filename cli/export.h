/* SPDX-License-Identifier: MIT */
/* Writing captures in another format, for the commands that do. */
#ifndef GPUTAP_CLI_EXPORT_H
#define GPUTAP_CLI_EXPORT_H

#include <stdbool.h>

#include "export/export.h"

struct export_request {
	char **inputs;
	int input_count;
	const char *output, *format; /* format NULL: by the output's extension */
	const char *command_line;
	const char *where;  /* NULL: all records */
	const char *weight; /* NULL: the usual one of the format */
	bool replace, mangled;
	bool captures; /* OUT may be a capture, too: named among what there is */
};

/* What a command's own sentences say. */
struct export_words {
	const char *command, *output; /* "prog.pftrace" */
	bool several;
	void (*help)(void);
};

/* Return: GT_EXIT_OK; GT_EXIT_USAGE, reported; -1: help was asked for and given. */
int export_options(int argc, char **argv, const struct export_words *words,
		   struct export_request *request);
/* "gputap export a.gputap -o a.csv", for the file's metadata; free() it. NULL: no memory. */
char *export_command_line(int argc, char **argv);
/* Does @output end with .db, the extension of two formats? */
bool export_is_ambiguous(const char *output);
/* Return: NULL, reported. */
const struct gt_exporter *export_choose(const struct export_request *request);
/* What of the captures is damaged or missing, to the user; behind reading them. */
void export_note_health(const struct gt_capture *capture);
/* Return: exit code; reported. */
int export_files(const struct export_request *request, const struct gt_exporter *exporter);

#endif
