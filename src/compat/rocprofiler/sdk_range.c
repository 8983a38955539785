/* SPDX-License-Identifier: MIT */
/* Reports each ROCTx range as one event, from push to pop or from start to stop.
 *
 *   roctxRangePushA()  ─► ENTER, into the thread's list
 *   roctxRangePop()    ─► EXIT, record, released
 *   roctxRangeStartA() ─► ENTER, into the process's list, under its id
 *   roctxRangeStop()   ─► EXIT, record, released, in any thread
 *
 * A range has the correlation of the call that starts the range. This correlation does not retire
 * before the range ends (gputap_correlation_hold()). A mark is a range that consists of one call. A
 * thread's ranges are identified through their level, so pushes and pops while a context was
 * stopped do no harm. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

struct sdk_range {
	struct sdk_range *next;
	uint64_t context; /* the context's handle */
	uint32_t operation;
	bool asked;
	/* for a thread's range, its level; for a range of the process, the id that
	 * roctxRangeStartA() returned */
	int64_t id;
	rocprofiler_user_data_t user;
	rocprofiler_correlation_id_t correlation;
	uint64_t thread, start;
	char *message; /* a copy, because the program may free the message */
	rocprofiler_marker_api_retval_t ret;
	struct gputap_hold *hold;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sdk_range *of_process; /* newest first; protected by the mutex */
static _Thread_local struct sdk_range *of_thread __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_range(struct sdk_range *r)
{
	gputap_correlation_release(r->hold);
	free(r->message);
	free(r);
}

static void free_ranges_of_thread(void *unused)
{
	(void)unused;
	for (struct sdk_range *r = of_thread, *next; r; r = next) {
		next = r->next;
		free_range(r);
	}
	of_thread = NULL;
}

static void make_ranges_key(void)
{
	pthread_key_create(&key, free_ranges_of_thread);
}

/* Return the operation of the range that a call starts, or NONE. */
static int range_begun_by(uint32_t number)
{
	switch (number) {
	case ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxMarkA;
	case ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA;
	case ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA;
	case ROCPROFILER_MARKER_CORE_API_ID_roctxGetThreadId:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId;
	default: return ROCPROFILER_MARKER_CORE_RANGE_API_ID_NONE;
	}
}

static int range_ended_by(uint32_t number)
{
	return number == ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop
		       ? (int)ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA
	       : number == ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop
		       ? (int)ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA
		       : (int)ROCPROFILER_MARKER_CORE_RANGE_API_ID_NONE;
}

static bool asks_for_range(const struct sdk_context *c, int operation)
{
	return operation >= 0 &&
	       (sdk_asks(&c->called[ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API].ops,
			 (uint32_t)operation) ||
		sdk_asks(&c->recorded[ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API].ops,
			 (uint32_t)operation));
}

bool sdk_range_asks(const struct sdk_context *c, uint32_t number)
{
	return asks_for_range(c, range_begun_by(number)) ||
	       asks_for_range(c, range_ended_by(number));
}

bool sdk_range_begins(uint32_t number)
{
	return range_begun_by(number) >= 0;
}

static void notify_range(const struct sdk_context *c, struct sdk_range *r,
			 rocprofiler_callback_phase_t phase)
{
	const struct sdk_service *service =
		&c->called[ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API];
	rocprofiler_callback_tracing_marker_api_data_t data = {.size = sizeof data,
							       .retval = r->ret};
	const rocprofiler_callback_tracing_record_t record = {
		.context_id = {c->handle},
		.thread_id = r->thread,
		.correlation_id = r->correlation,
		.kind = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API,
		.operation = (rocprofiler_tracing_operation_t)r->operation,
		.phase = phase,
		.payload = &data,
	};

	if (!sdk_asks(&service->ops, r->operation))
		return;
	/* the only argument of all operations that have an argument */
	data.args.roctxMarkA.message = r->message;
	service->fn(record, &r->user, service->user);
}

