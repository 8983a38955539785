/* SPDX-License-Identifier: MIT */
/* Interfaces between the files of gputap diff:
 *
 *   diff.c        options, the files of each side, the command
 *   diff_read.c   read one run into rows, in one pass             (a thread for each side)
 *   diff_units.c  occurrences of the range by whose number counts are divided
 *   diff_align.c  align the rows of both sides and judge them (diff_statistics.h)
 *   diff_pairs.c  facts about tables and pairs of rows
 *   diff_renamed.c   align kernels whose names changed
 *   diff_counts.c    judge counts
 *   diff_describe.c  sentences: verdicts, the largest changes, how noise is measured
 *   diff_names.c  names that differ only in compiler-generated numbers
 *   diff_print.c  text, CSV, JSON, Markdown      diff_picture.c  the picture */
#ifndef GPUTAP_ANALYSIS_COMPARE_DIFF_H
#define GPUTAP_ANALYSIS_COMPARE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/lookup.h"
#include "analysis/base/progress.h"
#include "analysis/compare/diff_series.h"
#include "analysis/compare/diff_statistics.h"
#include "analysis/query/filter_nothing.h"
#include "capture/capture.h"

/* X(enum name, name of the table) */
#define DIFF_TABLES(X)                  \
	X(TOTALS, "totals")             \
	X(DEVICES, "devices")           \
	X(IDLE, "idle")                 \
	X(RANKS, "ranks")               \
	X(KERNELS, "kernels")           \
	X(COPIES, "copies")             \
	X(OTHER, "other")               \
	X(GRAPHS, "graphs")             \
	X(RANGES, "ranges")             \
	X(GPU_BY_RANGE, "gpu_by_range") \
	X(OPERATIONS, "operations")
enum diff_table {
#define DIFF_TABLE_ENUM(upper, name) DIFF_##upper,
	DIFF_TABLES(DIFF_TABLE_ENUM)
#undef DIFF_TABLE_ENUM
		DIFF_TABLE_COUNT
};
extern const char *const diff_table_names[]; /* NULL-terminated */

enum diff_key { DIFF_BY_DEVICE = 1, DIFF_BY_RANK = 2 };

enum {
	DIFF_SIDES = 2,
	DIFF_NO_LIMIT = -1,
	DIFF_TEXT = 1024, /* room for a sentence */
};
enum diff_side_name { DIFF_BASELINE, DIFF_CANDIDATE };

/* A row of one run. */
struct diff_row {
	enum diff_table table;
	uint32_t name, device, rank; /* LOOKUP_NONE: the rows are not split by this key */
	uint64_t count, total_ns;
	uint64_t sizes;    /* kernels: sum of hashes of the launches' grids and blocks */
	uint64_t in_units; /* number of records inside of occurrences of the range */
	/* valid with one run; with several runs, only until the series is summed up */
	struct diff_series series;
	double median, median_low, median_high, median_variance;
	/* time in each of the first occurrences of the range; NULL: not requested */
	float *of_units;
	uint32_t *counts_of_units; /* number of records in each of these occurrences */
};

struct diff_run {
	const char **paths; /* one capture, or one capture for each rank */
	size_t path_count;

	/* The following fields are valid after diff_read_run() */
	struct texts keys;  /* keys of the rows, in row order; see diff_read.c */
	struct texts names; /* names that rows use */
	struct diff_row *rows;
	uint32_t row_count, row_room;
	char *command, *host;
	char *devices;   /* names of the devices, in the order of their numbers */
	char *selection; /* selection of records; "": all records */
	/* text about the recorded part of the first file that is not complete; "": all files are
	 * complete */
	char *part;
	uint8_t uuid[GT_CAPTURE_ID_BYTES]; /* id of the first session */
	uint64_t wall_ns, start_unix_ns, records, matched, dropped, untraced;
	/* reason why the run's filter matches no record; "": not known */
	char why_nothing[FILTER_WHY_BYTES];
	uint64_t units;      /* number of occurrences of the range */
	uint32_t unit_slots; /* length of `of_units` */
	double others;       /* processor load of other programs; 0: none, or not known */
	/* probability that a thread that becomes ready waits for a processor, and its mean wait */
	double busy, wait_ns;
	/* true if all GPU activities ran on GPUs, which processor load does not delay */
	bool on_gpus;
	struct gt_capture_health health;
	bool left_out; /* true if some file is not a capture */
	char *error;   /* error message; NULL: success */
};

struct diff_side {
	struct diff_run *runs;
	size_t run_count, run_room;
	const char *expression; /* expression of --baseline or --candidate; NULL: all records */
	char *where;            /* `expression` combined with --where; NULL: all records */
	uint64_t units;         /* number of occurrences in all runs */
};

enum diff_method {
	DIFF_BY_BLOCKS,      /* one run per side */
	DIFF_BY_RUNS,        /* several runs */
	DIFF_BY_OCCURRENCES, /* two parts of one run */
};

