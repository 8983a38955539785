/* SPDX-License-Identifier: MIT */
/* Windows: exclude a part of the program from the recording.
 *
 *     cc windows.c -lgputap -lOpenCL -o windows
 *     gputap run -o windows.gputap ./windows && gputap report windows.gputap */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <gputap/gputap.h>
#include <stdio.h>

int main(void)
{
	cl_uint count;

	clGetPlatformIDs(0, NULL, &count);
	if (gputap_pause())
		puts("this process is not recorded");
	for (int i = 0; i < 100; i++)
		clGetPlatformIDs(0, NULL, &count); /* not recorded */
	gputap_resume();
	clGetPlatformIDs(0, NULL, &count);
	return 0;
}
