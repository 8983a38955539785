/* SPDX-License-Identifier: MIT */
/* Queries everything from which a program could detect tracing, and prints the answers without
 * addresses and times. The output with and without gputap must be the same. */
#include "program.h"

#include <pthread.h>
#include <time.h>

static const char source[] = "kernel void small(global int *x) { x[get_global_id(0)] += 1; }\n";

static cl_kernel k;

static void settle(void)
{
	const struct timespec t = {0, 50000000};

	nanosleep(&t, NULL);
}

static void queue_answers(const char *what, cl_command_queue q)
{
	const cl_command_queue_info names[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_REFERENCE_COUNT,
					       CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_SIZE, 0x9999};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (size_t size = 0; size <= 64; size = size ? size * 2 : 1) {
			cl_ulong value[8] = {0};
			size_t bytes = 12345;
			cl_int error = clGetCommandQueueInfo(q, names[i], size, value, &bytes);

			printf("%s %x size %zu: %d %zu", what, names[i], size, error, bytes);
			for (int n = 0; error == CL_SUCCESS && n < 8; n++)
				printf(" %lx", (long)value[n]);
			printf(" %d\n", clGetCommandQueueInfo(q, names[i], size, NULL, NULL));
		}
}

static void event_answers(const char *what, cl_event e)
{
	const cl_profiling_info profiling[] = {CL_PROFILING_COMMAND_QUEUED,
					       CL_PROFILING_COMMAND_SUBMIT,
					       CL_PROFILING_COMMAND_START,
					       CL_PROFILING_COMMAND_END,
					       CL_PROFILING_COMMAND_COMPLETE,
					       0,
					       0x9999};
	const cl_event_info names[] = {CL_EVENT_COMMAND_TYPE, CL_EVENT_REFERENCE_COUNT,
				       CL_EVENT_COMMAND_EXECUTION_STATUS, 0x9999};

	for (size_t i = 0; i < sizeof profiling / sizeof profiling[0]; i++)
		for (size_t size = 4; size <= 16; size *= 2) {
			cl_ulong value[2] = {77, 77};
			size_t bytes = 12345;
			cl_int error =
				clGetEventProfilingInfo(e, profiling[i], size, value, &bytes);

			printf("%s profiling %x size %zu: %d %zu %s", what, profiling[i], size,
			       error, bytes, value[0] == 77 ? "kept" : "set");
			printf(" %d\n", clGetEventProfilingInfo(e, profiling[i], size, NULL, NULL));
		}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (size_t size = 2; size <= 16; size *= 2) {
			cl_int value[4] = {77, 77, 77, 77};
			size_t bytes = 12345;
			cl_int error = clGetEventInfo(e, names[i], size, value, &bytes);

			printf("%s info %x size %zu: %d %zu %d", what, names[i], size, error, bytes,
			       value[0]);
			printf(" %d\n", clGetEventInfo(e, names[i], size, NULL, NULL));
		}
}

static int order[16], ordered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void CL_CALLBACK called(cl_event e, cl_int status, void *data)
{
	(void)e;
	pthread_mutex_lock(&lock);
	order[ordered++] = (int)(long)data * 10 + status;
	pthread_mutex_unlock(&lock);
}

static void work(const char *what, cl_command_queue q)
{
	cl_int error;
	cl_event gate = clCreateUserEvent(context, &error), e, later;
	cl_uint references;
	size_t global = 16;

	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 1, &gate, &e));
	for (int i = 0; i < 4; i++)
		OK(clSetEventCallback(e, CL_COMPLETE, called, (void *)(long)i));
	printf("%s waiting\n", what);
	event_answers(what, e);
	OK(clRetainEvent(e));
	event_answers(what, e);
	OK(clReleaseEvent(e));
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clWaitForEvents(1, &e));
	settle();
	printf("%s done\n", what);
	event_answers(what, e);
	for (int i = 0; i < ordered; i++)
		printf("callback %d\n", order[i]);
	ordered = 0;
	OK(clEnqueueMarkerWithWaitList(q, 0, NULL, &later));
	OK(clFinish(q));
	settle();
	OK(clGetEventInfo(later, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
	printf("%s marker references %u\n", what, references);
	queue_answers(what, q);
	OK(clReleaseEvent(later));
	OK(clReleaseEvent(e));
	OK(clReleaseEvent(gate));
	settle();
	queue_answers(what, q);
	OK(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references,
			    NULL));
	printf("%s context references %u\n", what, references);
}