static void end_range(struct sdk_context *c, struct sdk_range *r, uint64_t at)
{
	const struct sdk_recorded *to =
		&c->recorded[ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API];
	rocprofiler_buffer_tracing_marker_api_record_t record = {
		.size = sizeof record,
		.kind = ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,
		.operation = (rocprofiler_tracing_operation_t)r->operation,
		.start_timestamp = r->start,
		.end_timestamp = at > r->start ? at : r->start + 1,
		.thread_id = r->thread,
	};

	notify_range(c, r, ROCPROFILER_CALLBACK_PHASE_EXIT);
	record.correlation_id = r->correlation;
	if (sdk_asks(&to->ops, r->operation))
		sdk_buffer_write(to->buffer, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,
				 &record, sizeof record, false);
	free_range(r);
}

void sdk_range_enter(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner)
{
	int operation = range_begun_by(call->operation);
	struct sdk_range *r;
	bool asked;

	if (!asks_for_range(c, operation) || !(r = calloc(1, sizeof *r)))
		return;
	pthread_once(&once, make_ranges_key);
	pthread_setspecific(key, &of_thread);
	r->context = c->handle;
	r->operation = (uint32_t)operation;
	r->thread = call->thread;
	if (operation == ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId)
		r->message = NULL; /* the argument is an output address, not a message */
	else if (call->args && *(const char *const *)call->args)
		r->message = strdup(*(const char *const *)call->args);
	r->hold = gputap_correlation_hold();
	r->correlation.internal = call->correlation;
	r->correlation.ancestor = call->parent;
	r->correlation.external.value =
		sdk_external_id(c, call->thread,
				ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_RANGE_API,
				operation, call->correlation, &asked);
	notify_range(c, r, ROCPROFILER_CALLBACK_PHASE_ENTER);
	if (!asked)
		r->correlation.external.value = sdk_external_top(c, call->thread);
	r->start = gputap_now();
	inner->which = (uintptr_t)r;
}

static void begin_range(struct sdk_context *c, const struct gputap_call *call, struct sdk_range *r,
			uint64_t at)
{
	int32_t level = -1;

	if (call->ret)
		memcpy(&r->ret, call->ret,
		       call->ret_bytes < sizeof r->ret ? call->ret_bytes : sizeof r->ret);
	if (r->operation == ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA) {
		memcpy(&level, &r->ret, sizeof level);
		r->id = level;
		r->next = of_thread;
		of_thread = r;
	} else if (r->operation == ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA) {
		r->id = (int64_t)r->ret.roctx_range_id_t_retval;
		pthread_mutex_lock(&mutex);
		r->next = of_process;
		of_process = r;
		pthread_mutex_unlock(&mutex);
	} else {
		end_range(c, r, at);
	}
}

/* Remove the context's range with that id. In a thread's list, also remove deeper ranges, because
 * their pops were not seen. */
static struct sdk_range *take_range(struct sdk_range **list, uint64_t context, int64_t id,
				    bool levels)
{
	for (struct sdk_range **at = list; *at;) {
		struct sdk_range *r = *at;

		if (r->context != context || (levels ? r->id < id : r->id != id)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		if (r->id == id)
			return r;
		free_range(r);
	}
	return NULL;
}

void sdk_range_exit(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner,
		    uint64_t at)
{
	struct sdk_range *r = (struct sdk_range *)(uintptr_t)inner->which;
	int64_t id = 0;
	int32_t level = -1;

	if (r) {
		begin_range(c, call, r, at);
		return;
	}
	if (!asks_for_range(c, range_ended_by(call->operation)))
		return;
	if (call->operation == ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop) {
		if (call->ret && call->ret_bytes >= sizeof level)
			memcpy(&level, call->ret, sizeof level);
		r = level >= 0 ? take_range(&of_thread, c->handle, level, true) : NULL;
	} else {
		if (call->args)
			memcpy(&id, call->args, sizeof id);
		pthread_mutex_lock(&mutex);
		r = take_range(&of_process, c->handle, id, false);
		pthread_mutex_unlock(&mutex);
	}
	if (r)
		end_range(c, r, at);
}
