/* SPDX-License-Identifier: MIT */
/* GPU activities of OpenCL on a fake runtime, whose device is a thread: commands complete while the
 * threads of the program enqueue, wait, query and release. Also in the ThreadSanitizer build.
 *
 * The test calls the wraps as taps do. The fake runtime reuses queue handles as soon as they are
 * free, the last freed first. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/recording.h"
#include "ring/session.h"
#include "runtime/opencl/activity.h"
#include "runtime/opencl/opencl_attach.h"
#include "unit.h"

enum { DEVICES = 2, QUEUES_MOST = 64, SHARED = 2, THREADS = 4, KERNELS = 3 };
#if defined(__SANITIZE_THREAD__)
enum { ROUNDS = 12, COMMANDS = 40 };
#else
enum { ROUNDS = 60, COMMANDS = 100 };
#endif

/* The runtime ------------------------------------------------------------------- */

struct device {
	cl_device_type type;
};

struct queue {
	struct queue *free;
	unsigned references, in_flight;
	cl_command_queue_properties properties;
	cl_context context;
	struct device *device;
};

struct event {
	struct event *next; /* waiting for the device */
	unsigned references;
	struct queue *queue;
	cl_int status;
	cl_ulong times[4];
};

/* One lock protects the whole runtime. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t submitted, completed;
	struct queue queues[QUEUES_MOST], *free;
	struct event *first, **last;
	unsigned events, queues_used;
	uint64_t commands;
	cl_ulong clock;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER,
	     .submitted = PTHREAD_COND_INITIALIZER,
	     .completed = PTHREAD_COND_INITIALIZER};

/* the helper uses queues of the second device */
static struct device devices[DEVICES] = {{CL_DEVICE_TYPE_CPU}, {CL_DEVICE_TYPE_GPU}};
static int contexts[1], kernels[KERNELS];

void gt_opencl_tables_meet(cl_platform_id platform)
{
	(void)platform;
}

void *gt_opencl_tables_function(const void *object, uint32_t number)
{
	(void)object;
	(void)number;
	return NULL;
}

void gt_opencl_used(const struct gt_table *table, const void *object)
{
	(void)table, (void)object;
}

static void enter(void)
{
	pthread_mutex_lock(&runtime.lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&runtime.lock);
}

static void queue_release(struct queue *q)
{
	CHECK_GT(q->references, 0);
	if (--q->references == 0) {
		q->free = runtime.free;
		runtime.free = q;
		runtime.queues_used--;
	}
}

static void event_release(struct event *e)
{
	CHECK_GT(e->references, 0);
	if (--e->references == 0) {
		queue_release(e->queue);
		runtime.events--;
		free(e);
	}
}

static void complete(struct event *e)
{
	for (unsigned i = 0; i < 4; i++)
		e->times[i] = ++runtime.clock;
	e->status = CL_COMPLETE;
	e->queue->in_flight--;
	pthread_cond_broadcast(&runtime.completed);
	event_release(e);
}

static struct event *take(struct event **at)
{
	struct event *e = *at;

	*at = e->next;
	if (runtime.last == &e->next)
		runtime.last = at;
	return e;
}

