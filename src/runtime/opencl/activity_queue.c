/* SPDX-License-Identifier: MIT */
/* Queues: profiling is forced on where the program did not ask for it, and the program cannot
 * tell.
 *
 * The runtime gets the program's properties with CL_QUEUE_PROFILING_ENABLE added; if it refuses,
 * it gets them as they were, so that every error is its own answer to the program's own
 * arguments. Queues on the device are left alone. What clGetCommandQueueInfo() says about
 * properties is what the program asked for.
 *
 * A queue's entry is found by its handle and is used again when the handle is; commands of the
 * old queue that are still in its list carry the old queue's number. */
#include "runtime/opencl/activity.h"

#include <string.h>

GT_CL_MAP(queues, 10);
static _Atomic(struct gt_cl_queue *) all_queues;
/* of queues that were there before: two threads that meet one make one entry of it */
static struct gt_cl_lock learning;

struct gt_cl_queue *gt_cl_queues(void)
{
	return atomic_load_explicit(&all_queues, memory_order_acquire);
}

struct gt_cl_queue *gt_cl_queue_find(cl_command_queue handle)
{
	return gt_cl_map_find(&queues, handle);
}

static struct gt_cl_queue *add_queue(struct gt_thread *t, cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_alloc(t->epoch, sizeof *q), *first;

	if (!q)
		return NULL;
	gt_cl_map_add(&queues, &q->node, handle);
	first = atomic_load_explicit(&all_queues, memory_order_relaxed);
	do {
		q->next = first;
	} while (!atomic_compare_exchange_weak_explicit(&all_queues, &first, q,
							memory_order_release,
							memory_order_relaxed));
	return q;
}

/* Properties in words, for those who read the capture. */
static void write_queue(struct gt_cl_queue *q, struct gt_thread *t)
{
	struct gt_text text = {0};
	uint64_t context;

	if (q->device && !gt_cl_device_asked(q->device))
		return; /* at its first work, then */
	context = gt_cl_context_number(q->table, t, q->context);
	gt_text_add(&text, "properties",
		    q->asked & CL_QUEUE_ON_DEVICE ? "on_device"
		    : q->out_of_order && q->asked & CL_QUEUE_PROFILING_ENABLE
			    ? "out_of_order profiling"
		    : q->out_of_order                      ? "out_of_order"
		    : q->asked & CL_QUEUE_PROFILING_ENABLE ? "profiling"
							   : "");
	gt_text_add(&text, "profiling", q->forced ? "forced" : q->untimed ? "off" : "asked");
	gt_text_add_number(&text, "context", context);
	if (gt_object_write(t, GT_OBJECT_QUEUE, GT_DOMAIN_OPENCL, q->number,
			    (uintptr_t)q->node.handle, q->device ? q->device->number : 0, &text))
		atomic_store_explicit(&q->written, t->epoch, memory_order_release);
}

/* A queue that was created without us looking: what the runtime says is what the program asked
 * for. */
static void learn_queue(struct gt_cl_queue *q, const struct gt_table *table, struct gt_thread *t,
			cl_command_queue handle)
{
	cl_device_id device = NULL;
	cl_context context = NULL;

	q->table = table;
	q->forced = false;
	q->list_count = 0;
	if (GT_CL(table, clGetCommandQueueInfo)(handle, CL_QUEUE_DEVICE, sizeof device, &device,
						NULL) == CL_SUCCESS)
		q->device = gt_cl_device_get(table, t, device);
	q->helped = q->device && !q->device->host;
	GT_CL(table, clGetCommandQueueInfo)
	(handle, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
	q->context = context;
	GT_CL(table, clGetCommandQueueInfo)
	(handle, CL_QUEUE_PROPERTIES, sizeof q->asked, &q->asked, NULL);
	q->out_of_order = q->asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	q->untimed = !(q->asked & CL_QUEUE_PROFILING_ENABLE);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
}

static bool is_known_queue(const struct gt_cl_queue *q, const struct gt_thread *t)
{
	return q && atomic_load_explicit(&q->written, memory_order_acquire) == t->epoch;
}

/* With `learning` held, or not to be had. */
static struct gt_cl_queue *know_queue(const struct gt_table *table, struct gt_thread *t,
				      cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);
	bool asked;

	if (is_known_queue(q, t) || (!q && !(q = add_queue(t, handle))))
		return q;
	if (q->epoch != t->epoch)
		gt_cl_queue_reset(q, t->epoch);
	if (!q->number)
		learn_queue(q, table, t, handle);
	asked = q->device && gt_cl_device_asked(q->device);
	if (q->device)
		gt_cl_device_get(table, t, (cl_device_id)(uintptr_t)q->device->node.handle);
	if (q->device && !asked)
		q->helped = !q->device->host;
	write_queue(q, t);
	return q;
}

