/* SPDX-License-Identifier: MIT */
/* gputap soft amdgpu: software AMD GPUs under the real ROCr and HIP. Options become environment
 * variables (soft/amdgpu/config.h). The substitute's folder is prepended to LD_LIBRARY_PATH, and a
 * variable makes ROCr 7 search there. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/soft_accelerator.h"
#include "cli/soft_runtime.h"
#include "cli/ui.h"
#include "soft/amdgpu/config.h"

#define KFD_SHIM "libsoft-kfd.so"

static const char help[] =
	"gputap soft amdgpu [options] [--] PROGRAM [ARGUMENTS]\n"
	"\n"
	"Run PROGRAM on AMD GPUs in software. HIP and ROCr come from the distribution;\n"
	"gputap replaces the driver library beneath them. Kernels compiled for the GPU's\n"
	"type are interpreted. Use it to test the code around kernels: results are\n"
	"correct, but times are those of an interpreter, or set by --durations.\n"
	"\n"
	"Examples\n"
	"  gputap soft                           show what is available here\n"
	"  gputap soft amdgpu -- ./hip_program   built by hipcc --offload-arch=gfx906\n"
	"  gputap soft amdgpu -- rocminfo\n"
	"  gputap soft amdgpu --gpus 8 --memory 2G -- ./hip_program\n"
	"  gputap run -o trace.gputap -- gputap soft amdgpu -- ./hip_program\n"
	"  gputap soft amdgpu --durations kernels.txt --no-execute -- ./hip_program\n"
	"  gputap soft amdgpu --clock-drift 50ppm,-50ppm --gpus 2 -- ./hip_program\n"
	"\n"
	"Options\n"
	"      --gpus N           number of GPUs, 1 to 8; default: 1\n"
	"      --gfx TYPE         900, 906, 908, 90a; default: 906. Kernels of 908 and\n"
	"                         90a are not executed\n"
	"      --memory SIZE      memory of each GPU: 512M, 16G; default: the real size\n"
	"      --durations FILE   read durations from FILE: a kernel name or pattern and\n"
	"                         microseconds per line\n"
	"      --no-execute       let kernels take time, but do not execute them; copies\n"
	"                         are executed\n"
	"      --clock-epoch TIME value of the GPU's clock at the machine's start: 0, 5s\n"
	"      --clock-skew TIME  delay the reported times: 20us, -1ms\n"
	"      --clock-drift RATE let the clock run faster: 50ppm, -200ppb\n"
	"                         (one for all GPUs, or one for each: 50ppm,0,-50ppm)\n"
	"      --fail WHAT        let these fail: allocate, event, queue, kernel, hang;\n"
	"                         queue:2: the second; queue:2+: all from the second on\n"
	"      --large-bar        give the host access to all memory of a GPU\n"
	"      --kfd              pretend that /dev/kfd and its module exist, for\n"
	"                         programs that check (always on for rocminfo)\n"
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

static const struct soft_variable variables[] = {
	{OPT_GPUS, "SOFT_AMDGPU_GPUS", NULL, false},
	{OPT_GFX, "SOFT_AMDGPU_GFX", NULL, false},
	{OPT_MEMORY, "SOFT_AMDGPU_MEMORY", NULL, false},
	{OPT_DURATIONS, "SOFT_AMDGPU_DURATIONS", NULL, true},
	{OPT_EXECUTE, "SOFT_AMDGPU_EXECUTE", "0", false},
	{OPT_EPOCH, "SOFT_AMDGPU_CLOCK_EPOCH", NULL, false},
	{OPT_SKEW, "SOFT_AMDGPU_CLOCK_SKEW", NULL, false},
	{OPT_DRIFT, "SOFT_AMDGPU_CLOCK_DRIFT", NULL, false},
	{OPT_FAIL, "SOFT_AMDGPU_FAIL", NULL, false},
	{OPT_BAR, "SOFT_AMDGPU_LARGE_BAR", "1", false},
	{0, NULL, NULL, false},
};
static bool wants_kfd;

static int not_built(void)
{
	char install[128];

	return ui_fail(GT_EXIT_FAILURE,
		       "this gputap was built without soft/amdgpu, because ROCr's headers were "
		       "missing: '%s', then rebuild",
		       doctor_install("libhsa-runtime-dev", install, sizeof install));
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

static enum doctor_verdict look_for_software(struct doctor *d)
{
	struct finding *f = doctor_add(d, FOUND_NOTE, "amdgpu", "software");
	char folder[PATH_MAX], sentence[sizeof f->text];
	bool can_run;

	if (!soft_runtime_find(folder)) {
		doctor_say(f, "'gputap soft amdgpu' is not available: gputap was built without "
			      "ROCr's headers");
		doctor_hint(f, "apt install libhsa-runtime-dev, then rebuild gputap");
		return DOCTOR_NO;
	}
	can_run = soft_runtime_check(sentence, sizeof sentence);
	if (*sentence) {
		doctor_say(f, "%s", sentence);
	} else {
		f->level = FOUND_OK;
		doctor_say(f, "%.400s/" SOFT_RUNTIME_LIBRARY, folder);
	}
	return can_run ? DOCTOR_IN_SOFTWARE : DOCTOR_NO;
}

static bool looks_at_kfd(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "rocminfo");
}

static void want_kfd(int option)
{
	wants_kfd = option == OPT_KFD || wants_kfd;
}

static bool check_settings(char *why, size_t size)
{
	struct soft_amdgpu_config config;

	return soft_amdgpu_config_read(&config, why, size);
}

static int start_program(char **argv)
{
	char folder[PATH_MAX], shim[PATH_MAX + 32];
	int status;

	if (!soft_runtime_find(folder))
		return not_built();
	status = soft_accelerator_check(&soft_amdgpu_accelerator);
	if (status)
		return status;
	soft_runtime_warn();
	soft_put_first("LD_LIBRARY_PATH", folder);
	setenv(SOFT_RUNTIME_OTHER_THUNK, "1", 1); /* other versions ignore the variable */
	if (wants_kfd || looks_at_kfd(argv[0])) {
		snprintf(shim, sizeof shim, "%s/" KFD_SHIM, folder);
		soft_put_first("LD_PRELOAD", shim);
	}
	return soft_become(argv);
}

const struct soft_accelerator soft_amdgpu_accelerator = {
	.name = "amdgpu",
	.help = help,
	.options = options,
	.variables = variables,
	.check = check_settings,
	.list = list_devices,
	.look = look_for_software,
	.set = want_kfd,
	.start = start_program,
};
