/* SPDX-License-Identifier: MIT */
/* Shows events as the program expects them: without gputap's references, and without profiling that
 * the program did not request. gputap's own calls get the runtime's true answers; such calls reach
 * this file if a library in front of the loader is interposed.
 *
 * Runtimes differ in the result of clGetEventProfilingInfo() for an event without times, and in the
 * choice among several errors of one call. Therefore the runtime itself is queried:
 *   1. gputap creates a queue like the program's, without profiling, and enqueues a marker in it.
 *   2. gputap queries that marker's times with the program's arguments.
 *   3. The program gets that answer. Each form of the query is made once per device. */
#include "runtime/opencl/activity_pending.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

cl_int gt_opencl_wrap_clGetEventInfo(const struct gt_call *call, cl_event event, cl_event_info name,
				     size_t size, void *value, size_t *size_ret)
{
	struct gt_cl_queue *q = name == CL_EVENT_REFERENCE_COUNT && value
					? gt_cl_queue_of_event(gt_cl_table_find(call), event)
					: NULL;
	cl_uint count, ours = 0;
	bool locked = false;
	cl_int ret;

	if (q)
		ours = gt_cl_event_references(q, event, &locked);
	if (locked)
		gt_internal_enter(); /* defers callbacks that are triggered meanwhile */
	ret = GT_CL_REAL(call, clGetEventInfo)(event, name, size, value, size_ret);
	if (locked) {
		gt_internal_leave();
		gt_cl_lock_release(&q->harvest);
		gt_cl_callbacks_run();
	}
	if (ours && ret == CL_SUCCESS && size >= sizeof count) {
		memcpy(&count, value, sizeof count);
		count = count > ours ? count - ours : count;
		memcpy(value, &count, sizeof count);
	}
	return ret;
}

/* Query a user event, as a fallback if no queue can be created. */
static cl_int ask_user_event(const struct gt_table *table, cl_event event, cl_profiling_info name,
			     size_t size, void *value, size_t *size_ret)
{
	cl_int ret = CL_PROFILING_INFO_NOT_AVAILABLE, error = CL_SUCCESS;
	cl_context context = NULL;
	cl_event probe = NULL;

	gt_internal_enter();
	if (GT_CL(table, clGetEventInfo)(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL) ==
		    CL_SUCCESS &&
	    context)
		probe = GT_CL(table, clCreateUserEvent)(context, &error);
	if (probe && error == CL_SUCCESS) {
		ret = GT_CL(table, clGetEventProfilingInfo)(probe, name, size, value, size_ret);
		GT_CL(table, clSetUserEventStatus)(probe, CL_COMPLETE);
		GT_CL(table, clReleaseEvent)(probe);
	}
	gt_internal_leave();
	return ret;
}

/* A form of the query, and its answer. */
enum { ANSWERS = 64, ROOM = 64, UNTOUCHED = 0xa5, LOOKS = 200, NAP_NS = 50000 };

struct form {
	const struct gt_cl_device *device;
	size_t size;
	cl_profiling_info name;
	bool value, size_ret; /* true if the program passed a buffer */
	bool done;            /* true if the command has ended */
};

struct event_answer {
	struct form form;
	cl_int ret;
	bool size_of_result;
	size_t size;
	unsigned char value[ROOM]; /* UNTOUCHED in bytes that the runtime did not write */
};

static struct event_answer answers[ANSWERS];
static uint32_t answer_count;
static struct gt_cl_lock answers_lock;

static bool same_form(const struct form *a, const struct form *b)
{
	return a->device == b->device && a->size == b->size && a->name == b->name &&
	       a->value == b->value && a->size_ret == b->size_ret && a->done == b->done;
}

static bool find_answer(const struct form *form, struct event_answer *answer, uint32_t epoch)
{
	bool found = false;

	if (!gt_cl_lock_take(&answers_lock, epoch))
		return false;
	for (uint32_t i = 0; i < answer_count && !found; i++) {
		found = same_form(&answers[i].form, form);
		if (found)
			*answer = answers[i];
	}
	gt_cl_lock_release(&answers_lock);
	return found;
}

static void keep_answer(const struct event_answer *answer, uint32_t epoch)
{
	if (!gt_cl_lock_take(&answers_lock, epoch))
		return;
	if (answer_count < ANSWERS)
		answers[answer_count++] = *answer;
	gt_cl_lock_release(&answers_lock);
}

