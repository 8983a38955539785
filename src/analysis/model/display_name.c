/* SPDX-License-Identifier: MIT */
#include "analysis/model/display_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/show.h"

enum {
	WIDTH_LEAST = 8,
	/* largest depth of nested brackets; names with a larger depth are only cut */
	NESTING_MOST = 64,
};

/* Shortening steps, from the longest form to the shortest. */
static const struct fold_step {
	unsigned levels; /* number of levels of template arguments to keep */
	bool thin;       /* true: also drop less informative arguments, see copy_thin() */
} steps[] = {{3, false}, {3, true}, {2, true}, {1, true}, {0, false}};

enum { STEPS = sizeof steps / sizeof *steps };

static const char anonymous[] = "(anonymous namespace)::";

/* Return the bracket that closes @open, or NULL. Nested brackets must match. */
static char closing(char open)
{
	return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : ']';
}

/* Return true if the '<' or '>' at @at is part of an operator's name, or of "->". */
static bool is_operator_sign(const char *name, const char *at)
{
	const char *word = at;

	if (*at != '<' && *at != '>')
		return false;
	while (word > name && strchr("<>=-", word[-1]))
		word--;
	return (word - name >= 8 && strncmp(word - 8, "operator", 8) == 0) ||
	       (at > name && *at == '>' && at[-1] == '-');
}

/* Return true if the '(' at @at is part of a name: "(anonymous namespace)", "operator()". */
static bool is_in_name(const char *name, const char *at)
{
	return strncmp(at, anonymous, sizeof anonymous - 1) == 0 ||
	       (at - name >= 8 && strncmp(at - 8, "operator", 8) == 0);
}

/* Return the end of the function's name, where its parameters start; the end of the text if there
 * are no parameters. */
static const char *find_parameters(const char *name)
{
	char open[NESTING_MOST];
	unsigned depth = 0;
	const char *end = name + strlen(name), *found = end;

	for (const char *c = name; *c; c++) {
		if (strchr("<([{", *c) && !is_operator_sign(name, c)) {
			if (depth == NESTING_MOST)
				return end;
			if (!depth && *c == '(' && c > name && !is_in_name(name, c))
				found = c;
			open[depth++] = *c;
		} else if (depth && *c == closing(open[depth - 1]) && !is_operator_sign(name, c)) {
			depth--;
		}
	}
	return found;
}

/* Return the start of the function's name, after "void ", "std::enable_if<...>::type " and the
 * like. */
static const char *skip_result(const char *name, const char *end)
{
	unsigned depth = 0;
	const char *start = name;

	if (strstr(name, "operator"))
		return strncmp(name, "void ", 5) == 0 ? name + 5 : name;
	for (const char *c = name; c < end; c++) {
		if (strncmp(c, anonymous, sizeof anonymous - 1) == 0)
			c += sizeof anonymous - 2;
		else if (strchr("<([{", *c))
			depth++;
		else if (strchr(">)]}", *c) && depth)
			depth--;
		else if (*c == ' ' && !depth)
			start = c + 1;
	}
	return start < end ? start : name;
}

static bool ends_component(char c)
{
	return strchr(" ,*&", c) != NULL;
}

/* Copy the text between @from and @end, without namespaces and without template arguments below
 * @levels. @out must have room for the whole text. */
static void fold(const char *from, const char *end, unsigned levels, char *out)
{
	/* start of the current component at each depth */
	char *component[NESTING_MOST + 1] = {out};
	unsigned depth = 0, templates = 0, hidden = 0;
	char *to = out;

	for (const char *c = from; c < end; c++) {
		bool is_open = strchr("<([{", *c) && !is_operator_sign(from, c);
		bool is_close = strchr(">)]}", *c) && !is_operator_sign(from, c);

		if (strncmp(c, anonymous, sizeof anonymous - 1) == 0) {
			c += sizeof anonymous - 2;
			continue;
		}
		if (hidden) {
			hidden += is_open;
			hidden -= is_close;
			continue;
		}
		if (*c == '<' && is_open && templates == levels) {
			hidden = 1;
			continue;
		}
		if (is_open && depth < NESTING_MOST) {
			templates += *c == '<';
			*to++ = *c;
			component[++depth] = to;
		} else if (is_close && depth) {
			templates -= *c == '>' && templates;
			if (to > out && to[-1] == ' ') /* skip a space as in "> >" */
				to--;
			*to++ = *c;
			depth--;
		} else if (c[0] == ':' && c[1] == ':') {
			to = component[depth];
			c++;
		} else {
			*to++ = *c;
			if (ends_component(*c))
				component[depth] = to;
		}
	}
	*to = '\0';
}

/* Return the end of the template argument at @arg: its ',' or '>', or @end. */
static const char *find_argument_end(const char *arg, const char *end)
{
	unsigned depth = 0;

	for (; arg < end; arg++) {
		if (strchr("<([{", *arg))
			depth++;
		else if (!depth && (*arg == ',' || *arg == '>'))
			return arg;
		else if (strchr(">)]}", *arg) && depth)
			depth--;
	}
	return arg;
}

