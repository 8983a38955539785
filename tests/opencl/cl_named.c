/* SPDX-License-Identifier: MIT */
/* Dispatches a kernel once. usage: cl_named NAME */
#include "program.h"

int main(int argc, char **argv)
{
	size_t global = 16;
	char source[512];
	cl_command_queue q;
	cl_kernel k;

	EXPECT(argc == 2);
	open_device();
	q = open_queue(0);
	snprintf(source, sizeof source, "kernel void %s(void) {}", argv[1]);
	k = open_kernel(build_program(source), argv[1]);
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
	OK(clFinish(q));
	return 0;
}
