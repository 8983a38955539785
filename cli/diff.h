/* SPDX-License-Identifier: MIT */
/* gputap diff, between its files:
 *
 *   diff.c        options, the files of each side, the command
 *   diff_read.c   one run: one pass over it, its rows               (a thread for each side)
 *   diff_units.c  occurrences of the range that counts are given for
 *   diff_align.c  align and judge the rows of both sides (diff_statistics.h)
 *   diff_names.c  names that differ only in numbers that a compiler chose
 *   diff_print.c  text, CSV, JSON, Markdown      diff_picture.c  the picture */
#ifndef GPUTAP_CLI_DIFF_H
#define GPUTAP_CLI_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture.h"
#include "cli/diff_series.h"
#include "cli/diff_statistics.h"
#include "cli/filter_nothing.h"
#include "cli/lookup.h"

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
extern const char *const diff_table_names[]; /* NULL-ended */

enum diff_key { DIFF_BY_DEVICE = 1, DIFF_BY_RANK = 2 };

enum { DIFF_SIDES = 2, DIFF_NO_LIMIT = -1 };
enum diff_side_name { DIFF_BASELINE, DIFF_CANDIDATE };

/* A row of one run. */
struct diff_row {
	enum diff_table table;
	uint32_t name, device, rank; /* LOOKUP_NONE: the key is not used */
	uint64_t count, total_ns;
	struct diff_series series; /* with several runs, only until it is summed up */
	double median, median_low, median_high, median_variance;
	/* time in each of the first occurrences; NULL: not requested */
	float *of_units;
};

struct diff_run {
	const char **paths; /* one, or one for each rank */
	size_t path_count;

	/* after diff_read_run() */
	struct texts keys;  /* of rows, in their order; see diff_read.c */
	struct texts names; /* used by rows */
	struct diff_row *rows;
	uint32_t row_count, row_room;
	char *command, *host;
	char *devices;   /* their names, in the order of their numbers */
	char *selection; /* what was recorded; "": all */
	char *part;      /* recorded time of the first file that lacks some; "": all */
	uint8_t uuid[GT_CAPTURE_ID_BYTES]; /* of the first session */
	uint64_t wall_ns, start_unix_ns, records, matched, dropped, untraced;
	char why_nothing[FILTER_WHY_BYTES]; /* why its filter holds for nothing; "": not known */
	uint64_t units;                     /* occurrences of the range */
	uint32_t unit_slots;                /* length of `of_units` */
	double others; /* load of other programs on the processors; 0: none, or not known */
	bool on_gpus;  /* all GPU activity is on GPUs, which load does not delay */
	struct gt_capture_health health;
	bool left_out; /* a file was not a capture */
	char *error;   /* NULL: success */
};

struct diff_side {
	struct diff_run *runs;
	size_t run_count, run_room;
	const char *expression; /* --baseline, --candidate; NULL: all */
	char *where;            /* combined with --where; NULL: all */
	uint64_t units;         /* sum over all runs */
};

enum diff_method {
	DIFF_BY_BLOCKS,      /* one run per side */
	DIFF_BY_RUNS,        /* several runs */
	DIFF_BY_OCCURRENCES, /* two parts of one run */
};

struct diff_options {
	const char *where, *per, *output;
	const char *limit; /* --fail-over as given; NULL: none */
	unsigned by;       /* enum diff_key, ORed */
	uint32_t tables;   /* bit per enum diff_table; 0: default */
	long top;
	double noise;                    /* between runs, as a fraction; < 0: default */
	double limits[DIFF_TABLE_COUNT]; /* DIFF_NO_LIMIT: none */
	bool json, csv, markdown, svg, mangled, force, share;
};

enum diff_verdict {
	DIFF_NOISE, /* no difference beyond noise */
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_MORE, /* its time is the same, but it occurs more often */
	DIFF_FEWER,
	DIFF_NEW, /* only in the candidate */
	DIFF_GONE,
	DIFF_UNSURE,  /* much time was lost or gained, but noise may be as large */
	DIFF_TOO_FEW, /* too few values to know their noise */
};

/* The statistic that a row shows and that its verdict uses. If its change has another sign than the
 * change of the row's total, the change of the total is noise. */
