/* SPDX-License-Identifier: MIT */
/* A recursive descent parser, which builds a tree from an expression. Each text condition caches
 * its result for each text number. */
#include "analysis/query/filter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/lookup.h"
#include "analysis/base/show.h"
#include "analysis/query/filter_tree.h"
#include "record/operation.h"

enum { DEEPEST = 64, OCCURRENCES_MOST = 64 };

/* Format of the additional name that a counted range gets: "\001gputap#2". */
#define OCCURRENCE_TEXT "\001gputap#"

struct parser {
	struct filter *filter;
	const char *text, *at;
	unsigned depth;
	struct filter_error *error;
	bool failed;
};

const char *const filter_field_names[] = {"name",   "domain", "kind",  "device", "process",
					  "thread", "queue",  "range", "host",   "duration",
					  "bytes",  "rank",   "at",    "failed", NULL};

static enum filter_unit unit_of(enum filter_field field)
{
	return field == FILTER_BYTES  ? FILTER_UNIT_BYTES
	       : field == FILTER_RANK ? FILTER_UNIT_NONE
				      : FILTER_UNIT_TIME;
}

static void node_destroy(struct filter_node *n)
{
	if (n->type == NODE_REGEX)
		regfree(&n->regex);
	free(n->pattern);
	free(n->known);
	free(n);
}

/* Create a node, which belongs to the filter. */
static struct filter_node *node_create(struct parser *p, enum filter_node_type type,
				       struct filter_node *left, struct filter_node *right)
{
	struct filter_node *n = allocate_list(1, sizeof *n);

	n->older = p->filter->nodes;
	p->filter->nodes = n;
	n->type = type;
	n->left = left;
	n->right = right;
	n->occurrence = FILTER_NO_OCCURRENCE;
	return n;
}

/* Words ------------------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static struct filter_node *fail_at(struct parser *p,
									 const char *at,
									 const char *format, ...)
{
	va_list args;

	if (p->failed)
		return NULL;
	p->failed = true;
	p->error->at = (size_t)(at - p->text);
	va_start(args, format);
	vsnprintf(p->error->text, sizeof p->error->text, format, args);
	va_end(args);
	return NULL;
}

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static size_t word_length(const char *at)
{
	return strcspn(at, " \t\n()!=~<>&|'\"");
}

static bool take_word(struct parser *p, const char *word)
{
	skip_space(p);
	if (word_length(p->at) != strlen(word) || strncasecmp(p->at, word, strlen(word)))
		return false;
	p->at += strlen(word);
	return true;
}

static bool take_sign(struct parser *p, const char *sign)
{
	skip_space(p);
	if (strncmp(p->at, sign, strlen(sign)))
		return false;
	p->at += strlen(sign);
	return true;
}

/* Parse a value: quoted, or everything up to white space, ')', "&&" or "||". */
static char *take_value(struct parser *p)
{
	const char *start;
	char *value, quote;
	size_t n = 0;

	skip_space(p);
	start = p->at;
	quote = *start == '\'' || *start == '"' ? *start : '\0';
	if (quote) {
		const char *end = strchr(start + 1, quote);
		if (!end) {
			fail_at(p, start, "this quote is not closed");
			return NULL;
		}
		n = (size_t)(end - start - 1);
		p->at = end + 1;
		start++;
	} else {
		int open = 0; /* parentheses of a regular expression belong to the value */
		for (; start[n] && !isspace((unsigned char)start[n]); n++) {
			if (start[n] == '(')
				open++;
			else if (start[n] == ')' && --open < 0)
				break;
			else if (!strncmp(start + n, "&&", 2) || !strncmp(start + n, "||", 2))
				break;
		}
		p->at = start + n;
		if (!n) {
			fail_at(p, start, "a value is missing here");
			return NULL;
		}
	}
	value = allocate_list(n + 1, 1);
	memcpy(value, start, n);
	return value;
}

/* Add an occurrence, which selects ranges with a given name, to the filter. Return the occurrence's
 * number. */
static uint32_t put_occurrence(struct parser *p, const char *at, const char *name,
			       const struct filter_occurrence_value *value)
{
	struct filter *f = p->filter;
	struct filter_occurrence *o;

	if (f->occurrence_count == OCCURRENCES_MOST) {
		fail_at(p, at, "more than %d numbered ranges", OCCURRENCES_MOST);
		return FILTER_NO_OCCURRENCE;
	}
	f->occurrences = resize_list(f->occurrences, f->occurrence_count, f->occurrence_count + 1u,
				     sizeof *o);
	o = &f->occurrences[f->occurrence_count];
	*o = (struct filter_occurrence){.first = value->first, .last = value->last};
	o->name = allocate_list(value->name_bytes + 1, 1);
	memcpy(o->name, name, value->name_bytes);
	return f->occurrence_count++;
}

