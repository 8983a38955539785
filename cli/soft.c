// SPDX-License-Identifier: MIT
/* gputap soft: run a program with accelerators in software under the vendor's real runtime.
 * Options become environment variables (soft/amdgpu/config.h), the stand-in's folder goes to the
 * front of LD_LIBRARY_PATH, ROCr 7 is told to look there, and we become the program. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/soft_runtime.h"
#include "cli/ui.h"
#include "config.h"
#include "soft/amdgpu/config.h"

#define KFD_SHIM "libsoft-kfd.so"

static const char help[] =
	"gputap soft amdgpu [options] [--] PROGRAM [ARGUMENTS]\n"
	"\n"
	"Runs PROGRAM on AMD GPUs that are software: HIP and ROCr are the real ones of\n"
	"the distribution, the driver below them is ours. Kernels compiled for the GPU's\n"
	"type are interpreted. For tests of what surrounds kernels: results are right,\n"
	"times are an interpreter's, or made up.\n"
	"\n"
	"Examples\n"
	"  gputap soft                           what there is; can it run here?\n"
	"  gputap soft amdgpu -- ./hip_program   built by hipcc --offload-arch=gfx906\n"
	"  gputap soft amdgpu -- rocminfo\n"
	"  gputap soft amdgpu --gpus 8 --memory 2G -- ./hip_program\n"
	"  gputap run -o trace.gputap -- gputap soft amdgpu -- ./hip_program\n"
	"  gputap soft amdgpu --durations kernels.txt --no-execute -- ./hip_program\n"
	"  gputap soft amdgpu --clock-drift 50ppm,-50ppm --gpus 2 -- ./hip_program\n"
	"\n"
	"Options\n"
	"      --gpus N           1 to 8; 1 if not said\n"
	"      --gfx TYPE         900, 906, 908, 90a; 906 by default; kernels of 908 and\n"
	"                         90a are not executed\n"
	"      --memory SIZE      of each: 512M, 16G; as the real one has if not said\n"
	"      --durations FILE   lines of a kernel's name or pattern, and its\n"
	"                         microseconds\n"
	"      --no-execute       kernels take their time but do nothing (copies are\n"
	"                         done)\n"
	"      --clock-epoch TIME what the GPU's clock showed at the machine's start:\n"
	"                         0, 5s\n"
	"      --clock-skew TIME  by which its times come out late: 20us, -1ms\n"
	"      --clock-drift RATE by which it runs fast: 50ppm, -200ppb\n"
	"                         (one for all GPUs, or one for each: 50ppm,0,-50ppm)\n"
	"      --fail WHAT        allocate, event, queue, kernel, hang; each one, or\n"
	"                         queue:2, or queue:2+\n"
	"      --large-bar        the host may reach all memory of a GPU\n"
	"      --kfd              pretend that there are /dev/kfd and its module, for\n"
	"                         programs that look (rocminfo gets it without being\n"
	"                         asked)\n"
	"  -h, --help\n";

enum {
	OPT_GPUS = 256,
	OPT_GFX,
	OPT_MEMORY,
	OPT_DURATIONS,
	OPT_EXECUTE,
	OPT_EPOCH,
	OPT_SKEW,
	OPT_DRIFT,
	OPT_FAIL,
	OPT_BAR,
	OPT_KFD
};

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"gpus", required_argument, NULL, OPT_GPUS},
	{"gfx", required_argument, NULL, OPT_GFX},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"durations", required_argument, NULL, OPT_DURATIONS},
	{"no-execute", no_argument, NULL, OPT_EXECUTE},
	{"clock-epoch", required_argument, NULL, OPT_EPOCH},
	{"clock-skew", required_argument, NULL, OPT_SKEW},
	{"clock-drift", required_argument, NULL, OPT_DRIFT},
	{"fail", required_argument, NULL, OPT_FAIL},
	{"large-bar", no_argument, NULL, OPT_BAR},
	{"kfd", no_argument, NULL, OPT_KFD},
	{NULL, 0, NULL, 0},
};

/* The variable that an option sets, and to what if it has no value of its own. */
static const struct {
	int option;
	const char *variable, *value;
} variables[] = {
	{OPT_GPUS, "SOFT_AMDGPU_GPUS", NULL},       {OPT_GFX, "SOFT_AMDGPU_GFX", NULL},
	{OPT_MEMORY, "SOFT_AMDGPU_MEMORY", NULL},   {OPT_DURATIONS, "SOFT_AMDGPU_DURATIONS", NULL},
	{OPT_EXECUTE, "SOFT_AMDGPU_EXECUTE", "0"},  {OPT_EPOCH, "SOFT_AMDGPU_CLOCK_EPOCH", NULL},
	{OPT_SKEW, "SOFT_AMDGPU_CLOCK_SKEW", NULL}, {OPT_DRIFT, "SOFT_AMDGPU_CLOCK_DRIFT", NULL},
	{OPT_FAIL, "SOFT_AMDGPU_FAIL", NULL},       {OPT_BAR, "SOFT_AMDGPU_LARGE_BAR", "1"},
};
enum { VARIABLES = sizeof variables / sizeof *variables };

