/* SPDX-License-Identifier: MIT */
/* See trigger_absent.h. */
#include "cli/trigger_absent.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/query/filter_value.h"

/* A word, operator or parenthesis of the expression. */
struct token {
	const char *at;
	size_t bytes;
};

enum { TOKENS_MOST = 256 };

struct tokens {
	struct token list[TOKENS_MOST];
	size_t count;
};

static bool is_operator(char c)
{
	return c && strchr("=!~<>&|", c);
}

static const char *skip_quoted(const char *p)
{
	const char *end = strchr(p + 1, *p);

	return end ? end + 1 : p + strlen(p);
}

/* Split the expression. Later tokens than TOKENS_MOST are left out: an expression of that length
 * has its condition at the start. */
static void split(const char *expression, struct tokens *out)
{
	const char *p = expression;

	out->count = 0;
	while (*(p += strspn(p, " \t\n")) && out->count < TOKENS_MOST) {
		const char *start = p;

		if (*p == '(' || *p == ')')
			p++;
		else if (*p == '\'' || *p == '"')
			p = skip_quoted(p);
		else if (is_operator(*p))
			while (is_operator(*p))
				p++;
		else
			while (*p && !isspace((unsigned char)*p) && !is_operator(*p) &&
			       !strchr("()'\"", *p))
				p++;
		out->list[out->count++] = (struct token){start, (size_t)(p - start)};
	}
}

static bool is_word(const struct tokens *t, size_t i, const char *word)
{
	return i < t->count && t->list[i].bytes == strlen(word) &&
	       !strncasecmp(t->list[i].at, word, t->list[i].bytes);
}

static bool is_and(const struct tokens *t, size_t i)
{
	return is_word(t, i, "and") || is_word(t, i, "&&");
}

static bool fail(struct filter_error *error, const char *expression, const char *at,
		 const char *text)
{
	error->at = (size_t)(at - expression);
	snprintf(error->text, sizeof error->text, "%s", text);
	return false;
}

/* Return the number of tokens before the time of a condition that starts at token @i; 0: none
 * starts there. */
static size_t find_condition(const struct tokens *t, size_t i, enum gt_trigger_what *what)
{
	if (is_word(t, i, "no") && is_word(t, i + 1, "progress")) {
		*what = GT_TRIGGER_NO_PROGRESS;
		return is_word(t, i + 2, "for") ? 3 : 2;
	}
	if (!is_word(t, i, "gap") && !is_word(t, i, "open"))
		return 0;
	*what = is_word(t, i, "gap") ? GT_TRIGGER_GAP : GT_TRIGGER_OPEN;
	return 2;
}

/* Check the tokens between the name and the time. */
static bool check_operator(const char *expression, const struct tokens *t, size_t i,
			   enum gt_trigger_what what, struct filter_error *error)
{
	const char *end = expression + strlen(expression);
	size_t last = what == GT_TRIGGER_NO_PROGRESS ? i + 2 : i + 1;
	const char *at = last < t->count ? t->list[last].at : end;

	if (what == GT_TRIGGER_NO_PROGRESS)
		return is_word(t, last, "for") ||
		       fail(error, expression, at,
			    "expected 'for' and a time: no progress for 10s");
	return is_word(t, last, ">") || is_word(t, last, ">=") ||
	       fail(error, expression, at,
		    what == GT_TRIGGER_GAP ? "expected > and a time: gap>100ms"
					   : "expected > and a time: open>5s");
}

/* Parse the time in token @i, which may be followed by its unit. Return the number of tokens; 0:
 * not a time. */
static size_t parse_time(const struct tokens *t, size_t i, uint64_t *ns)
{
	if (i >= t->count)
		return 0;
	if (i + 1 < t->count && !is_and(t, i + 1)) {
		size_t bytes = (size_t)(t->list[i + 1].at + t->list[i + 1].bytes - t->list[i].at);

		if (filter_parse_number(FILTER_UNIT_TIME, t->list[i].at, bytes, ns) && *ns)
			return 2;
	}
	return filter_parse_number(FILTER_UNIT_TIME, t->list[i].at, t->list[i].bytes, ns) && *ns;
}

/* Check that the rest has no "or" outside parentheses, which would not be part of the condition. */
static bool check_rest(const char *expression, const struct tokens *t, size_t from, size_t to,
		       struct filter_error *error)
{
	int depth = 0;

	for (size_t i = from; i < to; i++) {
		depth += *t->list[i].at == '(';
		depth -= *t->list[i].at == ')';
		if (!depth && (is_word(t, i, "or") || is_word(t, i, "||")))
			return fail(error, expression, t->list[i].at,
				    "give a second --trigger instead of 'or', or put parentheses "
				    "around the conditions on names");
	}
	return true;
}

static bool take_condition(const char *expression, const struct tokens *t, size_t i, size_t names,
			   struct trigger_absent *out, struct filter_error *error)
{
	const char *end = expression + strlen(expression);
	size_t times, after;

	if (!check_operator(expression, t, i, out->what, error))
		return false;
	times = parse_time(t, i + names, &out->least_ns);
	if (!times)
		return fail(error, expression, i + names < t->count ? t->list[i + names].at : end,
			    "expected a time with its unit: 500ms, 10s, 1min");
	after = i + names + times;
	if (is_word(t, after, "or") || is_word(t, after, "||"))
		return fail(error, expression, t->list[after].at,
			    "give a second --trigger instead of 'or'");
	if (i == 0) {
		if (after < t->count && (!is_and(t, after) || after + 1 == t->count))
			return fail(error, expression, t->list[after].at,
				    "expected 'and' and a condition, or the end");
		out->rest = after < t->count ? t->list[after + 1].at : end;
		out->rest_bytes = (size_t)(end - out->rest);
		return check_rest(expression, t, after, t->count, error);
	}
	if (!is_and(t, i - 1) || after < t->count || i < 2)
		return fail(error, expression, t->list[i].at,
			    "this condition must be the first or the last, joined with 'and': "
			    "open>5s and name=clFinish");
	out->rest = expression;
	out->rest_bytes = (size_t)(t->list[i - 1].at - expression);
	return check_rest(expression, t, 0, i - 1, error);
}

bool trigger_absent_parse(const char *expression, struct trigger_absent *out,
			  struct filter_error *error)
{
	struct tokens t;
	bool found = false;

	*out = (struct trigger_absent){.what = GT_TRIGGER_RECORD};
	split(expression, &t);
	for (size_t i = 0; i < t.count; i++) {
		enum gt_trigger_what what;
		/* a value, such as that of name=open, is no condition */
		size_t names = i && is_operator(*t.list[i - 1].at) && !is_and(&t, i - 1)
				       ? 0
				       : find_condition(&t, i, &what);

		if (!names)
			continue;
		if (found)
			return fail(error, expression, t.list[i].at,
				    "only one of 'no progress for', gap and open: give a second "
				    "--trigger");
		found = true;
		out->what = what;
		if (!take_condition(expression, &t, i, names, out, error))
			return false;
	}
	return true;
}

const char *trigger_absent_name(enum gt_trigger_what what)
{
	return what == GT_TRIGGER_GAP    ? "gap"
	       : what == GT_TRIGGER_OPEN ? "open"
					 : "no progress for";
}
