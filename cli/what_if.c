/* SPDX-License-Identifier: MIT */
/* gputap what-if: predicts how long a run would take if some of its calls and GPU activities were
 * faster, slower or gone. Finds the dependencies of the run (analysis/depend/depend.h) and replays
 * them (analysis/depend/replay.h). */
#include "cli/what_if.h"

#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/filter_nothing.h"
#include "analysis/tables/retained.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/ui.h"
#include "cli/where.h"
#include "util/error.h"

enum { TOP_DEFAULT = 10 };

static void print_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap what-if%s FILE... [options]\n"
	       "Predict how long a run would take after a change, by replaying its calls and\n"
	       "GPU activities in their order of dependence. Without a change, show the critical\n"
	       "path and what would help most. Several FILEs are runs of the same program.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap what-if prog.gputap\n"
	       "  gputap what-if prog.gputap --scale 'name=gemm*' 0.5    twice as fast\n"
	       "  gputap what-if prog.gputap --scale name=cudaMalloc 0   without these calls\n"
	       "  gputap what-if prog.gputap --bandwidth 2 --launch-cost 0.5\n"
	       "\n"
	       "%sOptions%s\n"
	       "      --scale EXPR FACTOR   multiply the time of calls and GPU activities that\n"
	       "                            match EXPR, as in 'gputap report --where'; 0: they\n"
	       "                            are gone, with the calls that launch only them\n"
	       "      --bandwidth X         multiply the bandwidth of all copies by X\n"
	       "      --launch-cost FACTOR  multiply the time of all calls that launch kernels\n"
	       "      --overlap EXPR        activities that match EXPR, or those of queue EXPR\n"
	       "                            if it is a number, neither wait for others nor\n"
	       "                            make them wait\n"
	       "      --per RANGE           show the mean length of the program's ranges of this\n"
	       "                            name (wildcards are allowed), not that of the run\n"
	       "  -n, --top N               print at most N rows per table; 0: all; default: 10\n"
	       "      --mangled             show names of C++ kernels as recorded\n"
	       "      --json                print JSON for scripts\n"
	       "  -h, --help\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

/* Options ---------------------------------------------------------------------------- */

static int parse_factor(const char *option, const char *word, bool may_be_0, double *out)
{
	char *end;
	double factor = strtod(word, &end);

	if (end == word || *end || !isfinite(factor) || factor < 0 || factor > 1e6)
		return ui_fail(GT_EXIT_USAGE, "%s needs a factor from 0 to 1,000,000, not '%s'",
			       option, word);
	if (factor == 0 && !may_be_0)
		return ui_fail(GT_EXIT_USAGE, "%s needs a factor above 0", option);
	*out = factor;
	return GT_EXIT_OK;
}

static struct what_if_change *add_change(struct what_if *w, enum what_if_kind kind)
{
	struct what_if_change *list =
		realloc(w->changes, (w->change_count + 1) * sizeof *w->changes);

	if (!list)
		memory_ran_out();
	w->changes = list;
	list[w->change_count] = (struct what_if_change){.kind = kind, .factor = 1};
	return &list[w->change_count++];
}

/* --scale takes two words: the expression in optarg, and the factor after it. */
static int parse_scale(struct what_if *w, int argc, char **argv)
{
	struct what_if_change *change = add_change(w, WHAT_IF_SCALE);

	change->where = optarg;
	if (optind >= argc)
		return ui_fail(GT_EXIT_USAGE, "--scale needs an expression and a factor: --scale "
					      "'name=gemm*' 0.5");
	return parse_factor("--scale", argv[optind++], true, &change->factor);
}

static int parse_overlap(struct what_if *w)
{
	struct what_if_change *change = add_change(w, WHAT_IF_OVERLAP);

	change->where = optarg;
	if (*optarg && strspn(optarg, "0123456789") == strlen(optarg)) {
		if (asprintf(&change->owned, "queue=%s", optarg) < 0)
			memory_ran_out();
		change->where = change->owned;
	}
	return GT_EXIT_OK;
}