/* Parse NAME#N in a value of @bytes at @text, at position @at in the expression. Return the same
 * values as filter_parse_occurrence(). */
static int parse_occurrence(struct parser *p, const char *at, const char *text, size_t bytes,
			    bool after, struct filter_occurrence_value *value, uint32_t *number)
{
	size_t wrong = 0;
	int found = filter_parse_occurrence(text, bytes, after, value, &wrong);

	if (found > 0)
		*number = put_occurrence(p, at, text, value);
	else if (found < 0)
		fail_at(p, at + wrong,
			value->last < value->first ? "the end is before the start"
			: after ? "# must be followed by a number: step#3, step#3..5, step#3+10ms"
				: "# must be followed by a number: step#3, step#3..5");
	return found;
}

/* Grammar ---------------------------------------------------------------------- */

static bool is_in(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

bool filter_domain_words(const char **words, const char *word)
{
	size_t n = 0;

	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		const char *family = gt_domain_traits[d].family;

		if (!gt_operation_count((enum gt_domain)d))
			continue;
		words[n++] = gt_domain_name((enum gt_domain)d);
		if (*family && !is_in(words, n, family))
			words[n++] = family;
	}
	words[n] = NULL;
	return is_in(words, n, word);
}

/* Check the name of a domain or kind. All valid names are known, so an unknown name is an error,
 * not a condition that never matches. */
static bool check_word(struct parser *p, const char *at, enum filter_field field, const char *word)
{
	const char *names[FILTER_DOMAIN_WORDS + GT_KIND_COUNT + GT_DEVICE_OP_COUNT + 1], *near;
	size_t n = 0;

	if ((field != FILTER_DOMAIN && field != FILTER_KIND) || strpbrk(word, "*?[") ||
	    (field == FILTER_DOMAIN && filter_domain_words(names, word)))
		return true;
	for (unsigned i = 0; field == FILTER_KIND && i < GT_KIND_COUNT; i++)
		names[n++] = gt_operation_kind_name((enum gt_operation_kind)i);
	for (unsigned i = 1; field == FILTER_KIND && i < GT_DEVICE_OP_COUNT; i++)
		names[n++] = gt_device_op_name((enum gt_device_op)i);
	if (field == FILTER_KIND)
		names[n] = NULL;
	if (is_in(names, n, word))
		return true;
	near = nearest_name(word, names);
	if (field == FILTER_DOMAIN && gt_domain_find(word) != GT_DOMAIN_NONE)
		fail_at(p, at, "%s is not supported yet", word);
	else if (near)
		fail_at(p, at, "unknown %s '%.40s'; did you mean '%s'?", filter_field_names[field],
			word, near);
	else if (field == FILTER_DOMAIN)
		fail_at(p, at, "unknown domain '%.40s'; see 'gputap list domains'", word);
	else
		fail_at(p, at,
			"unknown kind '%.40s'; kinds of calls: launch memcpy memset allocation "
			"...; of GPU activities: kernel memcpy 'memcpy H2D' memset ...",
			word);
	return false;
}

static bool parse_point(struct parser *p, const char *at, const char *text, size_t bytes,
			struct filter_point *point, struct filter_occurrence_value *value)
{
	uint64_t ns;
	int found;

	*value = (struct filter_occurrence_value){0};
	point->occurrence = FILTER_NO_OCCURRENCE;
	found = parse_occurrence(p, at, text, bytes, true, value, &point->occurrence);
	point->ns = value->after_ns;
	if (found)
		return found > 0 && point->occurrence != FILTER_NO_OCCURRENCE;
	if (!filter_parse_number(FILTER_UNIT_TIME, text, bytes, &ns)) {
		fail_at(p, at,
			"expected a time with a unit, such as 5s or 1.5ms, or relative to a range: "
			"step#3, step#3+10ms");
		return false;
	}
	point->ns = ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
	return true;
}

/* Parse TIME, RANGE#N, an interval between two of these, or RANGE#N..M. @at: position of the
 * value. */