static void errors(cl_command_queue q)
{
	size_t zero = 0, global = 16, odd = 7, origin[3] = {0}, region[3] = {1 << 20, 1, 1};
	cl_queue_properties twice[] = {CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 2, 0},
			    wrong[] = {0x7777, 1, 0};
	cl_command_queue other;
	cl_mem m = open_buffer(64);
	char host[64];
	cl_event e = NULL;
	cl_int error;

	printf("read %d\n", clEnqueueReadBuffer(q, m, CL_TRUE, 60, 64, host, 0, NULL, NULL));
	printf("read null %d\n", clEnqueueReadBuffer(q, m, CL_TRUE, 0, 64, NULL, 0, NULL, NULL));
	printf("read list %d\n", clEnqueueReadBuffer(q, m, CL_TRUE, 0, 64, host, 1, NULL, NULL));
	printf("read list 2 %d %d\n", clEnqueueReadBuffer(q, m, CL_TRUE, 0, 64, host, 0, &e, &e),
	       e == NULL);
	printf("copy overlap %d\n", clEnqueueCopyBuffer(q, m, m, 0, 8, 32, 0, NULL, NULL));
	printf("rect %d\n", clEnqueueReadBufferRect(q, m, CL_TRUE, origin, origin, region, 0, 0, 0,
						    0, host, 0, NULL, NULL));
	printf("fill %d\n", clEnqueueFillBuffer(q, m, host, 3, 0, 63, 0, NULL, NULL));
	printf("queue null %d\n", clEnqueueReadBuffer(NULL, m, CL_TRUE, 0, 64, host, 0, NULL, &e));
	printf("dim %d\n", clEnqueueNDRangeKernel(q, k, 4, NULL, &global, NULL, 0, NULL, NULL));
	printf("local %d\n",
	       clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &odd, 0, NULL, NULL) != 12345);
	printf("zero %d\n", clEnqueueNDRangeKernel(q, k, 1, NULL, &zero, NULL, 0, NULL, NULL));
	printf("marker %d\n", clEnqueueMarker(q, NULL));
	printf("map %d", clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ, 0, 65, 0, NULL, NULL,
					    &error) == NULL);
	printf(" %d\n", error);
	printf("unmap %d\n", clEnqueueUnmapMemObject(q, m, host, 0, NULL, NULL));
	printf("wait %d\n", clWaitForEvents(0, NULL));
	printf("finish %d\n", clFinish(NULL));
	error = 99;
	other = clCreateCommandQueueWithProperties(context, device, twice, &error);
	printf("queue twice %d %d\n", other == NULL, error);
	other = clCreateCommandQueueWithProperties(context, device, wrong, &error);
	printf("queue wrong %d %d\n", other == NULL, error);
	other = clCreateCommandQueue(context, device, 0x100, &error);
	printf("queue bits %d %d\n", other == NULL, error);
	other = clCreateCommandQueue(NULL, device, 0, &error);
	printf("queue context %d %d\n", other == NULL, error);
	printf("release null %d %d %d\n", clReleaseCommandQueue(NULL), clReleaseContext(NULL),
	       clReleaseEvent(NULL));
	printf("queue info null %d\n",
	       clGetCommandQueueInfo(NULL, CL_QUEUE_PROPERTIES, 8, host, NULL));
	printf("event info null %d\n",
	       clGetEventInfo(NULL, CL_EVENT_REFERENCE_COUNT, 8, host, NULL));
	printf("profiling null %d\n",
	       clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, 8, host, NULL));
	OK(clReleaseMemObject(m));
}

int main(void)
{
	cl_queue_properties empty[] = {0}, zero[] = {CL_QUEUE_PROPERTIES, 0, 0},
			    ooo[] = {CL_QUEUE_PROPERTIES, 1, 0},
			    timed[] = {CL_QUEUE_PROPERTIES, 2, 0};
	const cl_queue_properties *lists[] = {NULL, empty, zero, ooo, timed};
	cl_command_queue q;
	cl_mem m;
	cl_int error;
	cl_event user;
	char what[32];

	setvbuf(stdout, NULL, _IOLBF, 0);
	open_device();
	k = open_kernel(build_program(source), "small");
	m = open_buffer(4096);
	OK(clSetKernelArg(k, 0, sizeof m, &m));
	for (cl_command_queue_properties p = 0; p < 4; p++) {
		q = open_queue(p);
		snprintf(what, sizeof what, "queue %d", (int)p);
		queue_answers(what, q);
		work(what, q);
		OK(clReleaseCommandQueue(q));
	}
	for (int i = 0; i < 5; i++) {
		q = clCreateCommandQueueWithProperties(context, device, lists[i], &error);
		OK(error);
		snprintf(what, sizeof what, "list %d", i);
		queue_answers(what, q);
		work(what, q);
		if (i == 0)
			errors(q);
		OK(clReleaseCommandQueue(q));
	}
	user = clCreateUserEvent(context, &error);
	event_answers("user", user);
	return 0;
}
