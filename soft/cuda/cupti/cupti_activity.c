/* SPDX-License-Identifier: MIT */
/* Enables kinds of activity, and writes their records: when a call ends, and when a GPU activity
 * completes.
 *
 * A call gets a correlation id if it is observed: through an enabled callback, a DRIVER or RUNTIME
 * record or, if it launches, a kind of GPU activity. A driver call inside an observed runtime call
 * has the id of the runtime call. While RUNTIME records are enabled, such a driver call has no
 * DRIVER record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generated/cuda_driver_ops.h"
#include "soft/cuda/cupti/cupti_parts.h"

enum { CONTEXTS = 64, EXTERNAL_KINDS = 6, DRIVER_IDS = 896 };

#define BIT(kind) (UINT64_C(1) << (kind))
static const uint64_t device_kinds =
	BIT(CUPTI_ACTIVITY_KIND_KERNEL) | BIT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) |
	BIT(CUPTI_ACTIVITY_KIND_MEMCPY) | BIT(CUPTI_ACTIVITY_KIND_MEMCPY2) |
	BIT(CUPTI_ACTIVITY_KIND_MEMSET) | BIT(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

/* All of the following are atomic. */
static uint64_t kinds; /* one bit for each kind */
static struct {
	CUcontext context;
	uint64_t kinds;
} of_context[CONTEXTS];
static uint8_t of_driver[SOFT_CUPTI_NUMBERS], of_runtime[SOFT_CUPTI_NUMBERS];
static uint32_t correlations;

/* The thread's stack for each external kind. Small, because this library is loaded late, and its
 * thread-local storage comes from a small reserve. */
struct external {
	struct external *below;
	uint64_t id;
};
static _Thread_local struct external *externals[EXTERNAL_KINDS];

static uint64_t find_kinds(CUcontext context)
{
	uint64_t found = __atomic_load_n(&kinds, __ATOMIC_RELAXED);

	for (size_t i = 0; context && i < CONTEXTS; i++)
		if (__atomic_load_n(&of_context[i].context, __ATOMIC_ACQUIRE) == context)
			found |= __atomic_load_n(&of_context[i].kinds, __ATOMIC_RELAXED);
	return found;
}

/* Records --------------------------------------------------------------------------- */

static void add_device(uint32_t number)
{
	CUpti_ActivityDevice6 r = {
		.kind = CUPTI_ACTIVITY_KIND_DEVICE,
		.flags = 1, /* kernels of several streams run concurrently */
		.globalMemorySize = soft_cupti_config.memory_bytes,
		.numThreadsPerWarp = 32,
		.coreClockRate = 1000000,
		.numMemcpyEngines = 2,
		.numMultiprocessors = 4,
		.maxThreadsPerBlock = 1024,
		.maxBlockDimX = 1024,
		.maxBlockDimY = 1024,
		.maxBlockDimZ = 64,
		.maxGridDimX = 2147483647,
		.maxGridDimY = 65535,
		.maxGridDimZ = 65535,
		.computeCapabilityMajor = 9,
		.id = number,
		.name = "gputap software CUDA device",
		.isCudaVisible = 1,
	};

	memcpy(r.uuid.bytes, "gputap soft cuda", sizeof r.uuid.bytes);
	r.uuid.bytes[15] = (unsigned char)('0' + number);
	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

static void add_context(uint32_t id, uint32_t device, uint32_t null_stream)
{
	enum { CUDA = 1 };
	const CUpti_ActivityContext4 r = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = id,
		.deviceId = device,
		.computeApiKind = CUDA,
		.nullStreamId = (uint16_t)null_stream,
		.numMultiprocessors = 4,
		.processId = (uint64_t)getpid(),
	};

	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

static void add_call(const struct soft_cu_call *c, uint64_t end)
{
	const CUpti_ActivityAPI r = {
		.kind = c->domain == SOFT_CU_RUNTIME_CALLS ? CUPTI_ACTIVITY_KIND_RUNTIME
							   : CUPTI_ACTIVITY_KIND_DRIVER,
		.cbid = c->number,
		.start = c->start,
		.end = end,
		.processId = (uint32_t)getpid(),
		.threadId = soft_cupti_thread_id(),
		.correlationId = c->correlation,
		.returnValue = *(const uint32_t *)c->result,
	};

	soft_cupti_add_record(&r, sizeof r);
}

static void add_externals(const struct soft_cu_call *c)
{
	for (uint32_t kind = 1; kind < EXTERNAL_KINDS; kind++) {
		CUpti_ActivityExternalCorrelation r = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = kind,
			.correlationId = c->correlation,
		};

		if (!externals[kind])
			continue;
		r.externalId = externals[kind]->id;
		soft_cupti_add_record(&r, sizeof r);
	}
}