static bool parse_at(struct parser *p, const char *at, struct filter_node *n)
{
	const char *dots = filter_find_dots(n->pattern);
	const bool equal = n->compare == CMP_EQ || n->compare == CMP_NE;
	struct filter_occurrence_value value;
	size_t bytes = strlen(n->pattern), first = dots ? (size_t)(dots - n->pattern) : bytes;
	uint64_t from, to;

	at += *at == '\'' || *at == '"';
	n->type = NODE_AT;
	if (dots && !equal) {
		fail_at(p, at + first, "an interval (a..b) needs = or !=");
		return false;
	}
	if (dots && isdigit((unsigned char)dots[2]) && memchr(n->pattern, '#', first) &&
	    !dots[2 + strspn(dots + 2, "0123456789")]) { /* for example, step#3..5 */
		if (!parse_point(p, at, n->pattern, bytes, &n->from, &value))
			return false;
		n->to = n->from;
		return true;
	}
	if (dots && filter_parse_interval(FILTER_UNIT_TIME, n->pattern, dots, &from, &to)) {
		n->from = (struct filter_point){(int64_t)from, FILTER_NO_OCCURRENCE};
		n->to = (struct filter_point){(int64_t)to, FILTER_NO_OCCURRENCE};
		if (from < to && to <= INT64_MAX)
			return true;
		fail_at(p, at + first + 2, "the end is not after the start");
		return false;
	}
	if (!parse_point(p, at, n->pattern, first, &n->from, &value))
		return false;
	n->to = n->from;
	if (!dots)
		return true;
	return parse_point(p, at + first + 2, dots + 2, bytes - first - 2, &n->to, &value);
}

/* Return true if digits follow the last '#'. Names may contain other '#' characters:
 * "f()::{lambda()#1}". */
static bool is_counted(const char *pattern)
{
	const char *hash = strrchr(pattern, '#');

	return hash && hash > pattern && !hash[1 + strspn(hash + 1, "0123456789.")];
}

static bool parse_number(struct parser *p, const char *at, struct filter_node *n)
{
	const enum filter_unit unit = unit_of(n->field);
	const char *dots = filter_find_dots(n->pattern);
	size_t bytes = strlen(n->pattern), first = dots ? (size_t)(dots - n->pattern) : bytes;
	bool good = filter_parse_number(unit, n->pattern, first, &n->number);

	n->number_most = n->number;
	if (dots && n->compare != CMP_EQ && n->compare != CMP_NE) {
		fail_at(p, at + first, "an interval (a..b) needs = or !=");
		return false;
	}
	if (dots)
		good = filter_parse_interval(unit, n->pattern, dots, &n->number, &n->number_most);
	if (good && n->number_most < n->number) {
		fail_at(p, at + first + 2, "the end is before the start");
		return false;
	}
	if (!good)
		fail_at(p, at,
			unit == FILTER_UNIT_TIME
				? "expected a time with a unit, such as 10us, 1.5ms, 2s"
			: unit == FILTER_UNIT_BYTES ? "expected a size, such as 4096, 64K, 1.5MiB"
						    : "expected a rank, such as 3 or 0..7");
	return good;
}

static struct filter_node *parse_comparison(struct parser *p, enum filter_field field)
{
	static const struct {
		const char *sign;
		enum filter_comparison compare;
	} signs[] = {
		{"==", CMP_EQ}, {"!=", CMP_NE},    {"!~", CMP_NO_MATCH}, {"<=", CMP_LE},
		{">=", CMP_GE}, {"=~", CMP_MATCH}, {"=", CMP_EQ},        {"~", CMP_MATCH},
		{"<", CMP_LT},  {">", CMP_GT},
	};
	enum { SIGNS = sizeof signs / sizeof *signs };
	const char *sign_at, *value_at;
	struct filter_occurrence_value ranges;
	struct filter_node *n;
	char reason[96];
	unsigned s = 0;
	int rc;

