/* SPDX-License-Identifier: MIT */
/* See open_calls_live.h. */
#include "collector/open_calls_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/announce.h"
#include "collector/batch.h"
#include "collector/guard.h"
#include "collector/host_look.h"
#include "collector/process_texts.h"
#include "collector/ring_reader.h"
#include "record/operation.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"

/* A thread's slot as read before its ring. */
struct slot_state {
	uint32_t slot, ordinal, tid;
	char name[17];
	bool has_calls;
	uint64_t start_ticks;
	uint64_t words[GT_DOMAIN_COUNT], started[GT_DOMAIN_COUNT];
	struct gt_open_call wait; /* id 0: no entry */
};

struct slots {
	struct slot_state *list;
	size_t count, room;
	unsigned busy; /* number of threads that were left out because they have made progress */
};

double gt_open_calls_tick_ns(const struct gt_drain *d, const struct gt_clock_tuple *now)
{
	const struct gt_clock_tuple *first = &d->first_clock;

	return first->ticks && now->ticks > first->ticks
		       ? (double)(now->boottime_ns - first->boottime_ns) /
				 (double)(now->ticks - first->ticks)
		       : 1;
}

/* Slots ----------------------------------------------------------------------------- */

static uint64_t load64(const _Atomic uint64_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static void read_wait(const struct gt_slot_wait *w, struct gt_open_call *out)
{
	uint64_t id = atomic_load_explicit(&w->id, memory_order_acquire);

	*out = (struct gt_open_call){.id = id,
				     .communicator = load64(&w->communicator),
				     .sequence = load64(&w->sequence),
				     .peer = load64(&w->peer),
				     .bytes = load64(&w->bytes)};
	atomic_thread_fence(memory_order_acquire);
	if (load64(&w->id) != id)
		out->id = 0; /* the thread has started another call, so this one has returned */
}

/* Read a slot, under the guard. Return false if it has no thread. */
static bool read_slot(const struct gt_process *process, uint32_t i, struct slot_state *s)
{
	const struct gt_slot *slot = gt_process_slot(process, i);

	if (atomic_load_explicit(&slot->state, memory_order_acquire) != GT_SLOT_ACTIVE)
		return false;
	*s = (struct slot_state){.slot = i,
				 .ordinal = slot->ordinal,
				 .tid = slot->tid,
				 .start_ticks = slot->start_ticks};
	memcpy(s->name, slot->name, sizeof slot->name);
	for (int k = 1; k < GT_DOMAIN_COUNT; k++) {
		const struct gt_slot_domain *domain = &slot->domains[k];

		s->words[k] = atomic_load_explicit(&domain->newest, memory_order_acquire);
		s->started[k] = load64(&domain->started);
		/* the thread is between its two stores, or has started another call */
		if (load64(&domain->newest) != s->words[k])
			s->started[k] = 0;
		s->has_calls |=
			!gt_domain_traits[k].annotations && load64(&domain->seen[GT_CLASS_CALL]);
	}
	read_wait(&slot->wait, &s->wait);
	return true;
}

/* Return true if the thread has started a call after @ticks. */
static bool has_started_since(const struct slot_state *s, uint64_t ticks)
{
	for (int k = 1; k < GT_DOMAIN_COUNT; k++)
		if (s->words[k] && s->started[k] > ticks)
			return true;
	return false;
}

/* Read the slots of all threads that have started no call after @ticks. */
static void read_slots(struct gt_drain *d, struct gt_process *process, uint64_t ticks,
		       struct slots *out)
{
	volatile uint32_t used = 0, i;

	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return;
	}
	used = gt_process_slots_used(process);
	gt_guard_end();
	for (i = 1; i < used && !process->lost; i++) {
		struct slot_state *more =
			gt_grow(out->list, out->count, &out->room, sizeof *out->list);
		volatile bool is_active;

		if (!more)
			return;
		out->list = more;
		if (!GT_GUARD()) {
			gt_batch_lose(d, process);
			return;
		}
		is_active = read_slot(process, i, &out->list[out->count]);
		gt_guard_end();
		if (!is_active || !out->list[out->count].has_calls)
			continue;
		if (has_started_since(&out->list[out->count], ticks))
			out->busy++;
		else
			out->count++;
	}
}

