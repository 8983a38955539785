/* SPDX-License-Identifier: MIT */
/* gputap export: writes a capture in another program's format. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/idle/idle_read.h"
#include "analysis/query/filter_nothing.h"
#include "analysis/tables/retained.h"
#include "analysis/tables/summary.h"
#include "capture/capture.h"
#include "cli/command.h"
#include "cli/export.h"
#include "cli/export_capture.h"
#include "cli/export_parquet.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/ui.h"
#include "cli/where.h"
#include "export/export.h"
#include "util/error.h"

enum { MAX_NAMES = 64 };

static void print_export_help(void)
{
	printf("gputap export FILE... -o OUT [options]\n\n"
	       "Convert one or more captures to the format that the extension of OUT names:\n\n");
	for (size_t i = 0; gt_exporters[i]; i++) {
		const char *const *e = gt_exporters[i]->extensions;

		printf("  %-16s %-10s %s\n", *e, gt_exporters[i]->name, gt_exporters[i]->text);
		while (*++e)
			printf("  %s\n", *e);
	}
	fputs("  .gputap          gputap     " EXPORT_CAPTURE_TEXT "\n"
	      "  .parquet         parquet    " EXPORT_PARQUET_TEXT "\n"
	      "\n"
	      "Examples\n"
	      "  gputap export prog.gputap -o prog.pftrace       open it at ui.perfetto.dev\n"
	      "  gputap export prog.gputap -o prog.json.gz       as torch.profiler writes it\n"
	      "  gputap export rank*.gputap -o job.pftrace       all ranks on one timeline\n"
	      "  gputap export prog.gputap -o prog.rpd && sqlite3 prog.rpd 'SELECT * FROM top'\n"
	      "  gputap export prog.gputap -o prog.folded        for flame graphs\n"
	      "  gputap export prog.gputap -o s.gputap --where at=5s..6s   a smaller capture\n"
	      "  gputap export rank*.gputap -o job.parquet       tables; needs Python, pyarrow\n"
	      "\n"
	      "Options\n"
	      "  -o, --output OUT    write to OUT; its extension names the format\n"
	      "  -f, --force         replace OUT if it exists\n"
	      "      --share         let others read OUT, as the umask allows\n"
	      "      --format NAME   use the format of this name or extension, not OUT's\n"
	      "  -w, --where EXPR    write only records that match EXPR, an expression of\n"
	      "                      'gputap report': at=5s..6s, range=step#3, duration>10us\n"
	      "      --mangled       write names of C++ kernels as recorded: _Z4fillPfi, not\n"
	      "                      fill(float*, int)\n"
	      "      --weight WHAT   weight stacks (folded, speedscope) by device or host time;\n"
	      "                      default: device time if recorded (folded), both\n"
	      "                      (speedscope)\n"
	      "  -j, --jobs N        read the captures in N threads (CSV, Chrome JSON) or\n"
	      "                      processes (Parquet); the output is the same; default: one\n"
	      "                      per processor, at most 8; CSV, JSON: one with --where\n"
	      "      --part I/N      Parquet: write only share I of N, for array jobs: 3/16\n"
	      "  -h, --help\n",
	      stdout);
}

int export_options(int argc, char **argv, const struct export_words *words,
		   struct export_request *request)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"force", no_argument, NULL, 'f'},
		{"format", required_argument, NULL, 'F'},
		{"where", required_argument, NULL, 'w'},
		{"mangled", no_argument, NULL, 'M'},
		{"share", no_argument, NULL, 'S'},
		{"weight", required_argument, NULL, 'W'},
		{"jobs", required_argument, NULL, 'j'},
		{"part", required_argument, NULL, 'P'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	bool share = false;
	int c, code = GT_EXIT_OK;

	opterr = 0;
	optind = 0; /* restart getopt, including GNU getopt's own state */
	while (!code && (c = getopt_long(argc, argv, ":o:w:fj:h", options, NULL)) != -1)
		switch (c) {
		case 'o':
			if (request->output)
				return ui_fail(GT_EXIT_USAGE,
					       "-o is given twice: one %s writes one file",
					       words->command);
			code = ui_take_once("-o", optarg, &request->output);
			break;
		case 'f': request->replace = true; break;
		case 'F': code = ui_take_once("--format", optarg, &request->format); break;
		case 'w': code = ui_take_once("--where", optarg, &request->where); break;
		case 'M': request->mangled = true; break;
		case 'S': share = true; break;
		case 'W': code = ui_take_once("--weight", optarg, &request->weight); break;
		case 'j': code = jobs_option(optarg, &request->jobs); break;
		case 'P': code = ui_take_once("--part", optarg, &request->part); break;
		case 'h': words->help(); return -1;
		default: return ui_bad_option(words->command, argv, options);
		}
	if (code)
		return code;
	if (optind == argc)
		return ui_fail(GT_EXIT_USAGE, "no capture%s given: gputap %s %s -o %s",
			       words->several ? "s" : "", words->command,
			       words->several ? "rank*.gputap" : "prog.gputap", words->output);
	if (!share) /* also applies to all files that are created later */
		umask(S_IRWXG | S_IRWXO);
	request->inputs = argv + optind;
	request->input_count = argc - optind;
	if (!request->output)
		return ui_fail(GT_EXIT_USAGE, "no output file: gputap %s %s%s -o %s",
			       words->command, argv[optind], words->several ? " .." : "",
			       words->output);
	if (!strcmp(request->output, "-"))
		return ui_fail(GT_EXIT_USAGE,
			       "cannot export to standard output: name a file after -o");
	return GT_EXIT_OK;
}