	skip_space(p);
	sign_at = p->at;
	while (s < SIGNS && !take_sign(p, signs[s].sign))
		s++;
	if (s == SIGNS)
		return fail_at(p, sign_at, "'%s' must be followed by %s", filter_field_names[field],
			       field < FILTER_TEXT_COUNT ? "= != ~ or !~" : "= != < <= > or >=");
	if (field < FILTER_TEXT_COUNT ? signs[s].compare >= CMP_LT && signs[s].compare <= CMP_GE
				      : signs[s].compare >= CMP_MATCH)
		return fail_at(p, sign_at, "'%s' takes %s", filter_field_names[field],
			       field < FILTER_TEXT_COUNT ? "= != ~ or !~" : "= != < <= > or >=");
	n = node_create(p, field >= FILTER_TEXT_COUNT ? NODE_NUMBER : NODE_TEXT, NULL, NULL);
	n->field = field;
	n->compare = signs[s].compare;
	skip_space(p);
	value_at = p->at;
	n->pattern = take_value(p);
	if (!n->pattern)
		return NULL;
	if (n->type == NODE_NUMBER) {
		if (field == FILTER_AT ? !parse_at(p, value_at, n) : !parse_number(p, value_at, n))
			return NULL;
	} else if (n->compare >= CMP_MATCH) {
		rc = regcomp(&n->regex, n->pattern, REG_EXTENDED | REG_NOSUB);
		if (rc) {
			regerror(rc, &n->regex, reason, sizeof reason);
			return fail_at(p, value_at, "not a regular expression: %s", reason);
		}
		n->type = NODE_REGEX;
	} else if (!check_word(p, value_at, field, n->pattern)) {
		return NULL;
	} else if (field == FILTER_RANGE && is_counted(n->pattern) &&
		   parse_occurrence(p, value_at + (*value_at == '\'' || *value_at == '"'),
				    n->pattern, strlen(n->pattern), false, &ranges,
				    &n->occurrence) < 0) {
		return NULL;
	}
	return p->failed ? NULL : n;
}

static struct filter_node *parse_condition(struct parser *p)
{
	const char *at, *near;
	size_t length;
	char word[32];

	skip_space(p);
	at = p->at;
	length = word_length(at);
	if (!length)
		return fail_at(p, at,
			       *at ? "a field is missing here (name, device, duration, ..)"
				   : "the expression ends too early");
	snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
		 at);
	for (unsigned f = 0; filter_field_names[f]; f++) {
		if (strcasecmp(filter_field_names[f], word))
			continue;
		p->at += length;
		return f == FILTER_FAILED ? node_create(p, NODE_FAILED, NULL, NULL)
					  : parse_comparison(p, (enum filter_field)f);
	}
	near = nearest_name(word, filter_field_names);
	if (near)
		return fail_at(p, at, "unknown field '%s'; did you mean '%s'?", word, near);
	return fail_at(p, at,
		       "unknown field '%s'; valid: name domain kind device process thread queue "
		       "range host duration bytes rank at failed",
		       word);
}

static struct filter_node *parse_or(struct parser *p);

static struct filter_node *parse_not(struct parser *p)
{
	struct filter_node *inner;
	const char *at;

	skip_space(p);
	at = p->at;
	if (++p->depth > DEEPEST)
		return fail_at(p, at, "nested too deeply");
	if (take_word(p, "not") || take_sign(p, "!")) {
		inner = parse_not(p);
		p->depth--;
		return inner ? node_create(p, NODE_NOT, inner, NULL) : NULL;
	}
	if (!take_sign(p, "(")) {
		p->depth--;
		return parse_condition(p);
	}
	inner = parse_or(p);
	if (inner && !take_sign(p, ")")) {
		inner = fail_at(p, p->at,
				*p->at ? "expected ')', 'and' or 'or'" : "a '(' is not closed");
	}
	p->depth--;
	return inner;
}

/* Build a balanced tree of the nodes, because matching recurses once per level. */
static struct filter_node *join_nodes(struct parser *p, enum filter_node_type type,
				      struct filter_node **nodes, size_t count)
{
	if (count == 1)
		return nodes[0];
	return node_create(p, type, join_nodes(p, type, nodes, count / 2),
			   join_nodes(p, type, nodes + count / 2, count - count / 2));
}

struct chain {
	struct filter_node **nodes;
	size_t count, room;
};

static void fini_chain(void *data)
{
	struct chain *c = data;

	free(c->nodes);
}

/* Parse a chain of "and" or "or". @tight: true for "and", which has a higher precedence than
 * "or". */
static struct filter_node *parse_chain(struct parser *p, bool tight)
{
	struct filter_node *joined = NULL;
	struct chain c = {0};
	struct cleanup cleanup;

