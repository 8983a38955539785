/* SPDX-License-Identifier: MIT */
#include "analysis/tables/waits.h"

/* Handles below this number denote the default stream or each thread's own default stream. */
enum { STREAM_LEAST = 4096 };

static struct gt_call_view view_of(const struct gt_item *call)
{
	return (struct gt_call_view){call->op, call->args, call->payload, call->payload_bytes};
}

static bool find_role(const struct gt_item *call, enum gt_role role, uint64_t *value)
{
	const struct gt_call_view view = view_of(call);

	return call->args && gt_call_role(&view, role, 0, value);
}

/* Find a stream of the process, or the process's default stream. */
static bool find_stream(const struct gt_item *call, int arg, struct wait_handle *stream)
{
	*stream = (struct wait_handle){0, call->process, true};
	if (arg == GT_STREAM_IN_STRUCT)
		return find_role(call, GT_ROLE_STREAM, &stream->handle) &&
		       (!stream->handle || stream->handle >= STREAM_LEAST);
	if (arg < 0 || !call->args || (unsigned)arg >= GT_OP_NARGS(call->op))
		return false;
	stream->handle = call->args[arg];
	return !stream->handle || stream->handle >= STREAM_LEAST;
}

/* Note the references of events and streams. A recorded event refers to its stream's activities so
 * far. An event that a call returned refers to the activity of that call. A stream refers to the
 * activity of its last call. */
void waits_note_call(struct wait_targets *a, const struct gt_item *call)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	struct wait_handle handle = {.process = call->process}, stream;

	if (!info || !call->args)
		return;
	if (info->signals_arg >= 0 && (unsigned)info->signals_arg < GT_OP_NARGS(call->op)) {
		handle.handle = call->args[info->signals_arg];
		if (handle.handle)
			wait_targets_add_call(a, &handle, call->start_ns, call->id);
	} else if (info->finished != GT_FINISHED_STREAM &&
		   find_stream(call, info->stream_arg, &stream)) {
		if (info->kind != GT_KIND_MARKER)
			wait_targets_add_call(a, &stream, call->start_ns, call->id);
		else if (find_role(call, GT_ROLE_EVENT, &handle.handle))
			wait_targets_add_record(a, &handle, &stream, call->start_ns);
	}
}

/* Return true if the call waits for events that it names. This function does not look up the
 * activities of these events. */
static bool is_dependent(const struct gt_item *call)
{
	uint64_t events;

	return find_role(call, GT_ROLE_DEPENDENCIES, &events) && events;
}

/* Find the events. @handles: room for WAITS_EVENTS_MOST events. Return false if some events are not
 * known. */
static bool find_events(const struct gt_item *call, struct stages_call *wait, uint64_t *handles)
{
	const struct gt_call_view view = view_of(call);

	wait->kind = STAGES_EVENTS;
	wait->handles = handles;
	if (find_role(call, GT_ROLE_EVENT, &handles[0])) { /* the stream may have more events */
		wait->handle_count = 1;
		wait->dependent = true;
		return true;
	}
	return call->args &&
	       gt_call_elements(&view, GT_ROLE_EVENT, handles, WAITS_EVENTS_MOST,
				&wait->handle_count) &&
	       wait->handle_count;
}

enum waits_answer waits_find(const struct gt_item *call, bool inner, bool failed,
			     struct stages_call *wait, uint64_t *handles)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	enum gt_blocking blocking = gt_call_blocking(call->op, call->args);
	struct wait_handle stream;

	if (inner ||
	    (blocking == GT_BLOCKING_NO && (!info || info->kind != GT_KIND_SYNCHRONISATION)))
		return WAITS_NOT;
	if (failed)
		return WAITS_UNKNOWN;
	if (blocking == GT_BLOCKING_YES) {
		wait->kind = STAGES_COPY;
		wait->dependent = is_dependent(call);
		return WAITS_KNOWN;
	}
	switch (info ? (enum gt_finished)info->finished : GT_FINISHED_NOTHING) {
	case GT_FINISHED_NOTHING: return WAITS_UNKNOWN;
	case GT_FINISHED_QUEUE:
		wait->kind = STAGES_FINISH;
		return find_role(call, GT_ROLE_STREAM, &wait->queue) ? WAITS_KNOWN : WAITS_UNKNOWN;
	case GT_FINISHED_ALL: wait->kind = STAGES_FINISH_ALL; return WAITS_KNOWN;
	case GT_FINISHED_EVENTS:
		return find_events(call, wait, handles) ? WAITS_KNOWN : WAITS_UNKNOWN;
	case GT_FINISHED_STREAM:
		wait->kind = STAGES_STREAM;
		wait->dependent = true;
		wait->handles = handles;
		wait->handle_count = 1;
		if (!find_stream(call, info->stream_arg, &stream))
			return WAITS_UNKNOWN;
		handles[0] = stream.handle;
		return WAITS_KNOWN;
	}
	return WAITS_UNKNOWN;
}
