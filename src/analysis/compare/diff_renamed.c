/* SPDX-License-Identifier: MIT */
/* Aligns kernels that were renamed. A kernel of the baseline and one of the candidate are the same
 * if neither name is on the other side, and if they have the same number of launches, the same
 * grids and blocks, and similar medians. If several kernels of a side are alike in this way, those
 * with the most similar names belong together. If that is not clear either, nothing is aligned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff.h"

#define SIMILAR_TIME 1.25 /* largest ratio of the medians, without load of other programs */
#define MOST_LOAD    0.95

/* Return the first row of a side; NULL: the side has none. */
static const struct diff_row *first_row(const struct diff_result *result,
					const struct diff_pair *pair, unsigned side)
{
	for (size_t i = 0; i < result->sides[side].run_count; i++)
		if (pair->rows[side][i])
			return pair->rows[side][i];
	return NULL;
}

static bool is_alone(const struct diff_result *result, const struct diff_pair *pair, unsigned side)
{
	return pair->table == DIFF_KERNELS && first_row(result, pair, side) &&
	       !diff_has_side(result, pair, !side);
}

/* Return true if the names differ only in compiler-generated numbers. Such names were aligned
 * earlier if it is clear which belong together. */
static bool differ_in_numbers(const char *a, const char *b)
{
	char *plain_a = diff_plain_name(a), *plain_b = diff_plain_name(b);
	bool equal = plain_a && plain_b && !strcmp(plain_a, plain_b);

	free(plain_a);
	free(plain_b);
	return equal;
}

static bool are_alike(const struct diff_result *result, const struct diff_pair *baseline,
		      const struct diff_pair *candidate)
{
	const struct diff_row *b = first_row(result, baseline, DIFF_BASELINE),
			      *c = first_row(result, candidate, DIFF_CANDIDATE);

	double times = SIMILAR_TIME;

	if (!diff_is_on_gpus(result, DIFF_KERNELS))
		times /= 1 - fmin(result->load, MOST_LOAD);
	return baseline->device == candidate->device && baseline->rank == candidate->rank &&
	       b->count == c->count && b->sizes == c->sizes && b->median > 0 && c->median > 0 &&
	       fabs(log(b->median / c->median)) < log(times) &&
	       !differ_in_numbers(baseline->name, candidate->name);
}

/* Return the share of the longer name that both names have in common at their start and end. */
static double similarity(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b), shorter = na < nb ? na : nb;
	size_t start = 0, end = 0;

	while (start < shorter && a[start] == b[start])
		start++;
	while (start + end < shorter && a[na - 1 - end] == b[nb - 1 - end])
		end++;
	return (double)(start + end) / (double)(na > nb ? na : nb);
}

/* Return the only or the most similar kernel of the other side; NULL: none, or not clear. */
static struct diff_pair *find_other(const struct diff_result *result, const struct diff_pair *pair,
				    unsigned side)
{
	struct diff_pair *best = NULL;
	double most = -1;
	bool unclear = false;

	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *other = &result->pairs[i];
		double similar;

		if (!is_alone(result, other, !side) ||
		    !(side == DIFF_BASELINE ? are_alike(result, pair, other)
					    : are_alike(result, other, pair)))
			continue;
		similar = similarity(pair->name, other->name);
		unclear = similar == most || (unclear && similar < most);
		if (similar > most) {
			most = similar;
			best = other;
			unclear = false;
		}
	}
	return unclear ? NULL : best;
}

void diff_align_renamed(struct diff_result *result)
{
	struct diff_pair **others = allocate_list(result->pair_count + 1, sizeof *others);

	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (is_alone(result, pair, DIFF_BASELINE))
			others[i] = find_other(result, pair, DIFF_BASELINE);
		if (others[i] && find_other(result, others[i], DIFF_CANDIDATE) != pair)
			others[i] = NULL;
	}
	for (size_t i = 0; i < result->pair_count; i++) {
		if (!others[i])
			continue;
		diff_take_candidate(&result->pairs[i], others[i]);
		result->pairs[i].renamed = true;
	}
	free(others);
}