	cleanup_push(&cleanup, fini_chain, &c);
	do {
		GROW_LIST(c.nodes, c.count, c.room);
		c.nodes[c.count++] = tight ? parse_not(p) : parse_chain(p, true);
	} while (!p->failed &&
		 (take_word(p, tight ? "and" : "or") || take_sign(p, tight ? "&&" : "||")));
	if (!p->failed)
		joined = join_nodes(p, tight ? NODE_AND : NODE_OR, c.nodes, c.count);
	cleanup_pop(&cleanup);
	return joined;
}

static struct filter_node *parse_or(struct parser *p)
{
	return parse_chain(p, false);
}

static void destroy_filter(void *data)
{
	filter_destroy(data);
}

struct filter *filter_create(const char *expression, filter_texts_fn *texts, void *data,
			     struct filter_error *error)
{
	struct filter *f = allocate_list(1, sizeof *f);
	struct parser p = {.filter = f, .text = expression, .at = expression, .error = error};
	struct cleanup cleanup;

	*f = (struct filter){.texts = texts, .data = data};
	cleanup_push(&cleanup, destroy_filter, f);
	f->root = parse_or(&p);
	skip_space(&p);
	if (f->root && *p.at)
		fail_at(&p, p.at, "expected 'and' or 'or'");
	if (p.failed) {
		cleanup_pop(&cleanup);
		return NULL;
	}
	cleanup_cancel(&cleanup);
	return f;
}

void filter_destroy(struct filter *f)
{
	if (!f)
		return;
	while (f->nodes) {
		struct filter_node *n = f->nodes;

		f->nodes = n->older;
		node_destroy(n);
	}
	for (uint32_t i = 0; i < f->occurrence_count; i++) {
		free(f->occurrences[i].name);
		free(f->occurrences[i].spans);
	}
	free(f->occurrences);
	free(f);
}

/* Occurrences ------------------------------------------------------------------ */

uint32_t filter_occurrence_count(const struct filter *f)
{
	return f->occurrence_count;
}

static bool match_pattern(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, FNM_NOESCAPE) == 0 || !strcmp(pattern, text);
}

bool filter_occurrence_named(const struct filter *f, uint32_t i, const char *name)
{
	return match_pattern(f->occurrences[i].name, name);
}

bool filter_occurrence_begins(struct filter *f, uint32_t i, uint32_t process, uint64_t n,
			      uint64_t from_ns, uint64_t to_ns)
{
	struct filter_occurrence *o = &f->occurrences[i];
	struct filter_span *span;

	o->most = n > o->most ? n : o->most;
	if (n < o->first || n > o->last)
		return false;
	o->found = true;
	GROW_LIST(o->spans, process, o->span_count);
	span = &o->spans[process];
	if (!span->to_ns)
		*span = (struct filter_span){from_ns, to_ns};
	span->to_ns = to_ns > span->to_ns ? to_ns : span->to_ns;
	return true;
}

const char *filter_occurrence_text(uint32_t i, char *text)
{
	snprintf(text, FILTER_OCCURRENCE_BYTES, OCCURRENCE_TEXT "%u", i);
	return text;
}

void filter_set_origin(struct filter *f, uint64_t origin_ns, uint64_t end_ns)
{
	f->origin_ns = origin_ns;
	f->end_ns = end_ns;
}

/* Matching --------------------------------------------------------------------- */

/* Return true if @kind includes the kind in @text: "memcpy" includes "memcpy H2D". */
static bool is_kind_of(const char *kind, const char *text)
{
	const size_t n = strlen(kind);

	return !strncmp(text, kind, n) && text[n] == ' ';
}

/* @text: a value of the field; for ranges, a name or the text of a counted occurrence. */
bool filter_match_text(const struct filter_node *n, const char *text)
{
	const bool counted = n->field == FILTER_RANGE &&
			     !strncmp(text, OCCURRENCE_TEXT, sizeof OCCURRENCE_TEXT - 1);

	if (counted)
		return n->occurrence != FILTER_NO_OCCURRENCE &&
		       strtoul(text + sizeof OCCURRENCE_TEXT - 1, NULL, 10) == n->occurrence;
	return n->type == NODE_REGEX
		       ? regexec(&n->regex, text, 0, NULL, 0) == 0
		       : match_pattern(n->pattern, text) ||
				 (n->field == FILTER_KIND && is_kind_of(n->pattern, text));
}

