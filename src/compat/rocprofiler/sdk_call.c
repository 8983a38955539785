/* SPDX-License-Identifier: MIT */
/* Reports API calls: calls a client's callbacks before and after each call, and writes records of
 * calls.
 *
 *   ENTER ─► slot of the thread {user data, external id} ─► client's callback
 *   EXIT  ─► client's callback ─► record into the buffer ─► release the slot
 *
 * gputap keeps eight bytes for each call and context, which refer to the slot. A thread's slots are
 * released last to first. Slots left over after a longjmp() are released together with the next
 * lower slot.
 *
 * Arguments in gputap's call have the layout of the union in the payload, so they are copied
 * unchanged. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

enum { CHUNK = 32, CHUNKS = 64 };

struct call_slot {
	struct sdk_inner inner;
	rocprofiler_user_data_t user;
	uint64_t external;
	uint32_t index;
	bool asked; /* true if the client provided the external id on request */
};

struct slots {
	uint32_t used;
	struct call_slot *chunks[CHUNKS];
};

static _Thread_local struct slots *mine __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_slots_of_thread(void *slots)
{
	struct slots *s = slots;

	mine = NULL;
	for (int i = 0; i < CHUNKS; i++)
		free(s->chunks[i]);
	free(s);
}

static void make_slots_key(void)
{
	pthread_key_create(&key, free_slots_of_thread);
}

static struct slots *make_slots(void)
{
	pthread_once(&once, make_slots_key);
	mine = calloc(1, sizeof *mine);
	if (mine)
		pthread_setspecific(key, mine);
	return mine;
}

/* Take a slot. Return NULL if out of memory or if calls are nested too deeply; the client is then
 * not notified of the call. */
static struct call_slot *take_slot(void)
{
	struct call_slot *s, **chunk;

	if (!mine && !make_slots())
		return NULL;
	if (mine->used == CHUNK * CHUNKS)
		return NULL;
	chunk = &mine->chunks[mine->used / CHUNK];
	if (!*chunk && !(*chunk = malloc(CHUNK * sizeof **chunk)))
		return NULL;
	s = &(*chunk)[mine->used % CHUNK];
	s->index = mine->used++;
	return s;
}

static void give_slot(const struct call_slot *s)
{
	mine->used = s->index;
}

/* Payloads of all kinds. */
union payload {
	uint64_t size;
	rocprofiler_callback_tracing_hip_api_data_t hip;
	rocprofiler_callback_tracing_hsa_api_data_t hsa;
	rocprofiler_callback_tracing_marker_api_data_t marker;
	rocprofiler_callback_tracing_rccl_api_data_t rccl;
};

static size_t copied(void *to, size_t room, const void *from, size_t bytes)
{
	if (from && bytes)
		memcpy(to, from, bytes < room ? bytes : room);
	return bytes;
}

#define FILL(member)                                                                            \
	do {                                                                                    \
		memset(&p->member, 0, sizeof p->member);                                        \
		p->size = sizeof p->member;                                                     \
		copied(&p->member.args, sizeof p->member.args, call->args, call->args_bytes);   \
		copied(&p->member.retval, sizeof p->member.retval, call->ret, call->ret_bytes); \
	} while (0)

static void fill_payload(union payload *p, const struct gputap_call *call)
{
	switch (call->domain) {
	case GPUTAP_DOMAIN_HIP:
	case GPUTAP_DOMAIN_HIP_COMPILER: FILL(hip); break;
	case GPUTAP_DOMAIN_HSA_CORE:
	case GPUTAP_DOMAIN_HSA_AMD_EXT:
	case GPUTAP_DOMAIN_HSA_IMAGE_EXT:
	case GPUTAP_DOMAIN_HSA_FINALIZE_EXT: FILL(hsa); break;
	case GPUTAP_DOMAIN_RCCL: FILL(rccl); break;
	default: FILL(marker);
	}
}

static void notify_call(const struct sdk_context *c, const struct sdk_service *service,
			rocprofiler_callback_tracing_kind_t kind, uint32_t operation,
			const struct gputap_call *call, struct call_slot *s)
{
	union payload p;
	const rocprofiler_callback_tracing_record_t record = {
		.context_id = {c->handle},
		.thread_id = call->thread,
		.correlation_id = {call->correlation, {s->external}, call->parent},
		.kind = kind,
		.operation = (rocprofiler_tracing_operation_t)operation,
		.phase = call->phase == GPUTAP_CALL_PHASE_ENTER ? ROCPROFILER_CALLBACK_PHASE_ENTER
								: ROCPROFILER_CALLBACK_PHASE_EXIT,
		.payload = &p,
	};

	fill_payload(&p, call);
	service->fn(record, &s->user, service->user);
}