static int unknown_format(const char *word, bool by_extension, bool captures)
{
	const char *names[MAX_NAMES];
	size_t n = 0;

	if (captures) {
		names[n++] = by_extension ? ".gputap" : "gputap";
		names[n++] = by_extension ? ".parquet" : "parquet";
	}
	for (size_t i = 0; gt_exporters[i]; i++) {
		if (!by_extension)
			names[n++] = gt_exporters[i]->name;
		for (const char *const *e = gt_exporters[i]->extensions;
		     by_extension && *e && n < MAX_NAMES - 1; e++)
			names[n++] = *e;
	}
	names[n] = NULL;
	return ui_unknown(by_extension ? "output format" : "format", word, names);
}

static const char *const weights[] = {"device", "host", NULL};

static enum gt_view_weight get_weight(const struct export_request *request)
{
	if (!request->weight)
		return GT_WEIGHT_USUAL;
	return strcmp(request->weight, "host") ? GT_WEIGHT_DEVICE : GT_WEIGHT_HOST;
}

/* Return true if --weight is absent, or if the format uses weights and knows the given one. */
static bool is_weight_known(const struct export_request *request,
			    const struct gt_exporter *exporter)
{
	unsigned i = 0;

	if (!request->weight)
		return true;
	while (weights[i] && strcmp(weights[i], request->weight))
		i++;
	if (!weights[i])
		ui_unknown("weight", request->weight, weights);
	else if (!exporter->weighs)
		ui_fail(GT_EXIT_USAGE,
			"--weight applies to stacks (folded, speedscope); %s contains all times",
			exporter->name);
	return weights[i] && exporter->weighs;
}

bool export_is_ambiguous(const char *output)
{
	return text_ends_with(output, ".db");
}

static void report_ambiguous(void)
{
	ui_fail(GT_EXIT_USAGE, "RPD and ROCm 7's rocpd both use .db: choose one with --format rpd "
			       "or --format rocpd");
}

