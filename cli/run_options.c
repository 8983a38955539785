/* SPDX-License-Identifier: MIT */
/* See run_options.h. */
#include "cli/run_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/export.h"
#include "cli/export_parquet.h"
#include "cli/output_name.h"
#include "cli/run_keep.h"
#include "cli/run_samples.h"
#include "cli/run_window.h"
#include "cli/ui.h"
#include "cli/units.h"
#include "export/export.h"
#include "record/operation.h"
#include "util/error.h"

/* limits of --host-state TIME */
#define HOST_STATE_LEAST_NS UINT64_C(1000000)
#define HOST_STATE_MOST_NS  UINT64_C(10000000000)

enum {
	OPT_OPS = 256,
	OPT_NO_ARGS,
	OPT_NO_DEVICE,
	OPT_MAX_BYTES,
	OPT_COMPRESS,
	OPT_WAIT,
	OPT_BUFFER,
	OPT_BLOCK,
	OPT_FULL,
	OPT_THREADS,
	OPT_KERNELS,
	OPT_TOOL,
	OPT_SHARE,
	OPT_NO_COMMAND,
	OPT_NO_PLUGINS,
	OPT_STACKS,
	OPT_HOST_STATE,
	OPT_SAMPLE_HOST,
	OPT_TREE,
	OPT_KEEP, /* + enum run_keep_option */
	OPT_KEEP_LAST = OPT_KEEP + RUN_KEEP_OPTIONS - 1,
	OPT_WINDOW /* + enum run_window_option */
};

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"quiet", no_argument, NULL, 'q'},
	{"mode", required_argument, NULL, 'm'},
	{"pid", required_argument, NULL, 'p'},
	{"tree", no_argument, NULL, OPT_TREE},
	{"domains", required_argument, NULL, 'd'},
	{"ops", required_argument, NULL, OPT_OPS},
	{"kernels", required_argument, NULL, OPT_KERNELS},
	{"no-args", no_argument, NULL, OPT_NO_ARGS},
	{"no-command", no_argument, NULL, OPT_NO_COMMAND},
	{"share", no_argument, NULL, OPT_SHARE},
	{"no-device", no_argument, NULL, OPT_NO_DEVICE},
	{"max-bytes", required_argument, NULL, OPT_MAX_BYTES},
	{"compress", no_argument, NULL, OPT_COMPRESS},
	{"wait", no_argument, NULL, OPT_WAIT},
	{"buffer", required_argument, NULL, OPT_BUFFER},
	{"block-size", required_argument, NULL, OPT_BLOCK},
	{"when-full", required_argument, NULL, OPT_FULL},
	{"threads", required_argument, NULL, OPT_THREADS},
	{"tool", required_argument, NULL, OPT_TOOL},
	{"no-plugins", no_argument, NULL, OPT_NO_PLUGINS},
	{"stacks", optional_argument, NULL, OPT_STACKS},
	{"host-state", required_argument, NULL, OPT_HOST_STATE},
	{"sample-host", optional_argument, NULL, OPT_SAMPLE_HOST},
	{"keep", required_argument, NULL, OPT_KEEP + RUN_KEEP},
	{"keep-after", required_argument, NULL, OPT_KEEP + RUN_KEEP_AFTER},
	{"trigger", required_argument, NULL, OPT_KEEP + RUN_TRIGGER},
	{"snapshots-most", required_argument, NULL, OPT_KEEP + RUN_SNAPSHOTS_MOST},
	{"snapshot-signal", required_argument, NULL, OPT_KEEP + RUN_SNAPSHOT_SIGNAL},
	{"paused", no_argument, NULL, OPT_WINDOW + RUN_PAUSED},
	{"delay", required_argument, NULL, OPT_WINDOW + RUN_DELAY},
	{"duration", required_argument, NULL, OPT_WINDOW + RUN_DURATION},
	{"from", required_argument, NULL, OPT_WINDOW + RUN_FROM},
	{"to", required_argument, NULL, OPT_WINDOW + RUN_TO},
	{"max-kernels", required_argument, NULL, OPT_WINDOW + RUN_MAX_KERNELS},
	{"start-signal", required_argument, NULL, OPT_WINDOW + RUN_START_SIGNAL},
	{"stop-signal", required_argument, NULL, OPT_WINDOW + RUN_STOP_SIGNAL},
	{NULL, 0, NULL, 0},
};

/* number of slots in a segment that no thread of the program uses: the first slot, and the slot of
 * gputap's own thread */
enum { SLOTS_NOT_THREADS = 2 };

static int bad_value(const char *option, const char *value, const char *wanted)
{
	return ui_fail(GT_EXIT_USAGE, "%s %s: %s", option, value, wanted);
}