enum diff_measure {
	DIFF_MEDIAN,
	DIFF_MEAN,  /* of the values; of several runs: their totals */
	DIFF_TOTAL, /* neither: more or fewer of them outweigh that each takes less or more time */
};

/* A row with both sides. */
struct diff_pair {
	enum diff_table table;
	const char *name,
		*name_baseline; /* the same, unless they differ in numbers that a compiler chose */
	uint32_t device, rank;
	/* averages over the runs of a side: per run, or per occurrence of the range */
	double count[DIFF_SIDES], total_ns[DIFF_SIDES];
	double median[DIFF_SIDES], median_low[DIFF_SIDES], median_high[DIFF_SIDES];
	bool has_median[DIFF_SIDES];
	struct diff_estimate of_median, of_mean; /* of_mean: of the total, if the row has no mean */
	enum diff_measure by;
	double p, q; /* q: p after the correction for many rows */
	bool judged;
	double share;  /* signed; of the sum of all absolute changes in the table */
	double weight; /* share of the table's time, on the side where it is larger */
	enum diff_verdict verdict;
	bool over;                          /* exceeds the limit of --fail-over */
	struct diff_row **rows[DIFF_SIDES]; /* by run; NULL: the run has no such row */
};

static inline double diff_added_ns(const struct diff_pair *pair)
{
	return pair->total_ns[DIFF_CANDIDATE] - pair->total_ns[DIFF_BASELINE];
}

struct diff_result {
	struct diff_side sides[DIFF_SIDES];
	enum diff_method method;
	double noise;       /* of times, that the runs do not show */
	double count_noise; /* of counts and of times of GPUs */
	double others;      /* load of other programs that raised the noise; 0: none */
	bool slices;        /* both sides are parts of one capture */
	bool per_unit;
	char *unit;              /* name of the range; NULL: counts are per run */
	struct diff_pair *pairs; /* ordered by table, then by change, largest first */
	size_t pair_count;
	size_t verdicts[DIFF_TOO_FEW + 1], judged, over;
	size_t in_both;    /* rows that both sides have, except totals and devices */
	double longest_ns; /* longest total of a side; of parts of a run: of its ranges */
};

/* Read a run into its rows. @progress: draw a progress bar. Return: 0, or a negative errno with the
 * cause in run->error. */
int diff_read_run(struct diff_run *run, const struct diff_options *options, const char *where,
		  const char *unit, bool keep_series, bool progress);
void diff_run_fini(struct diff_run *run);

/* Fill the pairs, their verdicts and the counts of @result from the runs that were read. */
void diff_align(struct diff_result *result, const struct diff_options *options);
void diff_result_fini(struct diff_result *result);

/* Return @name without numbers that a compiler chose, as in addresses and lambdas; NULL: it has
 * none. Owner: caller. */
char *diff_plain_name(const char *name);

/* Return the change of the statistic that the row shows. */
double diff_change_of(const struct diff_pair *pair);
/* Return true if @e alone shows a change. The row's verdict also considers the other rows. */
bool diff_is_significant(const struct diff_estimate *e);
/* Return true if @e changed in the other direction than the total of the row. */
bool diff_opposes_total(const struct diff_pair *pair, const struct diff_estimate *e);
/* Return true if outliers moved the row's total in the other direction than its values. */
bool diff_total_is_noise(const struct diff_pair *pair);
/* Return the change of the row's total; 0 if the baseline has none. */
double diff_change_of_total(const struct diff_pair *pair);
uint64_t diff_whole_ns(double ns); /* Return the absolute value, rounded; UINT64_MAX: too large. */
/* Return true if the rows consist of durations; else each is one number per run. */
bool diff_has_values(enum diff_table table);
/* Return true if so much time was lost or gained that it matters for any verdict. */
bool diff_moved_much(const struct diff_result *result, const struct diff_pair *pair);
const char *diff_verdict_name(enum diff_verdict verdict);
/* Format a change for tables: "+5.1%", "x2.07". */
void diff_put_change(char *text, size_t size, double change);
/* Summarize the answer: "3 slower, 5 faster beyond noise". */
void diff_describe(const struct diff_result *result, char *text, size_t size);
/* Describe how noise was measured. */
void diff_describe_method(const struct diff_result *result, char *text, size_t size);
bool diff_side_is_whole(const struct diff_side *side);

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