/* Rings ----------------------------------------------------------------------------- */

/* Return true if all committed records of the ring were read. */
static bool is_read(struct gt_drain *d, struct gt_process *process, const struct gt_ring *ring)
{
	volatile bool is_at_end = false;

	if (ring->block == GT_BLOCK_NONE)
		return true;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return false;
	}
	const struct gt_block *b = gt_process_block(process, ring->block);

	is_at_end = atomic_load_explicit(&b->next, memory_order_acquire) == GT_BLOCK_NONE &&
		    atomic_load_explicit(&b->committed, memory_order_acquire) == ring->at;
	gt_guard_end();
	return is_at_end;
}

/* After the collector's death, no encoder knows the records that the collector had read. They are
 * still in the block that the thread was filling. Return true if that block shows that the call has
 * no record: it contains no such record, but one of a call that returned before @start, and the
 * records of a thread are in the order of their ends. */
static bool is_missing_in_block(struct gt_drain *d, struct gt_process *process,
				const struct gt_ring *ring, const struct gt_open_call *call)
{
	volatile bool is_missing = false;
	const uint64_t *volatile words;
	volatile size_t at = 0, count;

	if (ring->block == GT_BLOCK_NONE)
		return true;
	if (!call->start)
		return false;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return false;
	}
	words = (const uint64_t *)(const void *)gt_block_data(
		gt_process_block(process, ring->block));
	count = ring->at / 8;
	while (at + sizeof(struct gt_record_call) / 8 <= count) {
		uint64_t head = words[at], size = head & 0xffff;

		if (!size || size > count - at)
			break;
		if ((head >> 16 & 0xff) == GT_RECORD_CALL) {
			is_missing |= words[at + 2] <= call->start;
			if (words[at + 3] == call->id) {
				is_missing = false;
				break;
			}
		}
		at += size;
	}
	gt_guard_end();
	return is_missing;
}

/* Describe the newest call of a domain. Return false if it has a record, or if the word is not one
 * that the start of a call stores. */
static bool find_open(struct gt_drain *d, struct gt_process *process, const struct slot_state *s,
		      unsigned domain, struct gt_open_call *call)
{
	const struct gt_ring *ring = &process->rings[s->slot];
	uint64_t rest = s->words[domain] - GT_ID(s->ordinal, 0);
	uint64_t sequence = rest & ((UINT64_C(1) << GT_CALL_NUMBER_SHIFT) - 1);

	*call = (struct gt_open_call){.id = GT_ID(s->ordinal, sequence),
				      .op = GT_OP(domain, rest >> GT_CALL_NUMBER_SHIFT, 0),
				      .start = s->started[domain]};
	if (!s->words[domain] || !sequence || sequence != GT_ID_SEQ(sequence) ||
	    !gt_operation(call->op))
		return false;
	if (ring->stream &&
	    call->id <= gt_capture_stream_newest_call(ring->stream, (enum gt_domain)domain))
		return false;
	if (d->recovering && !is_missing_in_block(d, process, ring, call))
		return false;
	if (s->wait.id == call->id) {
		call->communicator = s->wait.communicator;
		call->sequence = s->wait.sequence;
		call->peer = s->wait.peer;
		call->bytes = s->wait.bytes;
	}
	return true;
}

/* Find the open calls and the last call of a thread whose ring was read. Return false if nothing is
 * known of it, or if it has records that were not read yet, and so makes progress. */
