/* SPDX-License-Identifier: MIT */
/* Recursive descent into a tree; a text condition keeps what it decided for each number that it
 * was asked about. */
#include "cli/filter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/ui.h"
#include "record/operation.h"

enum node_type { NODE_AND, NODE_OR, NODE_NOT, NODE_TEXT, NODE_REGEX, NODE_NUMBER, NODE_FAILED };
enum comparison { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_MATCH, CMP_NO_MATCH };
enum decided { UNDECIDED = 0, DECIDED_FALSE, DECIDED_TRUE };
enum { DEEPEST = 64 };

struct filter_node {
	enum node_type type;
	struct filter_node *left, *right;
	enum filter_field field;
	enum comparison compare;
	uint64_t number;
	char *pattern;
	regex_t regex;
	uint8_t *known; /* enum decided by text number */
	uint32_t known_count;
};

struct filter {
	struct filter_node *root;
	filter_texts_fn *texts;
	void *data;
};

struct parser {
	const char *text, *at;
	unsigned depth;
	struct filter_error *error;
	bool failed;
};

static const char *const field_names[] = {"name",     "domain", "kind",   "device",
					  "process",  "thread", "queue",  "range",
					  "duration", "bytes",  "failed", NULL};

static void node_destroy(struct filter_node *n)
{
	if (!n)
		return;
	node_destroy(n->left);
	node_destroy(n->right);
	if (n->type == NODE_REGEX)
		regfree(&n->regex);
	free(n->pattern);
	free(n->known);
	free(n);
}

static struct filter_node *node_create(enum node_type type, struct filter_node *left,
				       struct filter_node *right)
{
	struct filter_node *n = lookup_grow(NULL, 0, 1, sizeof *n);

	n->type = type;
	n->left = left;
	n->right = right;
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

/* A value: quoted, or everything up to white space, ')' , "&&" or "||". */
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
		int open = 0; /* parentheses of a regular expression belong to it */
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
	value = lookup_grow(NULL, 0, n + 1, 1);
	memcpy(value, start, n);
	return value;
}

static bool parse_number(enum filter_field field, const char *text, uint64_t *out)
{
	static const struct unit {
		const char *name;
		double factor;
	} times[] =
		{
			{"", 1},     {"ns", 1},  {"us", 1e3}, {"\xc2\xb5s", 1e3},
			{"ms", 1e6}, {"s", 1e9}, {NULL, 0},
		},
	  sizes[] = {
		  {"", 1},       {"B", 1},        {"K", 0x1p10},   {"KiB", 0x1p10},
		  {"KB", 1e3},   {"M", 0x1p20},   {"MiB", 0x1p20}, {"MB", 1e6},
		  {"G", 0x1p30}, {"GiB", 0x1p30}, {"GB", 1e9},     {NULL, 0},
	  };
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0))
		return false;
	while (isspace((unsigned char)*end))
		end++;
	for (const struct unit *u = field == FILTER_DURATION ? times : sizes; u->name; u++)
		if (!strcasecmp(u->name, end)) {
			value *= u->factor;
			*out = value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
			return true;
		}
	return false;
}

/* Grammar ---------------------------------------------------------------------- */

/* A domain or a kind is one of a few words: another one is a slip, not a condition that nothing
 * meets. */
static bool check_word(struct parser *p, const char *at, enum filter_field field, const char *word)
{
	const char *names[GT_DOMAIN_COUNT + GT_KIND_COUNT + GT_DEVICE_OP_COUNT + 1], *near;
	size_t n = 0;

	if ((field != FILTER_DOMAIN && field != FILTER_KIND) || strpbrk(word, "*?["))
		return true;
	for (unsigned i = 1; field == FILTER_DOMAIN && i < GT_DOMAIN_COUNT; i++)
		if (gt_operation_count((enum gt_domain)i))
			names[n++] = gt_domain_name((enum gt_domain)i);
	for (unsigned i = 0; field == FILTER_KIND && i < GT_KIND_COUNT; i++)
		names[n++] = gt_operation_kind_name((enum gt_operation_kind)i);
	for (unsigned i = 1; field == FILTER_KIND && i < GT_DEVICE_OP_COUNT; i++)
		names[n++] = gt_device_op_name((enum gt_device_op)i);
	names[n] = NULL;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], word))
			return true;
	near = ui_nearest(word, names);
	if (field == FILTER_DOMAIN && gt_domain_find(word) != GT_DOMAIN_NONE)
		fail_at(p, at, "%s cannot be traced yet", word);
	else if (near)
		fail_at(p, at, "no %s '%.40s'; did you mean '%s'?", field_names[field], word, near);
	else if (field == FILTER_DOMAIN)
		fail_at(p, at, "no domain '%.40s'; 'gputap list domains' shows them", word);
	else
		fail_at(p, at,
			"no kind '%.40s'; those of calls: launch copy set allocation ..; of work: "
			"kernel read write copy fill ..",
			word);
	return false;
}

