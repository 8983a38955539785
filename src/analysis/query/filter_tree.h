/* SPDX-License-Identifier: MIT */
/* Internals of a filter: the tree that filter.c builds from an expression. filter.c evaluates the
 * tree for each record, and filter_scope.c derives time ranges from it. */
#ifndef GPUTAP_ANALYSIS_QUERY_FILTER_TREE_H
#define GPUTAP_ANALYSIS_QUERY_FILTER_TREE_H

#include <regex.h>

#include "analysis/query/filter.h"
#include "analysis/query/filter_value.h"

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

/* Indexed by enum filter_field, NULL-terminated. */
extern const char *const filter_field_names[];

enum filter_decided { UNDECIDED = 0, DECIDED_FALSE, DECIDED_TRUE };

/* A point in time, relative to the capture's start, or to the start or end of an occurrence. */
struct filter_point {
	int64_t ns;
	uint32_t occurrence; /* FILTER_NO_OCCURRENCE: none */
};

struct filter_node {
	enum filter_node_type type;
	struct filter_node *left, *right;
	struct filter_node *older; /* in filter.nodes */
	enum filter_field field;
	enum filter_comparison compare;
	/* first and last number of an interval (=, != with A..B); otherwise equal */
	uint64_t number, number_most;
	struct filter_point from, to; /* NODE_AT; `to` is used only with = and != */
	uint32_t occurrence;          /* NODE_TEXT for a range with #N: its occurrence */
	char *pattern;
	regex_t regex;
	uint8_t *known; /* enum filter_decided, for each text number */
	uint32_t known_count;
};

#define FILTER_NO_OCCURRENCE UINT32_MAX

/* Ranges that the expression counts: the N-th range of a name, or several of them. */
struct filter_occurrence {
	char *name; /* a pattern */
	uint64_t first, last;
	uint64_t most; /* largest number of ranges with this name in a process */
	bool found;
	/* start and end for each process; to_ns 0: the occurrence does not exist */
	struct filter_span {
		uint64_t from_ns, to_ns;
	} * spans;
	uint32_t span_count;
};

struct filter {
	struct filter_node *root;
	struct filter_node *nodes; /* all nodes, newest first, also those outside the tree */
	struct filter_occurrence *occurrences;
	uint32_t occurrence_count;
	uint64_t origin_ns, end_ns; /* start and end of the capture */
	bool is_one_process;        /* true if the filter considers only one process */
	filter_texts_fn *texts;
	void *data;
};

/* Defined in filter.c. Return true if a text, or the record's number, meets a condition.
 * filter_match_text() ignores a negation (CMP_NE, CMP_NO_MATCH): the caller inverts the result. */
bool filter_match_text(const struct filter_node *n, const char *text);
bool filter_match_number(const struct filter_node *n, const struct filter_record *r);

#endif