static int parse_top(const char *word, size_t *top)
{
	char *end;
	long n = strtol(word, &end, 10);

	if (end == word || *end || n < 0)
		return ui_fail(GT_EXIT_USAGE, "--top needs a number of rows, not '%s'", word);
	*top = (size_t)n;
	return GT_EXIT_OK;
}

/* Return the exit code, or -1 to continue. */
static int parse_options(struct what_if *w, int argc, char **argv)
{
	static const struct option options[] = {
		{"scale", required_argument, NULL, 's'},
		{"bandwidth", required_argument, NULL, 'B'},
		{"launch-cost", required_argument, NULL, 'L'},
		{"overlap", required_argument, NULL, 'O'},
		{"per", required_argument, NULL, 'P'},
		{"top", required_argument, NULL, 'n'},
		{"mangled", no_argument, NULL, 'M'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, code = GT_EXIT_OK;

	optind = 1;
	opterr = 0;
	while (!code && (c = getopt_long(argc, argv, ":n:h", options, NULL)) != -1) {
		switch (c) {
		case 's': code = parse_scale(w, argc, argv); break;
		case 'B':
			code = parse_factor("--bandwidth", optarg, false,
					    &add_change(w, WHAT_IF_BANDWIDTH)->factor);
			break;
		case 'L':
			code = parse_factor("--launch-cost", optarg, true,
					    &add_change(w, WHAT_IF_LAUNCH_COST)->factor);
			break;
		case 'O': code = parse_overlap(w); break;
		case 'P': code = ui_take_once("--per", optarg, &w->range); break;
		case 'n': code = parse_top(optarg, &w->top); break;
		case 'M': w->mangled = true; break;
		case 'j': w->json = true; break;
		case 'h': print_help(); return GT_EXIT_OK;
		default: return ui_bad_option("what-if", argv, options);
		}
	}
	if (code)
		return code;
	if (optind == argc)
		return ui_fail(GT_EXIT_USAGE, "which capture? Example: gputap what-if prog.gputap "
					      "--scale 'name=gemm*' 0.5");
	return -1;
}

/* Changes ---------------------------------------------------------------------------- */

static int create_filters(struct what_if *w)
{
	struct filter_error error;

	for (size_t i = 0; i < w->change_count; i++) {
		struct what_if_change *c = &w->changes[i];

		c->summary = (struct summary){.mangled = w->mangled, .leaves_capture = true};
		c->filter = c->where ? filter_create(c->where, summary_texts, &c->summary, &error)
				     : NULL;
		c->summary.filter = c->filter;
		if (c->where && !c->filter)
			return where_print_error_of(what_if_option(c->kind), c->where, &error);
	}
	return GT_EXIT_OK;
}

static void destroy_filters(struct what_if *w)
{
	for (size_t i = 0; i < w->change_count; i++) {
		struct what_if_change *c = &w->changes[i];

		if (c->reading)
			summary_end_filter(c->reading);
		c->reading = NULL;
		if (c->filter) {
			summary_fini(&c->summary);
			filter_destroy(c->filter);
		}
		c->filter = NULL;
	}
}

static int begin_filters(struct what_if *w, const struct gt_capture *capture)
{
	for (size_t i = 0; i < w->change_count; i++) {
		struct what_if_change *c = &w->changes[i];

		if (c->filter && !(c->reading = summary_begin_filter(&c->summary, capture)))
			return gt_error(-EIO, "cannot evaluate '%s'", c->where);
	}
	return 0;
}

static bool moves_bytes(enum gt_device_op op)
{
	return op == GT_DEVICE_READ || op == GT_DEVICE_WRITE || op == GT_DEVICE_COPY ||
	       op == GT_DEVICE_MIGRATE;
}

static bool launches(uint32_t op)
{
	const struct gt_operation_info *info = gt_operation(op);

	return info && info->kind == GT_KIND_LAUNCH;
}

static bool applies(struct what_if_change *c, const struct gt_item *item)
{
	const bool is_activity = item->kind == GT_RECORD_DEVICE;

	switch (c->kind) {
	case WHAT_IF_BANDWIDTH: return is_activity && moves_bytes(item->device_op);
	case WHAT_IF_LAUNCH_COST: return !is_activity && launches(item->op);
	default: return summary_wants(c->reading, item);
	}
}

static float scale(void *data, const struct gt_item *item, bool *frees)
{
	struct what_if *w = data;
	const bool is_activity = item->kind == GT_RECORD_DEVICE;
	double factor = 1;

	for (size_t i = 0; i < w->change_count; i++) {
		struct what_if_change *c = &w->changes[i];

		if (!applies(c, item) || (!is_activity && gt_mark_of(item->op)))
			continue;
		if (c->kind == WHAT_IF_OVERLAP) {
			*frees = is_activity;
			c->activities += is_activity;
			continue;
		}
		factor *= c->kind == WHAT_IF_BANDWIDTH ? 1 / c->factor : c->factor;
		*(is_activity ? &c->activities : &c->calls) += 1;
		if (item->end_ns > item->start_ns && item->start_ns)
			c->ns += item->end_ns - item->start_ns;
	}
	/* a product of many factors may be too large for a float */
	return factor < FLT_MAX ? (float)factor : FLT_MAX;
}

/* A change of nothing is a mistake: name it, and say why nothing matches. */
static int check_changes(struct what_if *w, const char *path)
{
	for (size_t i = 0; i < w->change_count; i++) {
		struct what_if_change *c = &w->changes[i];
		char why[FILTER_WHY_BYTES] = "";

		if (c->activities || (c->calls && c->kind != WHAT_IF_OVERLAP))
			continue;
		if (c->filter)
			filter_explain_nothing(c->filter, why);
		if (c->where)
			return ui_fail(GT_EXIT_FAILURE,
				       "%s '%s' matches no %sGPU activity in %s%s%s",
				       what_if_option(c->kind), c->where,
				       c->kind == WHAT_IF_OVERLAP ? "" : "call and no ", path,
				       *why ? ": " : "", why);
		return ui_fail(GT_EXIT_FAILURE, "%s: %s contains no %s", what_if_option(c->kind),
			       path,
			       c->kind == WHAT_IF_BANDWIDTH ? "copies"
							    : "calls that launch kernels");
	}
	return GT_EXIT_OK;
}

/* Runs ------------------------------------------------------------------------------- */

static int check_content(const struct depend *d, const char *path)
{
	if (!d->call_count)
		return ui_fail(GT_EXIT_FAILURE,
			       "%s contains no calls, so it is not known which call launched, or "
			       "waited for, which GPU activity: record with calls, as 'gputap run' "
			       "does by default",
			       path);
	if (!d->activity_count)
		ui_note("%s contains no GPU activities with known times, so no call waits for one: "
			"'gputap info' shows what was recorded",
			path);
	return GT_EXIT_OK;
}

static uint64_t replay_length(struct what_if *w, bool scales, enum replay_lags lags)
{
	const struct replay_change change = {.scales = scales,
					     .removed = LOOKUP_NONE,
					     .lags = lags};

	replay_run(&w->replay, &change);
	return w->replay.length;
}

static void order_range(struct what_if_run *run)
{
	if (run->low > run->predicted)
		run->low = run->predicted;
	if (run->high < run->predicted)
		run->high = run->predicted;
}

static uint64_t recorded_length(const struct depend *d)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->range_count; i++)
		sum += d->ranges[i].end - d->ranges[i].start;
	return d->range_count ? sum / d->range_count : d->end - d->start;
}

