/* SPDX-License-Identifier: MIT */
/* Inside of a filter: the tree that filter.c makes of an expression and asks for each record, and
 * that filter_slice.c makes a slice of. */
#ifndef GPUTAP_CLI_FILTER_TREE_H
#define GPUTAP_CLI_FILTER_TREE_H

#include <regex.h>

#include "cli/filter.h"
#include "cli/filter_value.h"

enum filter_node_type {
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_TEXT,
	NODE_REGEX,
	NODE_NUMBER,
	NODE_AT,
	NODE_FAILED
};

enum filter_comparison { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_MATCH, CMP_NO_MATCH };

/* By enum filter_field, NULL-ended. */
extern const char *const filter_field_names[];

enum filter_decided { UNDECIDED = 0, DECIDED_FALSE, DECIDED_TRUE };

/* A time: that of the capture, or with an occurrence from the begin or the end of that. */
struct filter_point {
	int64_t ns;
	uint32_t occurrence; /* FILTER_NO_OCCURRENCE: none */
};

struct filter_node {
	enum filter_node_type type;
	struct filter_node *left, *right;
	enum filter_field field;
	enum filter_comparison compare;
	uint64_t number, number_most; /* differ: = and != of what lies between, both included */
	struct filter_point from,
		to;          /* NODE_AT; a comparison that is not = or != has `from` alone */
	uint32_t occurrence; /* NODE_TEXT, of a range: one of that name, too */
	char *pattern;
	regex_t regex;
	uint8_t *known; /* enum filter_decided by text number */
	uint32_t known_count;
};

#define FILTER_NO_OCCURRENCE UINT32_MAX

/* The N-th range of a name, or some of them: a number in the expression. */
struct filter_occurrence {
	char *name; /* a pattern */
	uint64_t first, last;
	uint64_t most; /* that a process has */
	bool found;
	/* of each process: when it begins and ends; to 0: it is not there */
	struct filter_span {
		uint64_t from_ns, to_ns;
	} * spans;
	uint32_t span_count;
};

struct filter {
	struct filter_node *root;
	struct filter_occurrence *occurrences;
	uint32_t occurrence_count;
	uint64_t origin_ns, end_ns; /* of the capture */
	bool is_one_process;        /* that there is to look at */
	filter_texts_fn *texts;
	void *data;
};

/* filter.c. Does a text, or the record's number, meet a condition? Of texts whatever is asked of
 * the match: CMP_NE is not looked at. */
bool filter_match_text(const struct filter_node *n, const char *text);
bool filter_match_number(const struct filter_node *n, const struct filter_record *r);

#endif