static int size_option(const char *option, const char *value, uint64_t least, uint64_t most,
		       uint64_t *out)
{
	if (!parse_size(value, out))
		return bad_value(option, value,
				 "a size is a number, optionally followed by K, M or G");
	if (*out < least || *out > most)
		return ui_fail(GT_EXIT_USAGE, "%s %s: from %s to %s", option, value,
			       show_bytes(least), show_bytes(most));
	return 0;
}

static int number_option(const char *option, const char *value, uint64_t least, uint64_t most,
			 uint32_t *out)
{
	char *end;
	unsigned long long n = strtoull(value, &end, 10);

	if (!isdigit((unsigned char)value[0]) || *end || n < least || n > most)
		return ui_fail(GT_EXIT_USAGE, "%s %s: a number from %llu to %llu", option, value,
			       (unsigned long long)least, (unsigned long long)most);
	*out = (uint32_t)n;
	return 0;
}

static int block_option(const char *value, uint32_t *out)
{
	uint64_t bytes;
	int code = size_option("--block-size", value, 16 << 10, 4 << 20, &bytes);

	if (code)
		return code;
	if (bytes & (bytes - 1))
		return bad_value("--block-size", value, "a power of two, 16K to 4M");
	*out = (uint32_t)bytes;
	return 0;
}

static int host_state_option(const char *value, struct gt_run_options *run)
{
	run->session.host_state = strcmp(value, "no") != 0;
	run->host_state_ns = 0;
	if (!run->session.host_state || !strcmp(value, "auto"))
		return 0;
	if (!parse_time(value, &run->host_state_ns) || run->host_state_ns < HOST_STATE_LEAST_NS ||
	    run->host_state_ns > HOST_STATE_MOST_NS)
		return bad_value("--host-state", value,
				 "auto, no, or a time from 1ms to 10s between two looks");
	return 0;
}

static void describe_host_state(const struct gt_run_options *run, char *text, size_t room)
{
	*text = '\0';
	if (!run->session.host_state)
		snprintf(text, room, " host-state=no");
	else if (run->host_state_ns)
		snprintf(text, room, " host-state=%lluns", (unsigned long long)run->host_state_ns);
}

/* Append "name=arguments" to @to in the form of GPUTAP_TOOLS. */
static void encode_arguments(char *to, const char *arguments)
{
	*to++ = '=';
	for (; *arguments; arguments++)
		to += strchr(":%", *arguments) ? sprintf(to, "%%%02x", (unsigned char)*arguments)
					       : sprintf(to, "%c", *arguments);
}

/* Add a tool to the program's GPUTAP_TOOLS. If the library does not exist, the program runs without
 * the tool. */
static int tool_option(const char *value)
{
	const char *arguments = strchr(value, ':'), *users = getenv("GPUTAP_TOOLS");
	char *name = strndup(value, arguments ? (size_t)(arguments - value) : strlen(value)),
	     *whole = NULL, *list = NULL;
	int code = GT_EXIT_OK;

	if (!name || !*name) {
		free(name);
		return bad_value("--tool", value,
				 "a tool's library, optionally followed by ':' and its arguments");
	}
	if (access(name, F_OK) == 0) {
		/* make the path absolute, because programs may change their folder */
		char *path = realpath(name, NULL);

		free(name);
		name = path;
	}
	if (name && strchr(name, '/') && access(name, R_OK))
		ui_note("--tool %s: %s; the program runs without it", name, strerror(errno));
	else if (name && strpbrk(name, ":="))
		code = bad_value("--tool", value, "a path without ':' and '='");
	else if (name && (whole = malloc(strlen(name) + 3 * strlen(value) + 2)) != NULL) {
		strcpy(whole, name);
		if (arguments)
			encode_arguments(whole + strlen(whole), arguments + 1);
		if (asprintf(&list, "%s%s%s", users ? users : "", users && *users ? ":" : "",
			     whole) < 0 ||
		    setenv("GPUTAP_TOOLS", list, 1))
			code = ui_fail(GT_EXIT_FAILURE, "out of memory");
	}
	free(list);
	free(whole);
	free(name);
	return code;
}

bool run_options_pid(const char *text, uint32_t *pid)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*pid = (uint32_t)n;
	return isdigit((unsigned char)*text) && !*end && n && n <= INT_MAX;
}

