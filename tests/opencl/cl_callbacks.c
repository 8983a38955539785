/* SPDX-License-Identifier: MIT */
/* Sets callbacks, and uses events before the call that creates them has returned. usage:
 * cl_callbacks WAY. Prints the observed actions. A signal kills the program if an expected action
 * is missing. */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { STACK_USED = 1 << 20, CALLS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int called;
static pthread_t by;
static void (*then)(void);

static cl_event user_event(void)
{
	cl_int error;
	cl_event e = clCreateUserEvent(context, &error);

	OK(error);
	return e;
}

static void tell_called(void)
{
	pthread_mutex_lock(&lock);
	called++;
	by = pthread_self();
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* Wait without calling OpenCL. */
static void wait_called(int count)
{
	pthread_mutex_lock(&lock);
	while (called < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) char use_stack(void)
{
	volatile char room[STACK_USED];

	for (size_t i = 0; i < sizeof room; i += 256)
		room[i] = (char)i;
	return room[256];
}

static void call_opencl(void)
{
	cl_device_type type;

	for (int i = 0; i < CALLS; i++)
		OK(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL));
}

static void in_callback(void)
{
	sigset_t signals;

	use_stack();
	call_opencl();
	pthread_sigmask(SIG_SETMASK, NULL, &signals);
	EXPECT(!sigismember(&signals, SIGSEGV) && !sigismember(&signals, SIGUSR1));
	if (then)
		then();
	tell_called();
}

static void on_context(cl_context c, void *user)
{
	EXPECT(user == &device);
	(void)c;
	in_callback();
}

static void on_memory(cl_mem m, void *user)
{
	EXPECT(user == &context);
	(void)m;
	in_callback();
}

/* The program holds a reference to the event. */
static void on_event(cl_event e, cl_int status, void *user)
{
	cl_command_queue queue, *q = user;
	cl_command_queue_properties properties;
	cl_ulong time;

	EXPECT(status == CL_COMPLETE);
	OK(clGetEventInfo(e, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
	EXPECT(queue == *q);
	OK(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
	EXPECT(properties == 0);
	EXPECT(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL) ==
	       CL_PROFILING_INFO_NOT_AVAILABLE);
	OK(clReleaseEvent(e));
	in_callback();
}

/* Only the program's command, which waits for a gate, holds references, so the context is destroyed
 * when the command ends. */
static void leave_to_command(void)
{
	cl_command_queue q = open_queue(0);
	cl_event gate = user_event();
	cl_mem m = open_buffer(64);
	int x = 1;

	OK(clSetContextDestructorCallback(context, on_context, &device));
	OK(clEnqueueFillBuffer(q, m, &x, sizeof x, 0, 64, 1, &gate, NULL));
	OK(clFlush(q));
	OK(clReleaseMemObject(m));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(context));
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clReleaseEvent(gate));
}

static void destructor(void)
{
	leave_to_command();
	wait_called(1);
	printf("called\n");
}

static void end_process(void)
{
	printf("called\n");
	exit(0);
}

static void exits(void)
{
	then = end_process;
	destructor();
}

static void end_thread(void)
{
	tell_called();
	pthread_exit(NULL);
}

/* Each callback ends the thread that it runs in. */
static void threads_end(void)
{
	then = end_thread;
	leave_to_command();
	wait_called(1);
	open_device();
	leave_to_command();
	wait_called(2);
	printf("called twice\n");
}

/* The program's own call releases the last reference to the memory. */
static void memory(void)
{
	cl_command_queue q = open_queue(0);
	cl_mem m = open_buffer(64);
	int x = 1;

	OK(clSetMemObjectDestructorCallback(m, on_memory, &context));
	OK(clEnqueueFillBuffer(q, m, &x, sizeof x, 0, 64, 0, NULL, NULL));
	OK(clFinish(q));
	OK(clReleaseMemObject(m));
	wait_called(1);
	printf("called in %s thread\n", pthread_equal(by, pthread_self()) ? "its own" : "another");
}

/* Events complete while the program makes no OpenCL calls. */
static void events(void)
{
	cl_command_queue q = open_queue(0);
	cl_mem m = open_buffer(64);
	cl_event gate = user_event(), e;
	int x = 1;

	for (int i = 0; i < 100; i++) {
		OK(clEnqueueFillBuffer(q, m, &x, sizeof x, 0, 64, 1, &gate, &e));
		OK(clSetEventCallback(e, CL_COMPLETE, on_event, &q));
	}
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clFlush(q));
	wait_called(100);
	printf("called\n");
}

/* Events complete while the program calls clFinish(). */
static void finished(void)
{
	cl_command_queue q = open_queue(0);
	cl_mem m = open_buffer(64);
	cl_event e;
	int x = 1;

	for (int i = 0; i < 100; i++) {
		OK(clEnqueueFillBuffer(q, m, &x, sizeof x, 0, 64, 0, NULL, &e));
		OK(clSetEventCallback(e, CL_COMPLETE, on_event, &q));
	}
	OK(clFinish(q));
	wait_called(100);
	printf("called\n");
}

/* Events that are used before the call returns ------------------------------------- */

static cl_event gate;
static _Atomic(cl_event) shown;

static void *poll_event(void *arg)
{
	cl_command_type type;
	cl_event e;

	while (!(e = atomic_load(&shown)))
		usleep(100);
	OK(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
	EXPECT(type == CL_COMMAND_READ_BUFFER);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	if (arg) { /* and releases the event, before or after the call has returned */
		OK(clWaitForEvents(1, &e));
		OK(clReleaseEvent(e));
	}
	return NULL;
}

static void poll_blocking(bool let_go)
{
	cl_command_queue q = open_queue(0);
	cl_mem m = open_buffer(64);
	pthread_t thread;
	char data[64];

	for (int i = 0; i < (let_go ? 200 : 1); i++) {
		gate = user_event();
		atomic_store(&shown, NULL);
		EXPECT(pthread_create(&thread, NULL, poll_event, let_go ? &thread : NULL) == 0);
		OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof data, data, 1, &gate,
				       (cl_event *)&shown));
		EXPECT(pthread_join(thread, NULL) == 0);
		OK(clReleaseEvent(gate));
	}
	printf("seen\n");
}

static void polled(void)
{
	poll_blocking(false);
}

static void polled_and_released(void)
{
	poll_blocking(true);
}

static void native(void *args)
{
	(void)args;
	while (!atomic_load(&shown))
		usleep(100);
}

static void native_kernel(void)
{
	cl_command_queue q = open_queue(0);
	void *argument[1] = {NULL};

	OK(clEnqueueNativeKernel(q, native, argument, sizeof argument, 0, NULL, NULL, 0, NULL,
				 (cl_event *)&shown));
	OK(clFinish(q));
	printf("seen\n");
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"destructor", destructor},
	{"exits", exits},
	{"threads_end", threads_end},
	{"memory", memory},
	{"events", events},
	{"finished", finished},
	{"polled", polled},
	{"native", native_kernel},
	{"polled_and_released", polled_and_released},
};

int main(int argc, char **argv)
{
	alarm(120);
	open_device();
	for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++)
		if (!strcmp(argv[1], ways[i].name))
			return ways[i].run(), 0;
	return 2;
}