static bool describe_thread(struct gt_drain *d, struct gt_process *process,
			    const struct slot_state *s, struct gt_thread_calls *t)
{
	const struct gt_ring *ring =
		s->slot < process->rings_known ? &process->rings[s->slot] : NULL;

	if (!ring || ring->broken || ring->done || (ring->stream && ring->ordinal != s->ordinal) ||
	    !is_read(d, process, ring))
		return false;
	t->slot = s->slot;
	t->ordinal = s->ordinal;
	t->tid = s->tid;
	memcpy(t->name, s->name, sizeof t->name);
	t->open_count = 0;
	t->last_call = ring->stream ? gt_capture_stream_last_call(ring->stream, &t->last_end) : 0;
	if (!t->last_call)
		t->last_end = 0;
	for (unsigned k = 1; k < GT_DOMAIN_COUNT; k++) {
		struct gt_open_call call;
		unsigned at;

		if (!find_open(d, process, s, k, &call))
			continue;
		for (at = t->open_count++; at && t->open[at - 1].id > call.id; at--)
			t->open[at] = t->open[at - 1];
		t->open[at] = call;
	}
	/* a thread takes its slot at its first call */
	if (t->open_count && !t->open[0].start && !t->last_call)
		t->open[0].start = s->start_ticks;
	return true;
}

/* Return true if the thread has started or ended a call after @ticks. */
static bool has_moved_since(const struct gt_thread_calls *t, uint64_t ticks)
{
	return t->last_end > ticks || (t->open_count && t->open[t->open_count - 1].start > ticks);
}

static unsigned look(struct gt_drain *d, struct gt_process *process, uint64_t least_ticks,
		     bool reads, gt_thread_calls_fn *each, void *data)
{
	struct slots slots = {0};
	struct gt_clock_tuple now;
	uint64_t limit;

	if (!process->segment || process->lost || process->torn)
		return 0;
	gt_clock_tuple_take(d->folder->host_clock, &now);
	limit = !least_ticks ? UINT64_MAX : now.ticks > least_ticks ? now.ticks - least_ticks : 0;
	read_slots(d, process, limit, &slots);
	if (slots.count && reads)
		gt_rings_read(d, process, GT_DRAIN_NOW, gt_clock_ns(CLOCK_MONOTONIC));
	for (size_t i = 0; i < slots.count && !process->lost; i++) {
		struct gt_thread_calls t = {.seen = now.ticks};

		if (describe_thread(d, process, &slots.list[i], &t) && !has_moved_since(&t, limit))
			each(process, &t, data);
		else
			slots.busy++;
	}
	free(slots.list);
	return slots.busy;
}

unsigned gt_open_calls_look(struct gt_drain *d, struct gt_process *process, uint64_t least_ticks,
			    gt_thread_calls_fn *each, void *data)
{
	return look(d, process, least_ticks, true, each, data);
}

/* Records --------------------------------------------------------------------------- */

struct writing {
	struct gt_drain *drain;
	struct gt_stream *stream; /* NULL: not needed yet */
	bool failed;
};

static void write_record(struct writing *w, struct gt_process *process,
			 const struct gt_record_open *r)
{
	struct gt_counts counts = {0};

	if (!w->stream && !w->failed)
		w->failed = gt_capture_stream_create(w->drain->writer, process->index, 1,
						     &w->stream) != 0;
	if (!w->failed)
		w->failed = gt_capture_write_records(w->stream, r, sizeof *r, &counts) != 0;
	/* the file takes no more data, which is reported once, at the end */
	if (w->failed)
		gt_error_clear();
	w->drain->batch_dirty = true;
}

static struct gt_record make_head(uint32_t op)
{
	return (struct gt_record){sizeof(struct gt_record_open) / 8, GT_RECORD_OPEN, 0, op};
}

/* A thread with open calls, until the records of all threads are written. */
struct found_thread {
	struct gt_process *process;
	struct gt_thread_calls calls;
};

struct found_threads {
	struct found_thread *list;
	size_t count, room;
};

static void keep_thread(struct gt_process *process, const struct gt_thread_calls *t, void *data)
{
	struct found_threads *f = data;
	struct found_thread *more;

	if (!t->open_count)
		return;
	more = gt_grow(f->list, f->count, &f->room, sizeof *f->list);
	if (!more)
		return;
	f->list = more;
	f->list[f->count++] = (struct found_thread){process, *t};
}

