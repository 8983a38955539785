/* SPDX-License-Identifier: MIT */
/* Export of captures to another format, for all commands that export. */
#ifndef GPUTAP_CLI_EXPORT_H
#define GPUTAP_CLI_EXPORT_H

#include <stdbool.h>

#include "export/export.h"

/* Formats without an exporter: export_capture.h and export_parquet.h write them. */
#define EXPORT_CAPTURE_TEXT "a capture: the records that match --where, or all"
#define EXPORT_PARQUET_TEXT "a folder of tables, for DuckDB, Spark, polars, .."

struct export_request {
	char **inputs;
	int input_count;
	const char *output, *format; /* format NULL: the extension of the output decides */
	const char *command_line;
	const char *where;  /* NULL: all records */
	const char *weight; /* NULL: default of the format */
	const char *part;   /* Parquet: share to write, as "3/16"; NULL: all */
	unsigned jobs;      /* number of threads or processes; 0: jobs_default() */
	bool replace, mangled;
	bool captures; /* true if the output may be a capture; messages then list this format */
};

/* Words that a command's messages use. */
struct export_words {
	const char *command,
		*output; /* output: example of an output name, such as "prog.pftrace" */
	bool several;
	void (*help)(void);
};

/* Parse the options. Return GT_EXIT_OK; GT_EXIT_USAGE after reporting an error; -1: help was
 * printed. */
int export_options(int argc, char **argv, const struct export_words *words,
		   struct export_request *request);
/* Return a command line such as "gputap export a.gputap -o a.csv" for the file's metadata. The
 * caller frees it with free(). NULL: out of memory. */
char *export_command_line(int argc, char **argv);
/* Return true if @output ends in .db, the extension of two formats. */
bool export_is_ambiguous(const char *output);
/* Choose the exporter. If there is none, report an error and return NULL. */
const struct gt_exporter *export_choose(const struct export_request *request);
/* Report damaged and missing parts of the captures to the user. Call after reading the captures. */
void export_note_health(const struct gt_capture *capture);
/* Export the captures. Return the exit code; errors are reported. */
int export_files(const struct export_request *request, const struct gt_exporter *exporter);

#endif
