/* SPDX-License-Identifier: MIT */
/* A tool that uses the whole API at once: callbacks and records of calls and GPU activities,
 * retirement, its own function in the raw table that gives each launch an external id, objects,
 * events. Prints its totals as name=number on stderr at exit. */
#define CL_TARGET_OPENCL_VERSION 300
#include <gputap/tool.h>

#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

static _Atomic unsigned long begun, returned, recorded, submitted, completed, work_recorded,
	retired, retired_recorded, launches, launch_calls, launch_work, launch_records, objects,
	losses, other_events, untimed;
static struct gputap_context *context;
static struct gputap_buffer *buffer;
static uint32_t launch_of[16]; /* operation of each domain that launches kernels */

static void on_call(const struct gputap_call *c, uint64_t *data, void *user)
{
	(void)user;
	if (c->phase == GPUTAP_CALL_PHASE_ENTER) {
		begun++;
		*data = c->correlation;
		launch_calls +=
			c->operation == launch_of[c->domain] && c->external[GPUTAP_STACK_USER] != 0;
	} else {
		returned += *data == c->correlation;
	}
}

static void on_activity(const struct gputap_activity *w, uint64_t *data, void *user)
{
	(void)user;
	if (w->type == GPUTAP_ACTIVITY_BARRIER)
		return;
	if (w->phase == GPUTAP_ACTIVITY_PHASE_ENTER) {
		submitted++;
		*data = 1;
	} else if (w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE) {
		completed += *data;
		untimed += w->status != 0 || w->start >= w->end;
		launch_work +=
			w->type == GPUTAP_ACTIVITY_KERNEL && w->external[GPUTAP_STACK_USER] != 0;
	}
}

static void on_object(const struct gputap_object *o, uint64_t *data, void *user)
{
	(void)data, (void)user;
	objects += o->phase == GPUTAP_OBJECT_PHASE_LOAD ? 1 : (unsigned long)-1;
}

static void on_retired(uint64_t correlation, uint64_t time, void *user)
{
	(void)correlation, (void)time, (void)user;
	retired++;
}

static void on_event(const struct gputap_event *e, void *user)
{
	(void)user;
	if (e->code == GPUTAP_EVENT_LOSS)
		losses++;
	else
		other_events++;
}

static void on_records(struct gputap_buffer *b, const struct gputap_record *records, size_t count,
		       uint64_t lost, void *user)
{
	(void)b, (void)user;
	losses += lost;
	for (size_t i = 0; i < count; i++) {
		const struct gputap_record_call *c = records[i].payload;
		const struct gputap_activity *w = records[i].payload;

		if (records[i].kind == GPUTAP_RECORD_CALL) {
			recorded++;
			launch_records += c->operation == launch_of[c->domain] &&
					  c->external[GPUTAP_STACK_USER] != 0;
		} else if (records[i].kind == GPUTAP_RECORD_ACTIVITY) {
			work_recorded += w->type != GPUTAP_ACTIVITY_BARRIER;
		} else if (records[i].kind == GPUTAP_RECORD_RETIRED) {
			retired_recorded++;
		}
	}
}

/* Raw tables ------------------------------------------------------------------- */

typedef cl_int(CL_API_CALL *enqueue_fn)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
					const size_t *, const size_t *, cl_uint, const cl_event *,
					cl_event *);
struct dim3 {
	unsigned x, y, z;
};
typedef int launch_fn(const void *, struct dim3, struct dim3, void **, size_t, void *);

static enqueue_fn real_enqueue;
static launch_fn *real_launch;

static cl_int CL_API_CALL my_enqueue(cl_command_queue q, cl_kernel k, cl_uint dim,
				     const size_t *offset, const size_t *global,
				     const size_t *local, cl_uint waits, const cl_event *list,
				     cl_event *event)
{
	uint64_t id = ++launches, top = 0;
	cl_int ret;

	gputap_external_push(GPUTAP_STACK_USER, id);
	ret = real_enqueue(q, k, dim, offset, global, local, waits, list, event);
	gputap_external_pop(GPUTAP_STACK_USER, &top);
	other_events += top != id;
	return ret;
}

