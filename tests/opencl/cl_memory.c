/* SPDX-License-Identifier: MIT */
/* Allocates memory in OpenCL: buffers of 1, 2 and 4 MiB, of which the second is retained once and
 * released twice, a sub-buffer, an image, an image in the memory of a buffer, and shared virtual
 * memory (SVM) if supported. Prints the number of SVM bytes, and the size of the first image
 * according to the runtime. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIB = 1 << 20 };

static void check(cl_int status, int line)
{
	if (!status)
		return;
	fprintf(stderr, "cl_memory.c:%d: status %d\n", line, status);
	exit(1);
}
#define OK(call) check(call, __LINE__)

int main(void)
{
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
				    .image_width = 64,
				    .image_height = 64};
	const cl_buffer_region region = {0, 4096};
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_image_desc of_buffer = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 64};
	cl_mem a, b, c, part, image, view;
	size_t image_bytes = 0;
	cl_int status;
	void *both;

	OK(clGetPlatformIDs(1, &platform, NULL));
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	OK(status);
	a = clCreateBuffer(context, CL_MEM_READ_WRITE, MIB, NULL, &status);
	OK(status);
	b = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * MIB, NULL, &status);
	OK(status);
	OK(clRetainMemObject(b));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b)); /* 2 MiB are still in use */
	c = clCreateBuffer(context, CL_MEM_READ_WRITE, 4 * MIB, NULL, &status);
	OK(status);
	part = clCreateSubBuffer(c, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
				 &status);
	OK(status);
	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(b));
	image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &status);
	if (!status) {
		OK(clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof image_bytes, &image_bytes, NULL));
		of_buffer.buffer = c;
		view = clCreateImage(context, CL_MEM_READ_WRITE, &format, &of_buffer, NULL,
				     &status);
		if (!status)
			OK(clReleaseMemObject(view));
		OK(clReleaseMemObject(image));
	}
	both = clSVMAlloc(context, CL_MEM_READ_WRITE, 8192, 0);
	if (both)
		clSVMFree(context, both);
	printf("%d %zu\n", both ? 8192 : 0, image_bytes);
	clReleaseContext(context);
	return 0; /* c is not released */
}