static const char *option_name(int value)
{
	for (const struct option *o = options; o->name; o++)
		if (o->val == value)
			return o->name;
	return "";
}

static int not_built(void)
{
	return ui_fail(GT_EXIT_FAILURE, "this gputap was built without soft/amdgpu, for want of "
					"ROCr's headers: 'apt install libhsa-runtime-dev', "
					"then build anew");
}

/* One variable that holds a list with colons: @word to its front. */
static void put_first(const char *variable, const char *word)
{
	const char *rest = getenv(variable);
	char *value;

	if (!rest || !*rest)
		setenv(variable, word, 1);
	else if (asprintf(&value, "%s:%s", word, rest) > 0) {
		setenv(variable, value, 1);
		free(value);
	}
}

static int set_option(int option, const char *value)
{
	char path[PATH_MAX];

	if (option == OPT_DURATIONS) { /* the program may go elsewhere before it is read */
		if (!realpath(value, path) || access(path, R_OK))
			return ui_fail(GT_EXIT_FAILURE, "cannot read %s: %s", value,
				       strerror(errno));
		value = path;
	}
	for (unsigned i = 0; i < VARIABLES; i++)
		if (variables[i].option == option)
			setenv(variables[i].variable, value ? value : variables[i].value, 1);
	return 0;
}

/* What the library would say, but in the words of the options, and before the program is
 * started. */
static int check_settings(void)
{
	struct soft_amdgpu_config config;
	char why[512];

	if (soft_amdgpu_config_read(&config, why, sizeof why))
		return 0;
	for (unsigned i = 0; i < VARIABLES; i++) {
		size_t n = strlen(variables[i].variable);
		if (!strncmp(why, variables[i].variable, n) && why[n] == '=')
			return ui_fail(GT_EXIT_USAGE, "--%s %s", option_name(variables[i].option),
				       why + n + 1);
	}
	return ui_fail(GT_EXIT_USAGE, "%s", why);
}

static int list_devices(void)
{
	char folder[PATH_MAX];
	bool built = soft_runtime_find(folder);

	printf("amdgpu  AMD GPUs (%s) under the real ROCr and HIP\n", soft_gpu_type_names());
	if (built)
		printf("        %s/" SOFT_RUNTIME_LIBRARY "\n", folder);
	else
		not_built();
	soft_runtime_describe(stdout);
	return built ? GT_EXIT_OK : GT_EXIT_FAILURE;
}

static bool looks_at_kfd(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "rocminfo");
}

static int start_program(char **argv, bool kfd)
{
	char folder[PATH_MAX], shim[PATH_MAX + 32];
	int status;

	if (!soft_runtime_find(folder))
		return not_built();
	status = check_settings();
	if (status)
		return status;
	soft_runtime_warn();
	put_first("LD_LIBRARY_PATH", folder);
	setenv(SOFT_RUNTIME_OTHER_THUNK, "1", 1); /* others do not know it */
	if (kfd || looks_at_kfd(argv[0])) {
		snprintf(shim, sizeof shim, "%s/" KFD_SHIM, folder);
		put_first("LD_PRELOAD", shim);
	}
	execvp(argv[0], argv);
	return ui_fail(errno == ENOENT ? GT_EXIT_NOT_FOUND : GT_EXIT_CANNOT_EXEC,
		       "cannot start %s: %s", argv[0], strerror(errno));
}

static int run_amdgpu(int argc, char **argv)
{
	bool kfd = false;
	int option, status;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return GT_EXIT_OK;
		}
		if (option == '?' || option == ':')
			return ui_bad_option("soft", argv, options);
		if (option == OPT_KFD)
			kfd = true;
		status = set_option(option, optarg);
		if (status)
			return status;
	}
	if (optind == argc) {
		ui_fail(GT_EXIT_USAGE, "which program?");
		fprintf(stderr, "  'gputap soft amdgpu -- ./hip_program'\n");
		return GT_EXIT_USAGE;
	}
	return start_program(argv + optind, kfd);
}

static int run_soft(int argc, char **argv)
{
	static const char *const names[] = {"amdgpu", NULL};

	if (argc < 2)
		return list_devices();
	if (argv[1][0] == '-') /* --help; or options of the only one that there is */
		return run_amdgpu(argc, argv);
	if (strcmp(argv[1], names[0]) != 0)
		return ui_unknown("software accelerator", argv[1], names);
	return run_amdgpu(argc - 1, argv + 1);
}

const struct gt_command gt_command_soft = {"soft",
					   "run a program on accelerators that are software",
					   run_soft};
