/* SPDX-License-Identifier: MIT */
/* gputap soft level-zero: software Level Zero devices under the real loader. Options become
 * environment variables (soft/level_zero/config.h). Another variable passes the driver's path to
 * the loader.
 *
 * SPIR-V kernels need an OpenCL that accepts SPIR-V. Intel's OpenCL is usually installed in a
 * virtual environment. If the program itself is in a virtual environment, as its python is, gputap
 * finds the OpenCL there. A child process tests whether any OpenCL accepts SPIR-V, because a loaded
 * OpenCL stays loaded. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/soft_accelerator.h"
#include "cli/ui.h"
#include "soft/level_zero/config.h"
#include "soft/level_zero/opencl.h"

#define FOLDER     "soft/level_zero"
#define DRIVER     "libze_soft.so"
#define OPENCL     "SOFT_LEVEL_ZERO_OPENCL"
#define WITH_SPIRV "lib/libintelocl.so"

static const char help[] =
	"gputap soft level-zero [options] [--] PROGRAM [ARGUMENTS]\n"
	"\n"
	"Run PROGRAM on Level Zero devices in software. The loader comes from\n"
	"the distribution; gputap provides the driver beneath it. An OpenCL driver for\n"
	"CPUs runs the kernels: SPIR-V needs a driver that supports it ('pip install\n"
	"intel-opencl-rt'), OpenCL C any driver. Use it to test the code around kernels:\n"
	"results are correct, but times are those of this machine.\n"
	"\n"
	"Examples\n"
	"  gputap soft                               show what is available here\n"
	"  gputap soft level-zero -- ./program\n"
	"  gputap soft level-zero -- python sycl.py  dpctl, dpnp: loader 1.20 or later\n"
	"  gputap soft level-zero --devices 2 --tiles 2 -- ./program\n"
	"  gputap soft level-zero --fail kernel:3 -- ./program\n"
	"\n"
	"Options\n"
	"      --devices N        number of devices, 1 to 8; default: 1\n"
	"      --tiles N          sub-devices of each device, 2 to 4\n"
	"      --memory SIZE      memory of each device: 512M, 16G; default: 8G\n"
	"      --opencl FILE      OpenCL driver (a library) that runs kernels\n"
	"      --no-execute       do not run SPIR-V kernels; copies are executed\n"
	"      --no-threads       run commands in the thread that submits them\n"
	"      --counter-events   provide Intel's function for counter-based events\n"
	"      --clock-hz N       ticks per second of the clock; default: 12500000\n"
	"      --kernel-bits N    valid bits of kernel time stamps, 16 to 64; default: 32\n"
	"      --clock-epoch TIME value of the clock at the machine's start: 0, 5s\n"
	"      --clock-skew TIME  delay the reported times: 20us, -1ms\n"
	"      --clock-drift RATE let the clock run faster: 50ppm, -200ppb\n"
	"      --fail WHAT        let these fail: allocate, queue, list, event, module,\n"
	"                         append, kernel, hang, stamps, times; queue:2: the\n"
	"                         second; queue:2+: all from the second on\n"
	"  -h, --help\n";

enum {
	OPT_DEVICES = 256,
	OPT_TILES,
	OPT_MEMORY,
	OPT_OPENCL,
	OPT_EXECUTE,
	OPT_THREADS,
	OPT_COUNTER,
	OPT_HZ,
	OPT_BITS,
	OPT_EPOCH,
	OPT_SKEW,
	OPT_DRIFT,
	OPT_FAIL
};

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"devices", required_argument, NULL, OPT_DEVICES},
	{"tiles", required_argument, NULL, OPT_TILES},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"opencl", required_argument, NULL, OPT_OPENCL},
	{"no-execute", no_argument, NULL, OPT_EXECUTE},
	{"no-threads", no_argument, NULL, OPT_THREADS},
	{"counter-events", no_argument, NULL, OPT_COUNTER},
	{"clock-hz", required_argument, NULL, OPT_HZ},
	{"kernel-bits", required_argument, NULL, OPT_BITS},
	{"clock-epoch", required_argument, NULL, OPT_EPOCH},
	{"clock-skew", required_argument, NULL, OPT_SKEW},
	{"clock-drift", required_argument, NULL, OPT_DRIFT},
	{"fail", required_argument, NULL, OPT_FAIL},
	{NULL, 0, NULL, 0},
};

static const struct soft_variable variables[] = {
	{OPT_DEVICES, "SOFT_LEVEL_ZERO_DEVICES", NULL, false},
	{OPT_TILES, "SOFT_LEVEL_ZERO_TILES", NULL, false},
	{OPT_MEMORY, "SOFT_LEVEL_ZERO_MEMORY", NULL, false},
	{OPT_OPENCL, OPENCL, NULL, true},
	{OPT_EXECUTE, "SOFT_LEVEL_ZERO_EXECUTE", "0", false},
	{OPT_THREADS, "SOFT_LEVEL_ZERO_THREADS", "0", false},
	{OPT_COUNTER, "SOFT_LEVEL_ZERO_COUNTER_EVENTS", "1", false},
	{OPT_HZ, "SOFT_LEVEL_ZERO_CLOCK_HZ", NULL, false},
	{OPT_BITS, "SOFT_LEVEL_ZERO_KERNEL_BITS", NULL, false},
	{OPT_EPOCH, "SOFT_LEVEL_ZERO_CLOCK_EPOCH", NULL, false},
	{OPT_SKEW, "SOFT_LEVEL_ZERO_CLOCK_SKEW", NULL, false},
	{OPT_DRIFT, "SOFT_LEVEL_ZERO_CLOCK_DRIFT", NULL, false},
	{OPT_FAIL, "SOFT_LEVEL_ZERO_FAIL", NULL, false},
	{0, NULL, NULL, false},
};

static int refuse_unbuilt(void)
{
	char install[128];

	return ui_fail(GT_EXIT_FAILURE,
		       "this gputap was built without soft/level_zero, because its loader's "
		       "headers were missing: '%s', then rebuild",
		       doctor_install("libze-dev", install, sizeof install));
}

static bool check_variables(char *why, size_t size)
{
	struct soft_ze_config config;

	return soft_ze_config_read(&config, why, size);
}

/* Find Intel's OpenCL in @program's virtual environment. The OpenCL is in a sibling of the
 * program's folder. */
