/* SPDX-License-Identifier: MIT */
/* The processes of a session, from the first look at a segment to its last word: see drain.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/batch.h"
#include "collector/collector.h"
#include "collector/guard.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

#define TICKS_BEFORE    (UINT64_C(1) << 32) /* of the first clock tuple: a few seconds */
/* of the newest one: a minute or two, which a busy collector may be late */
#define TICKS_AFTER     (UINT64_C(1) << 37)
#define CALLS_OPEN_MOST 64u /* in each other, of one thread, when a process ends */
/* of anything in one process; sums of a few of them do not wrap */
#define COUNT_MOST      (UINT64_C(1) << 48)
/* device work of a process that nobody has waited for */
#define WORK_OPEN_MOST  (UINT64_C(1) << 24)

void gt_drain_init(struct gt_drain *d, struct gt_folder *folder, struct gt_capture_writer *writer)
{
	memset(d, 0, sizeof *d);
	d->folder = folder;
	d->writer = writer;
	d->journal.fd = -1;
	d->latest_ticks = UINT64_MAX;
}

void gt_drain_fini(struct gt_drain *d)
{
	for (size_t i = 0; i < d->process_count; i++) {
		gt_process_close(d->processes[i]);
		free(d->processes[i]);
	}
	free(d->processes);
	free(d->give);
	gt_journal_close(&d->journal);
}

void gt_drain_announce_process(struct gt_drain *d, struct gt_process *process)
{
	struct gt_process_info info;
	struct gt_process_text text;

	if (process->lost)
		return;
	if (!GT_GUARD()) {
		gt_drain_lose(d, process);
		return;
	}
	gt_process_describe(process, &info, &text);
	gt_guard_end();
	gt_capture_write_process(d->writer, &info);
}

void gt_drain_announce_thread(struct gt_drain *d, struct gt_process *process, uint32_t i)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	char name[sizeof slot->name + 1];
	struct gt_thread_info info = {.process = process->index,
				      .ordinal = process->rings[i].ordinal,
				      .name = name};

	if (process->lost)
		return;
	if (!GT_GUARD()) {
		gt_drain_lose(d, process);
		return;
	}
	memcpy(name, slot->name, sizeof slot->name);
	name[sizeof slot->name] = '\0';
	info.tid = slot->tid;
	info.start_ticks = slot->start_ticks;
	info.end_ticks = atomic_load_explicit(&slot->end_ticks, memory_order_relaxed);
	gt_guard_end();
	gt_capture_write_thread(d->writer, &info);
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
	void *more =
		gt_grow(d->processes, d->process_count, &d->process_room, sizeof *d->processes);
	struct gt_process *copy = more ? malloc(sizeof *copy) : NULL;

	if (more)
		d->processes = more;
	if (!copy)
		return gt_error(-EAGAIN, "no memory for another process");
	*copy = *process;
	d->processes[d->process_count++] = copy;
	*out = copy;
	return 0;
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
		return 0; /* all of it is in the capture; only the file was not removed yet */
	if (!GT_GUARD())
		return gt_error(-EBADMSG, "%s was cut", name);
	status = gt_process_open(d->folder, name, &fresh); /* no segment when it fails */
	gt_guard_end();
	if (status == -EAGAIN)
		return status;
	if (!status && account == UINT32_MAX) {
		account = gt_journal_take(&d->journal);
		if (account == UINT32_MAX) {
			gt_process_close(&fresh);
			return gt_error(-EAGAIN, "too many processes at one time");
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
	gt_drain_announce_process(d, *out);
	d->batch_dirty = true;
	return 0;
}

/* Could so many calls have been open when the process ended? If not, its counters or its rings
 * were written over: what was lost that way looks like a call that never returned. */
static bool is_open_too_much(const struct gt_counts *counts, uint32_t threads)
{
	uint64_t open[GT_CLASS_COUNT] = {0};

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
			uint64_t known = counts->recorded[c][k];

			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				known += counts->dropped[why][c][k];
			if (counts->seen[c][k] <= known)
				continue;
			if (counts->seen[c][k] - known > WORK_OPEN_MOST)
				return true;
			open[c] += counts->seen[c][k] - known;
		}
	return open[GT_CLASS_CALL] > (uint64_t)CALLS_OPEN_MOST * threads ||
	       open[GT_CLASS_DEVICE] > WORK_OPEN_MOST;
}

/* Counters that noise has got into, in a ring or in a journal, are worth nothing. */
static void forget_noise(struct gt_process *process, struct gt_counts *counts)
{
	uint64_t *all = (uint64_t *)counts;

	for (size_t i = 0; i < sizeof *counts / sizeof *all; i++)
		if (all[i] > COUNT_MOST) {
			process->torn = true;
			all[i] = 0;
		}
}