static void predict(struct what_if *w, struct what_if_run *run, bool is_first)
{
	const struct replay_change none = {.removed = LOOKUP_NONE};

	replay_init(&w->replay, &w->depend);
	run->recorded = recorded_length(&w->depend);
	run->low = replay_length(w, true, REPLAY_LOW);
	run->high = replay_length(w, true, REPLAY_HIGH);
	run->predicted = replay_length(w, true, REPLAY_USUAL);
	order_range(run);
	if (is_first) {
		w->after = replay_find_path(&w->replay);
		w->removal_count =
			replay_rank_removals(&w->replay, &none, w->removals, WHAT_IF_REMOVALS);
	}
	run->replayed = replay_length(w, false, REPLAY_USUAL);
	if (is_first)
		w->before = replay_find_path(&w->replay);
	replay_fini(&w->replay);
}

static int read_run(struct what_if *w, struct what_if_run *run, struct gt_capture *capture,
		    bool is_first)
{
	struct ui_progress progress;
	int code, status;

	code = create_filters(w);
	if (code)
		return code;
	w->depend = (struct depend){.capture = capture,
				    .mangled = w->mangled,
				    .range = w->range,
				    .progress = {ui_progress_report, &progress},
				    .scale = scale,
				    .scale_data = w};
	ui_progress_begin(&progress, "reading", 0);
	status = begin_filters(w, capture);
	status = status ? status : depend_read(&w->depend);
	ui_progress_end(&progress);
	if (status == -ENODATA) {
		gt_error_clear();
		code = check_content(&w->depend, run->path);
	} else {
		code = status ? ui_fail(GT_EXIT_FAILURE, "cannot replay %s", run->path)
			      : check_content(&w->depend, run->path);
	}
	if (!code)
		code = check_changes(w, run->path);
	if (!code && w->range && !w->depend.range_count)
		code = ui_fail(GT_EXIT_FAILURE,
			       "--per '%s' matches no range in %s: 'gputap report -t ranges' lists "
			       "the ranges",
			       w->range, run->path);
	if (!code)
		predict(w, run, is_first);
	destroy_filters(w);
	return code;
}

