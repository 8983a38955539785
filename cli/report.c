/* SPDX-License-Identifier: MIT */
/* gputap report: parses options, reads the files in one pass, and prints the tables as text, CSV or
 * JSON. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/query/filter_nothing.h"
#include "analysis/symbols/stack_lines.h"
#include "analysis/tables/losses.h"
#include "analysis/tables/stored_summary.h"
#include "cli/command.h"
#include "cli/hung_jobs.h"
#include "cli/inputs.h"
#include "cli/overview.h"
#include "cli/report.h"
#include "cli/report_head.h"
#include "cli/report_html.h"
#include "cli/report_idle.h"
#include "cli/report_timeline.h"
#include "cli/ui.h"
#include "cli/where.h"
#include "config.h"
#include "export/export.h"
#include "util/error.h"

static const char *const keys[] = {"name",  "device", "process", "thread", "queue",
				   "range", "rank",   "host",    NULL};

enum { TOP_DEFAULT = -1, PAGE_NAME_ROOM = 90 };

struct report_options {
	const char *where, *sort, *output;
	const char *single_path; /* NULL: several captures */
	/* largest number of rows in a table, and of lines in a stack; 0: no limit */
	long top, frames;
	unsigned by;     /* bits such as SUMMARY_NAME; 0: --by is absent */
	uint32_t tables; /* one bit for each enum report_table; 0: no table is named */
	bool reverse, csv, json, mangled, timeline, html, force, share;
	bool all, full_names;
	/* read_records: ignore a stored summary; store: store the summary in the capture */
	bool read_records, store;
	bool implied;    /* true if the tables were chosen because they support `by` */
	uint32_t others; /* tables that support `by`, but are not shown because they are too long */
};

static void print_report_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap report%s [options] FILE...\n"
	       "Show where the time went: busy and idle GPUs, kernels, calls, waits, failures.\n"
	       "Several files are added up.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap report prog.gputap                   a summary on one screen\n"
	       "  gputap report prog.gputap --all             every table\n"
	       "  gputap report prog.gputap -t kernels -n 5   the kernels that took longest\n"
	       "  gputap report prog.gputap --by thread       a row for each calling thread\n"
	       "  gputap report prog.gputap --where failed    only failures\n"
	       "  gputap report prog.gputap --where 'name~^conv and duration>1ms'\n"
	       "  gputap report prog.gputap --where 'at=5s..6s and range=step*'\n"
	       "  gputap report prog.gputap --timeline        devices and threads over time\n"
	       "  gputap report prog.gputap -o prog.html      tables and timeline on one page\n"
	       "  gputap report prog.gputap --json | jq '.kernels[0]'\n"
	       "  gputap report rank*.gputap --by rank        compare the ranks of a job\n"
	       "  gputap report rank*.gputap --table kernels --csv > kernels.csv\n"
	       "\n"
	       "%sOptions%s\n"
	       "  -a, --all             print every table instead of one screen\n"
	       "  -t, --table NAME,...  print only these tables: ranks rank_spread rank_waits\n"
	       "                        operations ranges gpu_by_range failures kernels\n"
	       "                        copies other memory graphs devices idle gaps\n"
	       "                        patterns latency stacks host_samples processes threads\n"
	       "                        open loss code_objects kernel_symbols\n"
	       "  -s, --sort COLUMN     sort rows by a title (mean) or a key (mean_ns); largest\n"
	       "                        numbers first\n"
	       "  -r, --reverse         reverse the order\n"
	       "  -n, --top N           print at most N rows per table; 0: all\n"
	       "      --frames N        print at most N functions per call stack; 0: all;\n"
	       "                        default: 12\n"
	       "  -b, --by KEY,...      print a row for each: name device process thread queue\n"
	       "                        rank host; range: GPU time by innermost range.\n"
	       "                        Tables that do not support a key are omitted; calls and\n"
	       "                        ranges have no device or queue\n"
	       "  -w, --where EXPR      use only records that match EXPR, see below\n"
	       "      --json            print all tables as JSON; keys never change\n"
	       "      --csv             print CSV; with several tables, the first column names\n"
	       "                        the table\n"
	       "      --html            write tables and timeline as one page for a browser\n"
	       "  -o, --output FILE     write to FILE, in the format of its extension (.txt,\n"
	       "                        .json, .csv, .html)\n"
	       "  -f, --force           replace FILE if it exists\n"
	       "      --share           let others read FILE, as the umask allows\n"
	       "      --timeline        show a timeline instead of tables: a row per device,\n"
	       "                        queue and thread, and ranges\n"
	       "      --full-names      do not fold long names of kernels\n"
	       "      --store-summary   store the sums of all records in FILE, so that later\n"
	       "                        reports need not read the records\n"
	       "      --read-records    read the records even if FILE contains their sums\n"
	       "      --mangled         show C++ kernel names as recorded; EXPR matches these\n"
	       "  -h, --help\n"
	       "\n"
	       "%sExpressions%s\n"
	       "  name=clEnqueue*  name~'^cl(Wait|Finish)'  name!=x  name!~x\n"
	       "                                            = takes * ? [...], ~ a regex\n"
	       "  domain=opencl  kind=memcpy  kind=kernel   kind of call or of GPU activity\n"
	       "  device=0  device=*H100*  queue=2  process=1234  process=python*\n"
	       "  thread=worker*  duration>10us  duration<=1.5ms  bytes>=1MiB  failed\n"
	       "  range=step  range=aten::*                 in a range or operator of that name\n"
	       "  range=step#3  range=step#3..5             in the third step of each process\n"
	       "  at=5s..6s  at>=90s  at>=step#3+10ms       start time, from the session's start\n"
	       "  at=step#3  at<step#5                      or relative to a range\n"
	       "  rank=0..7  host=node1*                    rank and host of the process\n"
	       "  Join them with and, or, not and ( ). A condition on a property that a record\n"
	       "  does not have (the device of a call) is false.\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset, c->bold, c->reset);
}