/* seen = recorded + dropped, always: what is open, or was damaged, makes up the difference. */
static void balance(struct gt_process *process, struct gt_counts *counts)
{
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
			uint64_t known = counts->recorded[c][k];

			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				known += counts->dropped[why][c][k];
			/* the counters themselves were written over */
			if (known > counts->seen[c][k]) {
				process->torn = true;
				counts->seen[c][k] = known;
			}
			counts->dropped[process->torn ? GT_DROP_TORN : GT_DROP_UNFINISHED][c][k] +=
				counts->seen[c][k] - known;
		}
}

/* Words that one stray write can change without a trace: how many slots there are, and that
 * recording is over. */
static bool is_head_spoiled(const struct gt_drain *d, const struct gt_process *process,
			    uint32_t used)
{
	if (atomic_load_explicit(&process->segment->slots_used, memory_order_relaxed) >
	    process->slot_count)
		return true;
	if (used < process->slots_used ||
	    (used < process->slot_count && gt_process_slot(process, used)->ordinal))
		return true; /* threads are missing: it only grows */
	return !d->recovering && !process->stopped &&
	       atomic_load_explicit(&process->segment->stop, memory_order_relaxed);
}

/* Is slot @i, of a process that is gone, in no state that its thread and we can have left it in? */
static bool is_slot_spoiled(const struct gt_process *process, uint32_t i)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	const struct gt_ring *ring = i < process->rings_known ? &process->rings[i] : NULL;
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
	uint64_t seen = 0;

	if (!i || (ring && ring->done)) /* of no thread; to be freed with the batch */
		return false;
	if (ring && ring->stream && !ring->broken && slot->ordinal != ring->ordinal)
		return true;
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++)
			seen |= atomic_load_explicit(&slot->domains[k].seen[c],
						     memory_order_relaxed);
	/* one that was ever used has an ordinal, but for the moment in which a thread takes it */
	return state > GT_SLOT_TAKEN || (state == GT_SLOT_FREE && (seen || !slot->ordinal));
}

/* @last: the process is gone, and all of its rings was read. */
static void sum_counts(struct gt_drain *d, struct gt_process *process, bool last,
		       struct gt_counts *out)
{
	volatile uint32_t i = 0, used = 0;

	*out = d->journal.file->accounts[process->account].counts;
	gt_counts_add(out, &process->pending);
	if (!process->lost) {
		if (GT_GUARD()) {
			used = gt_process_slots_used(process);
			if (last && is_head_spoiled(d, process, used))
				process->torn = true;
			for (i = 0; i < used; i++) { /* those that are done stand in `pending` */
				if (last && is_slot_spoiled(process, i))
					process->torn = true;
				if (i >= process->rings_known || !process->rings[i].done)
					gt_process_add_slot_counts(process, i, out);
			}
			gt_guard_end();
		} else {
			gt_drain_lose(d, process);
		}
	}
	forget_noise(process, out);
	if (last && is_open_too_much(out, process->slots_used > used ? process->slots_used : used))
		process->torn = true;
	balance(process, out);
}

void gt_drain_write_counts(struct gt_drain *d, struct gt_process *process)
{
	struct gt_counts counts;

	if (!process->segment)
		return;
	sum_counts(d, process, false, &counts);
	gt_capture_write_counts(d->writer, process->index, &counts);
	d->batch_dirty = true;
}

void gt_drain_write_clock(struct gt_drain *d, const struct gt_clock_tuple *tuple)
{
	gt_capture_write_clock(d->writer, tuple);
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
			gt_drain_lose(d, d->processes[i]);
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

	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i] == process) {
			d->processes[i] = d->processes[--d->process_count];
			break;
		}
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
			gt_drain_announce_thread(d, process, i);
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
			gt_drain_lose(d, process);
		}
	}
	info->index = process->index;
	info->wait_status = process->wait_status;
	info->ended = process->exited || process->wait_status != -1;
	if (info->ended && !d->recovering)
		/* when we noticed; after the collector's death nobody knows */
		info->end_ns = gt_clock_ns(CLOCK_BOOTTIME);
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
	gt_drain_process(d, process, GT_DRAIN_ALL, now_ns);
	gt_drain_commit(d); /* a failed flush moves what was recorded: sum only after it */
	if (gt_batch_halted(d))
		return;
	end_threads(d, process);
	final_info(d, process, &info, &text);
	sum_counts(d, process, process->exited, &counts);
	if (info.ended && !info.proper_end)
		gt_drain_write_open_calls(d, process, &counts);
	gt_capture_write_process_end(d->writer, &info);
	gt_capture_write_counts(d->writer, info.index, &counts);
	d->batch_dirty = true;
	process->ended = true;
	gt_batch_touch(d, process);
	gt_drain_commit(d);
	if (gt_batch_halted(d)) {
		process->ended = false;
		return;
	}
	d->runtimes |= info.runtimes;
	d->torn += process->torn;
	gt_counts_add(&d->totals, &counts);
	gt_drain_write_lost(d, process);
	forget_process(d, process);
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
	result->unfinished = sum_of(d->totals.dropped[GT_DROP_UNFINISHED]);
	result->output_error = d->output_error;
	result->complete = !d->output_error && !d->torn && !d->refused &&
			   result->dropped == result->unfinished;
}
