/* SPDX-License-Identifier: MIT */
/* gputap soft cuda: devices of CUDA in software, for programs of the driver API. Options become
 * environment variables (soft/cuda/config.h), and the dynamic linker finds our libcuda.so.1
 * and our libcupti.so.13 first. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/soft_accelerator.h"
#include "cli/ui.h"
#include "soft/cuda/config.h"

#define FOLDER  "soft/cuda"
#define LIBRARY "libcuda.so.1"

static const char help[] =
	"gputap soft cuda [options] [--] PROGRAM [ARGUMENTS]\n"
	"\n"
	"Runs PROGRAM on devices of CUDA that are software, by a driver of ours. For\n"
	"programs of the driver API whose kernels are functions of the host, in shared\n"
	"objects that they load as modules (soft/cuda/cuda_api.h): what is compiled for\n"
	"an NVIDIA GPU does not run, and neither does the CUDA runtime. For tests of what\n"
	"surrounds kernels: results are right, times are this machine's.\n"
	"\n"
	"Examples\n"
	"  gputap soft                               what there is; can it run here?\n"
	"  gputap soft cuda -- ./program\n"
	"  gputap soft cuda --devices 2 -- ./program\n"
	"  gputap soft cuda --fail kernel:3 -- ./program\n"
	"\n"
	"Options\n"
	"      --devices N        0 to 8; 1 by default\n"
	"      --memory SIZE      of each: 512M, 16G; 8G by default\n"
	"      --fail WHAT        init, allocate, module, launch, kernel; each one, or\n"
	"                         launch:2, or launch:2+\n"
	"      --cupti VERSION    of the stand-in for CUPTI: 11.8, 12.9, 13.0, 13.5\n"
	"                         or none; 13.0 by default\n"
	"      --cupti-fail WHAT  subscribe, register, privileges, compatible, buffers,\n"
	"                         start; as above\n"
	"  -h, --help\n";

enum { OPT_DEVICES = 256, OPT_MEMORY, OPT_FAIL, OPT_CUPTI, OPT_CUPTI_FAIL };

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"devices", required_argument, NULL, OPT_DEVICES},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"fail", required_argument, NULL, OPT_FAIL},
	{"cupti", required_argument, NULL, OPT_CUPTI},
	{"cupti-fail", required_argument, NULL, OPT_CUPTI_FAIL},
	{NULL, 0, NULL, 0},
};

static const struct soft_variable variables[] = {
	{OPT_DEVICES, "SOFT_CUDA_DEVICES", NULL, false},
	{OPT_MEMORY, "SOFT_CUDA_MEMORY", NULL, false},
	{OPT_FAIL, "SOFT_CUDA_FAIL", NULL, false},
	{OPT_CUPTI, "SOFT_CUDA_CUPTI_VERSION", NULL, false},
	{OPT_CUPTI_FAIL, "SOFT_CUDA_CUPTI_FAIL", NULL, false},
	{0, NULL, NULL, false},
};

static bool check_variables(char *why, size_t size)
{
	struct soft_cu_config config;

	return soft_cu_config_read(&config, why, size);
}

static int refuse_missing(void)
{
	return ui_fail(GT_EXIT_FAILURE, "no " FOLDER "/" LIBRARY " beside this gputap: build or "
					"install it anew");
}

static int list_devices(void)
{
	char folder[PATH_MAX];

	printf("cuda    devices of CUDA for programs of the driver API\n");
	if (!soft_find_folder(FOLDER, LIBRARY, folder))
		return refuse_missing();
	printf("        ");
	ui_put(stdout, folder, UINT32_MAX);
	printf("/" LIBRARY "\n");
	return GT_EXIT_OK;
}

static int start_program(char **argv)
{
	char folder[PATH_MAX], cupti[PATH_MAX], why[512];
	struct soft_cu_config config;
	int status;

	if (!soft_find_folder(FOLDER, LIBRARY, folder) ||
	    !soft_find_folder(FOLDER "/cupti", "libcupti.so.13", cupti))
		return refuse_missing();
	status = soft_accelerator_check(&soft_cuda_accelerator);
	if (status)
		return status;
	if (soft_cu_config_read(&config, why, sizeof why) &&
	    config.cupti_version != SOFT_CUPTI_NONE)
		soft_put_first("LD_LIBRARY_PATH", cupti);
	soft_put_first("LD_LIBRARY_PATH", folder);
	return soft_become(argv);
}

const struct soft_accelerator soft_cuda_accelerator = {
	.name = "cuda",
	.help = help,
	.options = options,
	.variables = variables,
	.check = check_variables,
	.list = list_devices,
	.start = start_program,
};