static __attribute__((noinline, cold)) struct gt_cl_queue *meet_queue(const struct gt_table *table,
								      struct gt_thread *t,
								      cl_command_queue handle)
{
	struct gt_cl_queue *q;
	bool locked;

	gt_internal_enter();
	locked = gt_cl_lock(&learning, t->epoch);
	q = know_queue(table, t, handle);
	if (locked)
		gt_cl_unlock(&learning);
	gt_internal_leave();
	if (q)
		gt_cl_notify_queue(q);
	return q;
}

struct gt_cl_queue *gt_cl_queue_get(const struct gt_table *table, struct gt_thread *t,
				    cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);

	return gt_likely(is_known_queue(q, t)) ? q : meet_queue(table, t, handle);
}

/* What a creating function was given and what came of it. */
struct creation {
	cl_context context;
	cl_device_id device;
	cl_command_queue_properties asked;
	const cl_queue_properties *list; /* without the end; NULL: none */
	/* with the end, in words; 0: no list, or one too long to keep */
	unsigned list_count;
	bool forced;
	bool refused;
	const struct creation *outer; /* open around this one in this thread */
};

static _Thread_local const struct creation *open_creation
	__attribute__((tls_model("initial-exec")));

/* False: the runtime's own, in the middle of the program's, which knows what was asked for (see
 * attach_interposition.c). */
static bool begins(struct creation *c)
{
	/* left by longjmp(): we do not stand deeper in the stack */
	while (open_creation && (uintptr_t)open_creation <= (uintptr_t)c)
		open_creation = open_creation->outer;
	c->outer = open_creation;
	if (c->outer && gt_skip_nested[GT_DOMAIN_OPENCL])
		return false;
	open_creation = c;
	return true;
}

static void created(const struct gt_call *call, cl_command_queue handle, const struct creation *c)
{
	const struct gt_table *table = gt_cl_table(call);
	struct gt_thread *t = gt_cl_thread(call);
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);

	open_creation = c->outer;
	if (!handle || (!q && (!t || !table || !(q = add_queue(t, handle)))))
		return;
	/* a handle used again, not recorded now: it must not look like the old one */
	if (!t || !table) {
		q->number = 0;
		q->forced = false;
		atomic_store_explicit(&q->written, 0, memory_order_release);
		return;
	}
	gt_cl_harvest_all(q);
	atomic_store_explicit(&q->written, 0, memory_order_release);
	q->table = table;
	q->context = c->context;
	q->asked = c->asked;
	q->forced = c->forced;
	q->out_of_order = c->asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	q->untimed = !c->forced && !(c->asked & CL_QUEUE_PROFILING_ENABLE);
	q->list_count = (uint8_t)c->list_count;
	if (c->list_count)
		memcpy(q->list, c->list, c->list_count * sizeof q->list[0]);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
	q->device = gt_cl_device_get(table, t, c->device);
	q->helped = q->device && !q->device->host;
	if (q->epoch != t->epoch)
		gt_cl_queue_reset(q, t->epoch);
	gt_internal_enter();
	write_queue(q, t);
	if (q->device)
		gt_cl_device_clock(q->device, t);
	gt_internal_leave();
	if (c->refused)
		gt_event_write(t, GT_EVENT_PROFILING, GT_DOMAIN_OPENCL, q->number,
			       "the runtime refused a queue with profiling");
	gt_cl_spare_grow(t->epoch);
	gt_cl_notify_queue(q);
}

