/* SPDX-License-Identifier: MIT */
/* Handles graphs that are captured from immediate lists. While a list is captured, the driver
 * collects its commands and runs them in every launch of the graph. gputap leaves these commands
 * unchanged, because a gputap event among them would belong to the graph, and the driver refuses
 * calls on such events during the capture. Another list becomes captured at a command that waits
 * for an event of a captured list. Therefore the driver is queried before and after each command
 * while any capture is open.
 *
 * This code was written from the specification of the extension (ZE_extension_record_replay_graph);
 * no driver with the extension was available for tests.
 * NEEDSWORK: the contents of a graph are not recorded. */
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

static _Atomic uint32_t open_captures;

bool gt_lz_is_captured(const struct gt_lz_list *list)
{
	if (!atomic_load_explicit(&open_captures, memory_order_relaxed))
		return false;
	return atomic_load_explicit(&list->captures, memory_order_relaxed) ||
	       (GT_LZ(list->table, zeCommandListIsGraphCaptureEnabledExt) &&
		GT_LZ(list->table, zeCommandListIsGraphCaptureEnabledExt)(
			(void *)list->object.handle) == LZ_QUERY_TRUE);
}

void gt_lz_note_capture(struct gt_lz_list *list)
{
	if (!atomic_exchange(&list->captures, true))
		atomic_fetch_add(&open_captures, 1);
}

static int begin_capture(int status, const void *handle)
{
	struct gt_lz_list *list = status ? NULL : gt_lz_find(GT_LZ_LIST, handle);
	static _Atomic bool named;

	if (!list || atomic_load_explicit(&list->captures, memory_order_relaxed))
		return status;
	gt_lz_note_capture(list);
	if (!atomic_exchange(&named, true))
		gt_event_write(
			gt_thread_own(), GT_EVENT_PROFILING, GT_DOMAIN_LEVEL_ZERO,
			list->queue ? list->queue->number : 0,
			"a graph's commands are recorded as one activity: the graph's launch");
	return status;
}

int gt_level_zero_wrap_zeCommandListBeginGraphCaptureExt(const struct gt_call *call, void *list,
							 const void *next)
{
	return begin_capture(REAL(zeCommandListBeginGraphCaptureExt)(list, next), list);
}

int gt_level_zero_wrap_zeCommandListBeginCaptureIntoGraphExt(const struct gt_call *call, void *list,
							     void *graph, const void *next)
{
	return begin_capture(REAL(zeCommandListBeginCaptureIntoGraphExt)(list, graph, next), list);
}

/* Mark the capture as ended, even if the driver refuses the graph. */
int gt_level_zero_wrap_zeCommandListEndGraphCaptureExt(const struct gt_call *call, void *handle,
						       const void *next, void **graph)
{
	int status = REAL(zeCommandListEndGraphCaptureExt)(handle, next, graph);
	struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, handle);

	if (list && atomic_exchange(&list->captures, false))
		atomic_fetch_sub(&open_captures, 1);
	return status;
}
