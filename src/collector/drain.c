/* SPDX-License-Identifier: MIT */
/* The processes of a session, from the first look at a segment to their last records: see drain.h.
 * This file owns struct gt_drain. The operations on one process are in the files whose headers are
 * included here. */
#include "collector/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/announce.h"
#include "collector/batch.h"
#include "collector/collector.h"
#include "collector/events.h"
#include "collector/guard.h"
#include "collector/not_traced.h"
#include "collector/open_calls_live.h"
#include "collector/process_counts.h"
#include "collector/process_windows.h"
#include "collector/ring_reader.h"
#include "collector/no_progress_records.h"
#include "collector/sample_host.h"
#include "collector/triggers.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

#define TICKS_BEFORE (UINT64_C(1) << 32) /* a few seconds, allowed before the first clock tuple */
/* a minute or two, allowed after the newest clock tuple, because a busy collector may be late */
#define TICKS_AFTER  (UINT64_C(1) << 37)

/* Remember what a runtime could not give to a late tracer, for `gputap status`. */
static void note_late(struct gt_drain *d, const char *text)
{
	const uint32_t named = d->late_count < GT_LATE_NAMED ? d->late_count : GT_LATE_NAMED;

	for (uint32_t i = 0; i < named; i++)
		if (!strncmp(d->late[i], text, GT_LATE_BYTES - 1))
			return;
	if (named < GT_LATE_NAMED)
		snprintf(d->late[named], GT_LATE_BYTES, "%.*s", GT_LATE_BYTES - 1, text);
	d->late_count++;
}

/* Note what needs the collector's attention: an untraceable program that a process executes, and
 * what is missing because gputap was attached late. */
static void on_event(uint32_t process, const struct gt_record_event *event, void *data)
{
	struct gt_drain *d = data;
	char text[PATH_MAX + 256];

	if (event->head.op != GT_EVENT_NOT_TRACED && event->head.op != GT_EVENT_LATE)
		return;
	snprintf(text, sizeof text, "%.*s", (int)event->bytes, event->text);
	if (event->head.op == GT_EVENT_LATE) {
		note_late(d, text);
		return;
	}
	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i]->segment && d->processes[i]->index == process)
			gt_not_traced_note(d, d->processes[i]->pid, text);
}

void gt_drain_init(struct gt_drain *d, struct gt_folder *folder, struct gt_capture_writer *writer)
{
	memset(d, 0, sizeof *d);
	pthread_mutex_init(&d->list_lock, NULL);
	d->folder = folder;
	d->writer = writer;
	d->journal.fd = d->journal.position_fd = -1;
	d->latest_ticks = UINT64_MAX;
	if (writer) /* NULL in `gputap recover`, which does not search /proc */
		gt_capture_writer_watch_events(writer, on_event, d);
}

void gt_drain_fini(struct gt_drain *d)
{
	for (size_t i = 0; i < d->process_count; i++) {
		gt_process_close(d->processes[i]);
		free(d->processes[i]);
	}
	free(d->processes);
	free(d->give);
	free(d->notices);
	gt_journal_close(&d->journal);
}

struct gt_process *gt_drain_find(const struct gt_drain *d, uint32_t pid, uint64_t ticks)
{
	for (size_t i = d->process_count; i-- > 0;)
		if (d->processes[i]->name_pid == pid && d->processes[i]->name_ticks == ticks)
			return d->processes[i];
	return NULL;
}

static int push_process(struct gt_drain *d, const struct gt_process *process,
			struct gt_process **out)
{
	struct gt_process *copy = malloc(sizeof *copy);
	void *more;

	pthread_mutex_lock(&d->list_lock);
	more = copy ? gt_grow(d->processes, d->process_count, &d->process_room,
			      sizeof *d->processes)
		    : NULL;
	if (more) {
		d->processes = more;
		*copy = *process;
		d->processes[d->process_count++] = copy;
		*out = copy;
	}
	pthread_mutex_unlock(&d->list_lock);
	if (more)
		return 0;
	free(copy);
	return gt_error(-EAGAIN, "no memory for another process");
}