/* Options -------------------------------------------------------------------------- */

static const struct option long_options[] = {
	{"table", required_argument, NULL, 't'},
	{"sort", required_argument, NULL, 's'},
	{"reverse", no_argument, NULL, 'r'},
	{"top", required_argument, NULL, 'n'},
	{"frames", required_argument, NULL, 'N'},
	{"by", required_argument, NULL, 'b'},
	{"where", required_argument, NULL, 'w'},
	{"json", no_argument, NULL, 'J'},
	{"csv", no_argument, NULL, 'C'},
	{"timeline", no_argument, NULL, 'T'},
	{"html", no_argument, NULL, 'H'},
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"share", no_argument, NULL, 'P'},
	{"mangled", no_argument, NULL, 'M'},
	{"all", no_argument, NULL, 'a'},
	{"full-names", no_argument, NULL, 'F'},
	{"store-summary", no_argument, NULL, 'S'},
	{"read-records", no_argument, NULL, 'R'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool is_exports(const char *output)
{
	for (size_t i = 0; gt_exporters[i]; i++)
		for (const char *const *e = gt_exporters[i]->extensions; *e; e++)
			if (text_ends_with(output, *e) && strcmp(*e, ".csv") != 0 &&
			    strcmp(*e, ".json") != 0) /* also for --csv and --json */
				return true;
	return text_ends_with(output, ".gputap");
}

static int check_output(struct report_options *o)
{
	const bool any = o->json || o->csv || o->html;

	if (o->output && !strcmp(o->output, "-"))
		o->output = NULL; /* use the standard output */
	if (o->output && text_ends_with(o->output, ".html"))
		o->html = true;
	else if (o->output && text_ends_with(o->output, ".json"))
		o->json = true;
	else if (o->output && text_ends_with(o->output, ".csv"))
		o->csv = true;
	else if (o->output && !any && is_exports(o->output))
		return ui_fail(GT_EXIT_USAGE, "use 'gputap export' to write %s",
			       show_shell_word(o->output));
	else if (o->output && !any && !text_ends_with(o->output, ".txt"))
		return ui_fail(GT_EXIT_USAGE,
			       "-o %s: no format has this extension; choose .txt, .json, .csv or "
			       ".html",
			       show_shell_word(o->output));
	if (o->json && o->csv)
		return ui_fail(GT_EXIT_USAGE, "--json and --csv: choose one");
	if (o->html && (o->json || o->csv || o->timeline))
		return ui_fail(GT_EXIT_USAGE, "--html and %s: choose one",
			       o->json  ? "--json"
			       : o->csv ? "--csv"
					: "--timeline");
	if (o->html && !o->output && isatty(STDOUT_FILENO))
		return ui_fail(GT_EXIT_USAGE,
			       "a page cannot be printed on a terminal: use -o prog.html");
	return GT_EXIT_OK;
}

/* Return the exit code, or -1 to continue. */
static int parse_options(int argc, char **argv, struct report_options *o)
{
	char *end;
	int c, rc;

	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":t:s:rn:b:w:o:fah", long_options, NULL)) != -1) {
		rc = GT_EXIT_OK;
		switch (c) {
		case 't':
			rc = ui_parse_list("table", optarg, report_table_names, &o->tables);
			break;
		case 'b': rc = ui_parse_list("key", optarg, keys, &o->by); break;
		case 's': rc = ui_take_once("--sort", optarg, &o->sort); break;
		case 'w': rc = ui_take_once("--where", optarg, &o->where); break;
		case 'r': o->reverse = true; break;
		case 'J': o->json = true; break;
		case 'C': o->csv = true; break;
		case 'a': o->all = true; break;
		case 'F': o->full_names = true; break;
		case 'S': o->store = true; break;
		case 'R': o->read_records = true; break;
		case 'T': o->timeline = true; break;
		case 'H': o->html = true; break;
		case 'o': rc = ui_take_once("-o", optarg, &o->output); break;
		case 'f': o->force = true; break;
		case 'P': o->share = true; break;
		case 'M': o->mangled = true; break;
		case 'n':
			o->top = strtol(optarg, &end, 10);
			if (end == optarg || *end || o->top < 0)
				return ui_fail(GT_EXIT_USAGE,
					       "--top needs a number of rows, not '%s'", optarg);
			break;
		case 'N':
			o->frames = strtol(optarg, &end, 10);
			if (end == optarg || *end || o->frames < 0)
				return ui_fail(GT_EXIT_USAGE,
					       "--frames needs a number of functions, not '%s'",
					       optarg);
			break;
		case 'h': print_report_help(); return GT_EXIT_OK;
		default: return ui_bad_option("report", argv, long_options);
		}
		if (rc)
			return rc;
	}
	if (o->all && o->tables)
		return ui_fail(GT_EXIT_USAGE, "--all and --table: choose one");
	rc = check_output(o);
	if (rc)
		return rc;
	if (o->timeline &&
	    (o->tables || o->by || o->sort || o->reverse || o->csv || o->top != TOP_DEFAULT))
		return ui_fail(GT_EXIT_USAGE, "--timeline replaces tables: combine it with "
					      "--where, --json and --mangled");
	if (o->store && (o->where || o->by || o->mangled || o->timeline || optind + 1 < argc))
		return ui_fail(GT_EXIT_USAGE, "--store-summary stores the sums of one whole "
					      "capture: omit --where, --by, --mangled, "
					      "--timeline and further files");
	if (optind == argc) {
		ui_fail(GT_EXIT_USAGE, "no capture given: name a file that 'gputap run' wrote");
		fprintf(stderr, "  gputap run -o prog.gputap ./prog ARGS\n"
				"  gputap report prog.gputap\n");
		return GT_EXIT_USAGE;
	}
	return -1;
}

