/* SPDX-License-Identifier: MIT */
/* gputap diff: parses options, assigns files to runs and sides, reads both sides with one thread
 * each, and prints the result. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/guard_memory.h"
#include "analysis/compare/diff.h"
#include "analysis/query/filter.h"
#include "analysis/tables/summary.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/ui.h"
#include "cli/where.h"
#include "util/error.h"

#define NOISE_OF_ONE_RUN 0.02
#define LEVEL            0.05 /* false discovery rate */
#define LEVEL_OF_RUNS    0.01
#define MOST_LOAD        0.95 /* processor load above which no comparison is possible */

static const char *const keys[] = {"device", "rank", NULL};

/* Words of the command line, or files in folders. */
struct words {
	char **text;
	size_t count, room;
};

struct diff_request {
	struct diff_options options;
	const char *expression[DIFF_SIDES];
	struct words words[DIFF_SIDES]; /* words before and after --vs */
	bool versus;
};

static void print_diff_help(void)
{
	const struct ui_colors *c = ui_colors(stdout);

	printf("%sgputap diff%s [options] BASELINE CANDIDATE\n"
	       "%sgputap diff%s [options] BASELINE... --vs CANDIDATE...\n"
	       "%sgputap diff%s [options] FILE --baseline EXPR --candidate EXPR\n"
	       "\n"
	       "Compare runs before a change (BASELINE) with runs after it (CANDIDATE), and\n"
	       "show changes larger than noise. Each side is a capture, a folder of captures,\n"
	       "or several captures. With several runs per side, the noise between runs is\n"
	       "measured.\n"
	       "\n"
	       "%sExamples%s\n"
	       "  gputap diff before.gputap after.gputap\n"
	       "  gputap diff before.gputap after.gputap --fail-over 5%%\n"
	       "  gputap diff old1.gputap old2.gputap --vs new1.gputap new2.gputap\n"
	       "  gputap diff baseline/ new.gputap -t kernels --markdown\n"
	       "  gputap diff t.gputap --baseline 'range=warm' --candidate 'range=step'\n"
	       "\n"
	       "%sOptions%s\n"
	       "      --vs              separate the baseline's files from the candidate's\n"
	       "      --baseline EXPR   select the baseline in FILE, or filter BASELINE\n"
	       "      --candidate EXPR  select the candidate in FILE, or filter CANDIDATE\n"
	       "  -w, --where EXPR      use only records that match EXPR, on both sides; see\n"
	       "                        'gputap report --help'\n"
	       "      --per RANGE       give counts and changes per range of that name\n"
	       "  -t, --table NAME,...  print only these tables: totals devices idle ranks\n"
	       "                        kernels copies other graphs ranges gpu_by_range\n"
	       "                        operations\n"
	       "  -b, --by KEY,...      print separate rows for each: device rank\n"
	       "  -n, --top N           print at most N rows per table; 0: all\n"
	       "      --noise PERCENT   treat changes up to PERCENT as noise between runs;\n"
	       "                        default: 2%% with one run per side, 0 with several\n"
	       "      --fail-over LIMIT exit with 1 if something got slower, or occurs more\n"
	       "                        often, by more than LIMIT: 5%%, or TABLE:5%%,...,\n"
	       "                        counts:0%% or counts:off\n"
	       "      --mangled         show names of C++ kernels as recorded\n"
	       "\n"
	       "%sOutput%s\n"
	       "      --json            print JSON for scripts; keys never change\n"
	       "      --csv             print CSV\n"
	       "      --markdown        print differences for a comment on a change\n"
	       "      --svg             draw a picture with a bar for the change of each row\n"
	       "  -o, --output FILE     write to FILE, in the format of its extension (.json,\n"
	       "                        .csv, .md, .svg)\n"
	       "  -f, --force           replace FILE if it exists\n"
	       "      --share           let others read FILE, as the umask allows\n"
	       "  -h, --help\n"
	       "\n"
	       "Exit status: 0; 1 slower than --fail-over allows; 2 wrong usage; 3 captures\n"
	       "cannot be compared, or only in part.\n",
	       c->bold, c->reset, c->bold, c->reset, c->bold, c->reset, c->bold, c->reset, c->bold,
	       c->reset, c->bold, c->reset);
}

