/* SPDX-License-Identifier: MIT */
/* Calls each enqueue function once or twice, with and without an event that the program requests.
 * Prints "function status kind bytes" for each call, as the capture must report it. record/record.h
 * defines the numbers of the kinds. */
#include "program.h"

#include "record/record.h"

static const char source[] = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n";

static void native(void *args)
{
	(void)args;
}

static void done(const char *name, cl_int status, enum gt_device_op op, size_t bytes)
{
	printf("%s %d %d %zu\n", name, status, op, bytes);
}

static void buffers(cl_command_queue q)
{
	static char host[4096];
	size_t origin[3] = {0, 0, 0}, region[3] = {16, 4, 2};
	cl_mem a = open_buffer(sizeof host), b = open_buffer(sizeof host);
	cl_event e;
	cl_int error;
	void *p;
	int pattern = 5;

	done("clEnqueueWriteBuffer",
	     clEnqueueWriteBuffer(q, a, CL_TRUE, 0, 4096, host, 0, NULL, NULL), GT_DEVICE_WRITE,
	     4096);
	done("clEnqueueReadBuffer", clEnqueueReadBuffer(q, a, CL_FALSE, 8, 100, host, 0, NULL, &e),
	     GT_DEVICE_READ, 100);
	OK(clWaitForEvents(1, &e));
	OK(clReleaseEvent(e));
	done("clEnqueueCopyBuffer", clEnqueueCopyBuffer(q, a, b, 0, 0, 1000, 0, NULL, NULL),
	     GT_DEVICE_COPY, 1000);
	done("clEnqueueFillBuffer", clEnqueueFillBuffer(q, a, &pattern, 4, 0, 2048, 0, NULL, NULL),
	     GT_DEVICE_FILL, 2048);
	done("clEnqueueReadBufferRect",
	     clEnqueueReadBufferRect(q, a, CL_TRUE, origin, origin, region, 64, 0, 64, 0, host, 0,
				     NULL, NULL),
	     GT_DEVICE_READ, 128);
	done("clEnqueueWriteBufferRect",
	     clEnqueueWriteBufferRect(q, a, CL_TRUE, origin, origin, region, 64, 0, 64, 0, host, 0,
				      NULL, NULL),
	     GT_DEVICE_WRITE, 128);
	done("clEnqueueCopyBufferRect",
	     clEnqueueCopyBufferRect(q, a, b, origin, origin, region, 64, 0, 64, 0, 0, NULL, NULL),
	     GT_DEVICE_COPY, 128);
	p = clEnqueueMapBuffer(q, a, CL_TRUE, CL_MAP_READ, 0, 512, 0, NULL, NULL, &error);
	done("clEnqueueMapBuffer", error, GT_DEVICE_MAP, 512);
	done("clEnqueueUnmapMemObject", clEnqueueUnmapMemObject(q, a, p, 0, NULL, NULL),
	     GT_DEVICE_UNMAP, 0);
	done("clEnqueueMigrateMemObjects", clEnqueueMigrateMemObjects(q, 1, &a, 0, 0, NULL, NULL),
	     GT_DEVICE_MIGRATE, 4096);
	OK(clFinish(q));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
}

static void images(cl_command_queue q)
{
	static char host[64 * 64 * 4];
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
				    .image_width = 64,
				    .image_height = 64};
	size_t origin[3] = {0, 0, 0}, region[3] = {16, 8, 1}, row = 0;
	cl_uint color[4] = {1, 2, 3, 4};
	cl_int error;
	cl_mem a = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error), b,
	       buffer = open_buffer(sizeof host);
	void *p;

	OK(error);
	b = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	OK(error);
	done("clEnqueueWriteImage",
	     clEnqueueWriteImage(q, a, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL),
	     GT_DEVICE_WRITE, 512);
	done("clEnqueueReadImage",
	     clEnqueueReadImage(q, a, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL),
	     GT_DEVICE_READ, 512);
	done("clEnqueueFillImage", clEnqueueFillImage(q, a, color, origin, region, 0, NULL, NULL),
	     GT_DEVICE_FILL, 512);
	done("clEnqueueCopyImage",
	     clEnqueueCopyImage(q, a, b, origin, origin, region, 0, NULL, NULL), GT_DEVICE_COPY,
	     512);
	done("clEnqueueCopyImageToBuffer",
	     clEnqueueCopyImageToBuffer(q, a, buffer, origin, region, 0, 0, NULL, NULL),
	     GT_DEVICE_COPY, 512);
	done("clEnqueueCopyBufferToImage",
	     clEnqueueCopyBufferToImage(q, buffer, a, 0, origin, region, 0, NULL, NULL),
	     GT_DEVICE_COPY, 512);
	p = clEnqueueMapImage(q, a, CL_TRUE, CL_MAP_READ, origin, region, &row, NULL, 0, NULL, NULL,
			      &error);
	done("clEnqueueMapImage", error, GT_DEVICE_MAP, 512);
	done("clEnqueueUnmapMemObject", clEnqueueUnmapMemObject(q, a, p, 0, NULL, NULL),
	     GT_DEVICE_UNMAP, 0);
	OK(clFinish(q));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseMemObject(buffer));
}

