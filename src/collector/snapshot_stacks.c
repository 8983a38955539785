/* SPDX-License-Identifier: MIT */
/* See snapshot_stacks.h. */
#include "collector/snapshot_stacks.h"

#include <stdlib.h>
#include <time.h>

#include "collector/open_calls_live.h"
#include "collector/sample_host.h"
#include "collector/thread_stacks.h"
#include "record/host_state.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

/* the first numbers are those of --sample-host */
enum { FIRST_NUMBER = 1 << 29, NUMBERS_MOST = 1 << 28 };
static const uint64_t LEAST_NS = 1000000000, MOST_NS = 500000000;

/* Threads of a process. */
struct found {
	struct gt_drain *drain;
	struct gt_process *process;
	uint64_t least_ticks;
	struct gt_thread_calls *list;
	size_t count, room;
};

static void keep_thread(struct gt_process *process, const struct gt_thread_calls *t, void *data)
{
	struct found *f = data;
	struct gt_thread_calls *more;

	(void)process;
	if (!t->open_count && t->last_end + f->least_ticks > t->seen)
		return;
	more = gt_grow(f->list, f->count, &f->room, sizeof *f->list);
	if (!more)
		return;
	f->list = more;
	f->list[f->count++] = *t;
}

static void write_row(struct gt_stream *stream, const struct gt_thread_calls *t, uint32_t number)
{
	const struct gt_record_host row = {
		.head = {sizeof row / 8, GT_RECORD_HOST, GT_HOST_SAMPLE, 0},
		.start = t->seen,
		.end = t->seen,
		.value = {number, GT_HOST_STATE_UNKNOWN, 1, t->open_count ? 1 : 2},
	};
	struct gt_counts counts = {0};

	if (gt_capture_write_records(stream, &row, sizeof row, &counts))
		gt_error_clear(); /* the file takes no more data: reported once, at the end */
}

/* Runs in the thread that reads stacks, while the collector's thread waits for it. */
static void write_stack(void *data, size_t index, int error, struct gt_sample_stacks *stacks,
			struct gt_remote_memory *memory, const struct gt_sample_stack *stack)
{
	const struct found *f = data;
	const struct gt_thread_calls *t = &f->list[index];
	const struct gt_ring *ring = &f->process->rings[t->slot];
	struct gt_stream *own = NULL, *stream = ring->stream;
	uint32_t number;

	if (error)
		return;
	if (!stream || ring->ordinal != t->ordinal) {
		if (gt_capture_stream_create(f->drain->writer, f->process->index, t->ordinal,
					     &own)) {
			gt_error_clear();
			return;
		}
		stream = own;
	}
	number = gt_sample_stacks_number(stacks, memory, stack, stream);
	if (number)
		write_row(stream, t, number);
	gt_capture_stream_destroy(own);
}

static void write_process(struct gt_drain *d, struct found *f, uint64_t until_ns)
{
	uint32_t *tids, skipped = FIRST_NUMBER + d->stacks_skipped;

	f->count = 0;
	gt_open_calls_look(d, f->process, 0, keep_thread, f);
	tids = f->count ? calloc(f->count, sizeof *tids) : NULL;
	if (!tids)
		return;
	for (size_t i = 0; i < f->count; i++)
		tids[i] = f->list[i].tid;
	gt_thread_stacks_read(f->process, tids, f->count, until_ns, &skipped, write_stack, f);
	free(tids);
	d->stacks_skipped = skipped - FIRST_NUMBER;
	d->batch_dirty = true;
}

void gt_snapshot_stacks_write(struct gt_drain *d)
{
	const uint64_t until_ns = gt_clock_ns(CLOCK_MONOTONIC) + MOST_NS;
	struct found f = {.drain = d};
	struct gt_clock_tuple now;

	gt_clock_tuple_take(d->folder->host_clock, &now);
	f.least_ticks = (uint64_t)((double)LEAST_NS / gt_open_calls_tick_ns(d, &now));
	for (size_t i = 0; i < d->process_count && d->stacks_skipped < NUMBERS_MOST; i++) {
		f.process = d->processes[i];
		if (f.process->segment && !f.process->lost && !f.process->replaced)
			write_process(d, &f, until_ns);
	}
	free(f.list);
}
