/* SPDX-License-Identifier: MIT */
/* Reports events derived from API calls: allocations (from HSA calls), HIP streams, and ROCTx
 * ranges (sdk_range.c).
 *
 *   ENTER ─► API's callback ─► inner ENTER ─► the call ─► inner EXIT ─► API's callback ─► record
 *
 * Such calls need no separate correlation unless they are also reported as calls
 * (gputap_context_uncorrelated()). An allocation has the correlation of the enclosing call, or its
 * own correlation if no call encloses it. Streams have no correlation. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "sdk.h"

#include "tool/tool_args.h"

static void notify_inner(const struct sdk_context *c, const struct gputap_call *call,
			 rocprofiler_callback_tracing_kind_t kind, uint32_t operation,
			 rocprofiler_callback_phase_t phase, bool correlated,
			 struct sdk_inner *inner, void *payload)
{
	const struct sdk_service *service = &c->called[kind];
	rocprofiler_callback_tracing_record_t record = {
		.context_id = {c->handle},
		.thread_id = call->thread,
		.kind = kind,
		.operation = (rocprofiler_tracing_operation_t)operation,
		.phase = phase,
		.payload = payload,
	};

	if (!sdk_asks(&service->ops, operation))
		return;
	if (correlated)
		record.correlation_id = (rocprofiler_correlation_id_t){call->correlation,
								       {inner->external},
								       call->parent};
	service->fn(record, &inner->user, service->user);
}

/* Allocations ---------------------------------------------------------------------- */

/* Calls that allocate or free memory. */
static const struct memory {
	uint32_t domain, number;
	rocprofiler_memory_allocation_operation_t operation;
	/* index of the argument word that contains the output address or, for a free, the freed
	 * address */
	uint8_t out;
} memories[] = {
	{GPUTAP_DOMAIN_HSA_CORE, ROCPROFILER_HSA_CORE_API_ID_hsa_memory_allocate,
	 ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE, 2},
	{GPUTAP_DOMAIN_HSA_CORE, ROCPROFILER_HSA_CORE_API_ID_hsa_memory_free,
	 ROCPROFILER_MEMORY_ALLOCATION_FREE, 0},
	{GPUTAP_DOMAIN_HSA_AMD_EXT, ROCPROFILER_HSA_AMD_EXT_API_ID_hsa_amd_memory_pool_allocate,
	 ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE, 3},
	{GPUTAP_DOMAIN_HSA_AMD_EXT, ROCPROFILER_HSA_AMD_EXT_API_ID_hsa_amd_memory_pool_free,
	 ROCPROFILER_MEMORY_ALLOCATION_FREE, 0},
	{GPUTAP_DOMAIN_HSA_AMD_EXT, ROCPROFILER_HSA_AMD_EXT_API_ID_hsa_amd_vmem_handle_create,
	 ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE, 4},
	{GPUTAP_DOMAIN_HSA_AMD_EXT, ROCPROFILER_HSA_AMD_EXT_API_ID_hsa_amd_vmem_handle_release,
	 ROCPROFILER_MEMORY_ALLOCATION_VMEM_FREE, 0},
};
enum {
	MEMORIES = sizeof memories / sizeof *memories,
	POOL = 0,
	BYTES = 1 /* POOL and BYTES: indexes of words of an allocating call */
};

/* Return one argument. Each argument of these calls has a separate word: region or pool, size,
 * [flags, ...,] output address. */
static uint64_t argument_word(const struct gputap_call *call, unsigned i)
{
	uint64_t value = 0;

	if ((i + 1) * sizeof value <= call->args_bytes)
		memcpy(&value, (const char *)call->args + i * sizeof value, sizeof value);
	return value;
}

static const struct memory *memory_of(const struct gputap_call *call)
{
	for (int i = 0; i < MEMORIES; i++)
		if (memories[i].domain == call->domain && memories[i].number == call->operation)
			return &memories[i];
	return NULL;
}

static bool allocates(const struct memory *m)
{
	return m->operation == ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE ||
	       m->operation == ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE;
}