struct diff_options {
	const char *where, *per, *output;
	const char *limit; /* argument of --fail-over; NULL: none */
	unsigned by;       /* one bit for each enum diff_key */
	uint32_t tables;   /* one bit for each enum diff_table; 0: default */
	long top;
	double noise;                    /* noise between runs, as a fraction; negative: default */
	double limits[DIFF_TABLE_COUNT]; /* DIFF_NO_LIMIT: none */
	double count_limit;              /* DIFF_NO_LIMIT: that of the row's table */
	bool json, csv, markdown, svg, mangled, force, share;
};

enum diff_verdict {
	DIFF_NOISE, /* the difference does not exceed noise */
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_MORE, /* the time per occurrence is the same, but the row occurs more often */
	DIFF_FEWER,
	DIFF_NEW, /* the row is only in the candidate */
	DIFF_GONE,
	DIFF_RENAMED, /* the kernel has another name and does not differ otherwise */
	DIFF_UNSURE,  /* much time was lost or gained, but the noise may be just as large */
	DIFF_TOO_FEW, /* the row has too few values to estimate their noise */
};

/* X(enum name, name in files) */
#define DIFF_COUNT_VERDICTS(X)                                            \
	X(UNKNOWN, "") /* the row has no count, or is only on one side */ \
	X(SAME, "same")                                                   \
	X(MORE, "more")                                                   \
	X(FEWER, "fewer")                                                 \
	X(VARIES, "varies") /* the difference is not larger than noise */
enum diff_count_verdict {
#define DIFF_COUNT_ENUM(upper, name) DIFF_COUNT_##upper,
	DIFF_COUNT_VERDICTS(DIFF_COUNT_ENUM)
#undef DIFF_COUNT_ENUM
		DIFF_COUNT_VERDICT_COUNT
};

/* Assumed time for which a thread waits for a processor that another program uses. */
#define DIFF_WAIT_NS 4e6
/* Level of a test that is not corrected for the number of tests. */
#define DIFF_LEVEL   0.05

/* The statistic that a row shows and that its verdict uses. If this statistic changes in the
 * opposite direction from the row's total, the change of the total is noise. */
enum diff_measure {
	DIFF_MEDIAN,
	DIFF_MEAN, /* mean of the values; for several runs, mean of their totals */
	/* total, because the number of values changed by more than an opposite change of the
	 * values */
	DIFF_TOTAL,
};

/* A row and its values on both sides. */
struct diff_pair {
	enum diff_table table;
	const char *name,
		/* baseline's name; equal to `name` except for compiler-generated numbers */
		*name_baseline;
	uint32_t device, rank;
	/* averages over the runs of a side, per run or per occurrence of the range */
	double count[DIFF_SIDES], total_ns[DIFF_SIDES];
	double median[DIFF_SIDES], median_low[DIFF_SIDES], median_high[DIFF_SIDES];
	bool has_median[DIFF_SIDES];
	/* of_mean: estimate for the total if the row has no mean */
	struct diff_estimate of_median, of_mean;
	enum diff_measure by;
	double p, q; /* q: p, corrected for the number of rows */
	bool judged;
	/* the same for the count; judged only if the count varies between the runs of a side */
	double count_p, count_q;
	bool count_judged;
	enum diff_count_verdict count_verdict;
	double share; /* signed share of this row in the sum of the table's absolute changes */
	/* larger of the row's shares of the table's time, or of the table's counts, on the two
	 * sides */
	double weight, count_weight;
	enum diff_verdict verdict;
	bool over;    /* true if the change exceeds the limit of --fail-over */
	bool renamed; /* true if only the kernel's name changed */
	struct diff_row **rows[DIFF_SIDES]; /* row of each run; NULL: the run lacks the row */
};

static inline double diff_added_ns(const struct diff_pair *pair)
{
	return pair->total_ns[DIFF_CANDIDATE] - pair->total_ns[DIFF_BASELINE];
}

/* Kinds of rows whose noise between runs is similar. */
enum diff_usual { DIFF_USUAL_GPU, DIFF_USUAL_HOST, DIFF_USUAL_SUMS, DIFF_USUAL_COUNT };

struct diff_result {
	struct diff_side sides[DIFF_SIDES];
	enum diff_method method;
	double noise;       /* additional noise of times, which the runs do not show */
	double count_noise; /* additional noise of counts and of times on GPUs */
	double others;      /* load of other programs, if it raised the noise; 0: it did not */
	double load;        /* largest load of other programs during a run */
	double busy;        /* largest probability that a thread waits for a processor */
	double wait_ns;     /* largest mean wait for a processor */
	/* usual variances of medians and of totals between runs, by kind of row */
	double usual[DIFF_USUAL_COUNT][2];
	bool parts; /* true if both sides are parts of one capture */
	bool per_unit;
	char *unit;              /* name of the range; NULL: counts are per run */
	struct diff_pair *pairs; /* ordered by table, then by change, largest first */
	size_t pair_count;
	size_t verdicts[DIFF_TOO_FEW + 1], counts[DIFF_COUNT_VERDICT_COUNT], judged, over;
	double level;      /* largest false discovery rate at which a change is a verdict */
	size_t tests;      /* number of tests that were corrected together */
	bool exact_counts; /* true if the program determines counts, and no record is missing */
	size_t in_both;    /* number of rows that both sides have, except totals and devices */
	/* largest total of a side; for parts of a run, largest total of their ranges */
	double longest_ns;
};