static bool can_force(const struct gt_call *call, cl_command_queue_properties asked)
{
	return gt_cl_thread(call) && gt_cl_table(call) &&
	       !(asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE));
}

cl_command_queue gt_opencl_wrap_clCreateCommandQueue(const struct gt_call *call, cl_context context,
						     cl_device_id device,
						     cl_command_queue_properties properties,
						     cl_int *errcode_ret)
{
	struct creation c = {context, device, properties, NULL, 0, can_force(call, properties),
			     false,   NULL};
	cl_command_queue q = NULL;
	cl_int error = CL_SUCCESS;

	if (!begins(&c))
		return GT_CL_REAL(call, clCreateCommandQueue)(context, device, properties,
							      errcode_ret);
	if (c.forced) {
		q = GT_CL_REAL(call, clCreateCommandQueue)(context, device,
							   properties | CL_QUEUE_PROFILING_ENABLE,
							   &error);
		if (q && errcode_ret)
			*errcode_ret = error;
	}
	if (!q) {
		q = GT_CL_REAL(call, clCreateCommandQueue)(context, device, properties,
							   errcode_ret);
		c.refused = c.forced && q;
		c.forced = false;
	}
	created(call, q, &c);
	return q;
}

/* The program's list with profiling added to it. False: the list has no room or no end within
 * reason. */
static bool force_list(const cl_queue_properties *list, cl_queue_properties *out,
		       struct creation *c)
{
	cl_queue_properties *found = NULL;
	unsigned n = 0;

	for (; list && list[n]; n += 2) {
		if (n + 5 > GT_CL_PROPERTIES_MAX)
			return false;
		out[n] = list[n];
		out[n + 1] = list[n + 1];
		if (list[n] == CL_QUEUE_PROPERTIES && !found)
			found = &out[n + 1];
	}
	c->list = list;
	c->list_count = list ? n + 1 : 0;
	if (!found) {
		out[n++] = CL_QUEUE_PROPERTIES;
		found = &out[n];
		out[n++] = 0;
	}
	c->asked = *found;
	*found |= CL_QUEUE_PROFILING_ENABLE;
	out[n] = 0;
	return true;
}

/* Both ..WithProperties functions have this form. */
typedef cl_command_queue create_fn(cl_context, cl_device_id, const cl_queue_properties *, cl_int *);

static cl_command_queue create_with_list(const struct gt_call *call, create_fn *real,
					 cl_context context, cl_device_id device,
					 const cl_queue_properties *list, cl_int *errcode_ret)
{
	struct creation c = {context, device, 0, NULL, 0, false, false, NULL};
	cl_queue_properties forced[GT_CL_PROPERTIES_MAX];
	cl_command_queue q = NULL;
	cl_int error = CL_SUCCESS;
	bool known = force_list(list, forced, &c);

	if (!begins(&c))
		return real(context, device, list, errcode_ret);
	if (known && can_force(call, c.asked)) {
		q = real(context, device, forced, &error);
		c.forced = q != NULL;
		if (q && errcode_ret)
			*errcode_ret = error;
	}
	if (!q) {
		q = real(context, device, list, errcode_ret);
		c.refused = q && !(c.asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE));
	}
	created(call, q, &c);
	return q;
}

cl_command_queue gt_opencl_wrap_clCreateCommandQueueWithProperties(
	const struct gt_call *call, cl_context context, cl_device_id device,
	const cl_queue_properties *properties, cl_int *errcode_ret)
{
	return create_with_list(call, (create_fn *)call->tap->real, context, device, properties,
				errcode_ret);
}

