/* SPDX-License-Identifier: MIT */
/* Uses OpenCL before and after gputap attaches. Obeys the lines of its standard input, and answers
 * each with the names of its OpenCL calls, then "done" and a result:
 *
 *   attach LIBRARY FOLDER       join a session; the result is the status
 *   detached                    wait until the session has detached
 *   queue                       make a new queue without profiling, and use it from now on
 *   queue profiling             the same, with profiling
 *   old                         use the first queue from now on
 *   run N                       launch a kernel N times, wait; the result is the kernels' count
 *   properties                  the result is CL_QUEUE_PROPERTIES of the queue
 *   times                       the result is the error of a query for a launch's times
 *   references                  the result is the reference counts of a launch's event, the queue
 *                               and the buffer
 *   memory                      make a buffer, release it and the first one; make another first one
 *   callback N                  launch, and count in callbacks, which make a call, for N launches
 *   extension                   call a function that was looked up before, with bad arguments
 *   replaced                    the result is the number of entries in the driver's table that lead
 *                               to gputap
 *   threads N                   start N threads that launch, each on a queue of its own
 *   join                        end them; the result is the number of their launches since `count`
 *   count                       start counting launches
 *
 * The first argument says how the program reaches OpenCL: "linked", "heap" (pointers from dlsym()
 * in heap memory), "table" (the tables that objects point to, as loaders that are linked into a
 * program do). The second argument: "profiling" (the first queue has it), "settable" (the driver
 * has clSetCommandQueueProperty(), as drivers of OpenCL 1.0). */
#include "program.h"

#include <CL/cl_icd.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static const char *way;
static bool silent;
static cl_command_queue first_queue, queue;
static cl_kernel kernel;
static cl_mem buffer;

/* The table of the platform, as it was at the start, for "heap". */
static struct _cl_icd_dispatch *heap;

static struct _cl_icd_dispatch *functions(const void *object)
{
	return way[0] == 't' ? *(struct _cl_icd_dispatch *const *)object : heap;
}

