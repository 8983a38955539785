/* SPDX-License-Identifier: MIT */
/* Describes a comparison in sentences: verdicts, the rows that changed most, how noise is
 * measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/show.h"
#include "analysis/compare/diff.h"

#define SMALL 0.1 /* share of the largest change below which a cause is not named first */

/* Names ------------------------------------------------------------------------------- */

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {"noise", "slower", "faster",  "more",   "fewer",
					    "new",   "gone",   "renamed", "unsure", "too few"};

	return names[verdict];
}

const char *diff_count_verdict_name(enum diff_count_verdict verdict)
{
	static const char *const names[] = {
#define DIFF_COUNT_NAME(upper, name) name,
		DIFF_COUNT_VERDICTS(DIFF_COUNT_NAME)
#undef DIFF_COUNT_NAME
	};

	return names[verdict];
}

/* The result as a whole ---------------------------------------------------------------- */

static void add_part(char *text, size_t size, size_t count, const char *what)
{
	size_t used = strlen(text);

	if (count)
		snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", show_count(count),
			 what);
}

void diff_describe(const struct diff_result *result, char *text, size_t size)
{
	const size_t *v = result->verdicts;
	char rest[256] = "";

	*text = '\0';
	add_part(text, size, v[DIFF_SLOWER], "slower");
	add_part(text, size, v[DIFF_FASTER], "faster");
	if (*text)
		strncat(text, " beyond noise", size - strlen(text) - 1);
	else if (result->judged)
		snprintf(text, size,
			 result->counts[DIFF_COUNT_MORE] + result->counts[DIFF_COUNT_FEWER] +
					 v[DIFF_NEW] + v[DIFF_GONE]
				 ? "%s row%s compared, none slower or faster beyond noise"
				 : "%s row%s compared, no difference beyond noise",
			 show_count(result->judged), result->judged == 1 ? "" : "s");
	else if (v[DIFF_TOO_FEW])
		snprintf(text, size, "Too few values to separate changes from noise");
	else
		snprintf(text, size,
			 "One number per run and one run per side: the noise is unknown");
	if (v[DIFF_SLOWER] + v[DIFF_FASTER])
		add_part(rest, sizeof rest, v[DIFF_NOISE], "within noise");
	add_part(rest, sizeof rest, v[DIFF_UNSURE], "unsure (large changes that may be noise)");
	add_part(rest, sizeof rest, result->counts[DIFF_COUNT_MORE], "more often");
	add_part(rest, sizeof rest, result->counts[DIFF_COUNT_FEWER], "less often");
	add_part(rest, sizeof rest, v[DIFF_RENAMED], "renamed");
	add_part(rest, sizeof rest, v[DIFF_GONE], "only in the baseline");
	add_part(rest, sizeof rest, v[DIFF_NEW], "only in the candidate");
	if (result->judged)
		add_part(rest, sizeof rest, v[DIFF_TOO_FEW], "with too few values");
	if (*rest) {
		strncat(text, "; ", size - strlen(text) - 1);
		strncat(text, rest, size - strlen(text) - 1);
	}
}

/* Describe the load of other programs, and which rows it affects. */
static void describe_load(const struct diff_result *result, char *text, size_t size)
{
	const bool on_gpus = result->sides[DIFF_BASELINE].runs[0].on_gpus &&
			     result->sides[DIFF_CANDIDATE].runs[0].on_gpus;
	char gpus[128] = "";

	if (on_gpus)
		snprintf(gpus, sizeof gpus, " (of times on GPUs, changes up to %.3g%%)",
			 result->count_noise * 100);
	snprintf(text, size,
		 "Other programs used %.0f%% of the processors' time during a run, which can slow "
		 "everything by a factor of %.3g: smaller changes of times count as noise%s.",
		 result->others * 100, 1 + result->noise, gpus);
}