static void kernels(cl_command_queue q)
{
	cl_program program = build_program(source);
	cl_kernel k = open_kernel(program, "twice"), clone, all[2] = {NULL, NULL};
	cl_mem m = open_buffer(4096);
	size_t global[2] = {8, 2}, local[2] = {4, 1};
	cl_event e[2];
	cl_int error;

	OK(clSetKernelArg(k, 0, sizeof m, &m));
	done("clEnqueueNDRangeKernel",
	     clEnqueueNDRangeKernel(q, k, 2, NULL, global, local, 0, NULL, &e[0]), GT_DEVICE_KERNEL,
	     0);
	done("clEnqueueTask", clEnqueueTask(q, k, 1, &e[0], NULL), GT_DEVICE_KERNEL, 0);
	done("clEnqueueNativeKernel",
	     clEnqueueNativeKernel(q, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
	     GT_DEVICE_NATIVE, 0);
	done("clEnqueueMarker", clEnqueueMarker(q, &e[1]), GT_DEVICE_MARKER, 0);
	done("clEnqueueMarkerWithWaitList", clEnqueueMarkerWithWaitList(q, 2, e, NULL),
	     GT_DEVICE_MARKER, 0);
	done("clEnqueueBarrier", clEnqueueBarrier(q), GT_DEVICE_BARRIER, 0);
	done("clEnqueueBarrierWithWaitList", clEnqueueBarrierWithWaitList(q, 0, NULL, NULL),
	     GT_DEVICE_BARRIER, 0);
	OK(clCreateKernelsInProgram(program, 2, all, NULL));
	OK(clSetKernelArg(all[0], 0, sizeof m, &m));
	done("clEnqueueNDRangeKernel",
	     clEnqueueNDRangeKernel(q, all[0], 1, NULL, global, NULL, 0, NULL, NULL),
	     GT_DEVICE_KERNEL, 0);
	clone = clCloneKernel(k, &error);
	if (clone) {
		OK(clSetKernelArg(clone, 0, sizeof m, &m));
		done("clEnqueueNDRangeKernel",
		     clEnqueueNDRangeKernel(q, clone, 1, NULL, global, NULL, 0, NULL, NULL),
		     GT_DEVICE_KERNEL, 0);
	}
	OK(clFinish(q));
	OK(clReleaseEvent(e[0]));
	OK(clReleaseEvent(e[1]));
}

static void svm(cl_command_queue q)
{
	char *a = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0),
	     *b = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
	size_t size = 4096;
	int pattern = 9;

	EXPECT(a && b);
	done("clEnqueueSVMMap", clEnqueueSVMMap(q, CL_TRUE, CL_MAP_WRITE, a, 4096, 0, NULL, NULL),
	     GT_DEVICE_MAP, 4096);
	done("clEnqueueSVMUnmap", clEnqueueSVMUnmap(q, a, 0, NULL, NULL), GT_DEVICE_UNMAP, 0);
	done("clEnqueueSVMMemFill", clEnqueueSVMMemFill(q, a, &pattern, 4, 4096, 0, NULL, NULL),
	     GT_DEVICE_FILL, 4096);
	done("clEnqueueSVMMemcpy", clEnqueueSVMMemcpy(q, CL_TRUE, b, a, 2048, 0, NULL, NULL),
	     GT_DEVICE_COPY, 2048);
	done("clEnqueueSVMMigrateMem",
	     clEnqueueSVMMigrateMem(q, 1, (const void **)&a, &size, 0, 0, NULL, NULL),
	     GT_DEVICE_MIGRATE, 4096);
	done("clEnqueueSVMFree", clEnqueueSVMFree(q, 1, (void **)&a, NULL, NULL, 0, NULL, NULL),
	     GT_DEVICE_OTHER, 0);
	OK(clFinish(q));
	clSVMFree(context, b);
}

int main(void)
{
	cl_command_queue q;

	open_device();
	q = open_queue(0);
	buffers(q);
	images(q);
	kernels(q);
	svm(q);
	OK(clReleaseCommandQueue(q));
	return 0;
}