#define CALL(f, object, ...)                      \
	(silent ? 0 : printf("%s\n", #f),         \
	 way[0] == 'l' ? f(object, ##__VA_ARGS__) \
		       : ((__typeof__(&f))functions(object)->f)(object, ##__VA_ARGS__))

static void hold_functions(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW);

	EXPECT(library);
	heap = calloc(1, sizeof *heap);
#define HOLD(f) heap->f = (__typeof__(heap->f))dlsym(library, #f)
	HOLD(clEnqueueNDRangeKernel);
	HOLD(clFinish);
	HOLD(clCreateCommandQueue);
	HOLD(clCreateBuffer);
	HOLD(clSetKernelArg);
	HOLD(clReleaseMemObject);
	HOLD(clGetCommandQueueInfo);
	HOLD(clGetEventProfilingInfo);
	HOLD(clGetEventInfo);
	HOLD(clGetMemObjectInfo);
	HOLD(clReleaseEvent);
	HOLD(clSetEventCallback);
	HOLD(clEnqueueReadBuffer);
	HOLD(clCreateUserEvent);
	HOLD(clSetUserEventStatus);
}

static cl_event launch(cl_command_queue q, cl_kernel k, cl_event after, bool wants_event)
{
	const size_t one = 1;
	cl_event event = NULL;

	OK(CALL(clEnqueueNDRangeKernel, q, k, 1, NULL, &one, NULL, after ? 1 : 0,
		after ? &after : NULL, wants_event ? &event : NULL));
	return event;
}

static void attach(char *line)
{
	char library[512], folder[512];
	int (*join)(const char *);
	void *handle;

	EXPECT(sscanf(line, "attach %511s %511s", library, folder) == 2);
	handle = dlopen(library, RTLD_NOW);
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	EXPECT(handle);
	join = (__typeof__(join))dlsym(handle, "gputap_attach");
	printf("done %d\n", join(folder));
}

/* Wait until the thread of gputap that follows the session has ended, which detaches first. */
static void wait_for_detach(void)
{
	char line[128], name[64];
	bool is_attached;

	do {
		DIR *tasks = opendir("/proc/self/task");
		const struct dirent *task;

		EXPECT(tasks);
		is_attached = false;
		while ((task = readdir(tasks))) {
			FILE *f;

			snprintf(line, sizeof line, "/proc/self/task/%.20s/comm", task->d_name);
			f = fopen(line, "r");
			if (f && fgets(name, sizeof name, f))
				is_attached |= !strcmp(name, "gputap\n");
			if (f)
				fclose(f);
		}
		closedir(tasks);
		usleep(1000);
	} while (is_attached);
	printf("done\n");
}

static void make_queue(bool profiling)
{
	cl_int error;

	queue = CALL(clCreateCommandQueue, context, device,
		     profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
	OK(error);
	printf("done\n");
}

static void run(int n)
{
	cl_int sum = 0;

	for (int i = 0; i < n; i++)
		launch(queue, kernel, NULL, false);
	OK(CALL(clFinish, queue));
	OK(CALL(clEnqueueReadBuffer, queue, buffer, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL));
	printf("done %d\n", sum);
}

static void ask_properties(void)
{
	cl_command_queue_properties p = 77;

	OK(CALL(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL));
	printf("done %d\n", (int)p);
}

static void ask_times(void)
{
	cl_event event = launch(queue, kernel, NULL, true);
	cl_ulong end = 0;
	cl_int error;

	OK(CALL(clFinish, queue));
	error = CALL(clGetEventProfilingInfo, event, CL_PROFILING_COMMAND_END, sizeof end, &end,
		     NULL);
	OK(CALL(clReleaseEvent, event));
	printf("done %d %d\n", error, end != 0);
}

static void ask_references(void)
{
	cl_uint of_event = 0, of_queue = 0, of_buffer = 0;
	cl_int error;
	cl_event gate = CALL(clCreateUserEvent, context, &error), event;

	OK(error);
	event = launch(queue, kernel, gate, true);
	OK(CALL(clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT, sizeof of_event, &of_event, NULL));
	OK(CALL(clSetUserEventStatus, gate, CL_COMPLETE));
	OK(CALL(clFinish, queue));
	OK(CALL(clReleaseEvent, event));
	OK(CALL(clReleaseEvent, gate));
	OK(CALL(clGetCommandQueueInfo, queue, CL_QUEUE_REFERENCE_COUNT, sizeof of_queue, &of_queue,
		NULL));
	OK(CALL(clGetMemObjectInfo, buffer, CL_MEM_REFERENCE_COUNT, sizeof of_buffer, &of_buffer,
		NULL));
	printf("done %u %u %u\n", of_event, of_queue, of_buffer);
}

static void use_memory(void)
{
	cl_int error, zero = 0;
	cl_mem other = CALL(clCreateBuffer, context, CL_MEM_READ_WRITE, 1 << 20, NULL, &error);

	OK(error);
	OK(CALL(clReleaseMemObject, other));
	OK(CALL(clReleaseMemObject, buffer));
	buffer = CALL(clCreateBuffer, context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
		      sizeof zero, &zero, &error);
	OK(error);
	OK(CALL(clSetKernelArg, kernel, 0, sizeof buffer, &buffer));
	printf("done\n");
}

static _Atomic int called;

static void CL_CALLBACK on_complete(cl_event event, cl_int status, void *user)
{
	cl_uint n;

	(void)status;
	(void)user;
	silent = true;
	OK(CALL(clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL));
	silent = false;
	called++;
}

/* Complete user events, so that the callbacks run inside calls of this thread. */
static void use_callbacks(int n)
{
	called = 0;
	for (int i = 0; i < n; i++) {
		cl_int error;
		cl_event gate = CALL(clCreateUserEvent, context, &error);

		OK(error);
		OK(CALL(clSetEventCallback, gate, CL_COMPLETE, on_complete, NULL));
		OK(CALL(clSetUserEventStatus, gate, CL_COMPLETE));
		OK(CALL(clReleaseEvent, gate));
	}
	while (called < n)
		;
	printf("done %d\n", called);
}

typedef cl_int release_fn(void *);
static release_fn *release_command_buffer;

static void use_extension(void)
{
	printf("clReleaseCommandBufferKHR\ndone %d\n", release_command_buffer(NULL));
}

static void count_replaced(void)
{
	enum { ENTRIES = sizeof(struct _cl_icd_dispatch) / sizeof(void *) };
	void *const *table = *(void *const *const *)platform;
	int replaced = 0;

	for (size_t i = 0; i < ENTRIES; i++) {
		Dl_info where;

		if (table[i] && dladdr(table[i], &where))
			replaced += strstr(where.dli_fname, "libgputap") != NULL;
	}
	printf("done %d\n", replaced);
}

/* A driver of OpenCL 1.0 ------------------------------------------------------- */

static size_t properties_at; /* position of the properties in PoCL's queues */

static cl_int CL_API_CALL set_property(cl_command_queue q, cl_command_queue_properties properties,
				       cl_bool enable, cl_command_queue_properties *old)
{
	cl_command_queue_properties *now = (cl_command_queue_properties *)q + properties_at;

	if (old)
		*old = *now;
	*now = enable ? *now | properties : *now & ~properties;
	return CL_SUCCESS;
}

/* Give PoCL's table the function that later drivers do not have. */
static void add_set_property(void)
{
	enum { WORDS = 64 };
	const cl_command_queue_properties asked[] = {0, CL_QUEUE_PROFILING_ENABLE,
						     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
	const cl_command_queue_properties *q[3];

	for (int i = 0; i < 3; i++)
		q[i] = (cl_command_queue_properties *)open_queue(asked[i]);
	while (properties_at < WORDS &&
	       (q[0][properties_at] != asked[0] || q[1][properties_at] != asked[1] ||
		q[2][properties_at] != asked[2]))
		properties_at++;
	EXPECT(properties_at < WORDS);
	(*(struct _cl_icd_dispatch **)platform)->clSetCommandQueueProperty = set_property;
}

/* Threads ---------------------------------------------------------------------- */

enum { THREADS = 16 };
static pthread_t threads[THREADS];
static _Atomic bool is_counting, is_over;
static _Atomic long launches, begun;
static int thread_count;

static void *launch_until_told(void *arg)
{
	cl_command_queue q = open_queue(0);
	cl_kernel k = arg;

	while (!is_over) {
		/* the launch counts if it begins after `count` */
		bool counts = is_counting;

		launch(q, k, NULL, false);
		launches += counts;
		begun++;
		if (begun % 64 == 0)
			OK(clFinish(q));
	}
	OK(clFinish(q));
	OK(clReleaseCommandQueue(q));
	return NULL;
}

static void start_threads(int n)
{
	const char *source = "__kernel void busy(__global int *a) { a[1] = 1; }";
	cl_program p = build_program(source);
	cl_mem m = open_buffer(4096);

	is_counting = is_over = false;
	silent = true;
	begun = launches = 0;
	thread_count = n;
	for (int i = 0; i < n; i++) {
		cl_kernel k = open_kernel(p, "busy");

		OK(clSetKernelArg(k, 0, sizeof m, &m));
		EXPECT(pthread_create(&threads[i], NULL, launch_until_told, k) == 0);
	}
	while (begun < n)
		;
	printf("done\n");
}

static void join_threads(void)
{
	is_over = true;
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	silent = false;
	printf("done %ld\n", launches);
}

static void start_counting(void)
{
	is_counting = true;
	printf("done\n");
}

static void use_first_queue(void)
{
	queue = first_queue;
	printf("done\n");
}

static void obey(char *line)
{
	int n = 0;

	if (!strncmp(line, "attach", 6))
		attach(line);
	else if (!strcmp(line, "detached\n"))
		wait_for_detach();
	else if (!strncmp(line, "queue", 5))
		make_queue(strstr(line, "profiling") != NULL);
	else if (!strcmp(line, "old\n"))
		use_first_queue();
	else if (sscanf(line, "run %d", &n) == 1)
		run(n);
	else if (!strcmp(line, "properties\n"))
		ask_properties();
	else if (!strcmp(line, "times\n"))
		ask_times();
	else if (!strcmp(line, "references\n"))
		ask_references();
	else if (!strcmp(line, "memory\n"))
		use_memory();
	else if (sscanf(line, "callback %d", &n) == 1)
		use_callbacks(n);
	else if (!strcmp(line, "extension\n"))
		use_extension();
	else if (!strcmp(line, "replaced\n"))
		count_replaced();
	else if (sscanf(line, "threads %d", &n) == 1)
		start_threads(n);
	else if (!strcmp(line, "count\n"))
		start_counting();
	else if (!strcmp(line, "join\n"))
		join_threads();
}

int main(int argc, char **argv)
{
	const cl_int zero = 0;
	char line[2048];
	cl_int error;

	EXPECT(argc > 1);
	way = argv[1];
	hold_functions();
	open_device();
	release_command_buffer =
		(release_fn *)clGetExtensionFunctionAddressForPlatform(platform,
								       "clReleaseCommandBufferKHR");
	if (argc > 2 && !strcmp(argv[2], "settable"))
		add_set_property();
	first_queue = queue = open_queue(
		argc > 2 && !strcmp(argv[2], "profiling") ? CL_QUEUE_PROFILING_ENABLE : 0);
	kernel = open_kernel(build_program("__kernel void add(__global int *a) { atomic_inc(a); }"),
			     "add");
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero,
				(void *)&zero, &error);
	OK(error);
	OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin))
		obey(line);
	return 0;
}