static bool says_little(const char *arg, size_t length)
{
	return !length || isdigit((unsigned char)*arg) || *arg == '-' || *arg == '(' ||
	       (length >= 5 && strncmp(arg, "array", 5) == 0) ||
	       (length == 4 && strncmp(arg, "true", 4) == 0) ||
	       (length == 5 && strncmp(arg, "false", 5) == 0);
}

/* Return true if the argument between @arg and @end equals one of those between @list and @arg. */
static bool is_repeated(const char *list, const char *arg, const char *end)
{
	for (const char *old = list, *old_end; old < arg; old = old_end + 2) {
		old_end = find_argument_end(old, arg);
		if (old_end - old == end - arg && !strncmp(old, arg, (size_t)(end - arg)))
			return true;
	}
	return false;
}

/* Copy @from without template arguments that are numbers, arrays or repetitions of an earlier
 * argument: "kernel<4, F<A, A>, array<B>>" becomes "kernel<F<A>>". @to must have room for twice the
 * length. Return the end of the copy. */
static char *copy_thin(const char *from, const char *end, char *to, unsigned depth)
{
	while (from < end) {
		char *list = to;

		*to++ = *from++;
		if (*list != '<' || depth == NESTING_MOST)
			continue;
		while (from < end) {
			const char *arg_end = find_argument_end(from, end);
			char *before = to, *arg;

			if (to > list + 1)
				to = stpcpy(to, ", ");
			arg = to;
			to = copy_thin(from, arg_end, to, depth + 1);
			if (says_little(arg, (size_t)(to - arg)) || is_repeated(list + 1, arg, to))
				to = before;
			from = arg_end < end ? arg_end + 1 : end;
			if (arg_end == end || *arg_end == '>')
				break;
			from += *from == ' ';
		}
		if (to == list + 1)
			to = list; /* all arguments were dropped */
		else
			*to++ = '>';
	}
	return to;
}

static char *drop_arguments(char *text)
{
	size_t length = strlen(text);
	char *out = malloc(2 * length + 4);

	if (out)
		*copy_thin(text, text + length, out, 0) = '\0';
	free(text);
	return out;
}

/* Cut the text to @width columns, keeping its start and its end. Never cut inside a UTF-8
 * character. */
static void cut_middle(char *text, unsigned width)
{
	size_t length = strlen(text), head = (width - 3) * 2 / 3, tail = width - 3 - head;

	if (text_width(text) <= width)
		return;
	while (head && (text[head] & 0xC0) == 0x80)
		head--;
	while (tail && (text[length - tail] & 0xC0) == 0x80)
		tail--;
	memmove(text + head + 3, text + length - tail, tail + 1);
	memcpy(text + head, "...", 3);
}

/* Return @name after a shortening step. */
static char *fold_name(const char *name, unsigned step)
{
	const char *end = find_parameters(name), *start = skip_result(name, end);
	char *out = malloc(strlen(name) + 1);

	if (out)
		fold(start, end, steps[step].levels, out);
	if (out && steps[step].thin && !strstr(out, "operator"))
		out = drop_arguments(out);
	if (out && !*out) { /* the result is empty: not a C++ name */
		free(out);
		out = strdup(name);
	}
	return out;
}

char *display_name(const char *name, unsigned width)
{
	char *text = NULL;

	width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
	if (text_width(name) <= width)
		return strdup(name);
	for (unsigned step = 0; step < STEPS; step++) {
		free(text);
		text = fold_name(name, step);
		if (!text || text_width(text) <= width)
			return text;
	}
	cut_middle(text, width);
	return text;
}

/* Return true if an earlier row with another name has this form. */
static bool is_taken(const char *const *names, char *const *out, size_t row, const char *form)
{
	for (size_t i = 0; i < row; i++)
		if (strcmp(out[i], form) == 0 && strcmp(names[i], names[row]) != 0)
			return true;
	return false;
}

/* Choose a row's form. If another name already has this form, append a number: "gemm (2)". */
static char *choose_form(const char *const *names, char *const *out, size_t row, unsigned width)
{
	char *form = display_name(names[row], width), *numbered;

	for (unsigned n = 2; form && is_taken(names, out, row, form); n++) {
		char number[16];
		int digits = snprintf(number, sizeof number, " (%u)", n);

		free(form);
		form = display_name(names[row], width > (unsigned)digits + WIDTH_LEAST
							? width - (unsigned)digits
							: WIDTH_LEAST);
		if (!form || asprintf(&numbered, "%s%s", form, number) < 0) {
			free(form);
			return NULL;
		}
		free(form);
		form = numbered;
	}
	return form;
}

int display_names(const char *const *names, size_t count, unsigned width, char **out)
{
	for (size_t i = 0; i < count; i++) {
		out[i] = NULL;
		for (size_t k = 0; k < i && !out[i]; k++)
			if (strcmp(names[k], names[i]) == 0)
				out[i] = strdup(out[k]);
		out[i] = out[i] ? out[i] : choose_form(names, out, i, width);
		if (out[i])
			continue;
		while (i--)
			free(out[i]);
		return -ENOMEM;
	}
	return 0;
}