int gt_drain_add(struct gt_drain *d, const char *name, struct gt_process **out)
{
	struct gt_process fresh;
	uint32_t pid, account;
	uint64_t ticks;
	int status;

	*out = NULL;
	if (!gt_ring_name_parse(name, &pid, &ticks) || gt_drain_find(d, pid, ticks))
		return 0;
	account = d->recovering ? gt_journal_find(&d->journal, pid, ticks) : UINT32_MAX;
	if (account != UINT32_MAX && d->journal.file->accounts[account].state == GT_ACCOUNT_ENDED)
		/* the capture contains all records of the segment; only the file was not removed
		 * yet */
		return 0;
	if (!GT_GUARD())
		return gt_error(-EBADMSG, "%s was truncated", name);
	status = gt_process_open(d->folder, name, &fresh); /* on failure, the segment stays unset */
	gt_guard_end();
	if (status == -EAGAIN)
		return status;
	if (!status && account == UINT32_MAX) {
		account = gt_journal_take(&d->journal);
		if (account == UINT32_MAX) {
			gt_process_close(&fresh);
			return gt_error(-EAGAIN, "too many processes at once");
		}
		fresh.index = d->next_index++;
	} else if (!status) {
		fresh.index = d->journal.file->accounts[account].index;
		fresh.torn = d->journal.file->accounts[account].torn;
	}
	fresh.account = account;
	if (status)
		d->refused++;
	status = push_process(d, &fresh, out);
	if (status) {
		if (account != UINT32_MAX &&
		    d->journal.file->accounts[account].state == GT_ACCOUNT_FREE)
			gt_journal_release(&d->journal, account);
		gt_process_close(&fresh);
	}
	if (status || !(*out)->segment)
		return status;
	d->recorded++;
	if (!gt_batch_make_room(d, *out))
		return 0;
	gt_batch_touch(d, *out);
	gt_announce_process(d, *out);
	d->batch_dirty = true;
	return 0;
}

uint64_t gt_drain_process(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
			  uint64_t now_ns)
{
	if (how != GT_DRAIN_FULL)
		gt_process_write_windows(d, process);
	return gt_rings_read(d, process, how, now_ns);
}

void gt_drain_write_counts(struct gt_drain *d, struct gt_process *process)
{
	struct gt_counts counts;

	if (!process->segment)
		return;
	gt_process_sum_counts(d, process, false, &counts);
	gt_capture_write_counts(d->writer, process->index, &counts);
	d->batch_dirty = true;
}

void gt_drain_write_settled(struct gt_drain *d, struct gt_process *process)
{
	struct gt_counts counts;

	if (!process->segment)
		return;
	gt_process_sum_counts(d, process, false, &counts);
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
			counts.seen[c][k] -= counts.dropped[GT_DROP_UNFINISHED][c][k];
			counts.dropped[GT_DROP_UNFINISHED][c][k] = 0;
		}
	gt_capture_write_counts(d->writer, process->index, &counts);
	d->batch_dirty = true;
}

void gt_drain_write_clock(struct gt_drain *d, const struct gt_clock_tuple *tuple)
{
	gt_capture_write_clock(d->writer, tuple);
	if (!d->first_clock.ticks)
		d->first_clock = *tuple;
	if (!d->recovering) {
		if (d->latest_ticks == UINT64_MAX && tuple->ticks > TICKS_BEFORE)
			d->earliest_ticks = tuple->ticks - TICKS_BEFORE;
		d->latest_ticks = tuple->ticks + TICKS_AFTER;
	}
	d->batch_dirty = true;
}

void gt_drain_stop(struct gt_drain *d)
{
	volatile size_t i;

	for (i = 0; i < d->process_count; i++) {
		if (!d->processes[i]->segment || d->processes[i]->lost)
			continue;
		if (!GT_GUARD()) {
			gt_batch_lose(d, d->processes[i]);
			continue;
		}
		atomic_store_explicit(&d->processes[i]->segment->stop, 1, memory_order_release);
		d->processes[i]->stopped = true;
		gt_guard_end();
	}
}

static void forget_process(struct gt_drain *d, struct gt_process *process)
{
	char name[64];

	pthread_mutex_lock(&d->list_lock);
	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i] == process) {
			d->processes[i] = d->processes[--d->process_count];
			break;
		}
	pthread_mutex_unlock(&d->list_lock);
	gt_triggers_forget(d->triggers, process);
	gt_progress_forget(d->progress, process);
	snprintf(name, sizeof name, "%u-%llu" GT_SEGMENT_SUFFIX, process->name_pid,
		 (unsigned long long)process->name_ticks);
	unlinkat(d->folder->fd, name, 0);
	if (process->account != UINT32_MAX)
		gt_journal_release(&d->journal, process->account);
	gt_process_close(process);
	free(process);
}

