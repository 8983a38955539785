/* SPDX-License-Identifier: MIT */
/* Output shared by all commands: errors, suggested names, colours, progress, numbers.
 * Rules: messages go to stderr, results to stdout; escape codes only to a terminal; the error for
 * an unknown word suggests the nearest valid one. */
#include "cli/ui.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/command.h"
#include "util/clock_ns.h"
#include "util/error.h"

const char *ui_command;

/* Errors ----------------------------------------------------------------------- */

enum { CONTINUED = 2 }; /* indent of a sentence's continuation lines */

/* Print the command's name. Return the column after the name. */
static unsigned say_who(const struct ui_colors *c, const char *color)
{
	int n = fprintf(stderr, "%sgputap%s%s:", color, ui_command ? " " : "",
			ui_command ? ui_command : "");

	fprintf(stderr, "%s ", c->reset);
	return (unsigned)n - (unsigned)strlen(color) + 1;
}

/* Return the formatted text in allocated memory; NULL: out of memory. */
static char *sentence(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

int ui_flush(FILE *out)
{
	bool failed = ferror(out);

	if (failed) { /* an earlier write failed; another write returns the reason */
		clearerr(out);
		putc('\n', out);
	}
	if (fflush(out))
		return -errno;
	return failed ? -EIO : 0; /* the reason of an earlier failure is no longer known */
}

int ui_fail(int exit_code, const char *format, ...)
{
	int saved = errno;
	const struct ui_colors *c = ui_colors(stderr);
	const char *chain = gt_error_text();
	unsigned at;
	va_list args;
	char *text;

	fflush(stdout);
	at = say_who(c, c->red);
	errno = saved; /* needed for %m */
	va_start(args, format);
	text = sentence(format, args);
	va_end(args);
	ui_wrapf(stderr, at, CONTINUED, "%s%s%s", text ? text : format,
		 text && *text && chain[0] ? ": " : "", chain);
	fputc('\n', stderr);
	free(text);
	gt_error_clear();
	return exit_code;
}

void ui_note(const char *format, ...)
{
	const struct ui_colors *c = ui_colors(stderr);
	va_list args;
	char *text;

	fflush(stdout);
	fprintf(stderr, "%sgputap:%s ", c->bold, c->reset);
	va_start(args, format);
	text = sentence(format, args);
	va_end(args);
	ui_wrap(stderr, strlen("gputap: "), CONTINUED, text ? text : format);
	fputc('\n', stderr);
	free(text);
}

/* Similar names ---------------------------------------------------------------- */

void ui_list_names(const char *before, const char *const *names)
{
	unsigned at = ui_wrapf(stderr, 0, CONTINUED, "  %s", before);

	for (; *names; names++)
		at = ui_wrapf(stderr, at, 2 * CONTINUED, " %s%s", *names, names[1] ? "," : "");
	fputc('\n', stderr);
}

int ui_unknown(const char *kind, const char *word, const char *const *names)
{
	const char *near = nearest_name(word, names);

	if (near)
		return ui_fail(GT_EXIT_USAGE, "unknown %s '%s'; did you mean '%s'?", kind, word,
			       near);
	ui_fail(GT_EXIT_USAGE, "unknown %s '%s'", kind, word);
	ui_list_names("valid:", names);
	return GT_EXIT_USAGE;
}

static int usage_hint(const char *command)
{
	fprintf(stderr, "  'gputap %s --help' shows its options, with examples\n", command);
	return GT_EXIT_USAGE;
}

int ui_take_once(const char *option, const char *value, const char **slot)
{
	if (*slot)
		return ui_fail(GT_EXIT_USAGE, "%s is given twice: '%s' and '%s'", option, *slot,
			       value);
	if (!*value)
		return ui_fail(GT_EXIT_USAGE, "%s needs a value, not ''", option);
	*slot = value;
	return GT_EXIT_OK;
}

/* Return the long option that getopt_long() would choose for @word (without "--" and "=value").
 * *count: receives the number of matches. */
static const struct option *find_long(const char *word, size_t length, const struct option *options,
				      unsigned *count)
{
	const struct option *found = NULL;

	*count = 0;
	for (const struct option *o = options; o->name; o++) {
		if (strncmp(o->name, word, length))
			continue;
		if (!o->name[length]) {
			*count = 1;
			return o;
		}
		found = o;
		++*count;
	}
	return found;
}

static int bad_long_option(const char *command, const char *word, const struct option *options)
{
	enum { MOST = 64 };
	const char *names[MOST + 1], *near;
	size_t length = strcspn(word + 2, "="), n = 0;
	unsigned fits;
	const struct option *o = find_long(word + 2, length, options, &fits);
	char plain[64];

	if (fits == 1 && o->has_arg == no_argument)
		ui_fail(GT_EXIT_USAGE, "option --%s takes no value", o->name);
	else if (fits == 1)
		ui_fail(GT_EXIT_USAGE, "option --%s needs a value", o->name);
	if (fits == 1)
		return usage_hint(command);
	for (o = options; o->name && n < MOST; o++)
		if (!fits || !strncmp(o->name, word + 2, length))
			names[n++] = o->name;
	names[n] = NULL;
	if (fits > 1) {
		ui_fail(GT_EXIT_USAGE, "option --%.*s is ambiguous", (int)length, word + 2);
		for (size_t i = 0; i < n; i++)
			fprintf(stderr, "  --%s\n", names[i]);
		return GT_EXIT_USAGE;
	}
	snprintf(plain, sizeof plain, "%.*s", (int)length, word + 2);
	near = nearest_name(plain, names);
	if (near)
		return ui_fail(GT_EXIT_USAGE, "unknown option --%s; did you mean --%s?", plain,
			       near);
	ui_fail(GT_EXIT_USAGE, "unknown option --%s", plain);
	return usage_hint(command);
}

int ui_bad_option(const char *command, char *const *argv, const struct option *options)
{
	const char *word = argv[optind - 1];
	unsigned fits;

	if (word && !strncmp(word, "--", 2) && word[2]) {
		const struct option *o =
			find_long(word + 2, strcspn(word + 2, "="), options, &fits);
		/* Inside "-xyz", optind still points to "-xyz", so `word` may be valid. */
		bool value = strchr(word, '=');
		if (fits != 1 || (o->has_arg == no_argument && value) ||
		    (o->has_arg == required_argument && !value))
			return bad_long_option(command, word, options);
	}
	for (const struct option *o = options; o->name; o++)
		if (o->val == optopt && o->has_arg == required_argument) {
			ui_fail(GT_EXIT_USAGE, "option -%c (--%s) needs a value", optopt, o->name);
			return usage_hint(command);
		}
	ui_fail(GT_EXIT_USAGE, "unknown option -%c", isprint(optopt) ? optopt : '?');
	return usage_hint(command);
}

/* Terminal --------------------------------------------------------------------- */

static const struct ui_colors colors_on = {"\033[1m",  "\033[2m",  "\033[31m", "\033[32m",
					   "\033[33m", "\033[36m", "\033[0m"};
static const struct ui_colors colors_off = {"", "", "", "", "", "", ""};

static bool is_terminal(FILE *stream)
{
	const char *term = getenv("TERM");
	return isatty(fileno(stream)) && (!term || strcmp(term, "dumb"));
}

const struct ui_colors *ui_colors(FILE *stream)
{
	const char *no = getenv("NO_COLOR");
	return is_terminal(stream) && !(no && *no) ? &colors_on : &colors_off;
}

static unsigned file_room; /* set by ui_set_file_room() */

void ui_set_file_room(unsigned columns)
{
	file_room = columns;
}

unsigned ui_room(FILE *stream)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n;

	if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	if (file_room)
		return file_room;
	n = columns ? strtol(columns, NULL, 10) : 0;
	return n >= 20 && n <= UI_ROOM_MOST ? (unsigned)n : UI_ROOM_FILE;
}