/* Options ------------------------------------------------------------------------------ */

static void add_word(struct words *w, const char *text)
{
	GROW_LIST(w->text, w->count, w->room);
	w->text[w->count] = strdup(text);
	if (!w->text[w->count])
		exit(ui_fail(GT_EXIT_FAILURE, "out of memory"));
	w->count++;
}

/* Parse "5%", "5" or "0.5%" into a fraction. @end: receives the first character after the value. */
static bool parse_percent(const char *text, const char **end, double *value)
{
	char *behind;

	*value = strtod(text, &behind) / 100;
	if (behind == text || !(*value >= 0 && *value <= 100))
		return false;
	*end = behind + (*behind == '%');
	return true;
}

/* Return true if a --fail-over limit that names no table applies to @table. This excludes idle
 * time, which grows when kernels get faster, and devices, whose times repeat those of their
 * kernels. */
static bool is_limited_by_default(unsigned table)
{
	return table != DIFF_DEVICES && table != DIFF_IDLE;
}

static int parse_limits(const char *text, struct diff_options *o)
{
	const char *at = text;

	o->limit = text;
	do {
		const char *colon = at + strcspn(at, ":,");
		bool counts = false;
		unsigned tables = 0;
		double limit;

		if (*colon == ':') {
			char word[64];
			int code = GT_EXIT_OK;

			snprintf(word, sizeof word, "%.*s", (int)(colon - at), at);
			counts = !strcmp(word, "counts");
			if (!counts)
				code = ui_parse_list("table", word, diff_table_names, &tables);
			if (code)
				return code;
			at = colon + 1;
		}
		if (counts && !strncmp(at, "off", 3)) {
			o->count_limit = INFINITY;
			at += strlen("off");
			if (*at == ',' || !*at)
				continue;
		}
		if (!parse_percent(at, &at, &limit) || (*at && *at != ','))
			return ui_fail(GT_EXIT_USAGE,
				       "--fail-over needs a limit such as 5%%, "
				       "kernels:5%%,copies:10%% or counts:0%%, not '%s'",
				       text);
		if (counts)
			o->count_limit = limit;
		for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++)
			if (counts ? false : tables ? tables >> t & 1 : is_limited_by_default(t))
				o->limits[t] = limit;
	} while (*at && *++at);
	return GT_EXIT_OK;
}

