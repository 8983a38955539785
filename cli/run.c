/* SPDX-License-Identifier: MIT */
/* gputap run: traces a program from start to end. gputap's output goes to stderr. The program keeps
 * its stdin and stdout, and gputap exits with its exit status or signal. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/tables/losses.h"
#include "cli/command.h"
#include "cli/export.h"
#include "cli/export_parquet.h"
#include "cli/jobs.h"
#include "cli/mode.h"
#include "cli/output_name.h"
#include "cli/run_keep.h"
#include "cli/run_plugins.h"
#include "cli/run_samples.h"
#include "cli/run_stacks.h"
#include "cli/run_window.h"
#include "cli/ui.h"
#include "cli/units.h"
#include "cli/untraced_note.h"
#include "collector/collector.h"
#include "collector/environment.h"
#include "collector/target.h"
#include "export/export.h"
#include "generated/modes.h"
#include "generated/runtimes.h"
#include "record/operation.h"
#include "util/error.h"

/* limits of --host-state TIME */
#define HOST_STATE_LEAST_NS UINT64_C(1000000)
#define HOST_STATE_MOST_NS  UINT64_C(10000000000)

static const char help[] =
	"gputap run [options] [--] PROGRAM [ARGUMENTS]\n"
	"\n"
	"Run PROGRAM unmodified and record its calls to GPU runtimes and all GPU\n"
	"activity, in PROGRAM and in every process that it starts. The input, output and\n"
	"exit status of PROGRAM do not change.\n"
	"\n"
	"Examples\n"
	"  gputap run ./simulation --steps 100            writes simulation.PID.gputap\n"
	"  gputap run -o step.gputap python train.py      then: gputap report step.gputap\n"
	"  gputap run -o step.pftrace python train.py     to open at ui.perfetto.dev\n"
	"  gputap run --ops 'clEnqueue*,clFinish' ./prog  only these calls\n"
	"  gputap run -m lite -o serve.gputap ./server    only kernels\n"
	"  gputap run --no-args --no-device ./prog        only calls and their times\n"
	"  gputap run --tool ./histogram.so ./prog        with a tool: gputap/tool.h\n"
	"  gputap run --wait ./server --daemon            until its last process ends\n"
	"  gputap run --delay 30s --duration 5s ./train   five seconds, after 30\n"
	"\n"
	"Output\n"
	"  -o, --output FILE    write a capture (.gputap) or an export, depending on the\n"
	"                       extension of FILE. In FILE, %p is the process id, %h the\n"
	"                       host, %r the rank (MPI, Slurm or torchrun), %q{NAME} an\n"
	"                       environment variable, %% a percent sign\n"
	"  -f, --force          replace FILE if it exists\n"
	"      --share          let others read FILE, as the umask allows\n"
	"  -q, --quiet          print only errors and losses\n"
	"      --compress       write smaller captures (zstd); takes more CPU time\n"
	"What to record\n"
	"  -m, --mode MODE      how much to record:\n"
	"                         lite      kernels, and each graph launch as one; no\n"
	"                                   copies, no calls\n"
	"                         standard  all GPU activity, no calls\n"
	/* modes of domains */
	GT_MODES_HELP
	"                         default   standard plus calls; calls of HSA, Unified\n"
	"                                   Runtime, the CUDA runtime, NCCL, cuBLAS and\n"
	"                                   cuDNN only if -d names them\n"
	"  -d, --domains LIST   record only these APIs, as in `gputap list domains`:\n"
	"                       opencl,hip. cuda and hsa select their whole families\n"
	"      --ops LIST       record only these operations, as in `gputap list\n"
	"                       operations`; * and ? are wildcards\n"
	"      --kernels REGEX  record only kernels whose name matches, mangled or as in\n"
	"                       the source (as grep -E)\n"
	"      --no-args        omit call arguments\n"
	"      --no-command     omit command lines and working directories of programs\n"
	"      --no-device      omit GPU activity\n"
	"      --max-bytes N    bytes of a string or array argument; default: 256\n"
	"      --stacks[=LIST]  record call stacks of launch (kernels, copies, graphs),\n"
	"                       slow:TIME (calls that take longer) or gaps:TIME (calls\n"
	"                       that end a longer time without calls); launch,gaps:1ms\n"
	"                       without LIST; no: none. Default: gaps:5ms.\n"
	"                       lines:TIME limits the search for source lines after the\n"
	"                       run (default: 2s); no-names omits names from FILE\n"
	"      --host-state auto|no|TIME\n"
	"                       record what threads do while they make no GPU calls:\n"
	"                       wait for a lock (and its holder), a file, a pipe,\n"
	"                       compute, .. TIME: how often to look; default: 5ms\n"
	"      --sample-host[=TIME]  sample the call stacks of threads between their\n"
	"                       calls, every TIME (default: 1ms)\n"
	"Flight recorder\n"
	"      --keep TIME[,SIZE]  retain only the last TIME, in at most SIZE of disk\n"
	"                       (default: 2G)\n"
	"      --trigger EXPR   write a snapshot when a call or GPU activity matches EXPR\n"
	"                       (see --where of report): 'duration>100ms and\n"
	"                       name=clFinish', failed; 'no progress for 10s',\n"
	"                       'gap>100ms', 'open>5s'. May be repeated\n"
	"      --keep-after TIME  write the snapshot TIME after its trigger; default:\n"
	"                       --keep / 2\n"
	"      --snapshots-most N  write at most N triggered snapshots; default: 10\n"
	"      --snapshot-signal SIGNAL\n"
	"                       write a snapshot when `gputap run` receives SIGNAL\n"
	"When to record\n"
	"      --paused         wait for 'gputap start' or the start signal\n"
	"      --delay TIME     start recording after TIME: 30 or 30s, 500ms, 2min\n"
	"      --duration TIME  record for TIME; the program continues afterwards\n"
	"      --from RANGE     start recording when a process starts this range: step;\n"
	"                       'step#3', the third one; * and ? are wildcards\n"
	"      --to RANGE       stop when this range ends: 'step#5'\n"
	"      --max-kernels N  stop after N kernels; some more may be recorded\n"
	"      --start-signal SIGNAL\n"
	"      --stop-signal SIGNAL\n"
	"                       start or stop when `gputap run` receives SIGNAL: USR1,\n"
	"                       SIGUSR2, RTMIN+3. The program does not receive it. If\n"
	"                       both are the same signal, it toggles recording\n"
	"How to record\n"
	"      --no-plugins     do not load vendors' plug-ins (KINETO_PLUGIN_PATH and the\n"
	"                       standard folders)\n"
	"      --tool LIBRARY[:ARGUMENTS]\n"
	"                       load a tool (gputap/tool.h) into every process; may be\n"
	"                       repeated\n"
	"      --wait           wait until every process of the tree has ended, not only\n"
	"                       PROGRAM\n"
	"      --buffer SIZE    memory per process for unwritten records; default: 256M,\n"
	"                       less if free memory is low. Only used parts take memory\n"
	"      --block-size SIZE  size of a thread's buffer block; default: 64K\n"
	"      --when-full TIME how long a call may wait when the buffer is full, before\n"
	"                       its record is dropped and counted; default: 1s; 0: none\n"
	"      --threads N      threads of a process that can record at the same time;\n"
	"                       default: 4096\n"
	"  -h, --help\n"
	"\n"
	"RTL_MODE and RTL_OUTPUT of rocm-trace-lite set --mode and --output, unless these\n"
	"are given. In RTL_OUTPUT, %p is the process id of gputap: one file holds all\n"
	"processes.\n";

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

