/* SPDX-License-Identifier: MIT */
/* See process_windows.h. The segment keeps the last GT_WINDOWS_KEPT changes. Changes that were
 * overwritten before this file saw them are counted in the next record. A collector that recovers
 * does not know which changes the dead collector has written, and writes all changes in the
 * segment. The reader merges duplicates. */
#include "collector/process_windows.h"

#include <string.h>

#include "collector/batch.h"
#include "collector/guard.h"
#include "util/error.h"

static int write_window(struct gt_drain *d, struct gt_stream *stream, const struct gt_window *w,
			uint64_t missed)
{
	struct gt_record_window record = {
		.head = {sizeof record / 8, GT_RECORD_WINDOW, w->recorded != 0,
			 w->why < GT_WINDOW_WHY_COUNT ? w->why : GT_WINDOW_UNKNOWN},
		.time = w->ticks,
		.missed = missed,
	};
	struct gt_counts counts = {0};

	d->batch_dirty = true;
	return gt_capture_write_records(stream, (const uint8_t *)&record, sizeof record, &counts);
}

/* Add the state of a process's ranges to the totals, once, when the process has ended. */
void gt_process_sum_ranges(struct gt_drain *d, const struct gt_process *process)
{
	const struct gt_segment *r = process->segment;
	volatile uint64_t begun[GT_RANGE_EDGES] = {0};
	volatile uint32_t state = 0;

	if (!r || process->lost || !GT_GUARD())
		return;
	for (int i = 0; i < GT_RANGE_EDGES; i++)
		begun[i] = atomic_load_explicit(&r->ranges_begun[i], memory_order_relaxed);
	state = atomic_load_explicit(&r->range_window, memory_order_relaxed);
	gt_guard_end();
	for (int i = 0; i < GT_RANGE_EDGES; i++)
		if (begun[i] > d->ranges.begun[i])
			d->ranges.begun[i] = begun[i];
	d->ranges.windows += (state & GT_RANGE_WINDOW_BEGAN) != 0;
	d->ranges.ended += (state & GT_RANGE_WINDOW_ENDED) != 0;
	d->ranges.missed += state == GT_RANGE_WINDOW_ENDED;
}

/* Read the changes from *first on into @windows, each at its index. Return the number of changes so
 * far. */
static uint32_t read_windows(struct gt_drain *d, struct gt_process *process,
			     struct gt_window windows[GT_WINDOWS_KEPT], uint32_t *first)
{
	const struct gt_segment *r = process->segment;
	volatile uint32_t count = 0, after = 0;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return process->windows_seen;
	}
	count = atomic_load_explicit(&r->window_count, memory_order_acquire);
	if (count != process->windows_seen) {
		memcpy(windows, r->windows, sizeof r->windows);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&r->window_count, memory_order_relaxed);
	}
	gt_guard_end();
	*first = process->windows_seen;
	/* a program may have overwritten the count */
	if ((int32_t)(after - count) < 0)
		after = count;
	/* the writer may be overwriting the oldest change */
	if (count != process->windows_seen && after + 1 - *first > GT_WINDOWS_KEPT)
		*first = after + 1 - GT_WINDOWS_KEPT;
	return count;
}

void gt_process_write_windows(struct gt_drain *d, struct gt_process *process)
{
	struct gt_window windows[GT_WINDOWS_KEPT];
	struct gt_stream *stream;
	uint32_t first = 0, count;

	if (!process->segment || process->lost)
		return;
	count = read_windows(d, process, windows, &first);
	if (count == process->windows_seen || (int32_t)(count - first) <= 0)
		return;
	if (gt_capture_stream_create(d->writer, process->index, 1, &stream)) {
		gt_error_clear(); /* retried at the next look */
		return;
	}
	for (uint32_t n = first; n != count; n++) {
		if (write_window(d, stream, &windows[n % GT_WINDOWS_KEPT],
				 n == first ? first - process->windows_seen : 0))
			/* the file takes no more data, which is reported once, at the end */
			gt_error_clear();
	}
	process->windows_seen = count;
	gt_capture_stream_destroy(stream);
}