static const struct option long_options[] = {
	{"table", required_argument, NULL, 't'},
	{"top", required_argument, NULL, 'n'},
	{"by", required_argument, NULL, 'b'},
	{"where", required_argument, NULL, 'w'},
	{"baseline", required_argument, NULL, 'B'},
	{"candidate", required_argument, NULL, 'A'},
	{"per", required_argument, NULL, 'P'},
	{"noise", required_argument, NULL, 'N'},
	{"fail-over", required_argument, NULL, 'F'},
	{"vs", no_argument, NULL, 'V'},
	{"json", no_argument, NULL, 'J'},
	{"csv", no_argument, NULL, 'C'},
	{"markdown", no_argument, NULL, 'K'},
	{"svg", no_argument, NULL, 'S'},
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"share", no_argument, NULL, 'E'},
	{"mangled", no_argument, NULL, 'M'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int parse_number(int option, const char *text, struct diff_options *o)
{
	const char *rest = "?";
	char *end;

	if (option == 'n') {
		o->top = strtol(text, &end, 10);
		if (end == text || *end || o->top < 0)
			return ui_fail(GT_EXIT_USAGE, "--top needs a number of rows, not '%s'",
				       text);
		return GT_EXIT_OK;
	}
	if (!parse_percent(text, &rest, &o->noise) || *rest)
		return ui_fail(GT_EXIT_USAGE, "--noise needs a percentage such as 2%%, not '%s'",
			       text);
	return GT_EXIT_OK;
}

static int check_formats(struct diff_options *o)
{
	if (o->output && !(o->json || o->csv || o->markdown || o->svg)) {
		o->json = text_ends_with(o->output, ".json");
		o->csv = text_ends_with(o->output, ".csv");
		o->markdown = text_ends_with(o->output, ".md");
		o->svg = text_ends_with(o->output, ".svg");
	}
	if (o->output && !strcmp(o->output, "-"))
		o->output = NULL; /* use the standard output */
	if (o->json + o->csv + o->markdown + o->svg > 1)
		return ui_fail(GT_EXIT_USAGE, "--json, --csv, --markdown and --svg: choose one");
	return GT_EXIT_OK;
}

/* Return the exit code, or -1 to continue. */
static int parse_options(int argc, char **argv, struct diff_request *r)
{
	struct diff_options *o = &r->options;
	int c, rc;

	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, "-:t:n:b:w:o:fh", long_options, NULL)) != -1) {
		rc = GT_EXIT_OK;
		switch (c) {
		case 1:
			if (!*optarg)
				return inputs_report_empty();
			add_word(&r->words[r->versus], optarg);
			break;
		case 't': rc = ui_parse_list("table", optarg, diff_table_names, &o->tables); break;
		case 'b': rc = ui_parse_list("key", optarg, keys, &o->by); break;
		case 'n':
		case 'N': rc = parse_number(c, optarg, o); break;
		case 'F': rc = parse_limits(optarg, o); break;
		case 'w': rc = ui_take_once("--where", optarg, &o->where); break;
		case 'B':
			rc = ui_take_once("--baseline", optarg, &r->expression[DIFF_BASELINE]);
			break;
		case 'A':
			rc = ui_take_once("--candidate", optarg, &r->expression[DIFF_CANDIDATE]);
			break;
		case 'P': rc = ui_take_once("--per", optarg, &o->per); break;
		case 'V':
			if (r->versus)
				return ui_fail(GT_EXIT_USAGE,
					       "--vs is given twice: there are only two sides");
			r->versus = true;
			break;
		case 'o': rc = ui_take_once("-o", optarg, &o->output); break;
		case 'f': o->force = true; break;
		case 'E': o->share = true; break;
		case 'J': o->json = true; break;
		case 'C': o->csv = true; break;
		case 'K': o->markdown = true; break;
		case 'S': o->svg = true; break;
		case 'M': o->mangled = true; break;
		case 'h': print_diff_help(); return GT_EXIT_OK;
		default: return ui_bad_option("diff", argv, long_options);
		}
		if (rc)
			return rc;
	}
	while (optind < argc) /* words after "--" */
		add_word(&r->words[r->versus], argv[optind++]);
	rc = check_formats(o);
	return rc ? rc : -1;
}

/* Sides -------------------------------------------------------------------------------- */

static int refuse_words(const struct diff_request *r)
{
	size_t count = r->words[0].count;

	if (r->versus)
		ui_fail(GT_EXIT_USAGE, "--vs separates captures: name at least one on each side");
	else if (count == 1)
		ui_fail(GT_EXIT_USAGE, "only one capture given: name a second one, or select two "
				       "parts with --baseline EXPR and --candidate EXPR");
	else if (count)
		ui_fail(GT_EXIT_USAGE,
			"%zu captures given: put --vs before the candidate's first capture", count);
	else
		ui_fail(GT_EXIT_USAGE, "no captures given: name the baseline and the candidate");
	fprintf(stderr, "  gputap diff before.gputap after.gputap\n"
			"  gputap diff old1.gputap old2.gputap --vs new1.gputap new2.gputap\n");
	return GT_EXIT_USAGE;
}