/* Return the type of a call's wait, or 0 if the call does not wait. */
static uint32_t find_synchronization(const struct soft_cu_call *c)
{
	enum { EVENT = 1, WAIT = 2, STREAM = 3, CONTEXT = 4 };

	if (c->domain != SOFT_CU_DRIVER_CALLS)
		return 0;
	switch (c->number) {
	case GT_CUDA_DRIVER_cuEventSynchronize: return EVENT;
	case GT_CUDA_DRIVER_cuStreamWaitEvent:
	case GT_CUDA_DRIVER_cuStreamWaitEvent_ptsz: return WAIT;
	case GT_CUDA_DRIVER_cuStreamSynchronize:
	case GT_CUDA_DRIVER_cuStreamSynchronize_ptsz: return STREAM;
	case GT_CUDA_DRIVER_cuCtxSynchronize: return CONTEXT;
	default: return 0;
	}
}

static void add_synchronization(const struct soft_cu_call *c, uint64_t end)
{
	CUpti_ActivitySynchronization2 r = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = find_synchronization(c),
		.start = c->start,
		.end = end,
		.correlationId = c->correlation,
		.contextId = c->context_id,
		.streamId = UINT32_MAX, /* no stream */
		.cudaEventId = UINT32_MAX,
		.returnValue = *(const uint32_t *)c->result,
	};
	const bool per_thread = c->number == GT_CUDA_DRIVER_cuStreamSynchronize_ptsz ||
				c->number == GT_CUDA_DRIVER_cuStreamWaitEvent_ptsz;
	CUstream stream;

	if (c->parameters && r.type != 1) { /* the stream is the first parameter */
		memcpy(&stream, c->parameters, sizeof stream);
		soft_cupti_table->find_stream(c->context, stream, per_thread, &r.streamId);
	}
	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

/* Calls ----------------------------------------------------------------------------- */

/* Return the observed runtime call that made this call, or NULL. */
static const struct soft_cu_call *find_outer(const struct soft_cu_call *c)
{
	for (const struct soft_cu_call *o = c->outer; o; o = o->outer)
		if (o->domain == SOFT_CU_RUNTIME_CALLS && o->correlation)
			return o;
	return NULL;
}

static bool has_api_record(const struct soft_cu_call *c, const struct soft_cu_call *outer,
			   uint64_t on)
{
	if (c->number >= SOFT_CUPTI_NUMBERS)
		return false;
	if (c->domain == SOFT_CU_RUNTIME_CALLS)
		return on & BIT(CUPTI_ACTIVITY_KIND_RUNTIME) ||
		       __atomic_load_n(&of_runtime[c->number], __ATOMIC_RELAXED);
	if (outer && outer->is_seen)
		return false;
	return on & BIT(CUPTI_ACTIVITY_KIND_DRIVER) ||
	       __atomic_load_n(&of_driver[c->number], __ATOMIC_RELAXED);
}

/* is_seen: true if the call gets an API record. */
static void begin_call(struct soft_cu_call *c)
{
	const uint64_t on = find_kinds(c->context);
	const struct soft_cu_call *outer = find_outer(c);
	const bool is_driver = c->domain == SOFT_CU_DRIVER_CALLS;

	if (is_driver && c->number >= DRIVER_IDS)
		return;
	c->is_seen = has_api_record(c, outer, on);
	c->is_traced = is_driver && on & device_kinds && soft_cupti_launches(c->number);
	c->kinds = on;
	if (!c->is_seen && !c->is_traced && !soft_cupti_has_callback((int)c->domain, c->number) &&
	    !(on & BIT(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) && find_synchronization(c)))
		return;
	c->correlation =
		outer ? outer->correlation : __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	if (c->is_seen || c->is_traced)
		soft_cupti_request_buffer();
	soft_cupti_call_back(CUPTI_API_ENTER, c);
	c->start = soft_cupti_now();
}

