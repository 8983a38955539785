/* SPDX-License-Identifier: MIT */
/* Heat spreading over a plate, computed with OpenCL. `make demo` traces this program.
 *
 * Queue "steps" (in order) runs the simulation. Every few steps, a snapshot is copied. Queue
 * "looks" (out of order) reduces the snapshot to statistics and a small picture and reads them
 * back, while the simulation continues. The program thus submits kernels, memsets, memcpys in all
 * three directions, a map, and overlapping GPU activities. At the end, the heat is compared with
 * the initial amount. The exit status is 1 if heat was lost. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 768, STEPS = 1000, STEPS_PER_LOOK = 25, COLUMNS = 64, ROWS = 24 };

static const char source[] =
	"kernel void heat_step(global const float *from, global float *to, int side)\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1), i = y * side + x;\n"
	"	float c = from[i];\n"
	"	float l = x > 0 ? from[i - 1] : c, r = x < side - 1 ? from[i + 1] : c;\n"
	"	float u = y > 0 ? from[i - side] : c, d = y < side - 1 ? from[i + side] : c;\n"
	"	to[i] = c + 0.2f * (l + r + u + d - 4 * c);\n"
	"}\n"
	"kernel void row_sums(global const float *plate, global float *sums, int side)\n"
	"{\n"
	"	int y = get_global_id(0);\n"
	"	float sum = 0;\n"
	"	for (int x = 0; x < side; x++)\n"
	"		sum += plate[y * side + x];\n"
	"	sums[y] = sum;\n"
	"}\n"
	"kernel void shrink(global const float *plate, global float *picture, int side)\n"
	"{\n"
	"	int w = get_global_size(0), h = get_global_size(1), px = get_global_id(0), py = "
	"get_global_id(1);\n"
	"	float peak = 0;\n"
	"	for (int y = py * side / h; y < (py + 1) * side / h; y++)\n"
	"		for (int x = px * side / w; x < (px + 1) * side / w; x++)\n"
	"			peak = max(peak, plate[y * side + x]);\n"
	"	picture[py * w + px] = peak;\n"
	"}\n";

static cl_context context;
static cl_command_queue steps, looks;
static cl_kernel heat_step, row_sums, shrink;

static void check(cl_int status, const char *what)
{
	if (status != CL_SUCCESS) {
		fprintf(stderr, "demo: %s failed: %d\n", what, status);
		exit(1);
	}
}

/* Return the first device of the requested type on any platform. */
static cl_device_id find_device(cl_device_type type)
{
	cl_platform_id platforms[16];
	cl_uint count = 0;
	cl_device_id device;

	if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
		return NULL;
	for (cl_uint i = 0; i < count && i < 16; i++)
		if (clGetDeviceIDs(platforms[i], type, 1, &device, NULL) == CL_SUCCESS)
			return device;
	return NULL;
}

static void set_up(void)
{
	const cl_queue_properties out_of_order[] = {CL_QUEUE_PROPERTIES,
						    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
	const char *text = source;
	cl_device_id device = find_device(CL_DEVICE_TYPE_GPU);
	char name[256] = "";
	cl_program program;
	cl_int status;

	if (!device)
		device = find_device(CL_DEVICE_TYPE_ALL);
	if (!device) {
		fprintf(stderr, "demo: no OpenCL device here; Debian's pocl-opencl-icd makes the "
				"CPU one\n");
		exit(1);
	}
	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
	printf("%d steps of heat on a plate of %d x %d, on %s\n", STEPS, SIDE, SIDE, name);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status, "clCreateContext");
	steps = clCreateCommandQueueWithProperties(context, device, NULL, &status);
	check(status, "clCreateCommandQueueWithProperties");
	looks = clCreateCommandQueueWithProperties(context, device, out_of_order, &status);
	check(status, "clCreateCommandQueueWithProperties (out of order)");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	heat_step = clCreateKernel(program, "heat_step", &status);
	check(status, "clCreateKernel heat_step");
	row_sums = clCreateKernel(program, "row_sums", &status);
	check(status, "clCreateKernel row_sums");
	shrink = clCreateKernel(program, "shrink", &status);
	check(status, "clCreateKernel shrink");
	clReleaseProgram(program);
}

static cl_mem make_buffer(size_t bytes)
{
	cl_int status;
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);

	check(status, "clCreateBuffer");
	return buffer;
}

static void set_args(cl_kernel kernel, cl_mem from, cl_mem to)
{
	const cl_int side = SIDE;

	check(clSetKernelArg(kernel, 0, sizeof from, &from), "clSetKernelArg");
	check(clSetKernelArg(kernel, 1, sizeof to, &to), "clSetKernelArg");
	check(clSetKernelArg(kernel, 2, sizeof side, &side), "clSetKernelArg");
}

/* Set two hot spots and a hot bar. Return the plate's total heat. */
static double heat_up(cl_mem plate)
{
	const size_t bytes = sizeof(float) * SIDE * SIDE;
	double heat = 0;
	cl_int status;
	float *p = clEnqueueMapBuffer(steps, plate, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0, NULL, NULL,
				      &status);

	check(status, "clEnqueueMapBuffer");
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			double a = hypot(x - SIDE * 0.3, y - SIDE * 0.35),
			       b = hypot(x - SIDE * 0.7, y - SIDE * 0.55);
			int bar = y > SIDE * 0.75 && y < SIDE * 0.8 && x > SIDE * 0.15 &&
				  x < SIDE * 0.85;
			float t = (float)(a < SIDE * 0.12   ? 1
					  : b < SIDE * 0.18 ? 0.7
					  : bar             ? 0.5
							    : 0);

			p[y * SIDE + x] = t;
			heat += t;
		}
	check(clEnqueueUnmapMemObject(steps, plate, p, 0, NULL, NULL), "clEnqueueUnmapMemObject");
	return heat;
}