cl_command_queue gt_opencl_wrap_clCreateCommandQueueWithPropertiesKHR(
	const struct gt_call *call, cl_context context, cl_device_id device,
	const cl_queue_properties_khr *properties, cl_int *errcode_ret)
{
	return create_with_list(call, (create_fn *)call->tap->real, context, device, properties,
				errcode_ret);
}

/* Queries ------------------------------------------------------------------- */

cl_command_queue gt_cl_queue_alike(const struct gt_cl_queue *q)
{
	cl_device_id device = (cl_device_id)(uintptr_t)q->device->node.handle;
	cl_int error;

	if (!q->list_count)
		return GT_CL(q->table, clCreateCommandQueue)(q->context, device, q->asked, &error);
	if (q->device->version < 200)
		return NULL;
	return GT_CL(q->table, clCreateCommandQueueWithProperties)(q->context, device, q->list,
								   &error);
}

/* What the runtime says of a queue with the program's list: of an empty one, that it is one word
 * long (PoCL) or none (NVIDIA); in an error, the size needed (NVIDIA) or nothing. So a queue is
 * made that has that list, and asked. */
static bool ask_alike(const struct gt_cl_queue *q, size_t size, void *value, size_t *size_ret,
		      cl_int *ret)
{
	cl_command_queue alike;

	gt_internal_enter();
	alike = gt_cl_queue_alike(q);
	if (alike) {
		*ret = GT_CL(q->table, clGetCommandQueueInfo)(alike, CL_QUEUE_PROPERTIES_ARRAY,
							      size, value, size_ret);
		GT_CL(q->table, clReleaseCommandQueue)(alike);
	}
	gt_internal_leave();
	return alike != NULL;
}

/* The runtime has another list than the program gave; it is asked first whether it knows the
 * question. */
static cl_int answer_list(const struct gt_call *call, const struct gt_cl_queue *q, size_t size,
			  void *value, size_t *size_ret)
{
	size_t bytes = q->list_count * sizeof q->list[0];
	cl_int ret =
		GT_CL_REAL(call, clGetCommandQueueInfo)((cl_command_queue)(uintptr_t)q->node.handle,
							CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, NULL);

	if (ret != CL_SUCCESS || (q->device && ask_alike(q, size, value, size_ret, &ret)))
		return ret;
	if (value && size < bytes)
		return CL_INVALID_VALUE;
	if (value && bytes)
		memcpy(value, q->list, bytes);
	if (size_ret)
		*size_ret = bytes;
	return CL_SUCCESS;
}

cl_int gt_opencl_wrap_clGetCommandQueueInfo(const struct gt_call *call, cl_command_queue handle,
					    cl_command_queue_info name, size_t size, void *value,
					    size_t *size_ret)
{
	/* our own calls get the true value */
	struct gt_cl_queue *q = gt_thread.internal ? NULL : gt_cl_map_find(&queues, handle);
	cl_command_queue_properties properties;
	cl_int ret;

	if (q && name == CL_QUEUE_REFERENCE_COUNT) /* an event of ours may hold its queue */
		gt_cl_harvest_all(q);
	if (q && q->forced && name == CL_QUEUE_PROPERTIES_ARRAY)
		return answer_list(call, q, size, value, size_ret);
	ret = GT_CL_REAL(call, clGetCommandQueueInfo)(handle, name, size, value, size_ret);
	if (ret == CL_SUCCESS && q && q->forced && name == CL_QUEUE_PROPERTIES && value &&
	    size >= sizeof properties) {
		memcpy(&properties, value, sizeof properties);
		properties &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		memcpy(value, &properties, sizeof properties);
	}
	return ret;
}