/* Assign the words of the command line to sides. */
static int divide_words(struct diff_request *r, bool *parts)
{
	struct words *baseline = &r->words[DIFF_BASELINE], *candidate = &r->words[DIFF_CANDIDATE];

	*parts = false;
	if (r->versus)
		return baseline->count && candidate->count ? GT_EXIT_OK : refuse_words(r);
	if (baseline->count == 2) {
		add_word(candidate, baseline->text[1]);
		free(baseline->text[--baseline->count]);
		return GT_EXIT_OK;
	}
	if (baseline->count != 1 || !r->expression[DIFF_BASELINE] || !r->expression[DIFF_CANDIDATE])
		return refuse_words(r);
	add_word(candidate, baseline->text[0]);
	*parts = true;
	return GT_EXIT_OK;
}

static int is_capture_name(const struct dirent *entry)
{
	return text_ends_with(entry->d_name, ".gputap");
}

/* Add a file, or the captures in a folder. */
static int add_files(struct words *files, const char *word)
{
	struct dirent **entries;
	struct stat st;
	int count;

	if (stat(word, &st) || !S_ISDIR(st.st_mode)) {
		add_word(files, word);
		return GT_EXIT_OK;
	}
	count = scandir(word, &entries, is_capture_name, alphasort);
	if (count < 0)
		return ui_fail(GT_EXIT_NO_ANSWER, "%s: %m", word);
	for (int i = 0; i < count; i++) {
		char *path;

		if (asprintf(&path, "%s%s%s", word, text_ends_with(word, "/") ? "" : "/",
			     entries[i]->d_name) >= 0) {
			add_word(files, path);
			free(path);
		}
		free(entries[i]);
	}
	free(entries);
	return count ? GT_EXIT_OK : ui_fail(GT_EXIT_NO_ANSWER, "%s contains no .gputap file", word);
}

static void free_words(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->text[i]);
	free(w->text);
	*w = (struct words){0};
}

struct file_id {
	dev_t device;
	ino_t inode;
	unsigned side;
	const char *path;
};

static int compare_file_ids(const void *a, const void *b)
{
	const struct file_id *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return (x->side > y->side) - (x->side < y->side);
}

static size_t add_file_ids(const struct words *files, unsigned side, struct file_id *ids)
{
	struct stat st;
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		if (!stat(files->text[i], &st))
			ids[count++] = (struct file_id){st.st_dev, st.st_ino, side, files->text[i]};
	return count;
}

/* Refuse a file that is given twice for one side. Without two expressions, also refuse a file that
 * is given for both sides. */
static int refuse_repeated(const struct words *files, const char *const *expression)
{
	bool sliced = expression[DIFF_BASELINE] || expression[DIFF_CANDIDATE];
	struct file_id *ids = allocate_list(files[0].count + files[1].count + 1, sizeof *ids);
	size_t count = add_file_ids(&files[0], DIFF_BASELINE, ids);
	int code = GT_EXIT_OK;

	count += add_file_ids(&files[1], DIFF_CANDIDATE, ids + count);
	qsort(ids, count, sizeof *ids, compare_file_ids);
	for (size_t i = 1; i < count && !code; i++) {
		const struct file_id *a = &ids[i - 1], *b = &ids[i];

		if (a->device != b->device || a->inode != b->inode)
			continue;
		if (a->side == b->side)
			code = ui_fail(GT_EXIT_USAGE, "%s is given twice: name each run once",
				       b->path);
		else if (!sliced)
			code = ui_fail(GT_EXIT_USAGE,
				       "both sides are %s: name a second run, or select two parts "
				       "with --baseline EXPR and --candidate EXPR",
				       a->path);
	}
	free(ids);
	return code;
}

static struct diff_run *add_run(struct diff_side *side, size_t path_room)
{
	GROW_LIST(side->runs, side->run_count, side->run_room);
	side->runs[side->run_count].paths = allocate_list(path_room, sizeof *side->runs->paths);
	return &side->runs[side->run_count++];
}