/* @now: state of the thread; NULL: not known */
static void write_thread(struct writing *w, const struct found_thread *f,
			 const struct gt_host_now *now)
{
	const struct gt_thread_calls *t = &f->calls;
	struct gt_ring *ring = &f->process->rings[t->slot];
	bool is_known = now && !now->status;

	/* a thread without records is not in the capture yet */
	if (!ring->stream) {
		ring->ordinal = t->ordinal;
		gt_announce_thread(w->drain, f->process, t->slot);
	}
	for (unsigned i = 0; i < t->open_count; i++) {
		const struct gt_open_call *call = &t->open[i];
		const struct gt_record_open r = {
			.head = make_head(call->op),
			.start = call->start,
			.seen = t->seen,
			.id = call->id,
			.ordinal = t->ordinal,
			.communicator = call->communicator,
			.sequence = call->sequence,
			.peer = call->peer,
			.state = is_known ? (uint64_t)now->state | (uint64_t)now->call << 8 : 0,
			.text = is_known ? gt_process_text_id(w->drain, f->process, now->text) : 0,
		};

		write_record(w, f->process, &r);
	}
	f->process->has_open_calls = true;
}

/* Write the set of a process: all its entries of @f. @states: indexed as @f; NULL: not known */
static void write_set(struct gt_drain *d, struct gt_process *process, const struct found_threads *f,
		      const struct gt_host_now *states)
{
	struct writing w = {.drain = d};
	bool had_any = process->has_open_calls;
	struct gt_clock_tuple now;

	process->has_open_calls = false;
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].process == process)
			write_thread(&w, &f->list[i], states ? &states[i] : NULL);
	if (had_any && !process->has_open_calls) {
		gt_clock_tuple_take(d->folder->host_clock, &now);
		write_record(&w, process,
			     &(struct gt_record_open){.head = make_head(0), .seen = now.ticks});
	}
	gt_capture_stream_destroy(w.stream);
}

/* Return true if the process's threads cannot be examined. */
static bool is_gone(const struct gt_process *process)
{
	return process->exited || process->is_unseen || process->wait_status != -1;
}

/* Read the states of all threads at once, because that takes some ms if any of them is running.
 * Return NULL if there are no threads. */
static struct gt_host_now *read_states(const struct found_threads *f)
{
	struct gt_host_now *states = f->count ? calloc(f->count, sizeof *states) : NULL;
	struct gt_host_now *asked = states ? calloc(f->count, sizeof *asked) : NULL;
	unsigned n = 0;

	for (size_t i = 0; asked && i < f->count; i++) {
		const struct gt_process *process = f->list[i].process;

		states[i].status = -ESRCH;
		if (is_gone(process))
			continue;
		asked[n].pid = process->pid;
		asked[n++].tid = f->list[i].calls.tid;
	}
	if (n)
		gt_host_states_now(asked, n);
	n = 0;
	for (size_t i = 0; asked && i < f->count; i++)
		if (!is_gone(f->list[i].process))
			states[i] = asked[n++];
	if (!asked) {
		free(states);
		states = NULL;
	}
	free(asked);
	return states;
}

void gt_open_calls_write_all(struct gt_drain *d)
{
	struct found_threads f = {0};
	struct gt_host_now *states;

	for (size_t i = 0; i < d->process_count; i++)
		if (!d->processes[i]->replaced)
			look(d, d->processes[i], 0, true, keep_thread, &f);
	states = read_states(&f);
	for (size_t i = 0; i < d->process_count; i++)
		write_set(d, d->processes[i], &f, states);
	free(states);
	free(f.list);
}

void gt_open_calls_write_last(struct gt_drain *d, struct gt_process *process)
{
	struct found_threads f = {0};
	struct gt_host_now *states;

	if (!process->replaced)
		look(d, process, 0, false, keep_thread, &f);
	states = read_states(&f);
	write_set(d, process, &f, states);
	free(states);
	free(f.list);
}