static int my_launch(const void *function, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream)
{
	uint64_t id = ++launches, top = 0;
	int ret;

	gputap_external_push(GPUTAP_STACK_USER, id);
	ret = real_launch(function, grid, block, args, shared, stream);
	gputap_external_pop(GPUTAP_STACK_USER, &top);
	other_events += top != id;
	return ret;
}

static void on_table(const struct gputap_table *t, void *user)
{
	size_t entry = offsetof(cl_icd_dispatch, clEnqueueNDRangeKernel) / sizeof(void *);

	(void)user;
	if (t->domain == GPUTAP_DOMAIN_OPENCL && !real_enqueue) {
		real_enqueue = (enqueue_fn)t->entries[entry];
		t->entries[entry] = (void *)my_enqueue;
	}
	entry = 1 + launch_of[GPUTAP_DOMAIN_HIP]; /* the first entry is the size of the table */
	if (t->domain == GPUTAP_DOMAIN_HIP && !real_launch) {
		real_launch = (launch_fn *)t->entries[entry];
		t->entries[entry] = (void *)my_launch;
	}
}

/* ------------------------------------------------------------------------------- */

static int start(void *user)
{
	static const enum gputap_domain domains[] = {GPUTAP_DOMAIN_OPENCL, GPUTAP_DOMAIN_HIP,
						     GPUTAP_DOMAIN_HIP_COMPILER,
						     GPUTAP_DOMAIN_ROCTX};
	static const uint32_t working[] = {GPUTAP_DOMAIN_OPENCL, GPUTAP_DOMAIN_HSA_CORE};
	const uint32_t none = 0;
	const struct gputap_context_opts opts = {.size = sizeof opts};
	const struct gputap_buffer_opts buffered = {.size = sizeof buffered,
						    .bytes = 65536,
						    .fn = on_records};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	launch_of[GPUTAP_DOMAIN_OPENCL] =
		(uint32_t)gputap_operation_find(GPUTAP_DOMAIN_OPENCL, "clEnqueueNDRangeKernel");
	launch_of[GPUTAP_DOMAIN_HIP] =
		(uint32_t)gputap_operation_find(GPUTAP_DOMAIN_HIP, "hipLaunchKernel");
	rc |= gputap_buffer_create(&buffered, &buffer);
	for (int i = 0; i < 4; i++) {
		rc |= gputap_context_calls(context, domains[i], NULL, 0, 0, on_call, NULL);
		rc |= gputap_context_buffer(context, domains[i], NULL, 0,
					    domains[i] == GPUTAP_DOMAIN_OPENCL ? GPUTAP_ACTIVITY_ALL
									       : 0,
					    1, buffer);
	}
	rc |= gputap_context_buffer(context, GPUTAP_DOMAIN_HSA_CORE, &none, 1, GPUTAP_ACTIVITY_ALL,
				    1, buffer);
	for (int i = 0; i < 2; i++)
		rc |= gputap_context_activities(context, working[i], GPUTAP_ACTIVITY_ALL,
						on_activity, NULL);
	for (uint32_t d = GPUTAP_DOMAIN_OPENCL; d <= GPUTAP_DOMAIN_ROCTX; d++)
		rc |= gputap_context_objects(context, d, UINT64_MAX, 0, on_object, NULL);
	rc |= gputap_context_retirement(context, on_retired, NULL);
	rc |= gputap_table_subscribe(on_table, NULL);
	rc |= gputap_event_subscribe(on_event, NULL);
	return rc | gputap_context_start(context);
}

static void finish(void *user)
{
	(void)user;
	gputap_context_stop(context);
	gputap_buffer_flush(buffer);
	if (!begun)
		return; /* these processes are `gputap run` itself, or a shell */
	fprintf(stderr,
		"begun=%lu returned=%lu recorded=%lu submitted=%lu completed=%lu untimed=%lu "
		"work_recorded=%lu retired=%lu retired_recorded=%lu "
		"launches=%lu launch_calls=%lu launch_work=%lu launch_records=%lu objects_left=%lu "
		"losses=%lu other_events=%lu\n",
		begun, returned, recorded, submitted, completed, untimed, work_recorded, retired,
		retired_recorded, launches, launch_calls, launch_work, launch_records, objects,
		losses, other_events);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {sizeof tool, GPUTAP_TOOL_ABI, 0,    "everything",
						start,       finish,          NULL, 0};

	(void)version;
	return &tool;
}