/* Text ------------------------------------------------------------------------- */

/* Print a character. Return the number of its bytes, and add the number of its columns to
 * *width. */
static size_t put_character(FILE *out, const char *text, unsigned *width)
{
	uint32_t c;
	size_t bytes = text_next(text, &c);

	*width += character_width(c);
	if (gt_text_is_control(c))
		fputc('?', out);
	else
		fwrite(text, 1, bytes, out);
	return bytes;
}

void ui_put_as(FILE *out, gt_text_fn *put, const char *text)
{
	size_t bytes = strlen(text);
	char *room = malloc(GT_TEXT_ROOM(bytes));

	if (room)
		fwrite(room, 1, (size_t)(put(room, text, bytes) - room), out);
	else
		fputc('?', out);
	free(room);
}

unsigned ui_put(FILE *out, const char *text, unsigned most)
{
	bool cut = text_width(text) > most;
	unsigned room = cut && most >= 2 ? most - 2 : most, width = 0;
	uint32_t c;

	while (*text) {
		text_next(text, &c);
		if (width + character_width(c) > room)
			break;
		text += put_character(out, text, &width);
	}
	if (cut && most >= 2) {
		fputs("..", out);
		width += 2;
	}
	return width;
}

/* Return the start of the last @most columns of @text. */
static const char *last_columns(const char *text, unsigned most)
{
	uint32_t c;

	for (unsigned width = text_width(text); width > most; width -= character_width(c))
		text += text_next(text, &c);
	return text;
}