enum {
	KEYS_PLACE = SUMMARY_RANK | SUMMARY_HOST,
	KEYS_CALLS = SUMMARY_NAME | SUMMARY_PROCESS | SUMMARY_THREAD | KEYS_PLACE,
	KEYS_ALL = KEYS_CALLS | SUMMARY_DEVICE | SUMMARY_QUEUE
};

/* Keys by which the rows of each table can be split; 0: none. */
static const unsigned keys_of_tables[REPORT_TABLE_COUNT] = {
	[REPORT_RANKS] = KEYS_PLACE,
	[REPORT_RANK_SPREAD] = KEYS_PLACE,
	[REPORT_RANK_WAITS] = KEYS_PLACE,
	[REPORT_OPERATIONS] = KEYS_CALLS,
	[REPORT_RANGES] = KEYS_CALLS,
	[REPORT_KERNELS] = KEYS_ALL,
	[REPORT_COPIES] = KEYS_ALL,
	[REPORT_OTHER] = KEYS_ALL,
	[REPORT_DEVICES] = KEYS_ALL,
	[REPORT_GAPS] = KEYS_ALL,
	[REPORT_IDLE] = KEYS_ALL,
	[REPORT_LATENCY] = KEYS_ALL,
	[REPORT_GPU_BY_RANGE] = SUMMARY_OPERATOR,
};

static int refuse_key(enum report_table table, unsigned by)
{
	const char *known[sizeof keys / sizeof *keys];
	unsigned n = 0, wrong = 0;

	for (unsigned k = 0; keys[k]; k++)
		if (keys_of_tables[table] >> k & 1)
			known[n++] = keys[k];
	known[n] = NULL;
	while (!(by & ~keys_of_tables[table] & 1u << wrong))
		wrong++;
	if (!n)
		return ui_fail(GT_EXIT_USAGE, "--by %s: rows of table %s cannot be split",
			       keys[wrong], report_table_names[table]);
	ui_fail(GT_EXIT_USAGE, "--by %s: table %s does not support it", keys[wrong],
		report_table_names[table]);
	ui_list_names("supported:", known);
	return GT_EXIT_USAGE;
}

/* Choose tables. Named tables must support each key. If no tables are named, all tables that
 * support the keys are shown. */
