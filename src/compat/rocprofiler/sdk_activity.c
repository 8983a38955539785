/* SPDX-License-Identifier: MIT */
/* Reports dispatches and copies to clients.
 *
 *   gputap: ENTER, EXIT (submitting thread), COMPLETE (a gputap thread)
 *   KERNEL_DISPATCH: ENQUEUE enter, ENQUEUE exit, COMPLETE without a phase
 *   MEMORY_COPY:     enter, ... , exit on completion
 *
 * A copy or fill that a kernel performs is reported as a dispatch, because the device executes it
 * as one. */
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

/* Data kept from ENTER to COMPLETE for each GPU activity and context. */
struct sdk_activity {
	rocprofiler_user_data_t user;
	uint64_t external;
};

static bool is_dispatch(const struct gputap_activity *w)
{
	return w->type == GPUTAP_ACTIVITY_KERNEL || w->type == GPUTAP_ACTIVITY_FILL || w->kernel;
}

static rocprofiler_memory_copy_operation_t direction(const struct gputap_activity *w)
{
	switch (w->type) {
	case GPUTAP_ACTIVITY_WRITE: return ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE;
	case GPUTAP_ACTIVITY_READ: return ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST;
	case GPUTAP_ACTIVITY_COPY: return ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE;
	default: return ROCPROFILER_MEMORY_COPY_NONE;
	}
}

static rocprofiler_kernel_dispatch_info_t info_of(const struct gputap_activity *w)
{
	return (rocprofiler_kernel_dispatch_info_t){
		.size = offsetof(rocprofiler_kernel_dispatch_info_t, reserved_padding),
		.agent_id = sdk_agent_of(w->device_handle),
		.queue_id = {w->queue},
		.kernel_id = w->kernel,
		.dispatch_id = w->number,
		.private_segment_size = w->private_bytes,
		.group_segment_size = w->group_bytes,
		.workgroup_size = {w->group[0], w->group[1], w->group[2]},
		.grid_size = {w->grid[0], w->grid[1], w->grid[2]},
	};
}

/* Return an end time after the start time, even if the device's clock has not advanced in
 * between. */
static uint64_t end_of(const struct gputap_activity *w)
{
	return w->start && w->end <= w->start ? w->start + 1 : w->end;
}

static rocprofiler_callback_tracing_record_t record_head(const struct sdk_context *c,
							 const struct gputap_activity *w,
							 const struct sdk_activity *p,
							 rocprofiler_callback_tracing_kind_t kind,
							 int operation)
{
	static const uint8_t phases[] = {
		[GPUTAP_ACTIVITY_PHASE_ENTER] = ROCPROFILER_CALLBACK_PHASE_ENTER,
		[GPUTAP_ACTIVITY_PHASE_EXIT] = ROCPROFILER_CALLBACK_PHASE_EXIT,
		[GPUTAP_ACTIVITY_PHASE_COMPLETE] = ROCPROFILER_CALLBACK_PHASE_NONE};

	return (rocprofiler_callback_tracing_record_t){
		.context_id = {c->handle},
		.thread_id = w->thread,
		.correlation_id = {w->correlation, {p->external}, 0},
		.kind = kind,
		.operation = operation,
		.phase = (rocprofiler_callback_phase_t)phases[w->phase],
	};
}

static void notify_dispatch(const struct sdk_context *c, const struct gputap_activity *w,
			    struct sdk_activity *p)
{
	const struct sdk_service *service =
		&c->called[ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH];
	int operation = w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE
				? ROCPROFILER_KERNEL_DISPATCH_COMPLETE
				: ROCPROFILER_KERNEL_DISPATCH_ENQUEUE;
	rocprofiler_callback_tracing_record_t r =
		record_head(c, w, p, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, operation);
	rocprofiler_callback_tracing_kernel_dispatch_data_t data = {
		.size = sizeof data,
		.start_timestamp = w->start,
		.end_timestamp = end_of(w),
		.dispatch_info = info_of(w),
	};

	if (!sdk_asks(&service->ops, (uint32_t)operation))
		return;
	r.payload = &data;
	service->fn(r, &p->user, service->user);
}