/* Complete commands in order. In an out-of-order queue, the second command goes first. */
static void *device_run(void *arg)
{
	enter();
	for (;;) {
		while (!runtime.first)
			pthread_cond_wait(&runtime.submitted, &runtime.lock);
		if (runtime.first->next &&
		    runtime.first->next->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
			complete(take(&runtime.first->next));
		else
			complete(take(&runtime.first));
		if (runtime.clock % 3 == 0) { /* let other threads see an intermediate state */
			leave();
			sched_yield();
			enter();
		}
	}
	return arg;
}

static cl_command_queue fake_clCreateCommandQueue(cl_context context, cl_device_id device,
						  cl_command_queue_properties properties,
						  cl_int *error)
{
	struct queue *q;

	enter();
	q = runtime.free;
	CHECK_NOT_NULL(q);
	runtime.free = q->free;
	runtime.queues_used++;
	*q = (struct queue){.references = 1,
			    .properties = properties,
			    .context = context,
			    .device = (struct device *)device};
	leave();
	if (error)
		*error = CL_SUCCESS;
	return (cl_command_queue)q;
}

static cl_int fake_clReleaseCommandQueue(cl_command_queue handle)
{
	enter();
	queue_release((struct queue *)handle);
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info name,
					 size_t size, void *value, size_t *size_ret)
{
	struct queue *q = (struct queue *)handle;

	(void)size, (void)size_ret;
	switch (name) {
	case CL_QUEUE_DEVICE: memcpy(value, &q->device, sizeof q->device); break;
	case CL_QUEUE_CONTEXT: memcpy(value, &q->context, sizeof q->context); break;
	case CL_QUEUE_PROPERTIES: memcpy(value, &q->properties, sizeof q->properties); break;
	default: return CL_INVALID_VALUE;
	}
	return CL_SUCCESS;
}

static cl_int enqueue(struct queue *q, cl_bool blocking, cl_event *event)
{
	struct event *e = calloc(1, sizeof *e);

	enter();
	*e = (struct event){.queue = q,
			    .references = 1 + (event != NULL) + (blocking != 0),
			    .status = CL_QUEUED};
	q->references++;
	q->in_flight++;
	runtime.events++;
	runtime.commands++;
	*runtime.last = e;
	runtime.last = &e->next;
	pthread_cond_signal(&runtime.submitted);
	if (event)
		*event = (cl_event)e;
	if (blocking) {
		while (e->status != CL_COMPLETE)
			pthread_cond_wait(&runtime.completed, &runtime.lock);
		event_release(e);
	}
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim,
					  const size_t *offset, const size_t *global,
					  const size_t *local, cl_uint count, const cl_event *list,
					  cl_event *event)
{
	(void)kernel, (void)dim, (void)offset, (void)global, (void)local, (void)count, (void)list;
	return enqueue((struct queue *)queue, CL_FALSE, event);
}

static cl_int fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				       size_t offset, size_t size, void *to, cl_uint count,
				       const cl_event *list, cl_event *event)
{
	(void)buffer, (void)offset, (void)size, (void)to, (void)count, (void)list;
	return enqueue((struct queue *)queue, blocking, event);
}