static int choose_tables(struct report_options *o)
{
	uint32_t knowing = 0;

	if (!o->by)
		return GT_EXIT_OK;
	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++) {
		if (!(o->by & ~keys_of_tables[t]))
			knowing |= 1u << t;
		else if (o->tables >> t & 1)
			return refuse_key((enum report_table)t, o->by);
	}
	if (!o->tables) {
		o->tables = knowing;
		o->implied = true;
	}
	return GT_EXIT_OK;
}

static void choose_keys(struct summary *s, unsigned by)
{
	const unsigned of_calls = KEYS_CALLS;

	by &= ~(unsigned)SUMMARY_OPERATOR;
	s->place_keys = by & KEYS_PLACE;
	s->keys[SUMMARY_CALLS] = s->keys[SUMMARY_RANGES] =
		by & of_calls ? by & of_calls : SUMMARY_NAME;
	s->keys[SUMMARY_KERNELS] = by ? by : SUMMARY_NAME | SUMMARY_DEVICE;
	s->keys[SUMMARY_COPIES] = by ? by : SUMMARY_NAME | SUMMARY_DEVICE;
	s->keys[SUMMARY_OTHER] = by ? by & ~(unsigned)SUMMARY_NAME : SUMMARY_DEVICE;
	s->track_keys = by & ~(unsigned)SUMMARY_DEVICE;
}

/* Text ------------------------------------------------------------------------------- */

static bool wants_table(const struct report_options *o, enum report_table table)
{
	return !o->tables || o->tables >> table & 1;
}

static void sort_as_asked(struct grid *g, const struct report_options *o)
{
	int column = o->sort ? grid_column(g, o->sort) : -1;

	if (column >= 0)
		grid_sort(g, (unsigned)column, o->reverse);
	else if (o->reverse && !o->sort && g->column_count)
		grid_sort(g, 0, true);
}

static size_t rows_of(const struct grid *g, const struct report_options *o)
{
	if (o->top != TOP_DEFAULT)
		return (size_t)o->top;
	return o->json || o->csv ? 0 : g->usual_top;
}

static void print_operations(const struct summary *s, const struct report_options *o, FILE *out)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
		uint64_t calls = 0, failed = 0, refused = 0, ns = 0;
		struct grid g;
		for (uint32_t i = 0; i < s->groups[SUMMARY_CALLS].count; i++) {
			const struct summary_group *row = &s->groups[SUMMARY_CALLS].rows[i];
			if (row->domain != d)
				continue;
			calls += row->count;
			failed += row->failed;
			refused += row->refused;
			ns += summary_self_ns(row);
		}
		if (!calls)
			continue;
		report_table(&g, REPORT_OPERATIONS, s, (enum gt_domain)d);
		g.heading = grid_keep(&g, "Operations of %s: %s call%s, %s in %s%s%s%s%s%s%s",
				      gt_domain_name((enum gt_domain)d), show_count(calls),
				      calls == 1 ? "" : "s", show_duration(ns),
				      calls == 1 ? "it" : "them", failed ? ", " : "",
				      failed ? show_count(failed) : "", failed ? " failed" : "",
				      refused ? ", " : "", refused ? show_count(refused) : "",
				      refused ? " refused" : "");
		sort_as_asked(&g, o);
		fputc('\n', out);
		grid_print_text(&g, out, rows_of(&g, o));
		grid_fini(&g);
	}
}

/* Clear columns about calls that were not requested, because the values are unknown, not 0. */
static void clear_calls(struct grid *g)
{
	static const char *const keys_of_calls[] = {"calls", "call_ns", "call_share", "wait_ns"};

	for (unsigned k = 0; k < sizeof keys_of_calls / sizeof *keys_of_calls; k++) {
		int column = grid_column(g, keys_of_calls[k]);

		for (size_t r = 0; column >= 0 && r < g->row_count; r++)
			g->cells[r * g->column_count + (unsigned)column] = cell_none();
	}
}

static void print_others(const struct report_options *o, FILE *out)
{
	char names[256] = "";

	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++)
		if (o->others >> t & 1)
			snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
				 *names ? "," : "", report_table_names[t]);
	if (!*names)
		return;
	fprintf(out, "\n%s", ui_colors(out)->dim);
	ui_wrapf(out, 0, 2, "More tables that can be split the same way: -t %s", names);
	fprintf(out, "%s\n", ui_colors(out)->reset);
}

static bool has_percentiles(const struct grid *g)
{
	for (unsigned c = 0; c < g->column_count; c++)
		if (g->row_count && strstr(g->columns[c].key, "p50_ns"))
			return true;
	return false;
}