static void end_threads(struct gt_drain *d, struct gt_process *process)
{
	for (uint32_t i = 0; i < process->rings_known && !process->lost; i++)
		if (process->rings[i].stream && !process->rings[i].done)
			gt_announce_thread(d, process, i);
}

static void final_info(struct gt_drain *d, struct gt_process *process, struct gt_process_info *info,
		       struct gt_process_text *text)
{
	memset(info, 0, sizeof *info);
	info->exe = info->argv = "";
	if (!process->lost) {
		if (GT_GUARD()) {
			gt_process_describe(process, info, text);
			gt_guard_end();
		} else {
			gt_batch_lose(d, process);
		}
	}
	info->index = process->index;
	info->wait_status = process->wait_status;
	info->ended = process->exited || process->wait_status != -1;
	if (info->ended && !d->recovering)
		/* time at which the collector noticed the end; unknown after the collector's
		 * death */
		info->end_ns = gt_clock_ns(CLOCK_BOOTTIME);
	else if (!info->ended)
		info->end_ns = d->detached_ns;
}

void gt_drain_end_process(struct gt_drain *d, struct gt_process *process, uint64_t now_ns)
{
	struct gt_process_info info;
	struct gt_process_text text;
	struct gt_counts counts;

	if (!process->segment) {
		forget_process(d, process);
		return;
	}
	gt_sample_host_end(d->sampler, process);
	gt_drain_process(d, process, GT_DRAIN_ALL, now_ns);
	/* flush before summing up, because a failed flush counts records as lost */
	gt_batch_commit(d);
	if (gt_batch_halted(d))
		return;
	end_threads(d, process);
	final_info(d, process, &info, &text);
	gt_process_sum_counts(d, process, process->exited, &counts);
	if (info.ended && !info.proper_end)
		gt_events_write_open_calls(d, process, &counts);
	gt_open_calls_write_last(d, process);
	gt_events_write_open_plugins(d, process);
	/* the process has changed its own rank since its start: core/rank_variables.c */
	if (!process->lost && memcmp(&process->rank, &info.rank, sizeof info.rank))
		gt_capture_write_process(d->writer, &info);
	gt_capture_write_process_end(d->writer, &info);
	gt_capture_write_counts(d->writer, info.index, &counts);
	d->batch_dirty = true;
	process->ended = true;
	gt_batch_touch(d, process);
	gt_batch_commit(d);
	if (gt_batch_halted(d)) {
		process->ended = false;
		return;
	}
	gt_process_sum_ranges(d, process);
	d->runtimes |= info.runtimes;
	d->torn += process->torn;
	gt_counts_add(&d->totals, &counts);
	gt_not_traced_write_lost(d, process);
	forget_process(d, process);
}

void gt_drain_write_untraced(struct gt_drain *d)
{
	gt_not_traced_write(d);
}

void gt_drain_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *path,
			     const char *why)
{
	gt_not_traced_write_obstacle(d, pid, ticks, path, why);
}

static uint64_t sum_of(const uint64_t counts[GT_CLASS_COUNT][GT_DOMAIN_COUNT])
{
	uint64_t sum = 0;

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++)
			sum += counts[c][k];
	return sum;
}

static uint64_t dropped_of(const struct gt_counts *counts)
{
	uint64_t sum = 0;

	for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
		sum += sum_of(counts->dropped[why]);
	return sum;
}

void gt_drain_result(const struct gt_drain *d, struct gt_run_result *result)
{
	result->processes = d->recorded;
	result->runtimes = d->runtimes;
	result->torn = d->torn;
	result->refused = d->refused;
	result->untraced = d->untraced;
	result->seen = sum_of(d->totals.seen);
	result->recorded = sum_of(d->totals.recorded);
	result->dropped = dropped_of(&d->totals);
	for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
		result->dropped_by[why] = sum_of(d->totals.dropped[why]);
	result->unfinished = result->dropped_by[GT_DROP_UNFINISHED];
	result->ranges = d->ranges;
	result->output_error = d->output_error;
	result->is_rebuilt = d->is_rebuilt;
	result->complete = !d->output_error && !d->torn && !d->refused && !d->is_rebuilt &&
			   result->dropped == result->unfinished;
}
