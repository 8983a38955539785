/* SPDX-License-Identifier: MIT */
/* Predictions of `gputap what-if`, and how they are printed. */
#ifndef GPUTAP_CLI_WHAT_IF_H
#define GPUTAP_CLI_WHAT_IF_H

#include "analysis/depend/replay.h"
#include "analysis/tables/summary.h"

enum what_if_kind { WHAT_IF_SCALE, WHAT_IF_BANDWIDTH, WHAT_IF_LAUNCH_COST, WHAT_IF_OVERLAP };

/* A requested change. */
struct what_if_change {
	enum what_if_kind kind;
	const char *where; /* expression; NULL: all copies, or all launching calls */
	char *owned;       /* expression made from the number of a queue; NULL: none */
	double factor;
	/* While a capture is read */
	struct filter *filter;
	struct summary summary;
	struct summary_reading *reading;
	/* numbers and times of the first capture */
	uint64_t calls, activities, ns;
};

/* A run whose capture was read. */
struct what_if_run {
	const char *path;
	/* lengths in ns; low, high: of the prediction, with the range of the estimated lags */
	uint64_t recorded, replayed, predicted, low, high;
};

enum { WHAT_IF_REMOVALS = 40 };

struct what_if {
	struct what_if_change *changes;
	size_t change_count;
	struct what_if_run *runs; /* the first one is shown in detail */
	size_t run_count;
	size_t top;        /* rows of each table; 0: all */
	const char *range; /* lengths are those of the ranges with this name; NULL: the run's */
	bool json, mangled;
	/* dependencies of the first run */
	struct depend depend;
	struct replay replay;
	struct replay_path before, after;
	struct replay_candidate removals[WHAT_IF_REMOVALS];
	size_t removal_count;
	bool is_part; /* true if the capture lacks records before, or between, its own */
};

/* Write the name of an option. */
const char *what_if_option(enum what_if_kind kind);
void what_if_print(const struct what_if *w);

#endif