static int take_option(struct run_request *r, int option, char **argv)
{
	struct gt_session *s = &r->run.session;
	uint64_t bytes;
	int code = 0;

	switch (option) {
	case 'o': r->output = optarg; break;
	case 'f': r->run.replace = true; break;
	case 'q': r->quiet = true; break;
	case 'm': r->what.mode = optarg; break;
	case 'd': r->what.domains = optarg; break;
	case OPT_OPS: r->what.ops = optarg; break;
	case OPT_KERNELS: r->what.kernels = optarg; break;
	case OPT_NO_ARGS: s->record_args = 0; break;
	case OPT_NO_COMMAND: s->hide_command = 1; break;
	case OPT_SHARE: r->run.shared = true; break;
	case OPT_NO_DEVICE: s->device_activity = 0; break;
	case OPT_COMPRESS: r->run.compress = true; break;
	case OPT_WAIT: r->run.wait_tree = true; break;
	case OPT_NO_PLUGINS: r->no_plugins = true; break;
	case OPT_STACKS: code = run_stacks_option(optarg, s, &r->stacks, parse_time); break;
	case OPT_HOST_STATE: code = host_state_option(optarg, &r->run); break;
	case OPT_SAMPLE_HOST:
		code = run_samples_option(optarg, &r->run.sample_host_ns, parse_time);
		break;
	case OPT_TREE: r->tree = true; break;
	case 'p':
		if (!run_options_pid(optarg, &r->pid))
			code = bad_value("--pid", optarg, "a process id is a number");
		break;
	case OPT_TOOL:
		r->has_tool = true;
		code = tool_option(optarg);
		break;
	case OPT_MAX_BYTES:
		code = size_option("--max-bytes", optarg, 0, 8192, &bytes);
		s->payload_cap = (uint32_t)bytes;
		break;
	case OPT_BUFFER:
		code = size_option("--buffer", optarg, 256 << 10, UINT64_C(64) << 30,
				   &s->pool_bytes);
		break;
	case OPT_BLOCK: code = block_option(optarg, &s->block_bytes); break;
	case OPT_THREADS:
		code = number_option("--threads", optarg, 1, 1 << 16, &s->slot_count);
		s->slot_count += SLOTS_NOT_THREADS;
		break;
	case OPT_FULL:
		if (!parse_time(optarg, &s->wait_ns))
			code = bad_value("--when-full", optarg, "a time such as 100ms, 2s or 0");
		break;
	case OPT_KEEP ... OPT_KEEP_LAST:
		code = run_keep_option(&r->run, (enum run_keep_option)(option - OPT_KEEP), optarg);
		break;
	default:
		code = option >= OPT_WINDOW
			       ? run_window_option(&r->run.windows,
						   (enum run_window_option)(option - OPT_WINDOW),
						   optarg)
			       : ui_bad_option(r->command, argv, options);
	}
	return code;
}

static void describe_options(struct run_request *r)
{
	const struct gt_session *s = &r->run.session;
	char stacks[128], host_state[48], samples[64], keep[512], window[1024], attach[48] = "";

	run_stacks_describe(s, &r->stacks, stacks, sizeof stacks);
	describe_host_state(&r->run, host_state, sizeof host_state);
	run_samples_describe(&r->run, samples, sizeof samples);
	run_keep_describe(&r->run, keep, sizeof keep);
	run_window_describe(&r->run.windows, window, sizeof window);
	if (r->pid)
		snprintf(attach, sizeof attach, " attach=%u%s", r->pid, r->tree ? " tree" : "");
	snprintf(r->text, sizeof r->text,
		 "mode=%s domains=%.100s ops=%.200s%s%.200s args=%s device=%s%s buffer=%llu "
		 "block=%u when-full=%lluns%s%s%s%s%s%s%s",
		 r->what.chosen->name, r->what.domains ? r->what.domains : "all",
		 r->what.ops ? r->what.ops : "all", s->kernels[0] ? " kernels=" : "", s->kernels,
		 s->record_args ? "yes" : "no", s->device_activity ? "yes" : "no",
		 s->hide_command ? " command=no" : "", (unsigned long long)s->pool_bytes,
		 s->block_bytes, (unsigned long long)s->wait_ns, stacks, host_state, samples,
		 r->run.compress ? " compress" : "", keep, window, attach);
	r->run.options_text = r->text;
}