static bool is_done(const struct gt_table *table, cl_event event)
{
	cl_int status = CL_QUEUED;

	if (GT_CL(table, clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
					 &status, NULL) != CL_SUCCESS)
		return false;
	return status <= CL_COMPLETE;
}

/* Return true once the marker is done. The marker is alone in its queue: either it ends
 * immediately, or the wait is abandoned. */
static bool becomes_done(const struct gt_table *table, cl_command_queue queue, cl_event marker)
{
	const struct timespec nap = {0, NAP_NS};
	int saved = errno;
	bool done;

	GT_CL(table, clFlush)(queue);
	for (unsigned i = 0; !(done = is_done(table, marker)) && i < LOOKS; i++)
		syscall(SYS_nanosleep, &nap, NULL);
	errno = saved;
	return done;
}

static void ask_marker(const struct gt_table *table, cl_event marker, struct event_answer *a)
{
	const struct form *f = &a->form;

	memset(a->value, UNTOUCHED, sizeof a->value);
	a->size = SIZE_MAX;
	a->ret = GT_CL(table, clGetEventProfilingInfo)(marker, f->name, f->size,
						       f->value ? a->value : NULL,
						       f->size_ret ? &a->size : NULL);
	a->size_of_result = a->size != SIZE_MAX;
}

/* Query a marker in a similar queue. Return false if this kind of query is not possible. */
static bool ask_alike(const struct gt_cl_queue *q, struct event_answer *a)
{
	const struct gt_table *table = q->table;
	cl_event gate = NULL, marker = NULL;
	__typeof__(&clEnqueueMarkerWithWaitList) mark = GT_CL(table, clEnqueueMarkerWithWaitList);
	cl_command_queue alike;
	bool asked = false;
	cl_int error;

	if (!mark || !(alike = gt_cl_queue_alike(q)))
		return false;
	if (!a->form.done)
		gate = GT_CL(table, clCreateUserEvent)(q->context, &error);
	if ((a->form.done || gate) &&
	    mark(alike, gate ? 1 : 0, gate ? &gate : NULL, &marker) == CL_SUCCESS) {
		asked = gate || becomes_done(table, alike, marker);
		if (asked)
			ask_marker(table, marker, a);
	}
	if (gate) {
		GT_CL(table, clSetUserEventStatus)(gate, CL_COMPLETE);
		GT_CL(table, clReleaseEvent)(gate);
	}
	if (marker)
		GT_CL(table, clReleaseEvent)(marker);
	GT_CL(table, clReleaseCommandQueue)(alike);
	return asked;
}

/* Find the answer that the runtime would give for @event in a queue without profiling. */
static bool find_out(const struct gt_cl_queue *q, cl_event event, struct event_answer *a)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	bool known;

	if (!epoch || !q->device)
		return false;
	gt_internal_enter();
	a->form.done = is_done(q->table, event);
	known = find_answer(&a->form, a, epoch);
	if (!known && (known = ask_alike(q, a)))
		keep_answer(a, epoch);
	gt_internal_leave();
	gt_cl_callbacks_run();
	return known;
}

cl_int gt_opencl_wrap_clGetEventProfilingInfo(const struct gt_call *call, cl_event event,
					      cl_profiling_info name, size_t size, void *value,
					      size_t *size_ret)
{
	struct gt_cl_queue *q = gt_cl_queue_of_event(gt_cl_table_find(call), event);
	struct event_answer a;

	if (!q || !q->forced)
		return GT_CL_REAL(call, clGetEventProfilingInfo)(event, name, size, value,
								 size_ret);
	a.form = (struct form){.device = q->device,
			       .size = size < ROOM ? size : ROOM,
			       .name = name,
			       .value = value != NULL,
			       .size_ret = size_ret != NULL};
	if (find_out(q, event, &a)) {
		for (size_t i = 0; value && i < a.form.size; i++)
			if (a.value[i] != UNTOUCHED)
				((unsigned char *)value)[i] = a.value[i];
		if (a.size_of_result)
			*size_ret = a.size;
		return a.ret;
	}
	if (name >= CL_PROFILING_COMMAND_QUEUED && name <= CL_PROFILING_COMMAND_END &&
	    (!value || size >= sizeof(cl_ulong)))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return ask_user_event(gt_cl_table_find(call), event, name, size, value, size_ret);
}
