/* SPDX-License-Identifier: MIT */
/* Creates a queue on each of two sub-devices and on their parent, twice, so that handles of
 * sub-devices are reused. */
#include "program.h"

#include <time.h>

static const char source[] = "kernel void small(global int *x) { x[get_global_id(0)] += 1; }\n";

static void round_of_work(cl_device_id *all, cl_uint count)
{
	cl_int error;
	cl_program p;
	cl_kernel k;
	cl_mem m;

	context = clCreateContext(NULL, count, all, NULL, NULL, &error);
	OK(error);
	p = build_program(source);
	k = open_kernel(p, "small");
	m = open_buffer(4096);
	OK(clSetKernelArg(k, 0, sizeof m, &m));
	for (cl_uint i = 0; i < count; i++) {
		cl_command_queue q = clCreateCommandQueue(context, all[i], 0, &error);
		size_t global = 100 + i;

		OK(error);
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
		OK(clFinish(q));
		OK(clReleaseCommandQueue(q));
	}
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseContext(context));
}

int main(void)
{
	cl_device_partition_property split[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1,
						CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
	const struct timespec t = {0, 100000000};
	cl_device_id all[3];
	cl_uint count = 0;

	OK(clGetPlatformIDs(1, &platform, NULL));
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	for (int i = 0; i < 2; i++) {
		cl_int error = clCreateSubDevices(device, split, 2, &all[1], &count);

		if (error == CL_DEVICE_PARTITION_FAILED ||
		    error == CL_INVALID_DEVICE_PARTITION_COUNT) {
			puts("one core only");
			return 77;
		}
		OK(error);
		EXPECT(count == 2);
		all[0] = device;
		round_of_work(all, 3);
		/* PoCL 3.1 still accesses a device for a moment after clFinish() has returned */
		nanosleep(&t, NULL);
		OK(clReleaseDevice(all[1]));
		OK(clReleaseDevice(all[2]));
	}
	puts("right");
	return 0;
}