static int unknown_format(const char *path)
{
	const char *dot = strchr(strrchr(path, '/') ? strrchr(path, '/') : path, '.'),
		   *names[64] = {".gputap"}, *near;
	size_t n = 1;

	if (export_is_ambiguous(path))
		return ui_fail(
			GT_EXIT_USAGE,
			"%s: RPD and ROCm 7's rocpd both use .db; end the name in .rpd or .rocpd",
			path);
	if (export_is_parquet(&(struct export_request){.output = path}))
		return ui_fail(GT_EXIT_USAGE,
			       "cannot write Parquet while recording: record to a capture, then"
			       " 'gputap export prog.gputap -o %s'",
			       path);
	for (size_t i = 0; gt_exporters[i]; i++)
		for (size_t k = 0; gt_exporters[i]->extensions[k] && n < 63; k++)
			names[n++] = gt_exporters[i]->extensions[k];
	near = dot ? nearest_name(dot, names) : NULL;
	ui_fail(GT_EXIT_USAGE, "'%s' has no known extension to select the format%s%s%s", path,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	names[n] = NULL;
	ui_list_names("known:", names);
	return GT_EXIT_USAGE;
}

static int exists(const struct run_request *r)
{
	ui_fail(GT_EXIT_FAILURE, "%s exists; -f replaces it", r->output);
	output_name_note_ranks(r->output, r->pattern);
	return GT_EXIT_FAILURE;
}

/* Choose NAME.PID.gputap, or for further captures of a running process NAME.PID.2.gputap, ... */
static void choose_name(struct run_request *r)
{
	const char *slash = strrchr(r->argv[0], '/'), *name = slash ? slash + 1 : r->argv[0];
	unsigned pid = r->pid ? r->pid : (unsigned)getpid();

	if (!*name)
		name = "program";
	snprintf(r->named, sizeof r->named, "%.200s.%u.gputap", name, pid);
	for (unsigned i = 2; r->pid && !r->run.replace && i < 10000 && !access(r->named, F_OK); i++)
		snprintf(r->named, sizeof r->named, "%.200s.%u.%u.gputap", name, pid, i);
}

/* Choose the output file, and check that it can be created. */
static int choose_output(struct run_request *r)
{
	struct stat st;

	if (r->output) {
		int code = output_name_expand(r->output, r->named, sizeof r->named);

		if (code)
			return code;
		r->pattern = r->output;
		r->output = r->named;
	}
	if (!r->output) {
		r->output = mode_rtl_output(r->rtl_output, sizeof r->rtl_output);
		if (r->output && export_is_ambiguous(r->output)) /* rocm-trace-lite writes RPD */
			r->exporter = gt_exporter_find("rpd");
	}
	if (!r->output) {
		choose_name(r);
		r->output = r->named;
	}
	if (!text_ends_with(r->output, ".gputap") && !r->exporter) {
		r->exporter = gt_exporter_for_path(r->output);
		if (!r->exporter)
			return unknown_format(r->output);
	}
	if (stat(r->output, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return ui_fail(GT_EXIT_FAILURE, "%s is a folder; name a file in it",
				       r->output);
		if (!r->run.replace)
			return exists(r);
		if (!S_ISREG(st.st_mode)) /* report this before the program runs */
			return ui_fail(GT_EXIT_FAILURE,
				       "%s is not a regular file; name a file on disk", r->output);
		if (access(r->output, W_OK))
			return ui_fail(GT_EXIT_FAILURE, "%s exists and cannot be written: %m",
				       r->output);
	} else if (output_name_check_folder(r->output)) {
		return GT_EXIT_FAILURE;
	}
	if (r->exporter) /* put the capture next to the export, on a disk meant for such files */
		snprintf(r->capture, sizeof r->capture, "%.3000s.%d.gputap", r->output,
			 (int)getpid());
	else
		snprintf(r->capture, sizeof r->capture, "%s", r->output);
	r->run.output = r->capture;
	r->run.snapshot_name = r->output;
	r->run.wanted = r->output;
	return 0;
}

int run_options_parse(struct run_request *r, int argc, char **argv, const char *help)
{
	int code = 0, option;

	gt_session_defaults(&r->run.session);
	opterr = 0;
	optind = 1;
	/* what follows a program belongs to the program; after a process id, options may follow */
	while ((option = getopt_long(argc, argv, r->has_program ? "+:ho:fqm:d:p:" : ":ho:fqm:d:p:",
				     options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			code = ui_flush(stdout);
			if (code)
				ui_fail(GT_EXIT_FAILURE, "cannot write to standard output: %s",
					strerror(-code));
			exit(code ? GT_EXIT_FAILURE : GT_EXIT_OK);
		}
		code = take_option(r, option, argv);
		if (code)
			return code;
	}
	return 0;
}

int run_options_finish(struct run_request *r)
{
	int code;

	if (r->run.session.pool_bytes < 4 * (uint64_t)r->run.session.block_bytes)
		return ui_fail(GT_EXIT_USAGE,
			       "--buffer must hold at least four blocks of --block-size");
	code = run_keep_check(&r->run, r->quiet);
	if (code)
		return code;
	code = run_window_check(&r->run.windows);
	if (code)
		return code;
	code = mode_choose(&r->what, &r->run.session);
	if (!code)
		code = run_stacks_check(&r->run.session);
	run_stacks_default(&r->run.session, &r->stacks, r->run.sample_host_ns > 0);
	if (!code)
		code = run_samples_check(&r->run);
	if (!code)
		code = choose_output(r);
	describe_options(r);
	return code;
}