/* Read a run into rows. @progress: receives reports. Return: 0, or a negative errno with the
 * cause in run->error. */
int diff_read_run(struct diff_run *run, const struct diff_options *options, const char *where,
		  const char *unit, bool keep_series, struct progress progress);
void diff_run_fini(struct diff_run *run);

/* Fill in the pairs, the verdicts and the counts of @result from the runs that were read. */
void diff_align(struct diff_result *result, const struct diff_options *options);
void diff_result_fini(struct diff_result *result);

bool diff_has_side(const struct diff_result *result, const struct diff_pair *pair, unsigned side);
/* Return the number by which counts and totals of a run are divided. */
double diff_parts_of_run(const struct diff_result *result, unsigned side, size_t at);

/* Add the candidate's rows of @from to @pair and mark @from as removed. */
void diff_take_candidate(struct diff_pair *pair, struct diff_pair *from);
/* Return true if the rows' times do not depend on the load of processors. */
bool diff_is_on_gpus(const struct diff_result *result, enum diff_table table);
/* Align kernels that differ only in their names: equal launches, similar times. */
void diff_align_renamed(struct diff_result *result);

/* Return true if a difference of counts is a change of the program. */
bool diff_counts_are_exact(const struct diff_result *result);
/* Compare the counts of a row that both sides have. Call after finding longest_ns. */
void diff_compare_counts(const struct diff_result *result, struct diff_pair *pair);
/* Give the verdict on a count that was judged, after the correction for the number of tests. */
void diff_judge_count(const struct diff_result *result, struct diff_pair *pair);

/* Return @name without compiler-generated numbers, such as those of addresses and lambdas; NULL:
 * @name contains none. Owner: caller. */
char *diff_plain_name(const char *name);

/* Return the change of the statistic that the row shows. */
double diff_change_of(const struct diff_pair *pair);
/* Return true if @e alone shows a change. The row's verdict also considers the other rows. */
bool diff_is_significant(const struct diff_estimate *e);
/* Return true if @e changed in the opposite direction from the row's total. */
bool diff_opposes_total(const struct diff_pair *pair, const struct diff_estimate *e);
/* Return true if outliers moved the row's total in the opposite direction from its values. */
bool diff_total_is_noise(const struct diff_pair *pair);
/* Return the change of the row's total; 0 if the baseline's total is 0. */
double diff_change_of_total(const struct diff_pair *pair);
/* Return the relative change; 0 if @baseline is 0. */
double diff_ratio_of(double baseline, double candidate);
/* Return the change of the row's count; 0 if the baseline has none. */
double diff_change_of_count(const struct diff_pair *pair);
/* Return the rounded absolute value; UINT64_MAX: the value is too large. */
uint64_t diff_whole_ns(double ns);
/* Return true if the rows consist of durations. Otherwise, each row is one number per run. */
bool diff_has_values(enum diff_table table);
/* Return true if the lost or gained time is more than @share of the run; large enough to affect a
 * verdict. */
bool diff_moved(const struct diff_result *result, const struct diff_pair *pair, double share);
bool diff_moved_much(const struct diff_result *result, const struct diff_pair *pair);
const char *diff_verdict_name(enum diff_verdict verdict);
const char *diff_count_verdict_name(enum diff_count_verdict verdict); /* "": unknown */
/* Format a change for tables: "+5.1%", "x2.07". */
void diff_put_change(char *text, size_t size, double change);
/* Summarize the result: "3 slower, 5 faster beyond noise". */
void diff_describe(const struct diff_result *result, char *text, size_t size);
/* Describe how noise was measured. */
void diff_describe_method(const struct diff_result *result, char *text, size_t size);
bool diff_side_is_whole(const struct diff_side *side);
/* Return the rows that changed, those of all tables, causes before effects and large changes before
 * small ones. @unsure: rows that may have changed instead. Owner: caller. */
const struct diff_pair **diff_list_changes(const struct diff_result *result, bool unsure,
					   size_t *count);
/* Describe the change of a row: "200 more clFinish: 200 -> 400, +1.20 ms". @most: room for the
 * name, in bytes. */
void diff_describe_change(const struct diff_result *result, const struct diff_pair *pair,
			  size_t most, char *text, size_t size);

void diff_print_text(const struct diff_result *result, const struct diff_options *options,
		     FILE *out);
void diff_print_csv(const struct diff_result *result, const struct diff_options *options,
		    FILE *out);
void diff_print_json(const struct diff_result *result, const struct diff_options *options,
		     FILE *out);
void diff_print_markdown(const struct diff_result *result, const struct diff_options *options,
			 FILE *out);
void diff_print_picture(const struct diff_result *result, const struct diff_options *options,
			FILE *out);

#endif