static void end_call(struct soft_cu_call *c)
{
	uint64_t end;

	if (!*(const int *)c->result)
		soft_cupti_call_synchronize(c);
	if (!c->correlation)
		return;
	end = soft_cupti_now();
	if (c->is_seen) {
		add_call(c, end);
		if (c->kinds & BIT(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
			add_externals(c);
	}
	if (c->kinds & BIT(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) && find_synchronization(c))
		add_synchronization(c, end);
	soft_cupti_call_back(CUPTI_API_EXIT, c);
}

/* Work ------------------------------------------------------------------------------ */

static void add_kernel(const struct soft_cu_activity *w, uint64_t on)
{
	static int64_t grids;
	CUpti_ActivityKernel13 r = {
		.kind = on & BIT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
				? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
				: CUPTI_ACTIVITY_KIND_KERNEL,
		.registersPerThread = (uint16_t)w->registers,
		.start = w->start,
		.end = w->end,
		.deviceId = w->device,
		.contextId = w->context_id,
		.streamId = w->stream_id,
		.gridX = (int32_t)w->grid[0],
		.gridY = (int32_t)w->grid[1],
		.gridZ = (int32_t)w->grid[2],
		.blockX = (int32_t)w->block[0],
		.blockY = (int32_t)w->block[1],
		.blockZ = (int32_t)w->block[2],
		.staticSharedMemory = (int32_t)w->static_shared,
		.dynamicSharedMemory = (int32_t)w->dynamic_shared,
		.correlationId = w->correlation,
		.gridId = __atomic_add_fetch(&grids, 1, __ATOMIC_RELAXED),
		.name = soft_cupti_keep_name(w->name),
		.launchType = w->is_cooperative,
		.graphNodeId = w->graph_node_id,
		.graphId = w->graph_id,
		.channelType = 1, /* for computing */
		.priority = w->priority,
	};

	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

static void add_copy(const struct soft_cu_activity *w)
{
	const CUpti_ActivityMemcpy7 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = w->copy_kind,
		.srcKind = w->from_kind,
		.dstKind = w->to_kind,
		.flags = w->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = w->bytes,
		.start = w->start,
		.end = w->end,
		.deviceId = w->device,
		.contextId = w->context_id,
		.streamId = w->stream_id,
		.correlationId = w->correlation,
		.graphNodeId = w->graph_node_id,
		.graphId = w->graph_id,
		.channelType = 2, /* for copying */
		.copyCount = 1,
	};

	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

static void add_peer_copy(const struct soft_cu_activity *w)
{
	const CUpti_ActivityMemcpyPtoP4 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = w->copy_kind,
		.srcKind = w->from_kind,
		.dstKind = w->to_kind,
		.flags = w->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = w->bytes,
		.start = w->start,
		.end = w->end,
		.deviceId = w->device,
		.contextId = w->context_id,
		.streamId = w->stream_id,
		.srcDeviceId = w->from_device,
		.srcContextId = w->from_context_id,
		.dstDeviceId = w->to_device,
		.dstContextId = w->to_context_id,
		.correlationId = w->correlation,
		.graphNodeId = w->graph_node_id,
		.graphId = w->graph_id,
		.channelType = 2,
	};

	soft_cupti_add_record(&r, sizeof r);
}

static void add_set(const struct soft_cu_activity *w)
{
	const CUpti_ActivityMemset5 r = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = w->value,
		.bytes = w->bytes,
		.start = w->start,
		.end = w->end,
		.deviceId = w->device,
		.contextId = w->context_id,
		.streamId = w->stream_id,
		.correlationId = w->correlation,
		.flags = w->is_async,
		.memoryKind = w->to_kind,
		.graphNodeId = w->graph_node_id,
		.graphId = w->graph_id,
		.channelType = 1,
	};

	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

static void add_graph(const struct soft_cu_activity *w)
{
	const CUpti_ActivityGraphTrace2 r = {
		.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		.correlationId = w->correlation,
		.start = w->start,
		.end = w->end,
		.deviceId = w->device,
		.graphId = w->graph_id,
		.contextId = w->context_id,
		.streamId = w->stream_id,
		.endDeviceId = w->device,
		.endContextId = w->context_id,
	};

	soft_cupti_add_record(&r, soft_cupti_record_bytes(r.kind));
}

/* Write the records for a GPU activity. Without kind MEMCPY2, a copy between devices has a record
 * of kind MEMCPY. GRAPH_TRACE replaces the records of the graph's nodes. */
static void end_activity(const struct soft_cu_activity *activity)
{
	struct soft_cu_activity w = *activity;
	const uint64_t on = w.kinds;
	const bool is_span = on & BIT(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	enum { PTOP = 10 };

	if (soft_cupti_fails(SOFT_CUPTI_FAIL_START))
		w.start = 0;
	if (w.kind == SOFT_CU_ACTIVITY_GRAPH) {
		if (is_span)
			add_graph(&w);
		return;
	}
	if (w.graph_id && is_span)
		return;
	switch (w.kind) {
	case SOFT_CU_ACTIVITY_KERNEL:
		if (on &
		    (BIT(CUPTI_ACTIVITY_KIND_KERNEL) | BIT(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)))
			add_kernel(&w, on);
		break;
	case SOFT_CU_ACTIVITY_COPY:
		if (w.copy_kind == PTOP && on & BIT(CUPTI_ACTIVITY_KIND_MEMCPY2))
			add_peer_copy(&w);
		else if (on & BIT(CUPTI_ACTIVITY_KIND_MEMCPY))
			add_copy(&w);
		break;
	case SOFT_CU_ACTIVITY_SET:
		if (on & BIT(CUPTI_ACTIVITY_KIND_MEMSET))
			add_set(&w);
		break;
	default: break;
	}
}

static void notify_resource(const struct soft_cu_resource_notice *n)
{
	const uint64_t on = find_kinds(NULL);

	if (n->what == SOFT_CU_CONTEXT_CREATED && on & BIT(CUPTI_ACTIVITY_KIND_CONTEXT))
		add_context(n->context_id, (uint32_t)n->device, n->stream_id);
	if (n->what == SOFT_CU_STREAM_CREATED && on & BIT(CUPTI_ACTIVITY_KIND_STREAM)) {
		const CUpti_ActivityStream r = {
			.kind = CUPTI_ACTIVITY_KIND_STREAM,
			.contextId = n->context_id,
			.streamId = n->stream_id,
			.flag = 1,
		};

		soft_cupti_add_record(&r, sizeof r);
	}
	soft_cupti_call_resource(n);
}

static const struct soft_cu_tool the_tool = {
	.begin_call = begin_call,
	.end_call = end_call,
	.now = soft_cupti_now,
	.end_activity = end_activity,
	.notify_resource = notify_resource,
};

__attribute__((constructor)) static void set_tool(void)
{
	soft_cupti_tool = &the_tool;
}

/* Switches -------------------------------------------------------------------------- */

static int check_kind(const char *function, int kind)
{
	const int status = soft_cupti_attach(function);

	if (status)
		return status;
	return kind > 0 && kind < CUPTI_ACTIVITY_KIND_COUNT ? CUPTI_SUCCESS
							    : CUPTI_ERROR_INVALID_KIND;
}

static int refuse_kind(void)
{
	if (soft_cupti_fails(SOFT_CUPTI_FAIL_PRIVILEGES))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	return soft_cupti_fails(SOFT_CUPTI_FAIL_COMPATIBLE) ? CUPTI_ERROR_NOT_COMPATIBLE
							    : CUPTI_SUCCESS;
}

/* For a kind that describes existing objects, write the records at once. */
static void add_present(int kind)
{
	uint32_t id, device, null_stream;
	CUcontext context;

	if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
		for (uint32_t i = 0; i < soft_cupti_table->count_devices(); i++)
			add_device(i);
	else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		for (unsigned i = 0;
		     soft_cupti_table->get_context(i, &context, &id, &device, &null_stream); i++)
			add_context(id, device, null_stream);
}

int soft_cupti_enable(int kind)
{
	int status = check_kind("cuptiActivityEnable", kind);

	status = status ? status : refuse_kind();
	if (status)
		return status;
	if (!(__atomic_fetch_or(&kinds, BIT(kind), __ATOMIC_RELAXED) & BIT(kind)))
		add_present(kind);
	return CUPTI_SUCCESS;
}

int cuptiActivityEnable(int kind)
{
	return soft_cupti_take_form(SOFT_CUPTI_V1) ? soft_cupti_enable(kind)
						   : CUPTI_ERROR_NOT_COMPATIBLE;
}

/* Write records for existing objects, even if the kind was already enabled. */
int cuptiActivityEnableAndDump(int kind)
{
	const bool was_on = kind > 0 && kind < CUPTI_ACTIVITY_KIND_COUNT &&
			    __atomic_load_n(&kinds, __ATOMIC_RELAXED) & BIT(kind);
	const int status = cuptiActivityEnable(kind);

	if (!status && was_on)
		add_present(kind);
	return status;
}

int soft_cupti_disable(int kind)
{
	const int status = check_kind("cuptiActivityDisable", kind);

	if (status)
		return status;
	__atomic_fetch_and(&kinds, ~BIT(kind), __ATOMIC_RELAXED);
	for (size_t i = 0; i < SOFT_CUPTI_NUMBERS; i++) { /* also clears single ids */
		if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
			__atomic_store_n(&of_driver[i], 0, __ATOMIC_RELAXED);
		if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
			__atomic_store_n(&of_runtime[i], 0, __ATOMIC_RELAXED);
	}
	return CUPTI_SUCCESS;
}

int cuptiActivityDisable(int kind)
{
	return soft_cupti_take_form(SOFT_CUPTI_V1) ? soft_cupti_disable(kind)
						   : CUPTI_ERROR_NOT_COMPATIBLE;
}

static int switch_context(CUcontext context, int kind, bool enable)
{
	uint32_t id, device;
	size_t i = 0;

	if (!soft_cupti_table->find_context(context, &id, &device))
		return CUPTI_ERROR_INVALID_CONTEXT;
	for (; i < CONTEXTS; i++) {
		CUcontext none = NULL;

		if (__atomic_load_n(&of_context[i].context, __ATOMIC_ACQUIRE) == context ||
		    (enable &&
		     __atomic_compare_exchange_n(&of_context[i].context, &none, context, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))
			break;
	}
	if (i == CONTEXTS)
		return enable ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
	if (enable)
		__atomic_fetch_or(&of_context[i].kinds, BIT(kind), __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&of_context[i].kinds, ~BIT(kind), __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

int cuptiActivityEnableContext(CUcontext context, int kind)
{
	int status = check_kind("cuptiActivityEnableContext", kind);

	status = status ? status : refuse_kind();
	return status ? status : switch_context(context, kind, true);
}

int cuptiActivityDisableContext(CUcontext context, int kind)
{
	const int status = check_kind("cuptiActivityDisableContext", kind);

	return status ? status : switch_context(context, kind, false);
}

static int switch_number(const char *function, uint8_t *numbers, uint32_t id, uint8_t enable)
{
	int status = soft_cupti_attach(function);

	if (!status && id >= SOFT_CUPTI_NUMBERS)
		status = CUPTI_ERROR_INVALID_PARAMETER;
	if (!status)
		__atomic_store_n(&numbers[id], enable != 0, __ATOMIC_RELAXED);
	return status;
}

int cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable)
{
	return switch_number("cuptiActivityEnableDriverApi", of_driver, id, enable);
}

int cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable)
{
	return switch_number("cuptiActivityEnableRuntimeApi", of_runtime, id, enable);
}

/* This substitute does not record queueing times. */
int cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	(void)enable;
	return soft_cupti_attach("cuptiActivityEnableLatencyTimestamps");
}

int cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
	(void)enable;
	return soft_cupti_attach("cuptiActivityEnableLaunchAttributes");
}

/* Return the status that CUPTI gives for a device that does not support this trace. */
int cuptiActivityEnableHWTrace(uint8_t enable)
{
	(void)enable;
	return CUPTI_ERROR_NOT_COMPATIBLE;
}

static void drop_kinds(void)
{
	__atomic_store_n(&kinds, 0, __ATOMIC_RELAXED);
	for (size_t i = 0; i < CONTEXTS; i++)
		__atomic_store_n(&of_context[i].kinds, 0, __ATOMIC_RELAXED);
	for (size_t i = 0; i < SOFT_CUPTI_NUMBERS; i++) {
		__atomic_store_n(&of_driver[i], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&of_runtime[i], 0, __ATOMIC_RELAXED);
	}
}

/* The contents of buffers that were not handed back are lost, because NVIDIA's manual requires the
 * caller to flush first. */
int cuptiFinalize(void)
{
	const int status = soft_cupti_attach("cuptiFinalize");

	if (status)
		return status;
	if (__atomic_load_n(&kinds, __ATOMIC_RELAXED) & BIT(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
		dprintf(2, "soft/cuda/cupti: cuptiFinalize() while GRAPH_TRACE is on: with "
			   "NVIDIA's driver, graphs would fault\n");
		abort();
	}
	soft_cupti_table->detach(soft_cupti_tool);
	soft_cupti_drop_subscriber();
	drop_kinds();
	soft_cupti_drop_records();
	soft_cupti_drop_clock();
	soft_cupti_drop_form();
	return CUPTI_SUCCESS;
}

/* External ids ----------------------------------------------------------------------- */

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
	const int status = soft_cupti_attach("cuptiActivityPushExternalCorrelationId");
	struct external *e;

	if (status)
		return status;
	if (kind < 1 || kind >= EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	e = malloc(sizeof *e);
	if (!e)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	*e = (struct external){externals[kind], id};
	externals[kind] = e;
	return CUPTI_SUCCESS;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
	const int status = soft_cupti_attach("cuptiActivityPopExternalCorrelationId");
	struct external *e;

	if (status)
		return status;
	if (kind < 1 || kind >= EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	e = externals[kind];
	if (!e)
		return CUPTI_ERROR_QUEUE_EMPTY;
	if (id)
		*id = e->id;
	externals[kind] = e->below;
	free(e);
	return CUPTI_SUCCESS;
}
