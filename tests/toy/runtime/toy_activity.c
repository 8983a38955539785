/* SPDX-License-Identifier: MIT */
/* GPU activities of the toy runtime. Each submission gets a token, which the library returns when
 * the activity completes. */
#include <string.h>

#include "core/emit.h"
#include "generated/toy_taps.h"
#include "generated/toy_wraps.h"
#include "runtime/activity_token.h"

static void completed(void *token, int status, uint64_t queued, uint64_t start, uint64_t end)
{
	const struct gt_activity_times times = {queued, queued, start, end};

	gt_activity_completed(token, status, &times, start, end);
}

static void observe(const struct gt_call *call, struct gt_activity *w)
{
	gt_toy_toy_observe_fn *set =
		(gt_toy_toy_observe_fn *)call->table->taps[GT_TOY_INDEX_toy_observe].real;

	if (w)
		set(completed, w);
}

static int over(struct gt_activity *w, int status)
{
	if (status)
		gt_activity_refused(w);
	else
		gt_activity_submitted(w);
	return status;
}

int gt_toy_wrap_toy_launch(const struct gt_call *call, void *stream, const char *kernel,
			   unsigned blocks, unsigned threads)
{
	struct gt_thread *t = call->thread ? call->thread : gt_thread_own();
	const struct gt_activity_info what = {
		.domain = GT_DOMAIN_TOY,
		.op = GT_DEVICE_KERNEL,
		.name = gt_string_id(t, kernel, strlen(kernel)),
		.queue_handle = (uintptr_t)stream,
		.grid = {blocks * threads, 1, 1},
		.block = {threads, 1, 1},
	};
	struct gt_activity *w = gt_activity_begin(call, &what);

	observe(call, w);
	return over(w, ((gt_toy_toy_launch_fn *)call->tap->real)(stream, kernel, blocks, threads));
}

int gt_toy_wrap_toy_copy(const struct gt_call *call, void *stream, void *to, const void *from,
			 size_t size)
{
	const struct gt_activity_info what = {
		.domain = GT_DOMAIN_TOY,
		.op = GT_DEVICE_COPY,
		.queue_handle = (uintptr_t)stream,
		.bytes = size,
		.source = (uintptr_t)from,
		.destination = (uintptr_t)to,
	};
	struct gt_activity *w = gt_activity_begin(call, &what);

	observe(call, w);
	return over(w, ((gt_toy_toy_copy_fn *)call->tap->real)(stream, to, from, size));
}
