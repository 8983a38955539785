/* SPDX-License-Identifier: MIT */
/* Output shared by all commands: errors, suggested names, colours, progress. */
#ifndef GPUTAP_CLI_UI_H
#define GPUTAP_CLI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "export/text.h"

/* The running command; main.c sets it, errors print it. NULL: gputap itself. */
extern const char *ui_command;

/* Print "gputap <command>: sentence" on stderr, then the cause chain if there is one (alone when
 * the sentence is "%s", ""). Return @exit_code. */
/* Write out buffered output. Return 0, or the negative errno of this or an earlier write. */
int ui_flush(FILE *out);
int ui_fail(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print a note on stderr: "gputap: sentence". */
void ui_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return the name of @names (NULL-ended) nearest to @word, or NULL if none is near. */
const char *ui_nearest(const char *word, const char *const *names);

bool ui_ends_with(const char *text, const char *end);

/* Print "Did you mean 'x'?" for a word that is not in @names, or else the list of them; @kind:
 * "column", "format" and the like. Return GT_EXIT_USAGE. */
int ui_unknown(const char *kind, const char *word, const char *const *names);
/* Parse a list: "a,c" of @names sets bits 0 and 2. Return the exit code; errors are reported. */
int ui_parse_list(const char *kind, const char *value, const char *const *names, unsigned *bits);

/* Store the @value of @option in @slot, NULL before. A repeated option and an empty value are
 * errors. Return the exit code; errors are reported. */
int ui_take_once(const char *option, const char *value, const char **slot);

/* Print " @before a, b, c" on stderr, in as many lines as needed. @names: NULL-ended. */
void ui_list_names(const char *before, const char *const *names);

/* For getopt_long() with opterr 0 and ':' first in its short options: print the error for '?' and
 * ':', with the nearest long option. Return GT_EXIT_USAGE. */
struct option;
int ui_bad_option(const char *command, char *const *argv, const struct option *options);

/* Colours: on a terminal, without NO_COLOR, TERM not dumb. Each is "" when off. */
struct ui_colors {
	const char *bold, *dim, *red, *green, *yellow, *cyan, *reset;
};
const struct ui_colors *ui_colors(FILE *stream);
/* Columns to fit into: the terminal's; without a terminal COLUMNS, or UI_ROOM_FILE if that is not
 * set. */
enum { UI_ROOM_FILE = 120, UI_ROOM_MOST = 10000 };
unsigned ui_room(FILE *stream);
/* Set the columns of streams that are not terminals; 0: restore the default. */
void ui_set_file_room(unsigned columns);

/* A progress bar on stderr, only if that is a terminal and the operation takes over half a
 * second. */
struct ui_progress {
	const char *what;
	uint64_t total, last_ns, start_ns;
	bool on, shown;
};
void ui_progress_begin(struct ui_progress *p, const char *what, uint64_t total);
void ui_progress_set(struct ui_progress *p, uint64_t done);
void ui_progress_end(struct ui_progress *p);

/* Format numbers for people: "1.23 ms", "4.50 GiB", "15.3 GB/s" (of 1,000), "12,345". Per-thread
 * buffers; results stay valid for 32 calls. */
const char *ui_duration(uint64_t ns);
const char *ui_bytes(uint64_t bytes);
const char *ui_rate(double bytes_per_s);
const char *ui_count(uint64_t count);

/* Return @word in a shell's syntax: quoted if necessary, control characters as '?'. Valid until
 * the next but one call. */
const char *ui_shell_word(const char *word);

/* Text from a traced program, sanitised for a terminal. */
/* Like gt_text_next(), for a @text that is not empty and ends with a NUL. */
size_t ui_utf8(const char *text, uint32_t *character);
/* Print @text for another medium than a terminal: @put is a function of export/text.h. */
void ui_put_as(FILE *out, gt_text_fn *put, const char *text);
/* Return the columns that ui_put() takes for @text. */
unsigned ui_width(const char *text);
/* Print @text, control characters as '?'; if it has more than @most columns, it is cut with "..".
 * Return the columns printed. */
unsigned ui_put(FILE *out, const char *text, unsigned most);
/* Do the same, but cut the beginning, at a '/' if there is one: the end of a path is more
 * informative. */
unsigned ui_put_end(FILE *out, const char *text, unsigned most);

/* A space at which ui_wrap() breaks no line, between a number and its unit. */
#define UI_TIE "\x1f"
/* Print sentences, broken between words to fit into ui_room(); control characters, including
 * newlines, as '?'. The first line begins at column @at, the others are indented by @indent. Return
 * the column after the last character. */
unsigned ui_wrap(FILE *out, unsigned at, unsigned indent, const char *text);
unsigned ui_wrapf(FILE *out, unsigned at, unsigned indent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

enum { UI_LABEL = 9, UI_INDENT = 2 }; /* columns */
/* Print @label, of a section or "", in UI_LABEL columns. */
void ui_print_label(FILE *out, const char *label);
/* Print @label and sentences after it, wrapped, in @color if that is not NULL. */
void ui_print_line(FILE *out, const char *label, const char *color, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Print sentences, wrapped and indented by UI_INDENT, in @color if that is not NULL. */
void ui_print_sentence(FILE *out, const char *color, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