static void memory_enter(struct sdk_context *c, const struct gputap_call *call,
			 const struct memory *m, struct sdk_inner *inner)
{
	rocprofiler_callback_tracing_memory_allocation_data_t data = {.size = sizeof data};

	inner->external =
		sdk_external_id(c, call->thread,
				ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_ALLOCATION,
				m->operation, call->correlation, &inner->asked);
	if (allocates(m)) {
		inner->which = sdk_agent_of_pool(argument_word(call, POOL)).handle;
		data.agent_id.handle = inner->which;
		data.allocation_size = argument_word(call, BYTES);
	} else {
		data.address.value = argument_word(call, m->out);
	}
	notify_inner(c, call, ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, m->operation,
		     ROCPROFILER_CALLBACK_PHASE_ENTER, true, inner, &data);
}

static uint64_t address_of(const struct gputap_call *call, const struct memory *m)
{
	const uint64_t value = argument_word(call, m->out);
	int32_t status;

	if (!allocates(m))
		return value;
	return gputap_call_has_failed(call, &status) == 0 && value
		       ? *(const uint64_t *)(uintptr_t)value
		       : 0;
}

static void memory_exit(struct sdk_context *c, const struct gputap_call *call,
			const struct memory *m, struct sdk_inner *inner, uint64_t end)
{
	const struct sdk_recorded *to = &c->recorded[ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION];
	rocprofiler_callback_tracing_memory_allocation_data_t data = {
		.size = sizeof data,
		.start_timestamp = call->start,
		.end_timestamp = end > call->start ? end : call->start + 1,
		.agent_id = {inner->which},
		.address = {address_of(call, m)},
		.allocation_size = allocates(m) ? argument_word(call, BYTES) : 0,
	};
	const rocprofiler_buffer_tracing_memory_allocation_record_t r = {
		.size = sizeof r,
		.kind = ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
		.operation = m->operation,
		.correlation_id = {call->correlation, {inner->external}, call->parent},
		.thread_id = call->thread,
		.start_timestamp = data.start_timestamp,
		.end_timestamp = data.end_timestamp,
		.agent_id = data.agent_id,
		.address = data.address,
		.allocation_size = data.allocation_size,
	};

	notify_inner(c, call, ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, m->operation,
		     ROCPROFILER_CALLBACK_PHASE_EXIT, true, inner, &data);
	if (sdk_asks(&to->ops, (uint32_t)m->operation))
		sdk_buffer_write(to->buffer, ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION, &r,
				 sizeof r, false);
}

static bool asks_memory(const struct sdk_context *c, const struct memory *m)
{
	return sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION].ops,
			(uint32_t)m->operation) ||
	       sdk_asks(&c->recorded[ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION].ops,
			(uint32_t)m->operation);
}

/* Streams ---------------------------------------------------------------------------- */

enum { HIP_OPERATIONS = ROCPROFILER_HIP_RUNTIME_API_ID_LAST };

/* For each HIP operation, the effect on a stream, and the index of the stream argument. */
static struct {
	uint8_t operation; /* rocprofiler_hip_stream_operation_t */
	uint8_t argument;
} streams[HIP_OPERATIONS];
static pthread_once_t streams_once = PTHREAD_ONCE_INIT;

static void find_streams(void)
{
	const char *type;

	for (uint32_t op = 0; op < HIP_OPERATIONS; op++)
		for (unsigned i = 0;
		     (type = gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, op, i)) != NULL; i++) {
			if (!strcmp(type, "P12ihipStream_t"))
				streams[op].operation =
					op == ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamDestroy
						? ROCPROFILER_HIP_STREAM_DESTROY
						: ROCPROFILER_HIP_STREAM_SET;
			else if (!strcmp(type, "PP12ihipStream_t"))
				streams[op].operation = ROCPROFILER_HIP_STREAM_CREATE;
			else
				continue;
			streams[op].argument = (uint8_t)i;
			break;
		}
}

uint32_t sdk_stream_operation(uint32_t number)
{
	pthread_once(&streams_once, find_streams);
	return number < HIP_OPERATIONS ? streams[number].operation : ROCPROFILER_HIP_STREAM_NONE;
}

uint64_t sdk_stream_argument(const struct gputap_call *call)
{
	uint32_t bytes;
	const void *at =
		gt_tool_argument_value(call->domain, call->operation,
				       streams[call->operation].argument, call->args, &bytes);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof value);
	return value;
}

