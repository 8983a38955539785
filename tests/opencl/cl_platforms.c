/* SPDX-License-Identifier: MIT */
/* Looks up a function name eighteen times and calls the result: in "platforms" mode, fault_layer.c
 * returns nine functions in turn. Prints each result. */
#include "program.h"

typedef void *create_fn(cl_uint, const cl_command_queue *, const cl_ulong *, cl_int *);

int main(void)
{
	create_fn *all[18];
	cl_int error;

	OK(clGetPlatformIDs(1, &platform, NULL));
	for (int i = 0; i < 18; i++) {
		all[i] = (create_fn *)clGetExtensionFunctionAddressForPlatform(
			platform, "clCreateCommandBufferKHR");
		EXPECT(all[i] && (i < 9 || all[i] == all[i - 9]));
	}
	for (int i = 0; i < 9; i++) {
		error = 0;
		EXPECT(all[i](0, NULL, NULL, &error) == NULL);
		printf("%d\n", error);
	}
	return 0;
}