static void print_text(const struct summary *s, const struct report_options *o, FILE *out)
{
	bool calls_asked, activity_asked, percentiles = false;

	report_was_asked(s, &calls_asked, &activity_asked);
	report_head_print(s, o->where, o->by, out);
	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++) {
		struct grid g;
		bool named = o->tables >> t & 1 && !o->implied;
		if (!wants_table(o, (enum report_table)t))
			continue;
		if (t == REPORT_OPERATIONS && s->groups[SUMMARY_CALLS].count) {
			print_operations(s, o, out);
			percentiles = true;
			continue;
		}
		report_table(&g, (enum report_table)t, s, GT_DOMAIN_NONE);
		if (!calls_asked && (t == REPORT_PROCESSES || t == REPORT_THREADS))
			clear_calls(&g);
		percentiles |= has_percentiles(&g);
		if (g.row_count || named) {
			sort_as_asked(&g, o);
			fputc('\n', out);
			grid_print_text(&g, out, rows_of(&g, o));
		}
		grid_fini(&g);
	}
	print_others(o, out);
	if (percentiles && !o->others)
		fprintf(out, "\nPercentiles are exact for up to %d values, else within 1.6%%.\n",
			HISTOGRAM_EXACT);
}

/* CSV and JSON ----------------------------------------------------------------------- */

static void print_csv(const struct summary *s, const struct report_options *o, FILE *out)
{
	bool several = !o->tables || (o->tables & (o->tables - 1)), first = true;

	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++) {
		struct grid g;
		if (!wants_table(o, (enum report_table)t))
			continue;
		report_table(&g, (enum report_table)t, s, GT_DOMAIN_NONE);
		sort_as_asked(&g, o);
		if (!first)
			fputc('\n', out);
		first = false;
		grid_print_csv(&g, out, rows_of(&g, o), several);
		grid_fini(&g);
	}
}

static void print_json(const struct summary *s, const struct report_options *o, FILE *out)
{
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-report");
	json_count(&j, "version", 1);
	json_string(&j, "gputap", GPUTAP_VERSION);
	json_array(&j, "files");
	for (uint32_t i = 0; i < s->file_count; i++) {
		const struct summary_file *f = &s->files[i];
		json_object(&j, NULL);
		json_string(&j, "path", f->path);
		json_string(&j, "command", f->command);
		json_string(&j, "host", f->host);
		json_count(&j, "start_unix_ns", f->realtime_ns);
		json_count(&j, "wall_ns", f->end_ns - f->start_ns);
		json_count(&j, "bytes", f->health.bytes);
		json_count(&j, "bad_bytes", f->health.bad_bytes);
		json_bool(&j, "complete", report_file_is_complete(f));
		json_count(&j, "processes", f->processes);
		json_count(&j, "threads", f->threads);
		json_count(&j, "untraced", f->untraced);
		json_string(&j, "recorded", *f->recorded_text ? f->recorded_text : NULL);
		json_string(&j, "retained", *f->retained_text ? f->retained_text : NULL);
		json_close(&j);
	}
	json_close(&j);
	json_bool(&j, "complete", report_is_complete(s));
	json_count(&j, "calls", s->read[GT_CLASS_CALL]);
	json_count(&j, "activities", s->read[GT_CLASS_DEVICE]);
	json_count(&j, "range_records", s->read_ranges);
	if (s->scope.some) { /* the launching calls may be outside of the time range */
		json_null(&j, "linked");
		json_null(&j, "call_lost");
	} else {
		json_count(&j, "linked", s->linked.activity);
		json_count(&j, "call_lost", s->linked.lost);
	}
	json_count(&j, "seen", summary_seen(s));
	json_count(&j, "dropped", summary_dropped(s));
	json_count(&j, "missing", losses_read(s->capture).missing);
	json_string(&j, "where", o->where);
	json_count(&j, "matched", s->matched);
	json_count(&j, "matched_ranges", s->matched_ranges);
	hung_jobs_print_json(&s->ranks.hung, &j);
	if (!s->no_idle)
		report_idle_json(&j, s);
	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++) {
		struct grid g;
		if (!wants_table(o, (enum report_table)t))
			continue;
		report_table(&g, (enum report_table)t, s, GT_DOMAIN_NONE);
		sort_as_asked(&g, o);
		grid_print_json(&g, &j, rows_of(&g, o));
		grid_fini(&g);
	}
	json_close(&j);
}

/* Page ------------------------------------------------------------------------------- */

struct page_source {
	struct summary *summary;
	const struct report_options *options;
	struct gt_capture *capture;
};

/* Make the @number-th of the requested tables. */
static bool make_page_table(void *data, unsigned number, struct grid *out)
{
	const struct page_source *p = data;

	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++)
		if (wants_table(p->options, (enum report_table)t) && !number--) {
			report_table(out, (enum report_table)t, p->summary, GT_DOMAIN_NONE);
			sort_as_asked(out, p->options);
			return true;
		}
	return false;
}

