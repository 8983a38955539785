/* SPDX-License-Identifier: MIT */
/* gputap diff, between its files:
 *
 *   diff.c        options, which file is of which side, the command
 *   diff_read.c   a run: one pass, its rows                         (a thread for each side)
 *   diff_units.c  occurrences of the range that counts are given for
 *   diff_align.c  rows of both sides side by side, judged by diff_statistics.h
 *   diff_names.c  names that differ only in what a compiler numbered
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

/* name of the table, is each row's count the program's own doing and each value a duration that
 * has a series? */
#define DIFF_TABLES(X)            \
	X(TOTALS, "totals")       \
	X(DEVICES, "devices")     \
	X(IDLE, "idle")           \
	X(RANKS, "ranks")         \
	X(KERNELS, "kernels")     \
	X(COPIES, "copies")       \
	X(OTHER, "other")         \
	X(GRAPHS, "graphs")       \
	X(RANGES, "ranges")       \
	X(OPERATORS, "operators") \
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

/* Of one run. */
struct diff_row {
	enum diff_table table;
	uint32_t name, device, rank; /* LOOKUP_NONE: not split by it */
	uint64_t count, total_ns;
	struct diff_series series; /* until it is summed up, where there are several runs */
	double median, median_low, median_high, median_variance;
	/* what it took in each of the first occurrences; NULL: not asked for */
	float *of_units;
};

struct diff_run {
	const char **paths; /* one, or one of each rank */
	size_t path_count;

	/* after diff_read_run() */
	struct texts keys;  /* of rows, in their order: see diff_read.c */
	struct texts names; /* that rows have */
	struct diff_row *rows;
	uint32_t row_count, row_room;
	char *command, *host;
	char *devices;   /* names, by number */
	char *selection; /* what was recorded; "": all */
	char *part;      /* which time of it, of its first file that lacks some; "": all */
	uint8_t uuid[GT_CAPTURE_ID_BYTES]; /* of its first session */
	uint64_t wall_ns, start_unix_ns, records, matched, dropped, untraced;
	char why_nothing[FILTER_WHY_BYTES]; /* its filter holds for nothing; "": not known */
	uint64_t units;                     /* occurrences of the range */
	uint32_t unit_slots;                /* those that `of_units` has */
	double others; /* share of the processors' time that other programs had; 0: or not known */
	bool on_gpus; /* all its device work is: other programs on the processors do not touch it */
	struct gt_capture_health health;
	bool left_out; /* a file that is no capture */
	char *error;   /* NULL: it was read */
};

struct diff_side {
	struct diff_run *runs;
	size_t run_count, run_room;
	const char *expression; /* --before, --after; NULL: all */
	char *where;            /* with that of --where; NULL: all */
	uint64_t units;         /* of all runs together */
};

enum diff_method {
	DIFF_BY_BLOCKS,      /* one run a side */
	DIFF_BY_RUNS,        /* several */
	DIFF_BY_OCCURRENCES, /* slices of one run */
};

struct diff_options {
	const char *where, *per, *output;
	const char *limit; /* --fail-over, as it was written; NULL: none */
	unsigned by;       /* DIFF_BY_DEVICE | .. */
	uint32_t tables;   /* bit per enum diff_table; 0: not said */
	long top;
	double noise;                    /* between runs that no run can show; < 0: not said */
	double limits[DIFF_TABLE_COUNT]; /* DIFF_NO_LIMIT: none */
	bool json, csv, markdown, svg, mangled, force, share;
};

enum diff_verdict {
	DIFF_NOISE, /* no difference beyond noise */
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_MORE, /* its time is the same, but it happens more often */
	DIFF_FEWER,
	DIFF_NEW, /* only in the candidate */
	DIFF_GONE,
	DIFF_UNSURE,  /* much time went or came, and noise may be as large */
	DIFF_TOO_FEW, /* values, to know their noise */
};

/* The statistic that a row shows and that its verdict uses. If its change has another sign than the
 * change of the row's total, the change of the total is noise. */
enum diff_measure {
	DIFF_MEDIAN,
	DIFF_MEAN,  /* of the values; of several runs: their totals */
	DIFF_TOTAL, /* neither: more or fewer of them outweigh that each takes less or more time */
};

/* A row of both sides. */
struct diff_pair {
	enum diff_table table;
	const char *name, *name_baseline; /* the same unless the names were made alike */
	uint32_t device, rank;
	/* of all runs of a side together, for each run, or for each occurrence of the range */
	double count[DIFF_SIDES], total_ns[DIFF_SIDES];
	double median[DIFF_SIDES], median_low[DIFF_SIDES], median_high[DIFF_SIDES];
	bool has_median[DIFF_SIDES];
	struct diff_estimate of_median, of_mean; /* or of the total, where there is no mean */
	enum diff_measure by;
	double p, q; /* q: after the control of all comparisons */
	bool judged;
	double share;  /* of all changes of the table, up and down; signed */
	double weight; /* part of the table's time, on the side where it is more */
	enum diff_verdict verdict;
	bool over;                          /* the limit of --fail-over */
	struct diff_row **rows[DIFF_SIDES]; /* of each run; NULL: has none */
};

static inline double diff_added_ns(const struct diff_pair *pair)
{
	return pair->total_ns[DIFF_CANDIDATE] - pair->total_ns[DIFF_BASELINE];
}

struct diff_result {
	struct diff_side sides[DIFF_SIDES];
	enum diff_method method;
	double noise;       /* that the runs do not show: of times */
	double count_noise; /* .. of counts, and of times of GPUs */
	double others;      /* share of the processors' time that made noise larger; 0: none */
	bool slices;        /* both sides are of the same capture */
	bool per_unit;
	char *unit;              /* name of the range; NULL: counts are of runs */
	struct diff_pair *pairs; /* by table, the largest change first */
	size_t pair_count;
	size_t verdicts[DIFF_TOO_FEW + 1], judged, over;
	size_t in_both;    /* rows that both sides have, but totals and devices */
	double longest_ns; /* that a side took: of slices, its ranges */
};

/* @progress: this one draws a bar. Return: 0, or run->error. */
int diff_read_run(struct diff_run *run, const struct diff_options *options, const char *where,
		  const char *unit, bool keep_series, bool progress);
void diff_run_fini(struct diff_run *run);

/* Fills pairs, their verdicts and the counts of @result from what was read. */
void diff_align(struct diff_result *result, const struct diff_options *options);
void diff_result_fini(struct diff_result *result);

/* @name without what a compiler numbered: addresses, lambdas. NULL: there is nothing of it. Owner:
 * caller. */
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
uint64_t diff_whole_ns(double ns); /* rounded, of either sign; UINT64_MAX: more than that */
/* Are its rows made of many durations? Else each is one number a run. */
bool diff_has_values(enum diff_table table);
/* Did it take so much more or less time that a user wants to know, whatever the verdict? */
bool diff_moved_much(const struct diff_result *result, const struct diff_pair *pair);
const char *diff_verdict_name(enum diff_verdict verdict);
/* As tables have it: "+5.1%", "x2.07". */
void diff_put_change(char *text, size_t size, double change);
/* Everything in a sentence: "3 slower, .. beyond noise". */
void diff_describe(const struct diff_result *result, char *text, size_t size);
/* How noise was told from change. */
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
