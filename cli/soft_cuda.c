/* SPDX-License-Identifier: MIT */
/* gputap soft cuda: software CUDA devices for programs that use the driver API. Options become
 * environment variables (soft/cuda/config.h). The dynamic linker finds gputap's libcuda.so.1 and
 * libcupti.so.13 first. */
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
	"Run PROGRAM on CUDA devices in software, with gputap's driver. PROGRAM must\n"
	"use the driver API, and its kernels must be host functions in shared objects\n"
	"that it loads as modules (soft/cuda/cuda_api.h). Code compiled for NVIDIA GPUs\n"
	"and the CUDA runtime do not run. Use it to test the code around kernels:\n"
	"results are correct, but times are those of this machine.\n"
	"\n"
	"Examples\n"
	"  gputap soft                               show what is available here\n"
	"  gputap soft cuda -- ./program\n"
	"  gputap soft cuda --devices 2 -- ./program\n"
	"  gputap soft cuda --fail kernel:3 -- ./program\n"
	"\n"
	"Options\n"
	"      --devices N        number of devices, 0 to 8; default: 1\n"
	"      --memory SIZE      memory of each device: 512M, 16G; default: 8G\n"
	"      --fail WHAT        let these fail: init, allocate, module, launch, kernel;\n"
	"                         launch:2: the second; launch:2+: all from the second on\n"
	"      --cupti VERSION    version of the replacement for CUPTI: 11.8, 12.9, 13.0,\n"
	"                         13.5 or none; default: 13.0\n"
	"      --cupti-fail WHAT  let these fail: subscribe, register, privileges,\n"
	"                         compatible, buffers, start; as above\n"
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
	return ui_fail(GT_EXIT_FAILURE,
		       "no " FOLDER "/" LIBRARY " next to this gputap: rebuild or reinstall it");
}

static int list_devices(void)
{
	char folder[PATH_MAX];

	printf("cuda    CUDA devices for programs that use the driver API\n");
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