/* Read a picture of the records that match the filter. Call before the capture is read with the
 * filter. */
static int read_picture(struct gt_capture *capture, const char *where, struct picture *picture)
{
	struct summary s = {.mangled = picture->mangled};
	struct summary_reading *reading = NULL;
	struct filter_error error;
	int rc = 0;

	if (where) {
		s.filter = filter_create(where, summary_texts, &s, &error);
		reading = s.filter ? summary_begin_filter(&s, capture) : NULL;
		rc = reading ? 0 : -ENOMEM;
		gt_capture_filter(capture, reading ? summary_wants : NULL, reading);
	}
	if (!rc)
		rc = picture_read(picture, capture);
	gt_capture_filter(capture, NULL, NULL);
	summary_end_filter(reading);
	filter_destroy(s.filter);
	summary_fini(&s);
	return rc;
}

static char *make_head(const struct summary *s, const struct report_options *o)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	ui_set_file_room(UI_ROOM_MOST); /* the browser wraps lines */
	report_head_print(s, o->where, o->by, out);
	ui_set_file_room(0);
	fclose(out);
	return text;
}

/* Return the first screen as shown on a terminal; NULL: the options request other tables, or memory
 * ran out. */
static char *make_overview(const struct page_source *p)
{
	const struct overview_options overview = {
		.where = p->options->where,
		.full_names = p->options->full_names,
		.name_room = PAGE_NAME_ROOM,
	};
	char *text = NULL;
	size_t bytes;
	FILE *out;
	int rc = 0;

	if (p->options->by || p->options->tables || summary_holds_for_nothing(p->summary))
		return strdup("");
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	ui_set_file_room(UI_ROOM_MOST);
	rc = overview_print(p->summary, p->capture, &overview, out);
	ui_set_file_room(0);
	fclose(out);
	if (!rc)
		return text;
	free(text);
	return NULL;
}

/* Write a title such as "job/0.gputap and 3 more". A merged file counts as one file. */
static void make_title(const struct summary *s, char *text, size_t size)
{
	uint32_t more = 0;

	for (uint32_t i = 1; i < s->file_count; i++)
		more += strcmp(s->files[i].path, s->files[i - 1].path) != 0;
	snprintf(text, size, "%s", s->file_count ? s->files[0].path : "gputap");
	if (more)
		snprintf(text + strlen(text), size - strlen(text), " and %u more", more);
}

static int write_page(const struct page_source *p, FILE *out)
{
	char *head = make_head(p->summary, p->options), *overview = make_overview(p);
	char title[PATH_MAX + 32];
	struct picture picture;
	const struct report_page page = {
		.title = title,
		.head = head ? head : "",
		.overview = overview ? overview : "",
		.picture = &picture,
		.table = make_page_table,
		.data = (void *)(uintptr_t)p,
		.top = p->options->top == TOP_DEFAULT ? 0 : (size_t)p->options->top,
	};
	int rc;

	make_title(p->summary, title, sizeof title);
	report_html_init_picture(&picture);
	picture.mangled = p->options->mangled;
	rc = read_picture(p->capture, p->options->where, &picture);
	if (!rc)
		rc = report_html_write(&page, out);
	picture_fini(&picture);
	free(overview);
	free(head);
	return rc;
}

/* Output ------------------------------------------------------------------------------ */

/* Output of one report, to the standard output or to a file. */
struct answer {
	int (*write)(void *data, FILE *out);
	void *data;
};

static int write_answer_file(void *data, const char *temporary)
{
	const struct answer *answer = data;
	FILE *out = fopen(temporary, "wxe");
	int rc, closed;

	if (!out)
		return gt_error(-errno, "%s", temporary);
	rc = answer->write(answer->data, out);
	if (!rc && (rc = ui_flush(out)))
		gt_error(rc, "%s", temporary);
	closed = fclose(out) ? -errno : 0;
	return rc ? rc : closed ? gt_error(closed, "%s", temporary) : 0;
}

static int write_answer(const struct report_options *o, struct answer *answer)
{
	int rc;

	if (!o->output)
		return answer->write(answer->data, stdout);
	if (!o->share)
		umask(S_IRWXG | S_IRWXO);
	rc = gt_export_publish(o->output, o->force, write_answer_file, answer);
	if (rc == -EEXIST && !o->force) {
		gt_error_clear();
		gt_error(0, "%s exists: -f replaces it", o->output);
	} else if (rc) {
		gt_error(rc, "cannot write %s", o->output);
	}
	return rc;
}