static struct filter_node *parse_comparison(struct parser *p, enum filter_field field)
{
	static const struct {
		const char *sign;
		enum comparison compare;
	} signs[] = {
		{"==", CMP_EQ}, {"!=", CMP_NE},    {"!~", CMP_NO_MATCH}, {"<=", CMP_LE},
		{">=", CMP_GE}, {"=~", CMP_MATCH}, {"=", CMP_EQ},        {"~", CMP_MATCH},
		{"<", CMP_LT},  {">", CMP_GT},
	};
	enum { SIGNS = sizeof signs / sizeof *signs };
	const char *sign_at, *value_at;
	struct filter_node *n;
	char reason[96];
	unsigned s = 0;
	int rc;

	skip_space(p);
	sign_at = p->at;
	while (s < SIGNS && !take_sign(p, signs[s].sign))
		s++;
	if (s == SIGNS)
		return fail_at(p, sign_at, "after '%s' comes %s", field_names[field],
			       field < FILTER_TEXT_COUNT ? "= != ~ or !~" : "= != < <= > or >=");
	if (field < FILTER_TEXT_COUNT ? signs[s].compare >= CMP_LT && signs[s].compare <= CMP_GE
				      : signs[s].compare >= CMP_MATCH)
		return fail_at(p, sign_at, "'%s' takes %s", field_names[field],
			       field < FILTER_TEXT_COUNT ? "= != ~ or !~" : "= != < <= > or >=");
	n = node_create(field >= FILTER_TEXT_COUNT ? NODE_NUMBER : NODE_TEXT, NULL, NULL);
	n->field = field;
	n->compare = signs[s].compare;
	skip_space(p);
	value_at = p->at;
	n->pattern = take_value(p);
	if (!n->pattern)
		goto fail;
	if (n->type == NODE_NUMBER) {
		if (!parse_number(field, n->pattern, &n->number)) {
			fail_at(p, value_at,
				field == FILTER_DURATION ? "not a time; like 10us, 1.5ms, 2s"
							 : "not a size; like 4096, 64K, 1.5MiB");
			goto fail;
		}
	} else if (n->compare >= CMP_MATCH) {
		rc = regcomp(&n->regex, n->pattern, REG_EXTENDED | REG_NOSUB);
		if (rc) {
			regerror(rc, &n->regex, reason, sizeof reason);
			fail_at(p, value_at, "not a regular expression: %s", reason);
			goto fail;
		}
		n->type = NODE_REGEX;
	} else if (!check_word(p, value_at, field, n->pattern)) {
		goto fail;
	}
	return n;
fail:
	node_destroy(n);
	return NULL;
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
	for (unsigned f = 0; field_names[f]; f++) {
		if (strcasecmp(field_names[f], word))
			continue;
		p->at += length;
		return f == FILTER_FAILED ? node_create(NODE_FAILED, NULL, NULL)
					  : parse_comparison(p, (enum filter_field)f);
	}
	near = ui_nearest(word, field_names);
	if (near)
		return fail_at(p, at, "no field '%s'; did you mean '%s'?", word, near);
	return fail_at(p, at,
		       "no field '%s'; there are: name domain kind device process thread queue "
		       "range duration bytes failed",
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
		return inner ? node_create(NODE_NOT, inner, NULL) : NULL;
	}
	if (!take_sign(p, "(")) {
		p->depth--;
		return parse_condition(p);
	}
	inner = parse_or(p);
	if (inner && !take_sign(p, ")")) {
		fail_at(p, p->at,
			*p->at ? "')' or 'and' or 'or' expected here" : "a '(' is not closed");
		node_destroy(inner);
		inner = NULL;
	}
	p->depth--;
	return inner;
}