static int read_runs(struct what_if *w, char **paths, int count)
{
	bool is_whole = true;
	int code = GT_EXIT_OK;

	w->runs = allocate_list((size_t)count, sizeof *w->runs);
	/* the first capture is read last, because its details are printed */
	for (int i = count - 1; i >= 0 && !code; i--) {
		struct gt_capture *capture;

		w->runs[i].path = paths[i];
		if (!*paths[i])
			return inputs_report_empty();
		if (gt_capture_open(paths[i], &capture))
			return ui_fail(GT_EXIT_FAILURE, "%s", "");
		inputs_print_notes(capture);
		for (size_t k = 0; k < w->change_count; k++)
			w->changes[k].calls = w->changes[k].activities = w->changes[k].ns = 0;
		w->run_count++;
		w->is_part = retained_is_part(capture);
		code = read_run(w, &w->runs[i], capture, i == 0);
		is_whole &= gt_capture_is_whole(gt_capture_health(capture));
		if (!i && !code)
			what_if_print(w);
		depend_fini(&w->depend);
		gt_capture_close(capture);
	}
	if (!code && !is_whole)
		code = ui_fail(GT_EXIT_FAILURE, "a capture is damaged or incomplete: the "
						"prediction is that of its readable part");
	return code;
}

static int run_what_if(int argc, char **argv)
{
	struct what_if w = {.top = TOP_DEFAULT};
	int code = parse_options(&w, argc, argv);

	/* expressions are checked before a capture is read */
	if (code < 0)
		code = create_filters(&w);
	else
		goto out;
	destroy_filters(&w);
	if (!code)
		code = read_runs(&w, argv + optind, argc - optind);
out:
	for (size_t i = 0; i < w.change_count; i++)
		free(w.changes[i].owned);
	replay_path_fini(&w.before);
	replay_path_fini(&w.after);
	free(w.changes);
	free(w.runs);
	return code;
}

const struct gt_command gt_command_what_if = {
	"what-if", "predict the effect of faster kernels, copies and calls", run_what_if};
