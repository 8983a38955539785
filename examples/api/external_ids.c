/* SPDX-License-Identifier: MIT */
/* External correlation: attach the program's own number to its calls. An export contains the number
 * in the column external_user.
 *
 *     cc external_ids.c -lgputap -lOpenCL -o external_ids
 *     gputap run -o ids.gputap ./external_ids && gputap export ids.gputap -o ids.csv */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <gputap/gputap.h>

int main(void)
{
	cl_uint count;

	gputap_external_push(GPUTAP_STACK_USER, 4711); /* the program's number of a request */
	clGetPlatformIDs(0, NULL, &count);
	gputap_external_pop(GPUTAP_STACK_USER, NULL);
	clGetPlatformIDs(0, NULL, &count); /* this call gets no number */
	return 0;
}