static bool decide_text(const struct filter *f, struct filter_node *n, uint32_t number)
{
	const char *texts[FILTER_TEXTS_MOST];
	unsigned count = f->texts(f->data, n->field, number, texts);
	bool any = false;

	for (unsigned i = 0; i < count && !any; i++)
		any = filter_match_text(n, texts[i]);
	return n->compare == CMP_NE || n->compare == CMP_NO_MATCH ? !any : any;
}

static bool match_text(const struct filter *f, struct filter_node *n, uint32_t number)
{
	if (number == LOOKUP_NONE)
		return false;
	GROW_LIST(n->known, number, n->known_count);
	if (n->known[number] == UNDECIDED)
		n->known[number] = decide_text(f, n, number) ? DECIDED_TRUE : DECIDED_FALSE;
	return n->known[number] == DECIDED_TRUE;
}

bool filter_match_number(const struct filter_node *n, const struct filter_record *r)
{
	uint64_t value = n->field == FILTER_DURATION ? r->duration_ns
			 : n->field == FILTER_BYTES  ? r->bytes
						     : (uint64_t)r->rank;

	if ((n->field == FILTER_DURATION && !r->timed) || (n->field == FILTER_BYTES && !r->sized) ||
	    (n->field == FILTER_RANK && r->rank < 0))
		return false;
	switch (n->compare) {
	case CMP_EQ: return value >= n->number && value <= n->number_most;
	case CMP_NE: return value < n->number || value > n->number_most;
	case CMP_LT: return value < n->number;
	case CMP_LE: return value <= n->number;
	case CMP_GT: return value > n->number;
	default: return value >= n->number;
	}
}

/* Compute the time of a point, relative to the first session's start. @end: use the end of the
 * range, not its start. Return false if the process does not contain the range. */
static bool find_point(const struct filter *f, const struct filter_point *point, uint32_t process,
		       bool end, int64_t *out)
{
	const struct filter_occurrence *o;
	const struct filter_span *span;

	*out = point->ns;
	if (point->occurrence == FILTER_NO_OCCURRENCE)
		return true;
	o = &f->occurrences[point->occurrence];
	if (process >= o->span_count || !o->spans[process].to_ns)
		return false;
	span = &o->spans[process];
	*out += (int64_t)((end ? span->to_ns : span->from_ns) - f->origin_ns);
	return true;
}

static bool match_at(const struct filter *f, const struct filter_node *n,
		     const struct filter_record *r)
{
	const bool interval = n->compare == CMP_EQ || n->compare == CMP_NE;
	const bool to_end = n->to.occurrence != FILTER_NO_OCCURRENCE;
	const bool same = !to_end && n->to.ns == n->from.ns;
	const uint32_t process = r->text[FILTER_PROCESS];
	int64_t at = (int64_t)(r->at_ns - f->origin_ns), from, to = 0;
	bool in;

	if (!r->at_ns ||
	    !find_point(f, &n->from, process, n->compare == CMP_LE || n->compare == CMP_GT,
			&from) ||
	    (interval && !find_point(f, &n->to, process, true, &to)))
		return false;
	switch (n->compare) {
	case CMP_LT: return at < from;
	case CMP_LE: return at <= from;
	case CMP_GT: return at > from;
	case CMP_GE: return at >= from;
	default: break;
	}
	in = at >= from && (to_end || same ? at <= to : at < to);
	return n->compare == CMP_EQ ? in : !in;
}

static bool match_node(const struct filter *f, struct filter_node *n, const struct filter_record *r)
{
	switch (n->type) {
	case NODE_AND: return match_node(f, n->left, r) && match_node(f, n->right, r);
	case NODE_OR: return match_node(f, n->left, r) || match_node(f, n->right, r);
	case NODE_NOT: return !match_node(f, n->left, r);
	case NODE_FAILED: return r->failed;
	case NODE_NUMBER: return filter_match_number(n, r);
	case NODE_AT: return match_at(f, n, r);
	default: return match_text(f, n, r->text[n->field]);
	}
}

static bool node_asks(const struct filter_node *n, enum filter_field field)
{
	switch (n->type) {
	case NODE_AND:
	case NODE_OR: return node_asks(n->left, field) || node_asks(n->right, field);
	case NODE_NOT: return node_asks(n->left, field);
	case NODE_FAILED: return field == FILTER_FAILED;
	default: return n->field == field;
	}
}

bool filter_asks(const struct filter *f, enum filter_field field)
{
	return node_asks(f->root, field);
}

bool filter_match(struct filter *f, const struct filter_record *record)
{
	return match_node(f, f->root, record);
}