/* OpenCL 1.0's way to change a queue: profiling stays on, only what the program sees changes. */
cl_int gt_opencl_wrap_clSetCommandQueueProperty(const struct gt_call *call, cl_command_queue handle,
						cl_command_queue_properties properties,
						cl_bool enable, cl_command_queue_properties *old)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);
	cl_int ret = GT_CL_REAL(call, clSetCommandQueueProperty)(handle, properties, enable, old);

	if (ret != CL_SUCCESS || !q)
		return ret;
	if (q->forced && old)
		*old &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		q->out_of_order = enable;
	if (!(properties & CL_QUEUE_PROFILING_ENABLE))
		return ret;
	q->forced = !enable && gt_cl_thread(call) &&
		    GT_CL_REAL(call, clSetCommandQueueProperty)(handle, CL_QUEUE_PROFILING_ENABLE,
								CL_TRUE, NULL) == CL_SUCCESS;
	q->untimed = !enable && !q->forced;
	return ret;
}

/* Ends and waits: what is done is recorded before the call returns to the program
 * ------------------------ */

cl_int gt_opencl_wrap_clReleaseCommandQueue(const struct gt_call *call, cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);

	if (q)
		gt_cl_harvest_all(q);
	return GT_CL_REAL(call, clReleaseCommandQueue)(handle);
}

static void harvest_context(cl_context context)
{
	for (struct gt_cl_queue *q = gt_cl_queues(); q; q = q->next)
		if (q->context == context)
			gt_cl_harvest_all(q);
}

cl_int gt_opencl_wrap_clReleaseContext(const struct gt_call *call, cl_context context)
{
	harvest_context(context);
	return GT_CL_REAL(call, clReleaseContext)(context);
}

cl_int gt_opencl_wrap_clGetContextInfo(const struct gt_call *call, cl_context context,
				       cl_context_info name, size_t size, void *value,
				       size_t *size_ret)
{
	if (name == CL_CONTEXT_REFERENCE_COUNT)
		harvest_context(context);
	return GT_CL_REAL(call, clGetContextInfo)(context, name, size, value, size_ret);
}

cl_int gt_opencl_wrap_clFinish(const struct gt_call *call, cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);
	cl_int ret;

	if (!q)
		return GT_CL_REAL(call, clFinish)(handle);
	atomic_fetch_add_explicit(&q->waiting, 1, memory_order_relaxed);
	ret = GT_CL_REAL(call, clFinish)(handle);
	atomic_fetch_sub_explicit(&q->waiting, 1, memory_order_relaxed);
	gt_cl_harvest_all(q);
	return ret;
}

/* The queue of a command that was waited for; NULL: none of ours. */
static struct gt_cl_queue *queue_of(const struct gt_table *table, cl_event event)
{
	cl_command_queue handle = NULL;
	cl_int ret;

	gt_internal_enter();
	ret = GT_CL(table, clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle,
					   NULL);
	gt_internal_leave();
	return ret == CL_SUCCESS && handle ? gt_cl_map_find(&queues, handle) : NULL;
}

cl_int gt_opencl_wrap_clWaitForEvents(const struct gt_call *call, cl_uint count,
				      const cl_event *list)
{
	enum { ASKED_MOST = 64 }; /* of more events nobody is asked for the queue */
	cl_int ret = GT_CL_REAL(call, clWaitForEvents)(count, list);
	const struct gt_table *table = gt_cl_table(call);
	struct gt_cl_queue *seen[ASKED_MOST];
	cl_uint seen_count = 0;

	if (!table || !gt_cl_thread(call) || !list ||
	    (ret != CL_SUCCESS && ret != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST))
		return ret;
	if (count > ASKED_MOST) {
		for (struct gt_cl_queue *q = gt_cl_queues(); q; q = q->next)
			gt_cl_harvest_all(q);
		return ret;
	}
	for (cl_uint i = 0; i < count; i++) {
		struct gt_cl_queue *q = queue_of(table, list[i]);
		bool is_new = q != NULL;

		for (cl_uint s = 0; s < seen_count; s++)
			is_new &= seen[s] != q;
		if (!is_new)
			continue;
		seen[seen_count++] = q;
		gt_cl_harvest_waited(q, list, count);
	}
	return ret;
}