/* Return the rank of a capture; -1: none, or several ranks. */
static int32_t rank_of(const char *path)
{
	struct gt_capture *capture;
	int32_t rank = -1;

	if (gt_capture_open(path, &capture)) {
		gt_error_clear();
		return -1;
	}
	for (size_t i = 0; i < gt_capture_process_count(capture); i++) {
		int32_t other = gt_capture_process(capture, (uint32_t)i)->rank.rank;

		if (rank >= 0 && other >= 0 && rank != other) {
			rank = -1;
			break;
		}
		rank = other >= 0 ? other : rank;
	}
	gt_capture_close(capture);
	return rank;
}

/* Group the files of ranks into runs. The n-th file of each rank belongs to the n-th run. */
static void make_runs(struct diff_side *side, const struct words *files)
{
	struct {
		int32_t rank;
		size_t seen;
	} *ranks = allocate_list(files->count, sizeof *ranks);
	size_t rank_count = 0, *run_of_turn = allocate_list(files->count, sizeof(size_t));

	for (size_t i = 0; i < files->count; i++) {
		int32_t rank = files->count > 1 ? rank_of(files->text[i]) : -1;
		struct diff_run *run = NULL;
		size_t at = 0;

		if (rank >= 0) {
			while (at < rank_count && ranks[at].rank != rank)
				at++;
			if (at == rank_count)
				ranks[rank_count++].rank = rank;
			if (run_of_turn[ranks[at].seen]) /* number of the run + 1 */
				run = &side->runs[run_of_turn[ranks[at].seen] - 1];
		}
		if (!run) {
			run = add_run(side, files->count);
			if (rank >= 0)
				run_of_turn[ranks[at].seen] = side->run_count;
		}
		if (rank >= 0)
			ranks[at].seen++;
		run->paths[run->path_count++] = files->text[i];
	}
	free(ranks);
	free(run_of_turn);
}

/* Skip files that are not captures, if there are other files. */
static int probe_files(struct words *files, bool *left_out)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		int status = gt_capture_probe(files->text[i]);
		bool other = status == -EBADMSG || status == -ENODATA || status == -ENOTSUP;

		if (status && (files->count == 1 || !other))
			return ui_fail(GT_EXIT_NO_ANSWER, "%s", "");
		if (status) {
			ui_note("left out: %s", gt_error_text());
			gt_error_clear();
			free(files->text[i]);
			*left_out = true;
			continue;
		}
		files->text[kept++] = files->text[i];
	}
	files->count = kept;
	return kept ? GT_EXIT_OK : ui_fail(GT_EXIT_NO_ANSWER, "none of the files is a capture");
}

/* Expressions -------------------------------------------------------------------------- */

static int try_expression(const char *option, const char *expression)
{
	struct summary nothing = {0};
	struct filter_error error;
	struct filter *filter;

	if (!expression)
		return GT_EXIT_OK;
	filter = filter_create(expression, summary_texts, &nothing, &error);
	if (!filter)
		return where_print_error_of(option, expression, &error);
	filter_destroy(filter);
	return GT_EXIT_OK;
}

static char *join_expressions(const char *where, const char *expression)
{
	char *text = NULL;

	if (where && expression) {
		if (asprintf(&text, "(%s) and (%s)", where, expression) < 0)
			text = NULL;
	} else if (where || expression) {
		text = strdup(where ? where : expression);
	}
	return text;
}

/* Return the name of the first range in an expression, without the occurrence number: "step" for
 * "range=step#7 and ..."; NULL: the expression contains no range. Owner: caller. */