static cl_int fake_clFinish(cl_command_queue handle)
{
	struct queue *q = (struct queue *)handle;

	enter();
	while (q->in_flight)
		pthread_cond_wait(&runtime.completed, &runtime.lock);
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clWaitForEvents(cl_uint count, const cl_event *list)
{
	enter();
	for (cl_uint i = 0; i < count; i++)
		while (((struct event *)list[i])->status != CL_COMPLETE)
			pthread_cond_wait(&runtime.completed, &runtime.lock);
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clRetainEvent(cl_event event)
{
	enter();
	((struct event *)event)->references++;
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clReleaseEvent(cl_event event)
{
	enter();
	event_release((struct event *)event);
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clGetEventInfo(cl_event event, cl_event_info name, size_t size, void *value,
				  size_t *size_ret)
{
	struct event *e = (struct event *)event;
	cl_int ret = CL_SUCCESS;

	(void)size, (void)size_ret;
	enter();
	switch (name) {
	case CL_EVENT_COMMAND_EXECUTION_STATUS: memcpy(value, &e->status, sizeof e->status); break;
	case CL_EVENT_COMMAND_QUEUE: memcpy(value, &e->queue, sizeof e->queue); break;
	/* the device holds a reference that the runtime's counter does not include */
	case CL_EVENT_REFERENCE_COUNT:
		*(cl_uint *)value = e->references - (e->status != CL_COMPLETE);
		break;
	default: ret = CL_INVALID_VALUE;
	}
	leave();
	return ret;
}

static _Atomic enum { NOBODY, ASKED_FOR, INSIDE, LEFT } held;

/* Delay the helper, as if it got no CPU time. */
static void hold_helper(void)
{
	if (gettid() != getpid() && atomic_load(&held) == ASKED_FOR) {
		atomic_store(&held, INSIDE);
		usleep(300000);
		atomic_store(&held, LEFT);
	}
}

static cl_int fake_clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size,
					   void *value, size_t *size_ret)
{
	struct event *e = (struct event *)event;
	cl_int ret = CL_PROFILING_INFO_NOT_AVAILABLE;

	(void)size, (void)size_ret;
	hold_helper();
	enter();
	CHECK(e->queue->properties & CL_QUEUE_PROFILING_ENABLE);
	if (e->status == CL_COMPLETE) {
		memcpy(value, &e->times[name - CL_PROFILING_COMMAND_QUEUED], sizeof e->times[0]);
		ret = CL_SUCCESS;
	}
	leave();
	return ret;
}

static cl_int fake_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size,
				   void *value, size_t *size_ret)
{
	static const char version[] = "OpenCL 3.0 of a test";

	(void)size;
	if (name == CL_DEVICE_TYPE)
		memcpy(value, &((struct device *)device)->type, sizeof(cl_device_type));
	else if (name == CL_DEVICE_VERSION)
		memcpy(value, version, sizeof version);
	else
		return CL_INVALID_VALUE;
	if (size_ret)
		*size_ret = sizeof version;
	return CL_SUCCESS;
}

static cl_int fake_clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *on_device,
					   cl_ulong *on_host)
{
	(void)device;
	enter();
	*on_device = *on_host = ++runtime.clock;
	leave();
	return CL_SUCCESS;
}

static cl_int fake_clReleaseContext(cl_context context)
{
	(void)context;
	return CL_SUCCESS;
}

static cl_int fake_clGetContextInfo(cl_context context, cl_context_info name, size_t size,
				    void *value, size_t *size_ret)
{
	cl_device_id ids[DEVICES] = {(cl_device_id)&devices[0], (cl_device_id)&devices[1]};

	(void)context, (void)size;
	if (name != CL_CONTEXT_DEVICES)
		return CL_INVALID_VALUE;
	memcpy(value, ids, sizeof ids);
	*size_ret = sizeof ids;
	return CL_SUCCESS;
}

static cl_int fake_clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void *value,
				   size_t *size_ret)
{
	(void)name;
	*size_ret = (size_t)snprintf(value, size, "kernel_%d", (int)((int *)kernel - kernels)) + 1;
	return CL_SUCCESS;
}

static cl_int fake_unused(void)
{
	return CL_INVALID_OPERATION;
}

/* Calls as the program makes them ----------------------------------------------- */

static struct gt_tap taps[GT_OPENCL_INDEX_COUNT];
static const struct gt_table table = {
	GT_DOMAIN_OPENCL, 0, NULL, GT_OPENCL_INDEX_COUNT, taps, "fake", 10000, 0, NULL};

static struct gt_call begin(unsigned index)
{
	struct gt_thread *t = gt_thread_call(GT_DOMAIN_OPENCL);

	CHECK_NOT_NULL(t);
	return (struct gt_call){&table, &taps[index], t, gt_call_begin(t, GT_DOMAIN_OPENCL, 0),
				gt_ticks()};
}

