/* SPDX-License-Identifier: MIT */
/* Asks eight times for a function of one name and calls what it gets: fault_layer.c's "platforms" gives four functions in
 * turn. Prints what each call answered. */
#include "program.h"

typedef void *create_fn(cl_uint, const cl_command_queue *, const cl_ulong *, cl_int *);

int main(void)
{
	create_fn *all[8];
	cl_int error;

	OK(clGetPlatformIDs(1, &platform, NULL));
	for (int i = 0; i < 8; i++) {
		all[i] = (create_fn *)clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandBufferKHR");
		EXPECT(all[i] && (i < 4 || all[i] == all[i - 4]));
	}
	for (int i = 0; i < 4; i++) {
		error = 0;
		EXPECT(all[i](0, NULL, NULL, &error) == NULL);
		printf("%d\n", error);
	}
	return 0;
}