static char *range_asked_for(const char *expression)
{
	const char *at = expression;
	size_t bytes;
	char end;

	while (at && (at = strstr(at, "range"))) {
		at += strlen("range");
		at += strspn(at, " ");
		if (*at != '=')
			continue;
		at += 1 + strspn(at + 1, " =");
		end = *at == '\'' || *at == '"' ? *at++ : '\0';
		for (bytes = 0; at[bytes] && at[bytes] != '#'; bytes++)
			if (end ? at[bytes] == end : strchr(" )&|", at[bytes]) != NULL)
				break;
		return bytes ? strndup(at, bytes) : NULL;
	}
	return NULL;
}

/* Reading ------------------------------------------------------------------------------ */

struct side_reading {
	struct diff_result *result;
	const struct diff_options *options;
	unsigned side;
	int rc;
};

static int read_runs(void *data)
{
	const struct side_reading *reading = data;
	struct diff_side *side = &reading->result->sides[reading->side];
	bool several = reading->result->method == DIFF_BY_RUNS;
	struct ui_progress bar = {0};
	struct progress progress = {0};
	int rc = 0;

	if (reading->side == DIFF_BASELINE)
		progress = (struct progress){ui_progress_report, &bar};
	for (size_t i = 0; i < side->run_count && !rc; i++)
		rc = diff_read_run(&side->runs[i], reading->options, side->where,
				   reading->result->unit, !several, progress);
	return rc;
}

static void *read_side(void *data)
{
	struct side_reading *reading = data;

	reading->rc = guard_memory(read_runs, data);
	return NULL;
}

/* Read both sides at the same time. If no thread can be created, read them one after the other. */
static int read_sides(struct diff_result *result, const struct diff_options *options)
{
	struct side_reading baseline = {result, options, DIFF_BASELINE, 0},
			    candidate = {result, options, DIFF_CANDIDATE, 0};
	pthread_t thread;
	bool threaded = pthread_create(&thread, NULL, read_side, &candidate) == 0;

	read_side(&baseline);
	if (threaded)
		pthread_join(thread, NULL);
	else
		read_side(&candidate);
	for (unsigned s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 0; i < result->sides[s].run_count; i++) {
			const struct diff_run *run = &result->sides[s].runs[i];

			result->sides[s].units += run->units;
			if (run->error)
				return ui_fail(GT_EXIT_NO_ANSWER, "%s", run->error);
		}
	return GT_EXIT_OK;
}

/* Fail if a side has nothing to compare. */
static int check_sides(struct diff_result *result, const struct diff_options *options)
{
	for (unsigned s = 0; s < DIFF_SIDES; s++) {
		const struct diff_side *side = &result->sides[s];
		uint64_t matched = 0, records = 0;

		for (size_t i = 0; i < side->run_count; i++) {
			matched += side->runs[i].matched;
			records += side->runs[i].records;
		}
		if (side->where && !matched) /* a time range may contain no records */
			return ui_fail(GT_EXIT_NO_ANSWER, "'%s' matches no record of %s%s%s",
				       side->where, side->runs[0].paths[0],
				       *side->runs[0].why_nothing ? ": " : "",
				       side->runs[0].why_nothing);
		if (!records)
			return ui_fail(GT_EXIT_NO_ANSWER, "%s has no records: nothing to compare",
				       side->runs[0].paths[0]);
		if (options->per && !side->units)
			return ui_fail(GT_EXIT_NO_ANSWER, "--per %s: no such range in %s",
				       options->per, side->runs[0].paths[0]);
	}
	return GT_EXIT_OK;
}

/* Refuse copies of a file, because they are one run, not two. */
static int refuse_copies(const struct diff_result *result)
{
	static const uint8_t unknown[GT_CAPTURE_ID_BYTES];
	const struct diff_run *runs[DIFF_SIDES];
	const struct diff_side *sides = result->sides;

	for (size_t i = 0; i < sides[0].run_count + sides[1].run_count; i++)
		for (size_t k = 0; k < i; k++) {
			for (unsigned n = 0; n < DIFF_SIDES; n++) {
				size_t at = n ? i : k;

				runs[n] = at < sides[0].run_count
						  ? &sides[0].runs[at]
						  : &sides[1].runs[at - sides[0].run_count];
			}
			if (memcmp(runs[0]->uuid, unknown, sizeof unknown) != 0 &&
			    !memcmp(runs[0]->uuid, runs[1]->uuid, sizeof unknown))
				return ui_fail(
					GT_EXIT_NO_ANSWER,
					"%s and %s are copies of one capture: name each run once",
					runs[0]->paths[0], runs[1]->paths[0]);
		}
	return GT_EXIT_OK;
}