/* @tight: "and", which binds tighter than "or" */
static struct filter_node *parse_chain(struct parser *p, bool tight)
{
	struct filter_node *left = tight ? parse_not(p) : parse_chain(p, true), *right;

	while (left && (take_word(p, tight ? "and" : "or") || take_sign(p, tight ? "&&" : "||"))) {
		right = tight ? parse_not(p) : parse_chain(p, true);
		if (!right) {
			node_destroy(left);
			return NULL;
		}
		left = node_create(tight ? NODE_AND : NODE_OR, left, right);
	}
	return left;
}

static struct filter_node *parse_or(struct parser *p)
{
	return parse_chain(p, false);
}

struct filter *filter_create(const char *expression, filter_texts_fn *texts, void *data,
			     struct filter_error *error)
{
	struct parser p = {.text = expression, .at = expression, .error = error};
	struct filter_node *root = parse_or(&p);
	struct filter *f;

	skip_space(&p);
	if (root && *p.at) {
		fail_at(&p, p.at, "'and' or 'or' expected here");
		node_destroy(root);
		root = NULL;
	}
	if (!root)
		return NULL;
	f = lookup_grow(NULL, 0, 1, sizeof *f);
	*f = (struct filter){.root = root, .texts = texts, .data = data};
	return f;
}

void filter_destroy(struct filter *f)
{
	if (!f)
		return;
	node_destroy(f->root);
	free(f);
}

/* Matching --------------------------------------------------------------------- */

static bool decide_text(const struct filter *f, struct filter_node *n, uint32_t number)
{
	const char *texts[FILTER_TEXTS_MOST];
	unsigned count = f->texts(f->data, n->field, number, texts);
	bool any = false;

	for (unsigned i = 0; i < count && !any; i++)
		any = n->type == NODE_REGEX ? regexec(&n->regex, texts[i], 0, NULL, 0) == 0
					    : fnmatch(n->pattern, texts[i], FNM_NOESCAPE) == 0 ||
						      !strcmp(n->pattern, texts[i]);
	return n->compare == CMP_NE || n->compare == CMP_NO_MATCH ? !any : any;
}

static bool match_text(const struct filter *f, struct filter_node *n, uint32_t number)
{
	if (number == LOOKUP_NONE)
		return false;
	if (number >= n->known_count) {
		n->known = lookup_grow(n->known, n->known_count, (size_t)number * 2 + 64, 1);
		n->known_count = number * 2 + 64;
	}
	if (n->known[number] == UNDECIDED)
		n->known[number] = decide_text(f, n, number) ? DECIDED_TRUE : DECIDED_FALSE;
	return n->known[number] == DECIDED_TRUE;
}

static bool match_number(const struct filter_node *n, const struct filter_record *r)
{
	uint64_t value = n->field == FILTER_DURATION ? r->duration_ns : r->bytes;

	if (n->field == FILTER_DURATION && !r->timed)
		return false;
	switch (n->compare) {
	case CMP_EQ: return value == n->number;
	case CMP_NE: return value != n->number;
	case CMP_LT: return value < n->number;
	case CMP_LE: return value <= n->number;
	case CMP_GT: return value > n->number;
	default: return value >= n->number;
	}
}

static bool match_node(const struct filter *f, struct filter_node *n, const struct filter_record *r)
{
	switch (n->type) {
	case NODE_AND: return match_node(f, n->left, r) && match_node(f, n->right, r);
	case NODE_OR: return match_node(f, n->left, r) || match_node(f, n->right, r);
	case NODE_NOT: return !match_node(f, n->left, r);
	case NODE_FAILED: return r->failed;
	case NODE_NUMBER: return match_number(n, r);
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

int filter_print_error(const char *expression, const struct filter_error *error)
{
	unsigned before = 0;
	char part[512];

	snprintf(part, sizeof part, "%.*s",
		 (int)(error->at < sizeof part ? error->at : sizeof part - 1), expression);
	before = ui_width(part);
	ui_fail(GT_EXIT_USAGE, "--where: %s", error->text);
	fputs("  ", stderr);
	ui_put(stderr, expression, UINT32_MAX);
	fprintf(stderr, "\n  %*s^\n", (int)before, "");
	return GT_EXIT_USAGE;
}

bool filter_asks(const struct filter *f, enum filter_field field)
{
	return node_asks(f->root, field);
}

bool filter_match(struct filter *f, const struct filter_record *record)
{
	return match_node(f, f->root, record);
}