unsigned ui_put_end(FILE *out, const char *text, unsigned most)
{
	const char *rest, *folder;

	if (most <= 2 || text_width(text) <= most)
		return ui_put(out, text, most);
	rest = last_columns(text, most - 2);
	folder = strchr(rest, '/');
	fputs("..", out);
	return 2 + ui_put(out, folder ? folder : rest, UINT32_MAX);
}

static unsigned word_width(const char *word)
{
	unsigned width = 0;
	uint32_t c;

	while (*word && *word != ' ') {
		word += text_next(word, &c);
		width += character_width(c);
	}
	return width;
}

unsigned ui_wrap(FILE *out, unsigned at, unsigned indent, const char *text)
{
	unsigned room = ui_room(out);

	while (*text) {
		unsigned spaces = (unsigned)strspn(text, " ");

		text += spaces;
		if (at > indent && (uint64_t)at + spaces + word_width(text) > room) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else {
			fprintf(out, "%*s", (int)spaces, "");
			at += spaces;
		}
		while (*text && *text != ' ')
			text += put_character(out, *text == *UI_TIE ? " " : text, &at);
	}
	return at;
}

unsigned ui_wrapf(FILE *out, unsigned at, unsigned indent, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = sentence(format, args);
	va_end(args);
	at = ui_wrap(out, at, indent, text ? text : format);
	free(text);
	return at;
}

/* Progress --------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	return gt_clock_ns(CLOCK_MONOTONIC);
}

void ui_progress_begin(struct ui_progress *p, const char *what, uint64_t total)
{
	*p = (struct ui_progress){.what = what, .total = total, .on = is_terminal(stderr) && total};
	if (p->on)
		p->start_ns = p->last_ns = now_ns();
}

static void draw_progress(const struct ui_progress *p, uint64_t done, uint64_t elapsed_ns)
{
	enum { WIDEST = 40 };
	unsigned columns = ui_room(stderr), width = columns > 60 ? columns - 50 : 10;
	double share = done < p->total ? (double)done / (double)p->total : 1;
	uint64_t left_s = share > 0.001
				  ? (uint64_t)((double)elapsed_ns * (1 - share) / share / 1e9 + 0.5)
				  : 0;
	char bar[WIDEST + 1];

	if (width > WIDEST)
		width = WIDEST;
	for (unsigned i = 0; i < width; i++)
		bar[i] = (double)i < share * width ? '#' : '.';
	bar[width] = '\0';
	fprintf(stderr, "\r%.24s [%s] %3u%%  %llu s left\033[K", p->what, bar,
		(unsigned)(share * 100), (unsigned long long)left_s);
	fflush(stderr);
}

void ui_progress_set(struct ui_progress *p, uint64_t done)
{
	uint64_t now;

	if (!p->on)
		return;
	now = now_ns();
	if (now - p->start_ns < 500000000u || now - p->last_ns < 100000000u)
		return;
	p->last_ns = now;
	p->shown = true;
	draw_progress(p, done, now - p->start_ns);
}

void ui_progress_end(struct ui_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->on = p->shown = false;
}

void ui_progress_report(void *data, const char *what, uint64_t done, uint64_t total)
{
	struct ui_progress *p = data;

	if (!done)
		ui_progress_begin(p, what, total);
	else if (done < total)
		ui_progress_set(p, done);
	else
		ui_progress_end(p);
}

/* Numbers ---------------------------------------------------------------------- */

int ui_parse_list(const char *kind, const char *value, const char *const *names, unsigned *bits)
{
	char word[64];

	if (!*value)
		return ui_unknown(kind, value, names);
	for (; *value; value += *value == ',') {
		size_t n = strcspn(value, ",");
		unsigned i = 0;

		snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1),
			 value);
		while (names[i] && strcmp(names[i], word))
			i++;
		if (!names[i])
			return ui_unknown(kind, word, names);
		*bits |= 1u << i;
		value += n;
	}
	return GT_EXIT_OK;
}

void ui_print_label(FILE *out, const char *label)
{
	const struct ui_colors *c = ui_colors(out);

	fprintf(out, "%s%-*s%s", c->cyan, UI_LABEL, label, c->reset);
}

static void print_wrapped(FILE *out, unsigned indent, const char *color, const char *format,
			  va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	fputs(color ? color : "", out);
	ui_wrap(out, indent, indent, text ? text : "");
	fprintf(out, "%s\n", color ? ui_colors(out)->reset : "");
	free(text);
}

void ui_print_line(FILE *out, const char *label, const char *color, const char *format, ...)
{
	va_list args;

	ui_print_label(out, label);
	va_start(args, format);
	print_wrapped(out, UI_LABEL, color, format, args);
	va_end(args);
}

void ui_print_sentence(FILE *out, const char *color, const char *format, ...)
{
	va_list args;

	fprintf(out, "%*s", UI_INDENT, "");
	va_start(args, format);
	print_wrapped(out, UI_INDENT, color, format, args);
	va_end(args);
}
