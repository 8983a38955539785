/* SPDX-License-Identifier: MIT */
/* opencl_split KEY [ITEMS [BATCH [ROUNDS]]]: splits the cost of recording device times for small
 * kernels into its parts. Runs under `gputap run`.
 *
 * Runs kernels of ITEMS work-items (1), finished every BATCH (64), in interleaved blocks of six
 * kinds in one process, so that all kinds have the same threads on the same CPUs. Blocks inherit
 * the state of PoCL's heap, so an untimed block of a kind precedes each timed block. A round is one
 * block of each kind.
 *
 *   bare       directly to the runtime, through its dispatch table: bypasses gputap
 *   profiling  like bare, on a queue with profiling
 *   events     like profiling, with an event for each kernel, released after the finish
 *   times      like events, and reads the four times: the cost for a program that does so itself
 *   stopped    traced calls, while the collector (our parent) is stopped (SIGSTOP)
 *   traced     traced calls, while the collector runs
 *
 * Prints three medians for each kind: the ns per kernel, the ratio to the bare block of the same
 * round, and the CPU time of the enqueuing thread per kernel. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "measure.h"

enum kind { BARE, PROFILING, EVENTS, TIMES, STOPPED, TRACED, KINDS };
static const char *const names[KINDS] = {"bare",  "profiling", "events",
					 "times", "stopped",   "traced"};

enum { BLOCK = 320, BATCH_MAX = 10000, CATCH_UP_NS = 3000000 };

static const cl_icd_dispatch *direct;
static cl_kernel kernel;
static size_t items = 1, batch = 64, kernels;

static int fail(const char *what, cl_int error)
{
	fprintf(stderr, "opencl_split: %s: %d\n", what, error);
	return 1;
}

static double thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static cl_int settle(const cl_event *events, bool times)
{
	cl_ulong t;
	cl_int error = CL_SUCCESS;

	for (size_t i = 0; i < batch; i++) {
		for (cl_uint what = 0; times && what < 4; what++)
			error |= direct->clGetEventProfilingInfo(events[i],
								 CL_PROFILING_COMMAND_QUEUED + what,
								 sizeof t, &t, NULL);
		error |= direct->clReleaseEvent(events[i]);
	}
	return error;
}

static cl_int block(enum kind kind, cl_command_queue queue)
{
	static cl_event events[BATCH_MAX];
	__typeof__(&clEnqueueNDRangeKernel) enqueue =
		kind < STOPPED ? direct->clEnqueueNDRangeKernel : clEnqueueNDRangeKernel;
	__typeof__(&clFinish) finish = kind < STOPPED ? direct->clFinish : clFinish;
	bool wanted = kind == EVENTS || kind == TIMES;
	cl_int error = CL_SUCCESS;

	for (size_t done = 0; done < kernels && !error; done += batch) {
		for (size_t i = 0; i < batch; i++)
			error |= enqueue(queue, kernel, 1, NULL, &items, items == 1 ? &items : NULL,
					 0, NULL, wanted ? &events[i] : NULL);
		error |= finish(queue);
		if (wanted && !error)
			error = settle(events, kind == TIMES);
	}
	return error;
}

/* Signal the collector. After a stop, wait until it has read its backlog before the next block. */
static void tell_collector(int signal)
{
	const struct timespec t = {0, CATCH_UP_NS};

	kill(getppid(), signal);
	if (signal == SIGCONT)
		nanosleep(&t, NULL);
}

/* Return the ns per kernel, or 0 on failure. *@own: CPU time of this thread per kernel, in ns. */
static double measure(enum kind kind, cl_command_queue queue, double *own)
{
	uint64_t start = 0, end = 0;
	cl_int error;

	if (kind == STOPPED)
		tell_collector(SIGSTOP);
	error = block(kind, queue);
	*own = thread_ns();
	start = bench_now_ns();
	if (!error)
		error = block(kind, queue);
	end = bench_now_ns();
	*own = (thread_ns() - *own) / (double)kernels;
	if (kind == STOPPED)
		tell_collector(SIGCONT);
	return error ? 0 : (double)(end - start) / (double)kernels;
}

static void print(const char *key, enum kind kind, const char *what, double *values, size_t count,
		  const char *unit)
{
	char name[128];

	snprintf(name, sizeof name, "%s_%s%s", key, names[kind], what);
	bench_print(name, bench_median(values, count), unit);
}

static int run(const char *key, cl_command_queue queues[KINDS], size_t rounds)
{
	double *ns[KINDS], *own[KINDS], *ratio = calloc(rounds, sizeof *ratio);

	for (enum kind k = 0; k < KINDS; k++) {
		ns[k] = calloc(rounds, sizeof **ns);
		own[k] = calloc(rounds, sizeof **own);
	}
	for (size_t n = 0; n < rounds; n++)
		for (size_t i = 0; i < KINDS; i++) {
			enum kind k = (enum kind)((n % 2 ? i : KINDS - 1 - i) + n / 2) % KINDS;

			ns[k][n] = measure(k, queues[k], &own[k][n]);
			if (ns[k][n] == 0)
				return fail(names[k], 0);
		}
	for (enum kind k = KINDS; k-- > 0;) { /* bare last, because the median sorts its values */
		for (size_t n = 0; n < rounds; n++)
			ratio[n] = ns[k][n] / ns[BARE][n];
		print(key, k, "_ratio", ratio, rounds, "x");
		print(key, k, "_own", own[k], rounds, "ns");
		if (k == BARE)
			print(key, k, "", ns[k], rounds, "ns");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *source =
		"kernel void fill(global int *a, int v) { a[get_global_id(0)] = v; }";
	size_t rounds = argc > 4 ? strtoul(argv[4], NULL, 0) : 300;
	cl_command_queue queues[KINDS];
	cl_platform_id platform;
	cl_device_id device;
	cl_int error, value = 7;

	if (argc > 2)
		items = strtoul(argv[2], NULL, 0);
	if (argc > 3)
		batch = strtoul(argv[3], NULL, 0);
	if (argc < 2 || !items || !batch || batch > BATCH_MAX || !rounds ||
	    !getenv("GPUTAP_SESSION"))
		return fail("usage: gputap run -- opencl_split KEY [ITEMS [BATCH [ROUNDS]]]", 0);
	kernels = (BLOCK + batch - 1) / batch * batch;
	if ((error = clGetPlatformIDs(1, &platform, NULL)) ||
	    (error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
		return fail("no OpenCL device", error);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	if (error)
		return fail("clCreateContext", error);
	direct = *(const cl_icd_dispatch *const *)context;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	if ((error = clBuildProgram(program, 1, &device, "", NULL, NULL)))
		return fail("clBuildProgram", error);
	kernel = clCreateKernel(program, "fill", &error);
	cl_mem buffer =
		clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof value, NULL, &error);
	clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
	clSetKernelArg(kernel, 1, sizeof value, &value);
	for (enum kind k = 0; k < KINDS; k++) {
		queues[k] = k < STOPPED ? direct->clCreateCommandQueue(context, device,
								       k ? CL_QUEUE_PROFILING_ENABLE
									 : 0,
								       &error)
					: clCreateCommandQueue(context, device, 0, &error);
		if (error)
			return fail("clCreateCommandQueue", error);
	}
	return run(argv[1], queues, rounds);
}