static void choose_method(struct diff_result *result, const struct diff_options *options)
{
	size_t runs = result->sides[0].run_count + result->sides[1].run_count;

	result->method = runs > 2 ? DIFF_BY_RUNS : DIFF_BY_BLOCKS;
	if (options->per)
		result->unit = strdup(options->per);
	else if (result->parts)
		for (int side = DIFF_CANDIDATE; side >= DIFF_BASELINE && !result->unit; side--)
			result->unit = range_asked_for(result->sides[side].expression);
	result->noise = options->noise >= 0         ? options->noise
			: result->parts || runs > 2 ? 0
						    : NOISE_OF_ONE_RUN;
}

/* Raise the noise limit according to the load of other programs. Call after reading. A program that
 * gets only a share of the processors may take up to 1 / share times as long. One run per side
 * allows no better estimate than this upper bound. */
static void allow_for_load(struct diff_result *result, const struct diff_options *options)
{
	double others = fmax(result->sides[DIFF_BASELINE].runs[0].others,
			     result->sides[DIFF_CANDIDATE].runs[0].others);

	/* a few runs often have the same noise by chance */
	result->level = result->method == DIFF_BY_RUNS ? LEVEL_OF_RUNS : LEVEL;
	for (unsigned s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 0; i < result->sides[s].run_count; i++) {
			result->load = fmax(result->load, result->sides[s].runs[i].others);
			result->busy = fmax(result->busy, result->sides[s].runs[i].busy);
			result->wait_ns = fmax(result->wait_ns, result->sides[s].runs[i].wait_ns);
		}
	others = fmin(others, MOST_LOAD);
	result->count_noise = result->noise;
	if (result->method != DIFF_BY_BLOCKS || result->parts || options->noise >= 0 ||
	    others / (1 - others) <= result->noise)
		return;
	result->noise = others / (1 - others);
	result->others = others;
}

/* Choose whether figures are per occurrence of a range, and how noise is measured. Call after
 * reading. */
static void choose_units(struct diff_result *result)
{
	bool both = result->sides[0].units && result->sides[1].units;

	result->per_unit = result->unit && both;
	if (result->parts && result->per_unit &&
	    result->sides[0].units + result->sides[1].units > 2)
		result->method = DIFF_BY_OCCURRENCES;
}

/* The command -------------------------------------------------------------------------- */

static void print_answer(const struct diff_result *result, const struct diff_options *options,
			 FILE *out)
{
	if (options->json)
		diff_print_json(result, options, out);
	else if (options->csv)
		diff_print_csv(result, options, out);
	else if (options->markdown)
		diff_print_markdown(result, options, out);
	else if (options->svg)
		diff_print_picture(result, options, out);
	else
		diff_print_text(result, options, out);
}

static bool is_read(const struct diff_result *result, const char *output)
{
	for (unsigned s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 0; i < result->sides[s].run_count; i++)
			for (size_t k = 0; k < result->sides[s].runs[i].path_count; k++)
				if (inputs_are_same(result->sides[s].runs[i].paths[k], output))
					return true;
	return false;
}

/* Open the -o file, with the same permissions as the captures that it describes. */
static FILE *open_output(const struct diff_options *o)
{
	const mode_t mode = o->share ? 0666 : 0600;
	int fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC | (o->force ? O_TRUNC : O_EXCL),
		      mode);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!o->share && !fstat(fd, &st) && S_ISREG(st.st_mode))
		fchmod(fd, mode); /* the replaced file may have been readable by other users */
	return fdopen(fd, "w");
}

