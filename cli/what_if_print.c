/* SPDX-License-Identifier: MIT */
/* Prints the predictions of `gputap what-if`. */
#include <math.h>

#include "cli/grid.h"
#include "cli/ui.h"
#include "cli/what_if.h"
#include "config.h"

/* Removals that shorten the run by less are not printed. */
#define REMOVAL_LEAST 0.0005

const char *what_if_option(enum what_if_kind kind)
{
	static const char *const names[] = {
		[WHAT_IF_SCALE] = "--scale",
		[WHAT_IF_BANDWIDTH] = "--bandwidth",
		[WHAT_IF_LAUNCH_COST] = "--launch-cost",
		[WHAT_IF_OVERLAP] = "--overlap",
	};

	return names[kind];
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Grids ------------------------------------------------------------------------------ */

static const struct grid_column path_columns[] = {
	{"before_ns", "before", GRID_NS, GRID_ALWAYS, 0, false},
	{"before_share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"after_ns", "after", GRID_NS, GRID_ALWAYS, 0, false},
	{"after_share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"kind", "kind", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column recorded_columns[] = {
	{"before_ns", "time", GRID_NS, GRID_ALWAYS, 0, false},
	{"before_share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"after_ns", "after", GRID_NS, GRID_DATA, 0, false},
	{"after_share", "share", GRID_SHARE, GRID_DATA, 0, false},
	{"kind", "kind", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column removal_columns[] = {
	{"change", "change", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"length_ns", "length", GRID_NS, GRID_ALWAYS, 0, false},
	{"ns", "its time", GRID_NS, GRID_ALWAYS, 0, false},
	{"count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"kind", "kind", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const char *lag_text(enum depend_kind kind)
{
	switch (kind) {
	case DEPEND_LAUNCH: return "from a launching call to its activity";
	case DEPEND_STREAM: return "between activities of a queue";
	case DEPEND_EVENT: return "from an event to the activity that waits for it";
	case DEPEND_GRAPH: return "between nodes of a graph";
	case DEPEND_BUSY: return "between activities of two queues";
	default: return "other delays";
	}
}

static const char *kind_text(const struct depend *d, uint32_t class)
{
	const struct depend_class *c = &d->classes[class];

	switch ((enum depend_type)c->type) {
	case DEPEND_IS_HOST: return "host";
	case DEPEND_IS_CALL: return "call";
	default: return gt_device_op_name((enum gt_device_op)c->kind);
	}
}

static uint64_t find_share(const struct replay_path *p, const struct replay_share *like)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->shares[i].class == like->class && p->shares[i].kind == like->kind)
			return p->shares[i].ns;
	return 0;
}

static void add_path_row(struct grid *g, const struct what_if *w, const struct replay_share *s,
			 uint64_t before, uint64_t after)
{
	const struct depend *d = &w->depend;
	const bool is_lag = s->class == LOOKUP_NONE;
	struct grid_cell *cell = grid_row(g);

	cell[0] = cell_count(before);
	cell[1] = cell_real(ratio(before, w->runs[0].replayed));
	cell[2] = cell_count(after);
	cell[3] = cell_real(ratio(after, w->runs[0].predicted));
	cell[4] = cell_text(is_lag ? "delay" : kind_text(d, s->class));
	cell[5] = cell_text(is_lag ? lag_text(s->kind) : depend_name(d, s->class));
}

static void make_path(struct grid *g, const struct what_if *w)
{
	grid_init(g, "critical_path", w->change_count ? path_columns : recorded_columns,
		  sizeof path_columns / sizeof *path_columns);
	g->heading = "Critical path";
	for (size_t i = 0; i < w->before.count; i++)
		add_path_row(g, w, &w->before.shares[i], w->before.shares[i].ns,
			     find_share(&w->after, &w->before.shares[i]));
	for (size_t i = 0; i < w->after.count; i++)
		if (!find_share(&w->before, &w->after.shares[i]))
			add_path_row(g, w, &w->after.shares[i], 0, w->after.shares[i].ns);
}

static void make_removals(struct grid *g, const struct what_if *w)
{
	const struct depend *d = &w->depend;

	grid_init(g, "removals", removal_columns, sizeof removal_columns / sizeof *removal_columns);
	g->heading = w->range ? "Length of a range without" : "Length of the run without";
	g->none = "nothing whose removal alone would shorten the run";
	for (size_t i = 0; i < w->removal_count; i++) {
		const struct replay_candidate *r = &w->removals[i];
		struct grid_cell *cell;

		if ((double)r->length > (1 - REMOVAL_LEAST) * (double)w->runs[0].replayed)
			continue;
		cell = grid_row(g);

		cell[0] = cell_real(ratio(r->length, w->runs[0].replayed) - 1);
		cell[1] = cell_count(r->length);
		cell[2] = cell_count(r->ns);
		cell[3] = cell_count(r->count);
		cell[4] = cell_text(kind_text(d, r->class));
		cell[5] = cell_text(depend_name(d, r->class));
	}
}

/* Error ------------------------------------------------------------------------------ */

/* Assumed difference between runs if there is one run, as in `gputap diff`. */
#define USUAL_SPREAD 0.02

struct error {
	double low, high;      /* range of the prediction in ns */
	double replay, spread; /* errors, relative to the length */
};

/* The range of the prediction: that of the estimated lags in all runs, plus the error of the replay
 * without a change. A single run does not show by how much runs differ. */
static struct error find_error(const struct what_if *w)
{
	const struct what_if_run *run = &w->runs[0];
	struct error e = {.low = (double)run->low, .high = (double)run->high};
	double least = (double)run->recorded, most = least, margin;

	e.replay = fabs((double)run->replayed / (double)run->recorded - 1);
	for (size_t i = 1; i < w->run_count; i++) {
		const struct what_if_run *other = &w->runs[i];

		e.low = fmin(e.low, (double)other->low);
		e.high = fmax(e.high, (double)other->high);
		least = fmin(least, (double)other->recorded);
		most = fmax(most, (double)other->recorded);
	}
	e.spread = w->run_count == 1 ? USUAL_SPREAD : most / least - 1;
	margin = (e.replay + (w->run_count == 1 ? e.spread : 0)) * (double)run->predicted;
	e.low = e.low > margin ? e.low - margin : 0;
	e.high = fmin(e.high + margin, (double)INT64_MAX); /* factors may be huge */
	return e;
}

/* Text ------------------------------------------------------------------------------- */

static void print_change(const struct what_if_change *c)
{
	const char *all = c->kind == WHAT_IF_BANDWIDTH ? "copies" : "calls that launch kernels";

	if (c->kind == WHAT_IF_OVERLAP)
		ui_print_line(stdout, "Change", NULL, "%s GPU activities overlap all others: %s",
			      show_count(c->activities), c->where);
	else
		ui_print_line(stdout, "Change", NULL,
			      "time x %.4g of %s calls and %s GPU activities (%s in total): %s",
			      c->kind == WHAT_IF_BANDWIDTH ? 1 / c->factor : c->factor,
			      show_count(c->calls), show_count(c->activities), show_duration(c->ns),
			      c->where ? c->where : all);
}

static void print_notes(const struct what_if *w)
{
	const struct depend *d = &w->depend;

	if (d->unlinked)
		ui_print_line(stdout, "", NULL,
			      "%s of %s GPU activities keep their time or their place in the "
			      "queue, because the calls that launched them were not recorded",
			      show_count(d->unlinked), show_count(d->activity_count));
	if (w->is_part)
		ui_print_line(stdout, "", NULL,
			      "the capture contains only a part of the run's records, so some "
			      "dependencies are missing");
}

static void print_head(const struct what_if *w)
{
	const struct what_if_run *run = &w->runs[0];
	const struct error e = find_error(w);
	const double change = (double)run->predicted / (double)run->replayed - 1;

	if (w->range)
		ui_print_line(stdout, "Recorded", NULL, "%s, the mean of %s ranges '%s'",
			      show_duration(run->recorded), show_count(w->depend.range_count),
			      w->range);
	else
		ui_print_line(stdout, "Recorded", NULL,
			      "%s from the first call to the end of the last call or GPU activity",
			      show_duration(run->recorded));
	ui_print_line(stdout, "Replayed", NULL, "%s without a change (%+.1f%%)",
		      show_duration(run->replayed),
		      100 * ((double)run->replayed / (double)run->recorded - 1));
	if (!w->change_count)
		return;
	for (size_t i = 0; i < w->change_count; i++)
		print_change(&w->changes[i]);
	ui_print_line(stdout, "Expected", NULL, "%s (%s to %s): %.1f%% %s, %.2f times as fast",
		      show_duration(run->predicted), show_duration((uint64_t)e.low),
		      show_duration((uint64_t)e.high), 100 * fabs(change),
		      change > 0 ? "longer" : "shorter",
		      (double)run->replayed / (double)run->predicted);
	for (size_t i = 1; i < w->run_count; i++)
		ui_print_line(stdout, "", NULL, "%s: %s, predicted %s", w->runs[i].path,
			      show_duration(w->runs[i].recorded),
			      show_duration(w->runs[i].predicted));
	if (w->run_count == 1)
		ui_print_line(
			stdout, "", NULL,
			"the range assumes that runs differ by %.0f%%; with several captures of "
			"the program, it uses their differences",
			100 * USUAL_SPREAD);
	else
		ui_print_line(stdout, "", NULL, "the %s runs differ by %.1f%%",
			      show_count(w->run_count), 100 * e.spread);
}

static void print_text(const struct what_if *w)
{
	struct grid path, removals;

	print_head(w);
	print_notes(w);
	make_path(&path, w);
	make_removals(&removals, w);
	putchar('\n');
	grid_print_text(&path, stdout, w->top);
	putchar('\n');
	grid_print_text(&removals, stdout, w->top);
	grid_fini(&path);
	grid_fini(&removals);
}

/* JSON ------------------------------------------------------------------------------- */

static void print_json_changes(struct json *j, const struct what_if *w)
{
	json_array(j, "changes");
	for (size_t i = 0; i < w->change_count; i++) {
		const struct what_if_change *c = &w->changes[i];

		json_object(j, NULL);
		json_string(j, "option", what_if_option(c->kind));
		json_string(j, "where", c->where);
		json_number(j, "factor", c->factor);
		json_count(j, "calls", c->calls);
		json_count(j, "activities", c->activities);
		json_count(j, "ns", c->ns);
		json_close(j);
	}
	json_close(j);
}

static void print_json(const struct what_if *w)
{
	const struct what_if_run *run = &w->runs[0];
	const struct depend *d = &w->depend;
	const struct error e = find_error(w);
	struct json j = {.out = stdout};
	struct grid path, removals;

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-what-if");
	json_count(&j, "version", 1);
	json_string(&j, "gputap", GPUTAP_VERSION);
	json_string(&j, "path", run->path);
	json_string(&j, "per", w->range);
	json_count(&j, "ranges", d->range_count);
	json_count(&j, "recorded_ns", run->recorded);
	json_count(&j, "replayed_ns", run->replayed);
	json_count(&j, "predicted_ns", run->predicted);
	json_count(&j, "predicted_low_ns", (uint64_t)e.low);
	json_count(&j, "predicted_high_ns", (uint64_t)e.high);
	json_number(&j, "replay_error", e.replay);
	if (w->run_count > 1)
		json_number(&j, "spread", e.spread);
	else
		json_null(&j, "spread");
	print_json_changes(&j, w);
	json_array(&j, "runs");
	for (size_t i = 0; i < w->run_count; i++) {
		json_object(&j, NULL);
		json_string(&j, "path", w->runs[i].path);
		json_count(&j, "recorded_ns", w->runs[i].recorded);
		json_count(&j, "replayed_ns", w->runs[i].replayed);
		json_count(&j, "predicted_ns", w->runs[i].predicted);
		json_close(&j);
	}
	json_close(&j);
	json_count(&j, "activities", d->activity_count);
	json_count(&j, "calls", d->call_count);
	json_count(&j, "dependencies", d->edge_count);
	json_count(&j, "contradicted", d->contradicted);
	json_count(&j, "unlinked", d->unlinked);
	json_count(&j, "untimed", d->untimed);
	json_bool(&j, "is_part", w->is_part);
	make_path(&path, w);
	make_removals(&removals, w);
	grid_print_json(&path, &j, w->top);
	grid_print_json(&removals, &j, w->top);
	grid_fini(&path);
	grid_fini(&removals);
	json_close(&j);
}

void what_if_print(const struct what_if *w)
{
	if (w->json)
		print_json(w);
	else
		print_text(w);
}