/* The first screen --------------------------------------------------------------------- */

static bool is_overview(const struct report_options *o)
{
	return !o->all && !o->tables && !o->by && !o->sort && !o->reverse &&
	       o->top == TOP_DEFAULT && !o->json && !o->csv && !o->html && !o->timeline;
}

static int print_overview(struct summary *s, const struct report_options *o,
			  struct gt_capture *capture, FILE *out)
{
	const struct overview_options overview = {
		.path = o->single_path,
		.where = o->where,
		.full_names = o->full_names,
	};

	report_head_print(s, o->where, 0, out);
	return summary_holds_for_nothing(s) ? 0 : overview_print(s, capture, &overview, out);
}

/* The command ------------------------------------------------------------------------- */

static int check_sort(const struct report_options *o)
{
	const char *near;

	if (!o->sort)
		return GT_EXIT_OK;
	for (unsigned t = 0; t < REPORT_TABLE_COUNT; t++) {
		struct grid g;
		int column;
		if (!wants_table(o, (enum report_table)t))
			continue;
		report_table(&g, (enum report_table)t, &(struct summary){0}, GT_DOMAIN_NONE);
		column = grid_column(&g, o->sort);
		grid_fini(&g);
		if (column >= 0)
			return GT_EXIT_OK;
	}
	near = nearest_name(o->sort, report_columns(o->tables, false));
	return ui_unknown(o->tables ? "column of these tables" : "column", o->sort,
			  report_columns(o->tables,
					 !near && nearest_name(o->sort,
							       report_columns(o->tables, true))));
}

/* Print the timeline instead of tables, for records that match the filter. */
static int print_timeline(struct summary *s, const struct report_options *o,
			  struct gt_capture *capture, FILE *out)
{
	const struct report_timeline timeline = {o->where, o->json, o->mangled};
	struct summary_reading *reading = NULL;
	int rc;

	if (s->filter) {
		reading = summary_begin_filter(s, capture);
		if (!reading)
			return -ENOMEM;
		gt_capture_filter(capture, summary_wants, reading);
	}
	rc = report_timeline_print(&timeline, capture, out);
	gt_capture_filter(capture, NULL, NULL);
	summary_end_filter(reading);
	if (!rc && summary_holds_for_nothing(s))
		where_note_nothing(s->filter, o->where, " of a call or GPU activity");
	s->health = *gt_capture_health(capture);
	return rc;
}

static int write_report(void *data, FILE *out)
{
	const struct page_source *p = data;
	const struct report_options *o = p->options;

	if (o->timeline)
		return print_timeline(p->summary, o, p->capture, out);
	if (is_overview(o))
		return print_overview(p->summary, o, p->capture, out);
	if (o->html)
		return write_page(p, out);
	if (o->json)
		print_json(p->summary, o, out);
	else if (o->csv)
		print_csv(p->summary, o, out);
	else
		print_text(p->summary, o, out);
	return 0;
}

/* Return true if a stored summary has the rows of all tables that were requested. */
static bool is_stored(const struct report_options *o)
{
	const uint32_t stored = 1u << REPORT_OPERATIONS | 1u << REPORT_RANGES |
				1u << REPORT_FAILURES | 1u << REPORT_KERNELS | 1u << REPORT_COPIES |
				1u << REPORT_OTHER | 1u << REPORT_DEVICES | 1u << REPORT_IDLE |
				1u << REPORT_PATTERNS | 1u << REPORT_LATENCY |
				1u << REPORT_PROCESSES | 1u << REPORT_THREADS | 1u << REPORT_OPEN |
				1u << REPORT_LOSS;

	return !o->read_records && !o->where && !o->by && !o->mangled && !o->timeline && !o->html &&
	       (is_overview(o) || (o->tables && !(o->tables & ~stored)));
}

/* Make the summary from the capture's stored summary or from its records, and store it if that was
 * requested. @code: receives GT_EXIT_FAILURE if storing failed, which was reported. */
static int make_summary(struct summary *s, const struct report_options *o,
			struct gt_capture *capture, int *code)
{
	int rc;

	if (is_stored(o) && stored_summary_read(s, capture)) {
		s->is_stored = true;
	} else {
		if (o->store)
			stored_summary_choose_keys(s);
		rc = summary_add(s, capture);
		if (rc || (rc = summary_finish(s)))
			return rc;
		s->is_stored = o->store && !stored_summary_write(s, capture);
		if (o->store && !s->is_stored)
			*code = ui_fail(GT_EXIT_FAILURE, "cannot store the summary");
	}
	if (is_overview(o) && s->keys[SUMMARY_KERNELS] & SUMMARY_DEVICE)
		summary_join_devices(s);
	if (summary_holds_for_nothing(s))
		where_note_nothing(s->filter, o->where, "");
	return 0;
}