static const struct gt_exporter *choose_format(const struct export_request *request)
{
	const char *slash = strrchr(request->output, '/'),
		   *file = slash ? slash + 1 : request->output;
	const char *extension = strchr(*file == '.' && *file ? file + 1 : file, '.');
	const struct gt_exporter *exporter;

	if (request->format) {
		exporter = gt_exporter_find(request->format);
		if (!exporter &&
		    (!strcmp(request->format, ".db") || !strcmp(request->format, "db")))
			report_ambiguous();
		else if (!exporter)
			unknown_format(request->format, false, request->captures);
		return exporter;
	}
	exporter = gt_exporter_for_path(request->output);
	if (exporter)
		return exporter;
	if (export_is_ambiguous(request->output))
		report_ambiguous();
	else if (extension) /* last extension, as in "trace.v2.jsn"; .json.gz is one extension */
		unknown_format(strrchr(extension, '.') != extension && !strstr(extension, ".json")
				       ? strrchr(extension, '.')
				       : extension,
			       true, request->captures);
	else
		ui_fail(GT_EXIT_USAGE,
			"%s has no extension: add .pftrace, .json, .rpd, .. or use --format",
			request->output);
	return NULL;
}

const struct gt_exporter *export_choose(const struct export_request *request)
{
	const struct gt_exporter *exporter = choose_format(request);

	if (exporter && request->part) {
		ui_fail(GT_EXIT_USAGE, "--part applies to Parquet: a folder of many files");
		return NULL;
	}
	return exporter && is_weight_known(request, exporter) ? exporter : NULL;
}

/* Return the number of arguments that set the number of threads: 1, 2 with a separate value, or 0.
 * *flags: number of bytes of other options before it, as in -fj4. */
static int count_jobs(int argc, char **argv, size_t *flags)
{
	const char *word = argv[0], *value = NULL;
	size_t name = strcspn(word, "=");

	*flags = 0;
	if (!strncmp(word, "--", 2)) {
		if (name < 3 || strncmp("--jobs", word, name))
			return 0;
		value = word + name;
	} else if (*word == '-') {
		name = 1 + strspn(word + 1, "fh");
		if (word[name] != 'j')
			return 0;
		*flags = name > 1 ? name : 0;
		value = word + name + 1;
	}
	return !value ? 0 : *value || argc == 1 ? 1 : 2;
}

/* Return true if the value of this option is the next argument. */
static bool is_value_next(const char *word)
{
	if (!strncmp(word, "--", 2))
		return !strchr(word, '=') && strcmp(word, "--force") && strcmp(word, "--share") &&
		       strcmp(word, "--mangled") && word[2];
	return *word == '-' && word[strcspn(word, "ow")] && !word[strcspn(word, "ow") + 1];
}