static void write_call_record(struct sdk_buffer *b, rocprofiler_buffer_tracing_kind_t kind,
			      uint32_t operation, const struct gputap_call *call,
			      const struct call_slot *s, uint64_t end)
{
	/* all API records have this layout */
	rocprofiler_buffer_tracing_hip_api_record_t r = {
		.size = sizeof r,
		.kind = kind,
		.operation = (rocprofiler_tracing_operation_t)operation,
		.correlation_id = {call->correlation, {s->external}, call->parent},
		.start_timestamp = call->start,
		.end_timestamp = end > call->start ? end : call->start + 1,
		.thread_id = call->thread,
	};

	sdk_buffer_write(b, kind, &r, sizeof r, false);
}

static void record_extended(struct sdk_buffer *b, rocprofiler_buffer_tracing_kind_t kind,
			    uint32_t operation, const struct gputap_call *call,
			    const struct call_slot *s, uint64_t end)
{
	rocprofiler_buffer_tracing_hip_api_ext_record_t r = {
		.size = sizeof r,
		.kind = kind,
		.operation = (rocprofiler_tracing_operation_t)operation,
		.correlation_id = {call->correlation, {s->external}, call->parent},
		.start_timestamp = call->start,
		.end_timestamp = end > call->start ? end : call->start + 1,
		.thread_id = call->thread,
	};

	copied(&r.args, sizeof r.args, call->args, call->args_bytes);
	copied(&r.retval, sizeof r.retval, call->ret, call->ret_bytes);
	sdk_buffer_write(b, kind, &r, sizeof r, false);
}

/* Return the kind of records with arguments, or NONE. */
static rocprofiler_buffer_tracing_kind_t extended(rocprofiler_callback_tracing_kind_t kind)
{
	return kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API
		       ? ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT
	       : kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API
		       ? ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT
		       : ROCPROFILER_BUFFER_TRACING_NONE;
}

void sdk_on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	struct sdk_context *c = user;
	rocprofiler_callback_tracing_kind_t kind;
	rocprofiler_buffer_tracing_kind_t more;
	struct call_slot *s = (struct call_slot *)(uintptr_t)*data;
	uint64_t end = call->phase == GPUTAP_CALL_PHASE_EXIT ? gputap_now() : 0;
	uint32_t operation;
	bool is_notified, recorded, recorded_more, inner = c->inner >> call->domain & 1;

	if (!sdk_kind_of(call->domain, call->operation, &kind, &operation))
		return;
	more = extended(kind);
	/* API kinds have the same numbers for callbacks and for records */
	is_notified = sdk_asks(&c->called[kind].ops, operation);
	recorded = sdk_asks(&c->recorded[kind].ops, operation);
	recorded_more = more != ROCPROFILER_BUFFER_TRACING_NONE &&
			sdk_asks(&c->recorded[more].ops, operation);
	if (call->phase == GPUTAP_CALL_PHASE_ENTER) {
		if (!(s = take_slot()))
			return;
		*data = (uintptr_t)s;
		s->user.value = 0;
		if (is_notified || recorded || recorded_more)
			s->external =
				sdk_external_id(c, call->thread, sdk_request_of(kind),
						(int32_t)operation, call->correlation, &s->asked);
		if (is_notified)
			notify_call(c, &c->called[kind], kind, operation, call, s);
		if (inner)
			sdk_inner_enter(c, call, &s->inner);
		return;
	}
	if (!s)
		return;
	if (inner)
		sdk_inner_exit(c, call, &s->inner, end);
	if (!s->asked) /* the client may have pushed an id at ENTER */
		s->external = sdk_external_top(c, call->thread);
	if (is_notified)
		notify_call(c, &c->called[kind], kind, operation, call, s);
	if (recorded)
		write_call_record(c->recorded[kind].buffer, (rocprofiler_buffer_tracing_kind_t)kind,
				  operation, call, s, end);
	if (recorded_more)
		record_extended(c->recorded[more].buffer, more, operation, call, s, end);
	give_slot(s);
}

void sdk_on_retired(uint64_t correlation, uint64_t time, void *user)
{
	const struct sdk_context *c = user;
	const rocprofiler_buffer_tracing_correlation_id_retirement_record_t r = {
		.size = sizeof r,
		.kind = ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT,
		.timestamp = time,
		.internal_correlation_id = correlation,
	};

	sdk_buffer_write(c->recorded[ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT].buffer,
			 ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, &r, sizeof r, true);
}
