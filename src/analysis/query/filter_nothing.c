/* SPDX-License-Identifier: MIT */
/* See filter_nothing.h. */
#include "analysis/query/filter_nothing.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/show.h"
#include "analysis/query/filter_scope.h"
#include "analysis/query/filter_tree.h"

/* Explain why the first missing occurrence of a range was not found. */
static bool explain_occurrence(const struct filter *f, char why[FILTER_WHY_BYTES])
{
	for (uint32_t i = 0; i < f->occurrence_count; i++) {
		const struct filter_occurrence *o = &f->occurrences[i];

		if (o->found)
			continue;
		if (o->most)
			snprintf(why, FILTER_WHY_BYTES,
				 "no process has more than %" PRIu64 " range%s named '%s'", o->most,
				 o->most == 1 ? "" : "s", o->name);
		else
			snprintf(why, FILTER_WHY_BYTES, "there is no range '%s'", o->name);
		return true;
	}
	return false;
}

static bool is_never_met(const struct filter_node *n)
{
	if ((n->type != NODE_TEXT && n->type != NODE_REGEX) ||
	    (n->compare != CMP_EQ && n->compare != CMP_MATCH) || !n->known_count)
		return false;
	for (uint32_t i = 0; i < n->known_count; i++)
		if (n->known[i] == DECIDED_TRUE)
			return false;
	return true;
}

/* Return the first of the conditions joined with "and" that no record met. Later conditions were
 * not evaluated for any record. */
static const struct filter_node *find_never_met(const struct filter_node *n, bool *first)
{
	const struct filter_node *found;

	if (n->type != NODE_AND)
		return is_never_met(n) ? n : NULL;
	found = find_never_met(n->left, first);
	if (found)
		return found;
	*first = false;
	return find_never_met(n->right, first);
}

static bool explain_condition(const struct filter *f, char why[FILTER_WHY_BYTES])
{
	bool first = true;
	const struct filter_node *n = find_never_met(f->root, &first);

	if (n && n->field == FILTER_RANGE && first)
		snprintf(why, FILTER_WHY_BYTES, "there is no range '%.80s'", n->pattern);
	else if (n && n != f->root)
		snprintf(why, FILTER_WHY_BYTES, "%s %s '%.80s'",
			 first ? "none has" : "no record that meets the first conditions has",
			 filter_field_names[n->field], n->pattern);
	return *why;
}

static bool explain_times(const struct filter *f, char why[FILTER_WHY_BYTES])
{
	struct filter_times times;

	if (f->end_ns <= f->origin_ns || !filter_find_times(f, &times) || !times.count)
		return false;
	for (uint32_t i = 0; i < times.count; i++)
		if (times.spans[i].from_ns <= f->end_ns)
			return false;
	snprintf(why, FILTER_WHY_BYTES, "the capture ends after %s",
		 show_duration(f->end_ns - f->origin_ns));
	return true;
}

void filter_explain_nothing(const struct filter *f, char why[FILTER_WHY_BYTES])
{
	*why = '\0';
	if (!explain_occurrence(f, why) && !explain_times(f, why))
		explain_condition(f, why);
}