uint64_t sdk_stream_created(const struct gputap_call *call)
{
	uint64_t at = sdk_stream_argument(call);
	int32_t status;

	return gputap_call_has_failed(call, &status) == 0 && at ? *(const uint64_t *)(uintptr_t)at
								: 0;
}

static void notify_stream(struct sdk_context *c, const struct gputap_call *call, uint32_t operation,
			  rocprofiler_callback_phase_t phase, struct sdk_inner *inner,
			  uint64_t stream)
{
	rocprofiler_callback_tracing_hip_stream_data_t data = {sizeof data,
							       {inner->which},
							       {stream}};

	notify_inner(c, call, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, operation, phase, false,
		     inner, &data);
}

static void stream_enter(struct sdk_context *c, const struct gputap_call *call, uint32_t operation,
			 struct sdk_inner *inner)
{
	if (operation == ROCPROFILER_HIP_STREAM_CREATE)
		return;
	inner->which = sdk_stream_id(sdk_stream_argument(call));
	if (operation == ROCPROFILER_HIP_STREAM_SET)
		notify_stream(c, call, operation, ROCPROFILER_CALLBACK_PHASE_ENTER, inner,
			      sdk_stream_argument(call));
}

/* Report a stream after the call. Creation and destruction have no phase. */
static void stream_exit(struct sdk_context *c, const struct gputap_call *call, uint32_t operation,
			struct sdk_inner *inner)
{
	uint64_t stream = sdk_stream_argument(call);
	int32_t status;

	if (operation == ROCPROFILER_HIP_STREAM_SET) {
		notify_stream(c, call, operation, ROCPROFILER_CALLBACK_PHASE_EXIT, inner, stream);
		return;
	}
	if (operation == ROCPROFILER_HIP_STREAM_CREATE) {
		stream = sdk_stream_created(call);
		inner->which = sdk_stream_id(stream);
		if (!stream)
			return;
	} else if (gputap_call_has_failed(call, &status) == 1) {
		return;
	}
	notify_stream(c, call, operation, ROCPROFILER_CALLBACK_PHASE_NONE, inner, stream);
}

/* All kinds ----------------------------------------------------------------------------- */

void sdk_inner_enter(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner)
{
	const struct memory *m;
	uint32_t operation;

	*inner = (struct sdk_inner){0};
	if (call->domain == GPUTAP_DOMAIN_ROCTX) {
		sdk_range_enter(c, call, inner);
	} else if (call->domain == GPUTAP_DOMAIN_HIP) {
		operation = sdk_stream_operation(call->operation);
		if (sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_HIP_STREAM].ops, operation) &&
		    operation)
			stream_enter(c, call, operation, inner);
	} else if ((m = memory_of(call)) != NULL && asks_memory(c, m)) {
		memory_enter(c, call, m, inner);
	}
}

void sdk_inner_exit(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner,
		    uint64_t end)
{
	const struct memory *m;
	uint32_t operation;

	if (call->domain == GPUTAP_DOMAIN_ROCTX) {
		sdk_range_exit(c, call, inner, end);
	} else if (call->domain == GPUTAP_DOMAIN_HIP) {
		operation = sdk_stream_operation(call->operation);
		if (sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_HIP_STREAM].ops, operation) &&
		    operation)
			stream_exit(c, call, operation, inner);
	} else if ((m = memory_of(call)) != NULL && asks_memory(c, m)) {
		if (!inner->asked)
			inner->external = sdk_external_top(c, call->thread);
		memory_exit(c, call, m, inner, end);
	}
}

bool sdk_inner_asks(const struct sdk_context *c, uint32_t domain, uint32_t number)
{
	const struct gputap_call call = {.domain = domain, .operation = number};
	const struct memory *m = memory_of(&call);
	uint32_t operation;

	switch (domain) {
	case GPUTAP_DOMAIN_HIP:
		operation = sdk_stream_operation(number);
		return operation &&
		       sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_HIP_STREAM].ops, operation);
	case GPUTAP_DOMAIN_ROCTX: return sdk_range_asks(c, number);
	default: return m && asks_memory(c, m);
	}
}