/* Describe the noise of times. */
static void describe_noise(const struct diff_result *result, char *text, size_t size)
{
	char floor[128] = "";

	if (result->noise > 0)
		snprintf(floor, sizeof floor, "changes of a time up to %.3g%% count as noise",
			 result->noise * 100);
	switch (result->method) {
	case DIFF_BY_BLOCKS:
		if (result->parts)
			snprintf(text, size,
				 "Noise of times within both parts of the run is measured%s%s.",
				 *floor ? "; " : "", floor);
		else if (result->others > 0)
			describe_load(result, text, size);
		else
			snprintf(
				text, size,
				"One run per side: noise of times is measured within each run, not "
				"between runs (%s).",
				*floor ? floor : "counted as 0");
		break;
	case DIFF_BY_RUNS:
		snprintf(
			text, size,
			"Baseline: %zu run%s, candidate: %zu run%s. Noise of times between runs is "
			"measured%s%s.",
			result->sides[0].run_count, result->sides[0].run_count == 1 ? "" : "s",
			result->sides[1].run_count, result->sides[1].run_count == 1 ? "" : "s",
			*floor ? "; " : "", floor);
		break;
	case DIFF_BY_OCCURRENCES:
		snprintf(text, size,
			 "Noise of times is the difference from one '%s' to the next%s%s.",
			 result->unit, *floor ? "; " : "", floor);
		break;
	}
}

static const char *describe_counts(const struct diff_result *result)
{
	if (!result->exact_counts)
		return "Counts may be incomplete: differences up to 1% do not matter.";
	switch (result->method) {
	case DIFF_BY_RUNS: return "Counts are exact unless they vary between the runs of a side.";
	case DIFF_BY_OCCURRENCES: return "Counts are exact unless they vary within a side.";
	default: break;
	}
	return "Counts are exact: the program is assumed to make the same calls in each run, "
	       "except "
	       "calls that poll.";
}

void diff_describe_method(const struct diff_result *result, char *text, size_t size)
{
	char noise[DIFF_TEXT / 2], tests[128] = "";

	describe_noise(result, noise, sizeof noise);
	if (result->tests > 1)
		snprintf(tests, sizeof tests,
			 " All %s tests of all tables are corrected together (false discovery rate "
			 "%g%%).",
			 show_count(result->tests), result->level * 100);
	snprintf(text, size, "%s %s%s%s", noise, describe_counts(result), tests,
		 result->method == DIFF_BY_BLOCKS && !result->parts
			 ? " Several runs per side measure the noise between runs."
			 : "");
}

bool diff_side_is_whole(const struct diff_side *side)
{
	for (size_t i = 0; i < side->run_count; i++)
		if (!gt_capture_is_whole(&side->runs[i].health) || side->runs[i].left_out)
			return false;
	return true;
}

/* The rows that changed most ----------------------------------------------------------- */

/* Places of a row in the list of changes. Causes precede effects: a slower kernel makes waiting
 * calls, ranges, idle times and totals longer. */
enum rank { RANK_GPU, RANK_COUNT, RANK_CALL, RANK_IDLE, RANK_RANGE, RANK_TOTAL };

static bool is_gpu_table(enum diff_table table)
{
	return table == DIFF_KERNELS || table == DIFF_COPIES || table == DIFF_OTHER ||
	       table == DIFF_GRAPHS;
}

static bool has_other_count(const struct diff_pair *pair)
{
	return pair->count_verdict == DIFF_COUNT_MORE || pair->count_verdict == DIFF_COUNT_FEWER;
}

static bool is_change(const struct diff_pair *pair)
{
	const bool one_side = pair->verdict == DIFF_NEW || pair->verdict == DIFF_GONE;
	const bool moved = pair->verdict == DIFF_SLOWER || pair->verdict == DIFF_FASTER;

	return one_side || moved || has_other_count(pair) || pair->renamed;
}

static enum rank rank_of(const struct diff_pair *pair)
{
	const bool one_side = pair->verdict == DIFF_NEW || pair->verdict == DIFF_GONE;

	if (is_gpu_table(pair->table))
		return RANK_GPU;
	switch (pair->table) {
	case DIFF_OPERATIONS: return one_side || has_other_count(pair) ? RANK_COUNT : RANK_CALL;
	case DIFF_IDLE: return RANK_IDLE;
	case DIFF_RANGES:
	case DIFF_GPU_BY_RANGE: return RANK_RANGE;
	default: return RANK_TOTAL;
	}
}

