/* SPDX-License-Identifier: MIT */
/* See run_stacks.h. */
#include "cli/run_stacks.h"

#include <stdio.h>
#include <string.h>

#include "analysis/symbols/name_frames.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "util/error.h"

static const uint64_t SLOW_NS = 1000000; /* default for "slow" without a time */
static const uint64_t GAP_NS = 1000000;  /* default for "gaps" without a time */
/* Without --stacks. A thread has at most 200 such gaps a second, and a stack takes a few us. */
static const uint64_t LONG_GAP_NS = 5000000;

/* Parse the optional time after @word in "slow:1ms". Return the exit code. */
static int take_time(const char *word, uint64_t *ns,
		     bool (*parse_time)(const char *text, uint64_t *ns))
{
	const char *colon = strchr(word, ':');

	if (!colon || parse_time(colon + 1, ns))
		return GT_EXIT_OK;
	return ui_fail(GT_EXIT_USAGE,
		       "--stacks %s: '%.*s:' must be followed by a time such as 1ms or 500us", word,
		       (int)(colon - word), word);
}

int run_stacks_option(const char *value, struct gt_session *s, struct run_stacks *names,
		      bool (*parse_time)(const char *text, uint64_t *ns))
{
	static const char *const words[] = {"launch", "slow",     "gaps", "no",
					    "lines",  "no-names", NULL};
	bool is_off = false;
	char word[32];
	int code = GT_EXIT_OK;

	*names = RUN_STACKS_USUAL;
	names->is_chosen = true;
	s->stacks = 0;
	if (value && !*value)
		return ui_fail(GT_EXIT_USAGE,
			       "--stacks= needs launch, slow:TIME, gaps:TIME, or several of them");
	for (const char *p = value; p && *p && !code; p += *p == ',') {
		size_t n = strcspn(p, ",");

		snprintf(word, sizeof word, "%.*s", (int)n, p);
		p += n;
		if (!strcmp(word, "launch")) {
			s->stacks |= GT_STACKS_LAUNCHES;
		} else if (!strcmp(word, "no")) {
			is_off = true;
		} else if (!strcmp(word, "gaps") || !strncmp(word, "gaps:", 5)) {
			s->stacks |= GT_STACKS_GAPS;
			s->stacks_gap_ns = GAP_NS;
			code = take_time(word, &s->stacks_gap_ns, parse_time);
		} else if (!strcmp(word, "no-names")) {
			names->no_names = true;
		} else if (!strncmp(word, "lines:", 6)) {
			code = take_time(word, &names->lines_ns, parse_time);
		} else if (!strcmp(word, "slow") || !strncmp(word, "slow:", 5)) {
			s->stacks |= GT_STACKS_SLOW;
			s->stacks_slow_ns = SLOW_NS;
			code = take_time(word, &s->stacks_slow_ns, parse_time);
		} else {
			code = ui_unknown("kind of call for --stacks", word, words);
		}
	}
	if (!code && is_off && strcmp(value, "no") != 0)
		return ui_fail(GT_EXIT_USAGE, "--stacks=no cannot be combined with other words");
	if (!s->stacks && !is_off) {
		s->stacks = GT_STACKS_LAUNCHES | GT_STACKS_GAPS;
		s->stacks_gap_ns = GAP_NS;
	}
	return code;
}

void run_stacks_default(struct gt_session *s, struct run_stacks *names, bool samples)
{
	if (names->is_chosen || s->mode == GT_MODE_LITE || s->mode == GT_MODE_STANDARD)
		return;
	s->stacks = GT_STACKS_GAPS;
	s->stacks_gap_ns = LONG_GAP_NS;
	if (!samples)
		names->lines_ns = 0; /* functions only: the run must not end later */
}

int run_stacks_check(const struct gt_session *s)
{
	if (s->stacks && (s->mode == GT_MODE_LITE || s->mode == GT_MODE_STANDARD))
		return ui_fail(GT_EXIT_USAGE, "--stacks needs calls, which --mode lite and "
					      "standard do not record");
	return GT_EXIT_OK;
}

void run_stacks_describe(const struct gt_session *s, const struct run_stacks *names, char *text,
			 size_t size)
{
	FILE *out;

	*text = '\0';
	if (!s->stacks)
		return;
	out = fmemopen(text, size, "w");
	if (!out)
		return;
	fputs(" stacks=", out);
	if (s->stacks & GT_STACKS_LAUNCHES)
		fputs("launch", out);
	if (s->stacks & GT_STACKS_SLOW)
		fprintf(out, "%sslow:%lluns", s->stacks & GT_STACKS_LAUNCHES ? "," : "",
			(unsigned long long)s->stacks_slow_ns);
	if (s->stacks & GT_STACKS_GAPS)
		fprintf(out, "%sgaps:%lluns", s->stacks & ~(uint32_t)GT_STACKS_GAPS ? "," : "",
			(unsigned long long)s->stacks_gap_ns);
	if (names->no_names) /* gt_name_frames() also checks this */
		fputs(",no-names", out);
	fclose(out);
}

/* Names ------------------------------------------------------------------------------------- */

static void on_progress(void *data, uint64_t done, uint64_t total)
{
	struct ui_progress *progress = data;

	progress->total = total;
	ui_progress_set(progress, done);
}

static void note_lines(const struct run_stacks *names, const struct gt_naming *result)
{
	const char *frames = show_count(result->frames),
		   *without = show_count(result->without_line);

	if (result->end == GT_LINES_NO_LIBRARY)
		ui_note("frames have functions, but no source lines: elfutils' libdw.so.1 is not "
			"installed");
	else if (result->end == GT_LINES_TIME)
		ui_note("%s of %s frames have no source lines in the capture: the search ended "
			"after %s (--stacks=lines:TIME)",
			without, frames, show_duration(names->lines_ns));
	else
		ui_note("%s of %s frames have no source lines in the capture: the search in debug "
			"information crashed",
			without, frames);
}

void run_stacks_name(const char *path, const struct run_stacks *names, bool quiet)
{
	struct ui_progress progress;
	struct gt_naming_options options = {.lines_ns = names->lines_ns, .data = &progress};
	struct gt_naming result;
	int status;

	if (names->no_names)
		return;
	if (!quiet) {
		options.progress = on_progress;
		ui_progress_begin(&progress, "names", 1);
	}
	status = gt_name_frames(path, &options, &result);
	if (!quiet)
		ui_progress_end(&progress);
	if (status) {
		ui_note("the capture has no frame names: %s", gt_error_text());
		gt_error_clear();
	} else if (result.without_line && names->lines_ns && !quiet) {
		note_lines(names, &result);
	}
}

void run_stacks_name_snapshot(const char *path, void *names)
{
	const struct run_stacks *how = names;
	struct gt_naming_options options = {.lines_ns = how->lines_ns};
	struct gt_naming result;

	if (!how->no_names && gt_name_frames(path, &options, &result))
		gt_error_clear(); /* the capture is complete without names */
}
