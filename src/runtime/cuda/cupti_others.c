/* SPDX-License-Identifier: MIT */
/* Finds profilers in the process that cannot share CUPTI. They use a separate copy of CUPTI, or the
 * layer below CUPTI, and CUPTI then refuses all other users (cuptiSubscribe() returns 39). These
 * profilers are recognised by their libraries, which they load through CUDA_INJECTION64_PATH,
 * NVTX_INJECTION64_PATH or LD_PRELOAD. */
#define _GNU_SOURCE 1
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cupti_client.h"

static const struct {
	const char *part; /* part of a library's path */
	const char *text;
} profilers[] = {
	{"ToolsInjection", "Nsight Systems also profiles this program and gets its GPU activities: "
			   "run one of the two, or use gputap run --no-device"},
	{"libcuda-injection", "Nsight Compute also profiles this program and gets its GPU "
			      "activities: run one of the two, or use gputap run --no-device"},
	{"libsanitizer-collection",
	 "compute-sanitizer also runs this program, so GPU activities cannot be recorded: run one "
	 "of the two, or use gputap run --no-device"},
};

static const char *find_profiler(const char *path)
{
	for (size_t i = 0; path && i < sizeof profilers / sizeof *profilers; i++)
		if (strstr(path, profilers[i].part))
			return profilers[i].text;
	return NULL;
}

static int look_at_library(struct dl_phdr_info *info, size_t bytes, void *user)
{
	const char **text = user;

	(void)bytes;
	*text = find_profiler(info->dlpi_name);
	return *text != NULL;
}

const char *gt_cupti_client_other(void)
{
	static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
	const char *text = NULL;

	for (size_t i = 0; i < sizeof variables / sizeof *variables && !text; i++)
		text = find_profiler(getenv(variables[i]));
	if (!text)
		dl_iterate_phdr(look_at_library, &text);
	return text;
}