/* A row, and its place in the list. */
struct place {
	const struct diff_pair *pair;
	enum rank rank;
	bool is_small; /* the time of another row changed much more */
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const double added_x = fabs(diff_added_ns(x->pair)), added_y = fabs(diff_added_ns(y->pair));

	if (x->is_small != y->is_small)
		return x->is_small ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (added_x != added_y)
		return added_x > added_y ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* Return true if only the time of the row changed, and by much less than that of another row. */
static bool is_small(const struct diff_pair *pair, double most_ns)
{
	return pair->verdict != DIFF_NEW && pair->verdict != DIFF_GONE && !has_other_count(pair) &&
	       !pair->renamed && fabs(diff_added_ns(pair)) < SMALL * most_ns;
}

const struct diff_pair **diff_list_changes(const struct diff_result *result, bool unsure,
					   size_t *count)
{
	const struct diff_pair **list = allocate_list(result->pair_count + 1, sizeof *list);
	struct place *places = allocate_list(result->pair_count + 1, sizeof *places);
	double most_ns = 0;

	*count = 0;
	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (unsure ? pair->verdict != DIFF_UNSURE : !is_change(pair))
			continue;
		places[(*count)++] = (struct place){.pair = pair, .rank = rank_of(pair)};
		most_ns = fmax(most_ns, fabs(diff_added_ns(pair)));
	}
	for (size_t i = 0; i < *count; i++)
		places[i].is_small = is_small(places[i].pair, most_ns);
	qsort(places, *count, sizeof *places, compare_places);
	for (size_t i = 0; i < *count; i++)
		list[i] = places[i].pair;
	free(places);
	return list;
}

/* Return the text between a number and the name of a row: "20 more launches of kernel_0". */
static const char *counted_as(enum diff_table table)
{
	switch (table) {
	case DIFF_KERNELS:
	case DIFF_GRAPHS: return "launches of ";
	case DIFF_RANGES: return "ranges ";
	case DIFF_GPU_BY_RANGE: return "GPU activities in ";
	default: return "";
	}
}

static const char *named_as(enum diff_table table)
{
	switch (table) {
	case DIFF_KERNELS: return "kernel ";
	case DIFF_RANGES: return "range ";
	case DIFF_GPU_BY_RANGE: return "GPU activities in ";
	case DIFF_IDLE: return "idle time of ";
	default: return "";
	}
}

/* Return a count, with a fraction if it is an average. */
static const char *show_average(char *text, size_t size, double count)
{
	if (count == floor(count))
		return show_count((uint64_t)count);
	snprintf(text, size, "%.*f", count < 10 ? 2 : 1, count);
	return text;
}

/* Cut a name at the start of a character, so that @text has room for at least 3 more bytes. */
static void put_name(char *text, size_t size, const char *name, size_t most)
{
	size_t used = 0;
	uint32_t character;

	for (size_t bytes; name[used]; used += bytes) {
		bytes = text_next(name + used, &character);
		if (used + bytes > most || used + bytes + 3 > size)
			break;
	}
	snprintf(text, size, "%.*s%s", (int)used, name, name[used] ? ".." : "");
}

static void describe_count(const struct diff_pair *pair, const char *name, const char *per,
			   char *text, size_t size)
{
	char numbers[3][32];
	const double *count = pair->count;

	snprintf(text, size, "%s %s %s%s%s: %s -> %s",
		 show_average(numbers[0], sizeof *numbers, fabs(count[1] - count[0])),
		 count[1] > count[0] ? "more" : "fewer", counted_as(pair->table), name, per,
		 show_average(numbers[1], sizeof *numbers, count[0]),
		 show_average(numbers[2], sizeof *numbers, count[1]));
}

static void describe_one_side(const struct diff_pair *pair, const char *name, const char *per,
			      char *text, size_t size)
{
	const unsigned side = pair->verdict == DIFF_NEW ? DIFF_CANDIDATE : DIFF_BASELINE;
	char number[32];

	snprintf(text, size, "only in the %s: %s%s, %s%s, %s",
		 side == DIFF_CANDIDATE ? "candidate" : "baseline", named_as(pair->table), name,
		 show_average(number, sizeof number, pair->count[side]), *per ? per : " times",
		 show_duration(diff_whole_ns(pair->total_ns[side])));
}

