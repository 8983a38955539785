/* SPDX-License-Identifier: MIT */
/* Reports scratch memory. ROCr 6 and later call the functions of a table for tools before and after
 * the runtime gives a queue memory for spilled registers, takes the memory back, or reclaims it.
 * This file puts its functions into that table. They call the table's previous functions.
 *
 *   start ─► ENTER to each active context that requests it {user data, time; per thread}
 *   end   ─► EXIT, record
 *
 * These functions run inside the runtime, with the runtime's locks held, so they must not call the
 * runtime. */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/hsa/hsa_tools_table.h"
#include "sdk.h"

/* previous functions of the first copy of the runtime; the tables of other copies are not
 * changed */
static gt_hsa_scratch_fn *next[GT_HSA_TOOLS_ENTRIES];

/* Per-thread state. Allocated, because it is too large for the TLS room that the dynamic linker
 * reserves for libraries opened late. */
struct open {
	uint64_t start;
	uint64_t context[SDK_CONTEXTS]; /* contexts that were notified of ENTER */
	uint64_t external[SDK_CONTEXTS];
	rocprofiler_user_data_t user[SDK_CONTEXTS];
};
static _Thread_local struct open *opened __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_events_of_thread(void *own)
{
	opened = NULL;
	free(own);
}

static void make_events_key(void)
{
	pthread_key_create(&key, free_events_of_thread);
}

/* Allocate the thread's state. Return false if out of memory; clients are then not notified of this
 * event. */
static bool make_open_events(void)
{
	if (opened)
		return true;
	pthread_once(&once, make_events_key);
	opened = calloc(GT_HSA_SCRATCH_OPERATIONS, sizeof *opened);
	pthread_setspecific(key, opened);
	return opened != NULL;
}

static bool asks_for_scratch(const struct sdk_context *c, uint32_t operation)
{
	return c->handle &&
	       (sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY].ops, operation) ||
		sdk_asks(&c->recorded[ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY].ops, operation));
}

static void notify_scratch(const struct sdk_context *c, int i, const struct gt_hsa_scratch_event *e,
			   uint32_t operation, bool begins, uint64_t thread)
{
	const struct sdk_service *service = &c->called[ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY];
	struct open *o = &opened[operation - 1];
	rocprofiler_callback_tracing_scratch_memory_data_t data = {
		.size = sizeof data,
		.flags = (rocprofiler_scratch_alloc_flag_t)e->flags,
		.args_kind = (hsa_amd_tool_event_kind_t)e->kind,
	};
	const rocprofiler_callback_tracing_record_t record = {
		.context_id = {c->handle},
		.thread_id = thread,
		.correlation_id = {gputap_correlation(), {o->external[i]}, 0},
		.kind = ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY,
		.operation = (rocprofiler_tracing_operation_t)operation,
		.phase =
			begins ? ROCPROFILER_CALLBACK_PHASE_ENTER : ROCPROFILER_CALLBACK_PHASE_EXIT,
		.payload = &data,
	};

	if (!sdk_asks(&service->ops, operation))
		return;
	sdk_queue_of((uintptr_t)e->queue, e->queue->id, &data.queue_id, &data.agent_id);
	if (operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC) {
		/* the only member of alloc_start, at the same offset */
		data.args.alloc_end.dispatch_id = e->dispatch;
		if (!begins) {
			data.args.alloc_end.size = e->bytes;
			data.args.alloc_end.num_slots = e->slots;
		}
	}
	service->fn(record, &o->user[i], service->user);
}

static void write_scratch_record(const struct sdk_context *c, int i,
				 const struct gt_hsa_scratch_event *e, uint32_t operation,
				 uint64_t thread, uint64_t end)
{
	const struct sdk_recorded *to = &c->recorded[ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY];
	const struct open *o = &opened[operation - 1];
	rocprofiler_buffer_tracing_scratch_memory_record_t r = {
		.size = sizeof r,
		.kind = ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY,
		.operation = (rocprofiler_scratch_memory_operation_t)operation,
		.correlation_id = {gputap_correlation(), {o->external[i]}, 0},
		.thread_id = thread,
		.start_timestamp = o->start,
		.end_timestamp = end > o->start ? end : o->start + 1,
		.flags = (rocprofiler_scratch_alloc_flag_t)e->flags,
		.allocation_size = operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC ? e->bytes : 0,
	};

	if (!sdk_asks(&to->ops, operation))
		return;
	sdk_queue_of((uintptr_t)e->queue, e->queue->id, &r.queue_id, &r.agent_id);
	sdk_buffer_write(to->buffer, ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY, &r, sizeof r,
			 false);
}

static int on_event(uint32_t at, const struct gt_hsa_scratch_event *e)
{
	const uint32_t operation = at / 2 + 1;
	const bool begins = at % 2 == 0;
	struct open *o = make_open_events() ? &opened[operation - 1] : NULL;
	uint64_t end = begins ? 0 : gputap_now();
	rocprofiler_thread_id_t thread;
	bool asked;

	rocprofiler_get_thread_id(&thread);
	for (int i = 0; o && i < SDK_CONTEXTS; i++) {
		struct sdk_context *c = &sdk_contexts[i];

		if (begins)
			o->context[i] = asks_for_scratch(c, operation) && atomic_load(&c->active)
						? c->handle
						: 0;
		if (!o->context[i] || o->context[i] != c->handle)
			continue;
		if (begins) {
			o->user[i].value = 0;
			o->external[i] = sdk_external_id(
				c, thread, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_SCRATCH_MEMORY,
				(int32_t)operation, gputap_correlation(), &asked);
		}
		notify_scratch(c, i, e, operation, begins, thread);
		if (!begins) {
			write_scratch_record(c, i, e, operation, thread, end);
			o->context[i] = 0;
		}
	}
	if (begins && o)
		o->start = gputap_now();
	return gt_hsa_tools_table_next(next, at, e);
}

GT_HSA_TOOLS_FUNCTIONS(ours, on_event);

void sdk_scratch_table(void *tools)
{
	bool wanted = false;

	for (int i = 0; i < SDK_CONTEXTS; i++)
		for (uint32_t operation = 1; operation <= GT_HSA_SCRATCH_OPERATIONS; operation++)
			wanted |= asks_for_scratch(&sdk_contexts[i], operation);
	if (wanted)
		gt_hsa_tools_table_put(tools, ours, next);
}
