/* SPDX-License-Identifier: MIT */
/* Options of the commands that record: `gputap run` and `gputap attach`. */
#ifndef GPUTAP_CLI_RUN_OPTIONS_H
#define GPUTAP_CLI_RUN_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/mode.h"
#include "cli/run_stacks.h"
#include "collector/collector.h"
#include "generated/modes.h"

struct gt_exporter;

struct run_request {
	struct gt_run_options run;
	const char *command; /* "run" or "attach" */
	const char *output;  /* output as given; NULL: not given */
	const char *pattern; /* argument of -o; "": not given */
	struct mode_options what;
	struct run_stacks stacks;
	bool quiet, no_plugins;
	uint32_t pid;     /* process to attach to; 0: not given */
	bool tree;        /* attach to the process's descendants, too */
	bool has_program; /* a program and its arguments follow the options */
	bool has_tool;    /* --tool was given */
	char text[4096];  /* options text for the capture */
	char capture[PATH_MAX];
	char named[PATH_MAX]; /* output file name, if it differs from rtl_output */
	char rtl_output[PATH_MAX];
	const struct gt_exporter *exporter; /* NULL: write a capture */
	char **argv;                        /* the program's command line */
};

/**
 * run_options_parse() - parse the options of a command that records
 * @r: zero, with `command`, `pattern` and `has_program` filled in
 * @help: text for --help, after which the process exits
 * Return: GT_EXIT_OK, and optind is the index of the first argument that is not an option; or
 *         ui_fail()'s result.
 */
int run_options_parse(struct run_request *r, int argc, char **argv, const char *help);

/**
 * run_options_finish() - check the options together, and choose the output file
 * Call when r->argv and r->pid are known. Return GT_EXIT_OK, or ui_fail()'s result.
 */
int run_options_finish(struct run_request *r);

/* Parse a process id. Return false if @text is none. */
bool run_options_pid(const char *text, uint32_t *pid);

/* Parts of the help that the commands have in common. */
#define RUN_HELP_OUTPUT                                                                     \
	"Output\n"                                                                          \
	"  -o, --output FILE    write a capture (.gputap) or an export, depending on the\n" \
	"                       extension of FILE. In FILE, %p is the process id, %h the\n" \
	"                       host, %r the rank (MPI, Slurm or torchrun), %q{NAME} an\n"  \
	"                       environment variable, %% a percent sign\n"                  \
	"  -f, --force          replace FILE if it exists\n"                                \
	"      --share          let others read FILE, as the umask allows\n"                \
	"  -q, --quiet          print only errors and losses\n"                             \
	"      --compress       write smaller captures (zstd); takes more CPU time\n"
#define RUN_HELP_WHAT                                                                       \
	"What to record\n"                                                                  \
	"  -m, --mode MODE      how much to record:\n"                                      \
	"                         lite      kernels, and each graph launch as one; no\n"    \
	"                                   copies, no calls\n"                             \
	"                         standard  all GPU activity, no calls\n" GT_MODES_HELP     \
	"                         default   standard plus calls; calls of HSA, Unified\n"   \
	"                                   Runtime, the CUDA runtime, NCCL, cuBLAS and\n"  \
	"                                   cuDNN only if -d names them\n"                  \
	"  -d, --domains LIST   record only these APIs, as in `gputap list domains`:\n"     \
	"                       opencl,hip. cuda and hsa select their whole families\n"     \
	"      --ops LIST       record only these operations, as in `gputap list\n"         \
	"                       operations`; * and ? are wildcards\n"                       \
	"      --kernels REGEX  record only kernels whose name matches, mangled or as in\n" \
	"                       the source (as grep -E)\n"                                  \
	"      --no-args        omit call arguments\n"                                      \
	"      --no-command     omit command lines and working directories of programs\n"   \
	"      --no-device      omit GPU activity\n"                                        \
	"      --max-bytes N    bytes of a string or array argument; default: 256\n"        \
	"      --stacks[=LIST]  record call stacks of launch (kernels, copies, graphs),\n"  \
	"                       slow:TIME (calls that take longer) or gaps:TIME (calls\n"   \
	"                       that end a longer time without calls); launch,gaps:1ms\n"   \
	"                       without LIST; no: none. Default: gaps:5ms.\n"               \
	"                       lines:TIME limits the search for source lines after the\n"  \
	"                       run (default: 2s); no-names omits names from FILE\n"        \
	"      --host-state auto|no|TIME\n"                                                 \
	"                       record what threads do while they make no GPU calls:\n"     \
	"                       wait for a lock (and its holder), a file, a pipe,\n"        \
	"                       compute, .. TIME: how often to look; default: 5ms\n"        \
	"      --sample-host[=TIME]  sample the call stacks of threads between their\n"     \
	"                       calls, every TIME (default: 1ms)\n"
#define RUN_HELP_KEEP                                                                        \
	"Flight recorder\n"                                                                  \
	"      --keep TIME[,SIZE]  retain only the last TIME, in at most SIZE of disk\n"     \
	"                       (default: 2G)\n"                                             \
	"      --trigger EXPR   write a snapshot when a call or GPU activity matches EXPR\n" \
	"                       (see --where of report): 'duration>100ms and\n"              \
	"                       name=clFinish', failed; 'no progress for 10s',\n"            \
	"                       'gap>100ms', 'open>5s'. May be repeated\n"                   \
	"      --keep-after TIME  write the snapshot TIME after its trigger; default:\n"     \
	"                       --keep / 2\n"                                                \
	"      --snapshots-most N  write at most N triggered snapshots; default: 10\n"       \
	"      --snapshot-signal SIGNAL\n"                                                   \
	"                       write a snapshot when gputap receives SIGNAL\n"
#define RUN_HELP_BUFFERS                                                                    \
	"      --buffer SIZE    memory per process for unwritten records; default: 256M,\n" \
	"                       less if free memory is low. Only used parts take memory\n"  \
	"      --block-size SIZE  size of a thread's buffer block; default: 64K\n"          \
	"      --when-full TIME how long a call may wait when the buffer is full, before\n" \
	"                       its record is dropped and counted; default: 1s; 0: none\n"  \
	"      --threads N      threads of a process that can record at the same time;\n"   \
	"                       default: 4096\n"
#endif