/* Return the word for a change of the row's time. */
static const char *moved_as(const struct diff_pair *pair)
{
	if ((pair->table == DIFF_IDLE || pair->table == DIFF_DEVICES) &&
	    pair->verdict != DIFF_UNSURE)
		return pair->verdict == DIFF_SLOWER ? "longer" : "shorter";
	return diff_verdict_name(pair->verdict);
}

/* Add the change of the row's time. @as: word for the change if the text does not contain it. */
static void add_time(const struct diff_pair *pair, const char *as, char *text, size_t size)
{
	const double added = diff_added_ns(pair);
	const size_t used = strlen(text);
	const bool moved = pair->verdict == DIFF_SLOWER || pair->verdict == DIFF_FASTER ||
			   pair->verdict == DIFF_UNSURE;
	char change[32] = "";

	if (moved && pair->by != DIFF_TOTAL) {
		diff_put_change(change, sizeof change, diff_change_of(pair));
		snprintf(text + used, size - used, ", %s%s%s", as, change,
			 diff_has_values(pair->table) && pair->table != DIFF_IDLE ? " each" : "");
	}
	if ((moved || !pair->renamed) && !diff_total_is_noise(pair) && fabs(added) >= 0.5)
		snprintf(text + strlen(text), size - strlen(text), ", %s%s", added > 0 ? "+" : "-",
			 show_duration(diff_whole_ns(added)));
}

/* Add the cause of idle time that changed most, if the row is the idle time of a device. */
static void add_cause(const struct diff_result *result, const struct diff_pair *pair, char *text,
		      size_t size)
{
	const char *colon = strstr(pair->name, ": idle");
	const size_t prefix = colon ? (size_t)(colon - pair->name) + 2 : 0;
	const double sign = diff_added_ns(pair) < 0 ? -1 : 1;
	const struct diff_pair *most = NULL;

	if (pair->table != DIFF_DEVICES || !colon)
		return;
	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *cause = &result->pairs[i];

		if (cause->table == DIFF_IDLE && !strncmp(cause->name, pair->name, prefix) &&
		    (!most || sign * diff_added_ns(cause) > sign * diff_added_ns(most)))
			most = cause;
	}
	if (most && sign * diff_added_ns(most) > sign * diff_added_ns(pair) / 2)
		snprintf(text + strlen(text), size - strlen(text), ", mostly '%s'",
			 most->name + prefix);
}

void diff_describe_change(const struct diff_result *result, const struct diff_pair *pair,
			  size_t most, char *text, size_t size)
{
	char name[DIFF_TEXT / 4], old[DIFF_TEXT / 4], per[DIFF_TEXT / 8] = "", unit[64];

	if (result->per_unit) {
		put_name(unit, sizeof unit, result->unit, 40);
		snprintf(per, sizeof per, " per '%s'", unit);
	} else if (result->method == DIFF_BY_RUNS) {
		snprintf(per, sizeof per, " per run");
	}
	put_name(name, sizeof name, pair->name, most);
	if (pair->verdict == DIFF_NEW || pair->verdict == DIFF_GONE) {
		describe_one_side(pair, name, per, text, size);
		return;
	}
	if (pair->renamed) {
		put_name(old, sizeof old, pair->name_baseline, most / 2);
		put_name(name, sizeof name, pair->name, most / 2);
		snprintf(text, size, "renamed: %s -> %s", old, name);
		add_time(pair, "", text, size);
	} else if (has_other_count(pair)) {
		describe_count(pair, name, per, text, size);
		add_time(pair, pair->verdict == DIFF_SLOWER ? "slower " : "faster ", text, size);
	} else {
		snprintf(text, size, "%s: %s%s", moved_as(pair), named_as(pair->table), name);
		add_time(pair, "", text, size);
		add_cause(result, pair, text, size);
	}
}