static void find_beside(const char *program)
{
	const char *slash = strrchr(program, '/'), *path = getenv("PATH");
	char file[PATH_MAX], found[PATH_MAX], real[PATH_MAX];

	for (size_t n; path && *path && !slash; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (snprintf(file, sizeof file, "%.*s/%s", (int)n, path, program) <
			    (int)sizeof file &&
		    access(file, X_OK) == 0) {
			program = file;
			slash = strrchr(file, '/');
		}
	}
	if (slash &&
	    snprintf(found, sizeof found, "%.*s/../" WITH_SPIRV, (int)(slash - program), program) <
		    (int)sizeof found &&
	    realpath(found, real)) /* the real folder contains the other libraries of this OpenCL */
		setenv(OPENCL, real, 1);
}

/* Under `gputap run`, exclude the calls of this search from the program's recorded calls. */
static void hide_calls(void)
{
	void (*suppress)(void);

	*(void **)&suppress = dlsym(RTLD_DEFAULT, "gputap_suppress_begin");
	if (suppress)
		suppress();
}

static bool takes_spirv(void)
{
	const char *opencl = getenv(OPENCL);
	int status = 1;
	pid_t child = fork();

	if (!child)
		hide_calls();
	if (!child)
		_exit(soft_cl_is_there(opencl && *opencl ? opencl : NULL, SOFT_CL_SPIRV) ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int list_devices(void)
{
	char folder[PATH_MAX];

	printf("level-zero  Level Zero devices under the real loader\n");
	if (!soft_find_folder(FOLDER, DRIVER, folder))
		return refuse_unbuilt();
	printf("        ");
	ui_put(stdout, folder, UINT32_MAX);
	printf("/" DRIVER "\n        %s\n",
	       takes_spirv() ? "an OpenCL driver accepts SPIR-V" : SOFT_CL_ADVICE_SHORT);
	return GT_EXIT_OK;
}

static int start_program(char **argv)
{
	const char *execute = getenv("SOFT_LEVEL_ZERO_EXECUTE"), *opencl = getenv(OPENCL);
	char folder[PATH_MAX], driver[2 * PATH_MAX];
	int status;

	if (!soft_find_folder(FOLDER, DRIVER, folder))
		return refuse_unbuilt();
	status = soft_accelerator_check(&soft_level_zero_accelerator);
	if (status)
		return status;
	if (!opencl || !*opencl)
		find_beside(argv[0]);
	if ((!execute || strcmp(execute, "0") != 0) && !takes_spirv())
		ui_note("%s", SOFT_CL_ADVICE_SHORT);
	snprintf(driver, sizeof driver, "%s/" DRIVER, folder);
	setenv("ZE_ENABLE_ALT_DRIVERS", driver, 1);
	return soft_become(argv);
}

const struct soft_accelerator soft_level_zero_accelerator = {
	.name = "level-zero",
	.help = help,
	.options = options,
	.variables = variables,
	.check = check_variables,
	.list = list_devices,
	.start = start_program,
};