static int print_report(struct summary *s, const struct report_options *o,
			struct gt_capture *capture, int *code)
{
	struct page_source source = {s, o, capture};
	struct answer answer = {write_report, &source};
	int rc = 0;

	if (!o->timeline)
		rc = make_summary(s, o, capture, code);
	return rc ? rc : write_answer(o, &answer);
}

/* Exclude data that no requested table needs from the summary. */
static void leave_out(struct summary *s, uint32_t tables)
{
	const uint32_t idle = 1u << REPORT_IDLE | 1u << REPORT_GAPS | 1u << REPORT_PATTERNS,
		       busy = idle | 1u << REPORT_DEVICES | 1u << REPORT_RANKS |
			      1u << REPORT_RANK_SPREAD | 1u << REPORT_RANK_WAITS,
		       stages = idle | 1u << REPORT_OPERATIONS | 1u << REPORT_LATENCY |
				1u << REPORT_PROCESSES | 1u << REPORT_THREADS;

	s->no_idle = tables && !(tables & idle);
	s->no_timelines = tables && !(tables & busy);
	s->no_stages = tables && !(tables & stages);
}

static bool has_ranks(const struct gt_capture *capture)
{
	for (uint32_t i = 1; i < gt_capture_process_count(capture); i++)
		if (gt_capture_process(capture, i)->rank.rank !=
		    gt_capture_process(capture, 0)->rank.rank)
			return true;
	return false;
}

/* Choose among the tables of ranks. The comparison of ranks fits one screen for any number of
 * ranks. The table with a row per rank is printed only on explicit request and for scripts. */
static void choose_rank_tables(struct report_options *o, const struct gt_capture *capture)
{
	const uint32_t of_ranks =
		1u << REPORT_RANKS | 1u << REPORT_RANK_SPREAD | 1u << REPORT_RANK_WAITS;

	if (!o->implied || o->by & ~(unsigned)KEYS_PLACE || o->json || o->csv || o->html ||
	    !has_ranks(capture))
		return;
	o->others = o->tables & ~of_ranks;
	o->tables &= of_ranks;
}

static int report_files(struct report_options *o, char **paths, int count)
{
	struct ui_progress bar = {0};
	struct summary s = {.progress = {ui_progress_report, &bar}, .mangled = o->mangled};
	struct filter_error error;
	struct gt_capture *capture;
	struct capture_inputs in;
	int code, rc;

	if (is_overview(o))
		overview_choose_keys(&s);
	else
		choose_keys(&s, o->by);
	s.odd_ranges.wanted |= o->html;
	o->single_path = count == 1 ? paths[0] : NULL;
	if (o->where) {
		s.filter = filter_create(o->where, summary_texts, &s, &error);
		if (!s.filter)
			return where_print_error(o->where, &error);
	}
	code = inputs_choose(&in, paths, count);
	if (code)
		goto free_filter;
	rc = gt_capture_open_several(in.paths, in.count, &capture);
	if (rc) {
		code = ui_fail(GT_EXIT_FAILURE, "%s", "");
		goto fini_inputs;
	}
	inputs_print_notes(capture);
	choose_rank_tables(o, capture);
	if (!o->store)
		leave_out(&s, o->tables);
	s.patterns.wanted |=
		(wants_table(o, REPORT_PATTERNS) || wants_table(o, REPORT_IDLE)) && !o->timeline;
	s.launched.wanted = wants_table(o, REPORT_STACKS);
	s.launched.frames = (size_t)o->frames;
	if (print_report(&s, o, capture, &code)) {
		code = ui_fail(GT_EXIT_FAILURE, "cannot create the report");
		goto out;
	}
	if (in.left_out || !gt_capture_is_whole(&s.health)) {
		code = GT_EXIT_FAILURE; /* the head reports the skipped files */
		if (o->output)
			ui_note("%s is incomplete: its first lines show what is missing",
				o->output);
	}
out:
	gt_capture_close(capture);
fini_inputs:
	inputs_fini(&in);
free_filter:
	filter_destroy(s.filter);
	summary_fini(&s);
	return code;
}

static int report_main(int argc, char **argv)
{
	struct report_options o = {.top = TOP_DEFAULT, .frames = STACK_LINES_USUAL};
	int code = parse_options(argc, argv, &o);

	if (code >= 0)
		return code;
	code = choose_tables(&o);
	if (!code)
		code = check_sort(&o);
	return code ? code : report_files(&o, argv + optind, argc - optind);
}

const struct gt_command gt_command_report = {
	"report", "show where the time went: kernels, calls, idle time, waits", report_main};
