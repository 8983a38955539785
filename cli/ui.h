/* SPDX-License-Identifier: MIT */
/* Output shared by all commands: errors, suggested names, colours, progress. */
#ifndef GPUTAP_CLI_UI_H
#define GPUTAP_CLI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/show.h"
#include "analysis/base/text.h"

/* Name of the running command, printed in errors. main.c sets it. NULL: gputap itself. */
extern const char *ui_command;

/* Print "gputap <command>: sentence" on stderr, followed by the cause chain if there is one. If the
 * sentence is "%s", "", print only the cause chain. Return @exit_code. */
/* Write buffered output. Return 0, or the negative errno of this write or an earlier one. */
int ui_flush(FILE *out);
int ui_fail(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print a note on stderr: "gputap: sentence". */
void ui_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "Did you mean 'x'?" for a word that is not in @names, or the list of names if none is near.
 * @kind: "column", "format" and the like. Return GT_EXIT_USAGE. */
int ui_unknown(const char *kind, const char *word, const char *const *names);
/* Parse a list of @names: "a,c" sets bits 0 and 2. Return the exit code; errors are reported. */
int ui_parse_list(const char *kind, const char *value, const char *const *names, unsigned *bits);

/* Store the @value of @option in @slot, which must be NULL. A repeated option and an empty value
 * are errors. Return the exit code; errors are reported. */
int ui_take_once(const char *option, const char *value, const char **slot);

/* Print " @before a, b, c" on stderr, in as many lines as needed. @names: NULL-terminated. */
void ui_list_names(const char *before, const char *const *names);

/* Print the error for the results '?' and ':' of getopt_long(), with the nearest long option.
 * Requires opterr 0 and a short option string that starts with ':'. Return GT_EXIT_USAGE. */
struct option;
int ui_bad_option(const char *command, char *const *argv, const struct option *options);

/* Escape codes for colours. All are "" unless the output is a terminal, NO_COLOR is not set, and
 * TERM is not "dumb". */
struct ui_colors {
	const char *bold, *dim, *red, *green, *yellow, *cyan, *reset;
};
const struct ui_colors *ui_colors(FILE *stream);
/* Return the number of columns available for output: those of the terminal. Without a terminal:
 * COLUMNS, or UI_ROOM_FILE if COLUMNS is not set. */
enum { UI_ROOM_FILE = 120, UI_ROOM_MOST = 10000 };
unsigned ui_room(FILE *stream);
/* Set the number of columns for streams that are not terminals; 0: restore the default. */
void ui_set_file_room(unsigned columns);

/* A progress bar on stderr, shown only on a terminal and for operations of more than half a
 * second. */
struct ui_progress {
	const char *what;
	uint64_t total, last_ns, start_ns;
	bool on, shown;
};
void ui_progress_begin(struct ui_progress *p, const char *what, uint64_t total);
void ui_progress_set(struct ui_progress *p, uint64_t done);
void ui_progress_end(struct ui_progress *p);
/* Draw reports of struct progress. @data: a struct ui_progress. */
void ui_progress_report(void *data, const char *what, uint64_t done, uint64_t total);

/* The following functions make text from a traced program safe for a terminal. */
/* Print @text for an output other than a terminal. @put: a function of analysis/base/text.h. */
void ui_put_as(FILE *out, gt_text_fn *put, const char *text);
/* Print @text, with control characters as '?'. If it needs more than @most columns, cut it with
 * "..". Return the number of columns printed. */
unsigned ui_put(FILE *out, const char *text, unsigned most);
/* Print @text like ui_put(), but cut its beginning, at a '/' if possible, because the end of a path
 * is more informative. */
unsigned ui_put_end(FILE *out, const char *text, unsigned most);

/* A space at which ui_wrap() does not break a line, for example between a number and its unit. */
#define UI_TIE "\x1f"
/* Print sentences, broken between words to fit into ui_room(), with control characters, including
 * newlines, as '?'. The first line begins at column @at; other lines are indented by @indent.
 * Return the column after the last character. */
unsigned ui_wrap(FILE *out, unsigned at, unsigned indent, const char *text);
unsigned ui_wrapf(FILE *out, unsigned at, unsigned indent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

enum { UI_LABEL = 9, UI_INDENT = 2 }; /* numbers of columns */
/* Print the @label of a section, or "", in UI_LABEL columns. */
void ui_print_label(FILE *out, const char *label);
/* Print @label, followed by wrapped sentences, in @color unless @color is NULL. */
void ui_print_line(FILE *out, const char *label, const char *color, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Print wrapped sentences, indented by UI_INDENT, in @color unless @color is NULL. */
void ui_print_sentence(FILE *out, const char *color, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