/* Call the function, as its tap does. */
#define CALL(f, ...)                                                                     \
	({                                                                               \
		struct gt_call call = begin(GT_OPENCL_INDEX_##f);                        \
		__typeof__(f(__VA_ARGS__)) ret = gt_opencl_wrap_##f(&call, __VA_ARGS__); \
		gt_call_end(call.thread);                                                \
		ret;                                                                     \
	})
#define SET(f)    taps[GT_OPENCL_INDEX_##f].real = (void *)(fake_##f)
#define UNUSED(f) taps[GT_OPENCL_INDEX_##f].real = (void *)(fake_unused)

static void start(void)
{
	pthread_t thread;

	for (unsigned i = 0; i < QUEUES_MOST; i++) {
		runtime.queues[i].free = runtime.free;
		runtime.free = &runtime.queues[i];
	}
	runtime.last = &runtime.first;
	SET(clCreateCommandQueue), SET(clReleaseCommandQueue), SET(clGetCommandQueueInfo),
		SET(clFinish);
	SET(clEnqueueNDRangeKernel), SET(clEnqueueReadBuffer), SET(clWaitForEvents);
	SET(clRetainEvent), SET(clReleaseEvent), SET(clGetEventInfo), SET(clGetEventProfilingInfo);
	SET(clGetDeviceInfo), SET(clGetDeviceAndHostTimer), SET(clGetContextInfo),
		SET(clReleaseContext), SET(clGetKernelInfo);
	UNUSED(clGetImageInfo), UNUSED(clGetMemObjectInfo), UNUSED(clCreateUserEvent),
		UNUSED(clSetUserEventStatus);
	CHECK_EQ(pthread_create(&thread, NULL, device_run, NULL), 0);
	pthread_detach(thread);
}

/* Execute this program again with a session, as in ring_threads.c. */
static void with_session(const char *test)
{
	struct gt_session s = {.magic = GT_SESSION_MAGIC,
			       .version = GT_SESSION_VERSION,
			       .bytes = sizeof s,
			       .host_clock = GT_HOST_CLOCK_BOOTTIME,
			       .block_bytes = 16384,
			       .pool_bytes = 32 << 20,
			       .slot_count = 32,
			       .domains = GT_DOMAIN_BIT(GT_DOMAIN_OPENCL),
			       .device_activity = 1,
			       .ops[GT_DOMAIN_OPENCL] = {~UINT64_C(0)}};
	char path[256], folder[128];
	int fd;

	if (getenv(GT_SESSION_ENV))
		return;
	snprintf(folder, sizeof folder, "%s", unit_folder());
	snprintf(path, sizeof path, "%s/session", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(write(fd, &s, sizeof s), (ssize_t)sizeof s);
	close(fd);
	setenv(GT_SESSION_ENV, folder, 1);
	execl("/proc/self/exe", "opencl_activity", "--no-fork", test, (char *)NULL);
}

/* Records in the rings ---------------------------------------------------------- */

struct found {
	uint64_t activity, no_queue, no_device, no_name, backwards;
	unsigned devices, contexts, queues, homeless;
};

static void find(const struct gt_record *h, struct found *f)
{
	const struct gt_record_device *w = (const void *)h;
	const struct gt_record_object *o = (const void *)h;

	if (h->kind == GT_RECORD_DEVICE) {
		f->activity++;
		f->no_queue += !w->queue;
		f->no_device += h->op == GT_DEVICE_REF(GT_DOMAIN_OPENCL, 0);
		f->no_name += gt_record_device_op(h) == GT_DEVICE_KERNEL && !w->name;
		f->backwards += !w->queued || w->queued > w->submitted || w->submitted > w->start ||
				w->start > w->end || !w->id;
	} else if (h->kind == GT_RECORD_OBJECT) {
		f->devices += h->op == GT_OBJECT_DEVICE;
		f->contexts += h->op == GT_OBJECT_CONTEXT;
		f->queues += h->op == GT_OBJECT_QUEUE;
		f->homeless += !o->number || (h->op == GT_OBJECT_QUEUE && !o->parent);
	}
}

static struct found find_all(void)
{
	const struct gt_segment *r = atomic_load(&gt_recording.segment);
	struct found f = {0};

	for (uint32_t i = 1; i < atomic_load(&r->slots_used); i++)
		for (uint32_t n = atomic_load(&gt_segment_slot(r, i)->first); n;
		     n = atomic_load(&gt_segment_block(r, n)->next)) {
			struct gt_block *b = gt_segment_block(r, n);
			uint32_t committed = atomic_load(&b->committed);

			for (uint32_t at = 0; at < committed;
			     at += ((const struct gt_record *)(gt_block_data(b) + at))->words * 8u)
				find((const void *)(gt_block_data(b) + at), &f);
		}
	return f;
}

/* Wait until all events are released by any thread, at the latest by the helper. */
static void wait_for_the_last(void)
{
	const struct timespec nap = {0, 1000000};

	for (unsigned left = 1; left; nanosleep(&nap, NULL)) { /* until the time limit */
		enter();
		left = runtime.events;
		leave();
	}
}

/* The program ------------------------------------------------------------------- */

static cl_command_queue shared[SHARED], asked_for_profiling;
static pthread_barrier_t together;

static cl_command_queue create(unsigned n)
{
	cl_command_queue_properties properties = n & 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;

	return CALL(clCreateCommandQueue, (cl_context)contexts, (cl_device_id)&devices[n % DEVICES],
		    properties, NULL);
}

static void feed(cl_command_queue queue, unsigned seed)
{
	const size_t global = 64;
	cl_event event = NULL, *wanted = seed % 3 ? NULL : &event;
	cl_uint references = 0;
	cl_ulong time;

	if (seed % 17 == 0)
		CALL(clEnqueueReadBuffer, queue, NULL, CL_TRUE, 0, 64, NULL, 0, NULL, wanted);
	else
		CALL(clEnqueueNDRangeKernel, queue, (cl_kernel)&kernels[seed % KERNELS], 1, NULL,
		     &global, NULL, 0, NULL, wanted);
	if (!wanted)
		return;
	if (queue != asked_for_profiling)
		CHECK_EQ(CALL(clGetEventProfilingInfo, event, CL_PROFILING_COMMAND_START,
			      sizeof time, &time, NULL),
			 CL_PROFILING_INFO_NOT_AVAILABLE);
	if (seed % 2) {
		CALL(clWaitForEvents, 1, &event);
		CHECK_EQ(CALL(clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT, sizeof references,
			      &references, NULL),
			 CL_SUCCESS);
		CHECK_EQ(references, 1);
	}
	fake_clReleaseEvent(event);
}

static void *program(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	cl_command_queue own;

	pthread_barrier_wait(&together);
	for (unsigned round = 0; round < ROUNDS; round++) {
		own = create(me + round);
		for (unsigned i = 0; i < COMMANDS; i++)
			feed(i % 5 ? own : shared[i % SHARED], me + i);
		if (round % 3)
			CALL(clFinish, round % 2 ? own : shared[0]);
		CALL(clReleaseCommandQueue, own);
		if (round % 4 == 3)
			/* one of the context's references */
			CALL(clReleaseContext, (cl_context)contexts);
	}
	return NULL;
}

static void run_program(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&together, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, program, (void *)(uintptr_t)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void check_found(unsigned queues)
{
	struct found f;

	wait_for_the_last();
	f = find_all();
	CHECK_EQ(f.activity, runtime.commands);
	CHECK_EQ(f.no_queue, 0);
	CHECK_EQ(f.no_device, 0);
	CHECK_EQ(f.no_name, 0);
	CHECK_EQ(f.backwards, 0);
	CHECK_EQ(f.devices, DEVICES);
	CHECK_EQ(f.contexts, 1);
	CHECK_EQ(f.queues, queues);
	CHECK_EQ(f.homeless, 0);
}

UNIT_TEST(each_command_of_many_threads_is_recorded_once_and_all_events_are_let_go)
{
	with_session("each_command_of_many_threads_is_recorded_once_and_all_events_are_let_go");
	start();
	for (unsigned i = 0; i < SHARED; i++)
		shared[i] = create(3 * i);
	run_program();
	for (unsigned i = 0; i < SHARED; i++)
		CALL(clReleaseCommandQueue, shared[i]);
	check_found(SHARED + THREADS * ROUNDS);
	CHECK_EQ(runtime.queues_used, 0);
}

UNIT_TEST(a_queue_that_was_there_before_is_learned_once_by_threads_that_meet_it_together)
{
	with_session(
		"a_queue_that_was_there_before_is_learned_once_by_threads_that_meet_it_together");
	start();
	shared[0] = fake_clCreateCommandQueue((cl_context)contexts, (cl_device_id)&devices[0],
					      CL_QUEUE_PROFILING_ENABLE, NULL);
	shared[1] = asked_for_profiling = shared[0];
	run_program();
	check_found(1 + THREADS * ROUNDS);
}

static void look_that_it_left(void)
{
	CHECK_EQ(atomic_load(&held), LEFT);
	CHECK_EQ(find_all().activity, runtime.commands);
}

UNIT_TEST(the_end_of_the_process_waits_for_the_helper_to_leave_the_runtime)
{
	with_session("the_end_of_the_process_waits_for_the_helper_to_leave_the_runtime");
	start();
	atexit(look_that_it_left); /* registered before gputap's handler, so called after it */
	atomic_store(&held, ASKED_FOR);
	feed(create(1), 1);
	while (atomic_load(&held) == ASKED_FOR)
		usleep(100);
}