/* The threads are left out, so that the file does not depend on them. */
char *export_command_line(int argc, char **argv)
{
	size_t bytes = sizeof "gputap";
	char *line, *p;

	for (int i = 0; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	line = malloc(bytes);
	if (!line)
		return NULL;
	p = stpcpy(line, "gputap");
	for (int i = 0; i < argc; i++) {
		size_t flags;
		int skip = count_jobs(argc - i, argv + i, &flags);

		if (flags)
			p = stpncpy(stpcpy(p, " "), argv[i], flags);
		if (!skip)
			p = stpcpy(stpcpy(p, " "), argv[i]);
		if (!skip && is_value_next(argv[i]) && i + 1 < argc)
			p = stpcpy(stpcpy(p, " "), argv[++i]);
		i += skip ? skip - 1 : 0;
	}
	*p = '\0';
	return line;
}

static void show_progress(void *data, uint64_t done, uint64_t total)
{
	struct ui_progress *progress = data;

	progress->total = total;
	ui_progress_set(progress, done);
}

static int write_out(const struct gt_capture *capture, const struct export_request *request,
		     const struct gt_exporter *exporter)
{
	struct ui_progress progress;
	struct gt_view_options options = {.command_line = request->command_line,
					  .mangled = request->mangled,
					  .weight = get_weight(request),
					  .jobs = request->jobs ? request->jobs : jobs_default(),
					  .progress = show_progress,
					  .progress_data = &progress};
	int status;

	ui_progress_begin(&progress, exporter->name, gt_capture_health(capture)->bytes);
	status = gt_export(exporter, capture, request->output, request->replace, &options);
	ui_progress_end(&progress);
	if (status == -EEXIST && !request->replace) {
		gt_error_clear();
		return ui_fail(GT_EXIT_FAILURE, "%s exists: -f replaces it", request->output);
	}
	return status ? ui_fail(GT_EXIT_FAILURE, "cannot write %s", request->output) : GT_EXIT_OK;
}

/* Write only records that match the filter. */
static int write_some(struct gt_capture *capture, const struct export_request *request,
		      const struct gt_exporter *exporter, struct summary *s)
{
	struct summary_reading *reading = summary_begin_filter(s, capture);
	int exit_code;

	if (!reading)
		return ui_fail(GT_EXIT_FAILURE, "cannot read %s", request->inputs[0]);
	gt_capture_filter(capture, summary_wants, reading);
	exit_code = write_out(capture, request, exporter);
	gt_capture_filter(capture, NULL, NULL);
	summary_end_filter(reading);
	if (!exit_code && !s->matched)
		where_note_nothing(s->filter, request->where, " of a call or GPU activity");
	return exit_code;
}

static int export_chosen(const struct export_request *request, const struct gt_exporter *exporter,
			 struct summary *s)
{
	struct gt_capture *capture;
	struct capture_inputs in;
	int exit_code = inputs_choose(&in, request->inputs, request->input_count);

	if (exit_code)
		return exit_code;
	for (size_t i = 0; i < in.count && !exit_code; i++)
		if (inputs_are_same(in.paths[i], request->output))
			exit_code = inputs_report_same(request->output);
	if (exit_code) {
		inputs_fini(&in);
		return exit_code;
	}
	if (gt_capture_open_several(in.paths, in.count, &capture)) {
		inputs_fini(&in);
		return ui_fail(GT_EXIT_FAILURE, "cannot read %s",
			       request->input_count == 1 ? request->inputs[0] : "the captures");
	}
	inputs_print_notes(capture);
	exit_code = s->filter ? write_some(capture, request, exporter, s)
			      : write_out(capture, request, exporter);
	/* called after reading, because reading finds some of the damage */
	export_note_health(capture);
	if (!exit_code && (in.left_out || !gt_capture_is_whole(gt_capture_health(capture))))
		exit_code = GT_EXIT_FAILURE; /* errors were reported above */
	gt_capture_close(capture);
	inputs_fini(&in);
	return exit_code;
}

int export_files(const struct export_request *request, const struct gt_exporter *exporter)
{
	struct summary s = {.mangled = request->mangled};
	struct filter_error error;
	int exit_code;

	if (request->where) {
		s.filter = filter_create(request->where, summary_texts, &s, &error);
		if (!s.filter)
			return where_print_error(request->where, &error);
	}
	exit_code = export_chosen(request, exporter, &s);
	filter_destroy(s.filter);
	summary_fini(&s);
	return exit_code;
}

static int run_export(int argc, char **argv)
{
	static const struct export_words words = {"export", "prog.pftrace", false,
						  print_export_help};
	struct export_request request = {.captures = true};
	const struct gt_exporter *exporter;
	char *line = export_command_line(argc, argv);
	int status = export_options(argc, argv, &words, &request);

	request.command_line = line;
	if (!status && export_is_capture(&request))
		status = export_capture(&request);
	else if (!status && export_is_parquet(&request))
		status = export_parquet(&request);
	else if (status || !(exporter = export_choose(&request)))
		status = status < 0 ? GT_EXIT_OK : GT_EXIT_USAGE;
	else
		status = export_files(&request, exporter);
	free(line);
	return status;
}

const struct gt_command gt_command_export = {
	"export", "write a capture for Perfetto, torch.profiler's readers, RPD, ...", run_export};