static void record_dispatch(const struct sdk_context *c, const struct gputap_activity *w,
			    const struct sdk_activity *p)
{
	const struct sdk_recorded *to = &c->recorded[ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH];
	const rocprofiler_buffer_tracing_kernel_dispatch_record_t r = {
		.size = sizeof r,
		.kind = ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
		.operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
		.correlation_id = {w->correlation, {p->external}},
		.thread_id = w->thread,
		.start_timestamp = w->start,
		.end_timestamp = end_of(w),
		.dispatch_info = info_of(w),
	};

	if (sdk_asks(&to->ops, ROCPROFILER_KERNEL_DISPATCH_COMPLETE))
		sdk_buffer_write(to->buffer, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, &r,
				 sizeof r, false);
}

/* Report a copy's EXIT at gputap's COMPLETE. */
static void notify_copy(const struct sdk_context *c, const struct gputap_activity *w,
			struct sdk_activity *p)
{
	const struct sdk_service *service = &c->called[ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY];
	rocprofiler_callback_tracing_record_t r =
		record_head(c, w, p, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, direction(w));
	rocprofiler_callback_tracing_memory_copy_data_t data = {
		.size = sizeof data,
		.start_timestamp = w->start,
		.end_timestamp = end_of(w),
		.dst_agent_id = sdk_agent_of(w->device_handle),
		.src_agent_id = sdk_agent_of(w->source_device_handle),
		.bytes = w->bytes,
		.dst_address = {w->destination},
		.src_address = {w->source},
	};

	if (w->phase == GPUTAP_ACTIVITY_PHASE_EXIT ||
	    !sdk_asks(&service->ops, (uint32_t)direction(w)))
		return;
	if (w->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE)
		r.phase = ROCPROFILER_CALLBACK_PHASE_EXIT;
	r.payload = &data;
	service->fn(r, &p->user, service->user);
}

static void record_copy(const struct sdk_context *c, const struct gputap_activity *w,
			const struct sdk_activity *p)
{
	const struct sdk_recorded *to = &c->recorded[ROCPROFILER_BUFFER_TRACING_MEMORY_COPY];
	const rocprofiler_buffer_tracing_memory_copy_record_t r = {
		.size = sizeof r,
		.kind = ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
		.operation = direction(w),
		.correlation_id = {w->correlation, {p->external}},
		.thread_id = w->thread,
		.start_timestamp = w->start,
		.end_timestamp = end_of(w),
		.dst_agent_id = sdk_agent_of(w->device_handle),
		.src_agent_id = sdk_agent_of(w->source_device_handle),
		.bytes = w->bytes,
		.dst_address = {w->destination},
		.src_address = {w->source},
	};

	if (sdk_asks(&to->ops, (uint32_t)r.operation))
		sdk_buffer_write(to->buffer, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, &r, sizeof r,
				 false);
}

void sdk_on_activity(const struct gputap_activity *w, uint64_t *data, void *user)
{
	bool dispatch = is_dispatch(w), asked;
	struct sdk_activity *p = (struct sdk_activity *)(uintptr_t)*data;
	struct sdk_context *c = user;

	if (!dispatch && direction(w) == ROCPROFILER_MEMORY_COPY_NONE)
		return;
	if (w->phase == GPUTAP_ACTIVITY_PHASE_ENTER) {
		if (!(p = calloc(1, sizeof *p)))
			return;
		p->external = sdk_external_id(
			c, w->thread,
			dispatch ? ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH
				 : ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY,
			dispatch ? (int)ROCPROFILER_KERNEL_DISPATCH_ENQUEUE : (int)direction(w),
			w->correlation, &asked);
		*data = (uintptr_t)p;
		atomic_fetch_add_explicit(&c->in_flight, 1, memory_order_relaxed);
	}
	if (!p)
		return;
	if (dispatch)
		notify_dispatch(c, w, p);
	else
		notify_copy(c, w, p);
	if (w->phase != GPUTAP_ACTIVITY_PHASE_COMPLETE)
		return;
	if (dispatch)
		record_dispatch(c, w, p);
	else
		record_copy(c, w, p);
	*data = 0;
	free(p);
	atomic_fetch_sub_explicit(&c->in_flight, 1, memory_order_release);
}