struct run_request {
	struct gt_run_options run;
	const char *output;  /* output as given; NULL: not given */
	const char *pattern; /* argument of -o; "": not given */
	struct mode_options what;
	struct run_stacks stacks;
	bool quiet, no_plugins;
	char text[4096]; /* options text for the capture */
	char capture[PATH_MAX];
	char named[PATH_MAX]; /* output file name, if it differs from rtl_output */
	char rtl_output[PATH_MAX];
	const struct gt_exporter *exporter; /* NULL: write a capture */
	char **argv;
};

/* Options ----------------------------------------------------------------------- */

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
	case OPT_TOOL: code = tool_option(optarg); break;
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
			       : ui_bad_option("run", argv, options);
	}
	return code;
}

static void describe_options(struct run_request *r)
{
	const struct gt_session *s = &r->run.session;
	char stacks[128], host_state[48], samples[64], keep[512], window[1024];

	run_stacks_describe(s, &r->stacks, stacks, sizeof stacks);
	describe_host_state(&r->run, host_state, sizeof host_state);
	run_samples_describe(&r->run, samples, sizeof samples);
	run_keep_describe(&r->run, keep, sizeof keep);
	run_window_describe(&r->run.windows, window, sizeof window);
	snprintf(r->text, sizeof r->text,
		 "mode=%s domains=%.100s ops=%.200s%s%.200s args=%s device=%s%s buffer=%llu "
		 "block=%u when-full=%lluns%s%s%s%s%s%s",
		 r->what.chosen->name, r->what.domains ? r->what.domains : "all",
		 r->what.ops ? r->what.ops : "all", s->kernels[0] ? " kernels=" : "", s->kernels,
		 s->record_args ? "yes" : "no", s->device_activity ? "yes" : "no",
		 s->hide_command ? " command=no" : "", (unsigned long long)s->pool_bytes,
		 s->block_bytes, (unsigned long long)s->wait_ns, stacks, host_state, samples,
		 r->run.compress ? " compress" : "", keep, window);
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

/* Choose the output file, and check that it can be created. */
static int choose_output(struct run_request *r)
{
	const char *program = strrchr(r->argv[0], '/') ? strrchr(r->argv[0], '/') + 1 : r->argv[0];
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
		snprintf(r->named, sizeof r->named, "%.200s.%d.gputap",
			 *program ? program : "program", (int)getpid());
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

static int parse_arguments(struct run_request *r, int argc, char **argv)
{
	int code = 0, option;

	gt_session_defaults(&r->run.session);
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+:ho:fqm:d:", options, NULL)) != -1) {
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
	if (optind >= argc) {
		ui_fail(GT_EXIT_USAGE, "no program to run");
		fputs("  'gputap run ./program arguments'; 'gputap run --help' shows more\n",
		      stderr);
		return GT_EXIT_USAGE;
	}
	r->argv = argv + optind;
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

/* After the run ------------------------------------------------------------------- */

/* After an error that occurred before anything was traced, print the solution if one is known. */
static void print_way_out(const struct run_request *r, int error)
{
	if (error == EMFILE || error == ENFILE)
		fprintf(stderr,
			"  gputap run needs about %d file descriptors and a few per process of the "
			"tree: use 'ulimit -n 1024'\n",
			r->run.keep.window_ns ? 40 : 20);
	else if (error == EEXIST || error == EBUSY) /* another rank created the file first */
		output_name_note_ranks(r->output, r->pattern);
	else if (!*r->pattern)
		fputs("  'gputap run -o FILE ..' writes the capture elsewhere\n", stderr);
}

static int cannot_start(const char *program, const struct gt_target *t, int error)
{
	gt_error_clear();
	if (error == ENOENT && t->executable)
		return ui_fail(GT_EXIT_CANNOT_EXEC,
			       "%s: cannot be started: its interpreter%s%s does not exist", program,
			       t->interpreter[0] ? " " : "", t->interpreter);
	if (error == ENOENT || error == ENOTDIR)
		return ui_fail(GT_EXIT_NOT_FOUND, "%s: no such program%s",
			       *program ? program : "''", strchr(program, '/') ? "" : " in PATH");
	if (error == EACCES && t->found && !t->executable)
		return ui_fail(GT_EXIT_CANNOT_EXEC, "%s: not an executable program", t->path);
	return ui_fail(GT_EXIT_CANNOT_EXEC, "%s: cannot be started: %s", program, strerror(error));
}

/* Print advice for the cause of the error. */
static void note_reason(enum gt_drop_reason why, uint64_t lost)
{
	const char *advice = losses_advice(why);

	if (lost && why != GT_DROP_UNFINISHED && why != GT_DROP_OUTPUT)
		fprintf(stderr, "  %s: %s%s%s\n", show_count(lost), gt_drop_reason_name(why),
			advice ? "; " : "", advice ? advice : "");
}

/* Print losses and their reasons, even if quiet. */
static void note_losses(const struct run_request *r, const struct gt_target *t,
			const struct gt_run_result *result)
{
	/* number of untraced processes noted before the program started */
	unsigned noted = t->obstacle ? 1 : 0;
	uint64_t lost = result->dropped - result->unfinished;

	if (result->output_error)
		ui_note("cannot write all of %s (%s): %s of %s records are lost and counted as "
			"lost",
			r->run.output, strerror(-result->output_error), show_count(lost),
			show_count(result->seen));
	else if (lost)
		ui_note("%s of %s records are lost; 'gputap info %s' shows where", show_count(lost),
			show_count(result->seen), show_shell_word(r->run.output));
	for (int why = 0; lost && why < GT_DROP_REASON_COUNT; why++)
		note_reason((enum gt_drop_reason)why, result->dropped_by[why]);
	if (result->torn)
		ui_note("%u process%s overwrote gputap's rings; unreadable records are counted as "
			"lost",
			result->torn, result->torn == 1 ? "" : "es");
	/* In other cases, gt_report_short() or note_nothing_seen() reports untraced processes.
	 * Processes that a traced program reported are not in result->untraced */
	if (r->quiet || ((result->untraced > noted || result->still_running) && !result->runtimes))
		untraced_note(r->run.output);
	if (result->refused)
		ui_note("%u process%s could not be read: the segment is damaged or from another "
			"version of libgputap",
			result->refused, result->refused == 1 ? "" : "es");
}

static void note_obstacle(const struct gt_target *t, const char *program)
{
	/* A privileged program removes gputap's variables from the environment, so its children do
	 * not get them. Children for another machine or word size are started without these
	 * variables */
	bool children = t->obstacle != GT_TARGET_PRIVILEGED && !t->complains;

	ui_note("%s cannot be traced because %s%s", program, gt_target_reason(t->obstacle),
		children ? "; programs that it starts can still be traced" : "");
}

/* Print the processes of the tree that could not be traced, because these may explain why nothing
 * was seen. */
static void note_not_traced(const char *path)
{
	enum { MOST = 3 };
	struct gt_capture *c;
	unsigned noted = 0;

	if (gt_capture_open(path, &c)) {
		gt_error_clear();
		return;
	}
	for (size_t i = 0; i < gt_capture_event_count(c) && noted < MOST; i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);

		if (e->code != GT_EVENT_NOT_TRACED || !e->text)
			continue;
		noted++;
		fputs("  not traced: ", stderr);
		ui_put(stderr, e->text, UINT32_MAX); /* a path may contain any characters */
		fputc('\n', stderr);
	}
	gt_capture_close(c);
}

static void note_nothing_seen(const struct run_request *r, const struct gt_target *t,
			      const struct gt_run_result *result)
{
	const char *program = r->argv[0];
	char here[256];

	if (t->obstacle) {
		ui_note("nothing was recorded");
		return;
	}
	if (!result->processes && WIFEXITED(result->wait_status) &&
	    WEXITSTATUS(result->wait_status) == 127) {
		ui_note("the dynamic linker could not load %s; if it printed 'static TLS block' "
			"above, use:\n  GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1048576 "
			"gputap run ..",
			program);
		return;
	}
	if (r->what.domains)
		ui_note("%s used none of --domains %s", program, r->what.domains);
	if (r->what.domains)
		return;
	gt_doctor_short(here, sizeof here);
	ui_note("%s used no runtime that gputap can trace (%s); %s", program, GT_RUNTIMES_TRACED,
		here);
	note_not_traced(r->capture);
}

/* Print the number of processes that are still running. The line about the capture names them. */
static void note_still_running(const struct gt_run_result *result)
{
	if (result->still_running)
		ui_note("%u process%s of the tree %s still running; 'gputap run --wait' waits for "
			"all",
			result->still_running, result->still_running == 1 ? "" : "es",
			result->still_running == 1 ? "is" : "are");
}

static bool show_progress;
static struct ui_progress progress;

static void on_progress(void *data, uint64_t done, uint64_t total)
{
	(void)data;
	if (!show_progress) {
		ui_progress_begin(&progress, "export", total);
		show_progress = true;
	}
	ui_progress_set(&progress, done);
}

/* Export the capture, then remove it. If the export fails, keep the capture, so that no traced data
 * is lost. */
static bool export(const struct run_request *r)
{
	struct gt_view_options o = {.progress = on_progress, .jobs = jobs_default()};
	struct gt_capture *c;
	int status = gt_capture_open(r->capture, &c);

	if (!r->run.shared) /* the export contains the data of the capture */
		umask(S_IRWXG | S_IRWXO);

	if (!status) {
		status = gt_export(r->exporter, c, r->output, r->run.replace, &o);
		if (show_progress)
			ui_progress_end(&progress);
		gt_capture_close(c);
	}
	if (status) {
		ui_fail(GT_EXIT_FAILURE, "cannot write %s", r->output);
		ui_note("the capture is in %s", r->capture);
		return false;
	}
	return true;
}

/* Return true if the requested output exists, even if it is incomplete. */
static bool print_results(const struct run_request *r, const struct gt_target *t,
			  const struct gt_run_result *result)
{
	bool exported = r->exporter && export(r);

	note_losses(r, t, result);
	run_keep_note(result);
	if (!r->quiet) {
		run_window_note(&r->run.windows, r->capture, &result->ranges);
		if (!result->runtimes)
			note_nothing_seen(r, t, result);
		else if (gt_report_short(r->capture, !r->exporter, stderr))
			gt_error_clear();
		note_still_running(result);
		run_samples_note(&r->run, result);
		if (!r->exporter)
			ui_note("wrote %s; 'gputap report %s' shows more",
				show_shell_word(r->output), show_shell_word(r->output));
		else if (exported)
			ui_note("wrote %s", show_shell_word(r->output));
	}
	if (exported)
		unlink(r->capture);
	return exported || !r->exporter;
}

/* Exit with the program's exit status or signal. */
static int end_as(int wait_status)
{
	struct rlimit none = {0, 0};
	sigset_t one;
	int number;

	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	number = WTERMSIG(wait_status);
	fflush(stdout);
	fflush(stderr);
	setrlimit(RLIMIT_CORE, &none); /* a core dump, if any, must be that of the program */
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	kill(getpid(), number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return 128 + number; /* the signal does not kill gputap */
}

/* Print a note if the environment names another tool's library for NVTX (nsys sets one), because a
 * program loads only one such library. */
static void note_other_nvtx(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");

	if (path && *path && !strstr(path, "libgputap.so"))
		ui_note("NVTX_INJECTION64_PATH names %s, which receives the program's NVTX ranges; "
			"unset it to record them",
			path);
}

static void note_other_gputap(const struct gt_libraries *libraries)
{
	char other[PATH_MAX];

	if (gt_libraries_find_other(libraries, other))
		ui_note("LD_PRELOAD names another gputap, %s, which is not loaded into the "
			"program: unset LD_PRELOAD, or run the gputap that belongs to it",
			other);
	if (gt_libraries_find_shadowed(libraries, other))
		ui_note("LD_LIBRARY_PATH has another gputap, %s, whose other libraries may not fit "
			"this one: remove its folder from LD_LIBRARY_PATH, or run the gputap that "
			"belongs to it",
			other);
}

/* Look at the program as the library that is loaded into it will. Not inlined, so that the paths
 * leave the stack again. */
__attribute__((noinline)) static void look_at_target(const struct run_request *r,
						     struct gt_target *target)
{
	struct gt_libraries libraries;

	if (gt_libraries_find(&libraries)) { /* reported when they are needed */
		gt_error_clear();
		gt_target_look(r->argv[0], target);
	} else {
		gt_target_look_with(r->argv[0], &libraries, target);
		if (!r->quiet)
			note_other_gputap(&libraries);
	}
}

static int run(int argc, char **argv)
{
	/* static, because the struct is too large for a small stack */
	static struct run_request r = {.pattern = ""};
	struct gt_run_result result;
	struct gt_target target;
	int code = parse_arguments(&r, argc, argv), status;
	bool written;

	if (code)
		return code;
	look_at_target(&r, &target);
	if (!target.executable) /* check before a file is created or replaced */
		return cannot_start(r.argv[0], &target, target.found ? EACCES : ENOENT);
	if (target.obstacle && !r.quiet)
		note_obstacle(&target, r.argv[0]);
	if (!r.quiet && gt_session_recordable(&r.run.session) >> GT_DOMAIN_NVTX & 1)
		note_other_nvtx();
	if (!r.no_plugins)
		run_plugins_find(&r.run.session, r.quiet);
	if (r.run.session.stacks || r.run.sample_host_ns) {
		r.run.complete_snapshot = run_stacks_name_snapshot;
		r.run.complete_data = &r.stacks;
	}
	status = gt_collector_run(&r.run, r.argv, &result);
	if (status) {
		ui_fail(GT_EXIT_FAILURE, "cannot trace");
		print_way_out(&r, -status);
		return GT_EXIT_FAILURE;
	}
	if (result.exec_errno) {
		code = cannot_start(r.argv[0], &target, result.exec_errno);
		if (result.exec_errno == EMFILE || result.exec_errno == ENFILE)
			print_way_out(&r, result.exec_errno);
		return code;
	}
	if (r.run.session.stacks || r.run.sample_host_ns)
		run_stacks_name(r.capture, &r.stacks, r.quiet);
	written = print_results(&r, &target, &result);
	code = end_as(result.wait_status);
	return code || written ? code : GT_EXIT_FAILURE;
}

const struct gt_command gt_command_run = {"run", "trace a program from start to end", run};