/* Results that one look reads back. The program waits for the look's events before the next look
 * uses the same buffers. */
struct look {
	cl_mem snapshot, sums, picture;
	cl_event ready[2];
	float sums_read[SIDE], picture_read[ROWS * COLUMNS];
	int pending;
};

static void look_at(struct look *look, cl_mem plate)
{
	const size_t side = SIDE, cells[2] = {COLUMNS, ROWS};
	const float zero = 0;
	cl_event copied, cleared[2], reduced[2];

	check(clEnqueueCopyBuffer(steps, plate, look->snapshot, 0, 0, sizeof(float) * SIDE * SIDE,
				  0, NULL, &copied),
	      "clEnqueueCopyBuffer");
	check(clFlush(steps), "clFlush");
	check(clEnqueueFillBuffer(looks, look->sums, &zero, sizeof zero, 0, sizeof look->sums_read,
				  0, NULL, &cleared[0]),
	      "clEnqueueFillBuffer");
	check(clEnqueueFillBuffer(looks, look->picture, &zero, sizeof zero, 0,
				  sizeof look->picture_read, 0, NULL, &cleared[1]),
	      "clEnqueueFillBuffer");
	set_args(row_sums, look->snapshot, look->sums);
	set_args(shrink, look->snapshot, look->picture);
	check(clEnqueueNDRangeKernel(looks, row_sums, 1, NULL, &side, NULL, 2,
				     (cl_event[]){copied, cleared[0]}, &reduced[0]),
	      "clEnqueueNDRangeKernel row_sums");
	check(clEnqueueNDRangeKernel(looks, shrink, 2, NULL, cells, NULL, 2,
				     (cl_event[]){copied, cleared[1]}, &reduced[1]),
	      "clEnqueueNDRangeKernel shrink");
	check(clEnqueueReadBuffer(looks, look->sums, CL_FALSE, 0, sizeof look->sums_read,
				  look->sums_read, 1, &reduced[0], &look->ready[0]),
	      "clEnqueueReadBuffer");
	check(clEnqueueReadBuffer(looks, look->picture, CL_FALSE, 0, sizeof look->picture_read,
				  look->picture_read, 1, &reduced[1], &look->ready[1]),
	      "clEnqueueReadBuffer");
	check(clFlush(looks), "clFlush");
	clReleaseEvent(copied);
	for (int i = 0; i < 2; i++) {
		clReleaseEvent(cleared[i]);
		clReleaseEvent(reduced[i]);
	}
	look->pending = 1;
}

/* Return 0 if the look's total heat differs from @heat, otherwise 1. */
static int take(struct look *look, double heat)
{
	double sum = 0;

	if (!look->pending)
		return 1;
	check(clWaitForEvents(2, look->ready), "clWaitForEvents");
	clReleaseEvent(look->ready[0]);
	clReleaseEvent(look->ready[1]);
	look->pending = 0;
	for (int i = 0; i < SIDE; i++)
		sum += look->sums_read[i];
	if (fabs(sum - heat) < heat * 1e-3)
		return 1;
	fprintf(stderr, "demo: %.1f units of heat went in, %.1f are there\n", heat, sum);
	return 0;
}

static void show(const struct look *look)
{
	static const char shades[] = " .:-=+*#%@";

	for (int y = 0; y < ROWS; y++) {
		for (int x = 0; x < COLUMNS; x++)
			putchar(shades[(int)(fminf(look->picture_read[y * COLUMNS + x], 0.999f) *
					     10)]);
		putchar('\n');
	}
}

int main(void)
{
	static struct look look[2]; /* the program reads one look while the other is computed */
	const size_t plate_size[2] = {SIDE, SIDE};
	cl_mem plate[2];
	int good = 1, last = 0;
	double heat;

	set_up();
	for (int i = 0; i < 2; i++) {
		plate[i] = make_buffer(sizeof(float) * SIDE * SIDE);
		look[i].snapshot = make_buffer(sizeof(float) * SIDE * SIDE);
		look[i].sums = make_buffer(sizeof look[i].sums_read);
		look[i].picture = make_buffer(sizeof look[i].picture_read);
	}
	heat = heat_up(plate[0]);
	for (int step = 0; step < STEPS; step++) {
		set_args(heat_step, plate[step % 2], plate[(step + 1) % 2]);
		check(clEnqueueNDRangeKernel(steps, heat_step, 2, NULL, plate_size, NULL, 0, NULL,
					     NULL),
		      "clEnqueueNDRangeKernel heat_step");
		if ((step + 1) % STEPS_PER_LOOK == 0) {
			last = (step / STEPS_PER_LOOK) % 2;
			good &= take(&look[last], heat);
			look_at(&look[last], plate[(step + 1) % 2]);
		}
	}
	good &= take(&look[!last], heat) & take(&look[last], heat);
	show(&look[last]);
	for (int i = 0; i < 2; i++) {
		clReleaseMemObject(plate[i]);
		clReleaseMemObject(look[i].snapshot);
		clReleaseMemObject(look[i].sums);
		clReleaseMemObject(look[i].picture);
	}
	clReleaseKernel(heat_step);
	clReleaseKernel(row_sums);
	clReleaseKernel(shrink);
	clReleaseCommandQueue(steps);
	clReleaseCommandQueue(looks);
	clReleaseContext(context);
	puts(good ? "no heat was lost" : "heat was lost");
	return good ? 0 : 1;
}