static int write_answer(const struct diff_result *result, const struct diff_options *options)
{
	struct stat st;
	FILE *out;
	int status;

	if (!options->output) {
		print_answer(result, options, stdout);
		return GT_EXIT_OK;
	}
	if (is_read(result, options->output))
		return inputs_report_same(options->output);
	out = open_output(options);
	if (!out && errno == EEXIST)
		return ui_fail(GT_EXIT_NO_ANSWER, "%s exists: -f replaces it", options->output);
	if (!out)
		return ui_fail(GT_EXIT_NO_ANSWER, "cannot write %s: %m", options->output);
	print_answer(result, options, out);
	status = ui_flush(out);
	if (status && !fstat(fileno(out), &st) && S_ISREG(st.st_mode))
		unlink(options->output); /* an incomplete result is worse than none */
	if (fclose(out) && !status)
		status = -errno;
	if (status)
		return ui_fail(GT_EXIT_NO_ANSWER, "cannot write %s: %s", options->output,
			       strerror(-status));
	return GT_EXIT_OK;
}

static int compare_sides(struct diff_result *result, const struct diff_options *options)
{
	int code = read_sides(result, options);

	code = code ? code : check_sides(result, options);
	if (!code && !result->sides[0].expression && !result->sides[1].expression)
		code = refuse_copies(result);
	if (code)
		return code;
	choose_units(result);
	allow_for_load(result, options);
	diff_align(result, options);
	if (!result->in_both)
		return ui_fail(GT_EXIT_NO_ANSWER,
			       "the sides have nothing in common: no operation, kernel, copy or "
			       "range is in both");
	code = write_answer(result, options);
	if (!code &&
	    (!diff_side_is_whole(&result->sides[0]) || !diff_side_is_whole(&result->sides[1])))
		code = GT_EXIT_NO_ANSWER; /* the head of the result reports the skipped files */
	return code ? code : result->over ? GT_EXIT_FAILURE : GT_EXIT_OK;
}

static int diff_files(struct diff_request *r)
{
	struct diff_result result = {0};
	struct words files[DIFF_SIDES] = {{0}};
	int code = divide_words(r, &result.parts);

	for (unsigned side = 0; side < DIFF_SIDES && !code; side++) {
		bool left_out = false;

		for (size_t i = 0; i < r->words[side].count && !code; i++)
			code = add_files(&files[side], r->words[side].text[i]);
		code = code ? code : probe_files(&files[side], &left_out);
		if (code)
			break;
		result.sides[side].expression = r->expression[side];
		result.sides[side].where = join_expressions(r->options.where, r->expression[side]);
		make_runs(&result.sides[side], &files[side]);
		result.sides[side].runs[0].left_out = left_out;
	}
	if (!code && !result.parts)
		code = refuse_repeated(files, r->expression);
	if (!code) {
		choose_method(&result, &r->options);
		code = compare_sides(&result, &r->options);
	}
	diff_result_fini(&result);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free_words(&files[side]);
	return code;
}

static int diff_main(int argc, char **argv)
{
	struct diff_request r = {.options = {.top = -1, .noise = -1, .count_limit = DIFF_NO_LIMIT}};
	int code;

	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++)
		r.options.limits[t] = DIFF_NO_LIMIT;
	code = parse_options(argc, argv, &r);
	if (code < 0) {
		code = try_expression("--where", r.options.where);
		code = code ? code : try_expression("--baseline", r.expression[DIFF_BASELINE]);
		code = code ? code : try_expression("--candidate", r.expression[DIFF_CANDIDATE]);
		code = code ? code : diff_files(&r);
	}
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free_words(&r.words[side]);
	return code;
}

const struct gt_command gt_command_diff = {"diff",
					   "compare captures and show changes larger than noise",
					   diff_main};
