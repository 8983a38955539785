/* SPDX-License-Identifier: MIT */
/* Contexts: the program requests records of a few operations, and starts and stops the recording.
 *
 *     cc contexts.c -lgputap -lOpenCL -o contexts
 *     gputap run -o contexts.gputap --ops clFinish ./contexts */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <gputap/tool.h>
#include <stdio.h>

int main(void)
{
	struct gputap_context_opts opts = {.size = sizeof opts, .domain = GPUTAP_DOMAIN_OPENCL};
	int number = gputap_operation_find(GPUTAP_DOMAIN_OPENCL, "clGetPlatformIDs");
	uint32_t operation = (uint32_t)number;
	struct gputap_context *context;
	cl_uint count;

	opts.operations = &operation;
	opts.operation_count = 1;
	if (number < 0 || gputap_context_create(&opts, &context)) {
		puts("this process is not recorded");
		return 1;
	}
	clGetPlatformIDs(0, NULL, &count); /* not recorded, because the context is stopped */
	gputap_context_start(context);
	printf("started: %d\n", gputap_context_is_active(context));
	clGetPlatformIDs(0, NULL, &count); /* recorded */
	gputap_context_stop(context);
	printf("started: %d\n", gputap_context_is_active(context));
	gputap_context_destroy(context);
	return 0;
}
