/* SPDX-License-Identifier: MIT */
/* See host_watch.h. host_spell.h merges the readings of a thread. */
#include "collector/host_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "collector/announce.h"
#include "collector/events.h"
#include "collector/guard.h"
#include "collector/host_spell.h"
#include "collector/host_workers.h"
#include "collector/process_texts.h"
#include "record/operation.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/short_slice.h"

#define MS              UINT64_C(1000000)
/* share of a processor that the readings may take */
#define BUDGET_PART     150
/* CPU time that may be used at once, for example when many threads start to wait */
#define BUDGET_BURST_NS (50 * MS)
/* CPU time of the readings of one look, checked after every 8 of them */
#define LOOK_MOST_NS    (1 * MS)
#define SPENT_READS     8
#define SLEEP_MOST_NS   (500 * MS)
#define QUEUE_MOST      65536 /* rows that the collector has not written yet */
/* a thread is read again after 1/20 of the time that it has been in its state, .. */
#define AGAIN_PART      20
/* .. at most */
#define AGAIN_MOST_NS   (200 * MS)
/* The same holds for the time until the next look, if no thread makes progress. */
#define PAUSE_MOST_NS   (20 * MS)
/* time until the next look in periods, while no thread has called a GPU runtime */
#define UNUSED_PERIODS  4

enum {
	BLOCKS_MOST = 64, /* blocks to follow in a ring; if there are more, the thread is busy */
	STACK_BYTES = 256 << 10,
};

/* A thread, indexed by its slot in the segment. */
struct watched_thread {
	uint32_t ordinal, tid; /* ordinal 0: none */
	/* place of the newest record in the ring at the last look */
	uint32_t block, committed;
	bool calls;   /* true if the thread has called a GPU runtime */
	bool is_due;  /* true if the thread is to be read after the look */
	bool is_open; /* true if `spell` has its files open */
	bool is_gone; /* true if the thread has ended; another one may have its slot */
	/* true if the thread has committed a record after the newest reading */
	bool has_moved;
	struct gt_host_spell spell;
};

struct watched_process {
	uint32_t index; /* in the capture */
	struct gt_host_process files;
	struct gt_host_workers workers;
	/* true if a runtime may execute activities on threads of the process */
	bool has_workers;
	struct watched_thread *threads;
	size_t count, room;
	bool is_seen;   /* seen in the newest look */
	bool is_ended;  /* no more rows; the collector's thread sets it */
	bool is_hidden; /* /proc does not show the process */
	/* negative errno: why the system calls of its threads are not readable; 0: readable */
	int denied;
	bool is_noted; /* true if the collector has written that */
};

struct row {
	uint32_t process, slot, ordinal;
	enum gt_host_detail detail;
	struct gt_host_row row;
};

struct gt_host_watch {
	struct gt_drain *drain;
	uint32_t host_clock;
	uint64_t period_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_over;
	/* the watch's thread changes the list and the spells with `lock` held */
	struct watched_process **processes;
	size_t count, room;
	bool has_denied;  /* true if a process is denied, and the capture does not say so yet */
	struct row *rows; /* finished; with `lock` held */
	size_t row_count, row_room;
	struct row *taken; /* of the collector's thread */
	size_t taken_room;
	struct gt_clock_tuple first, newest; /* for times in ticks; with `lock` held */
	struct gt_host_peers peers;          /* of the watch's thread */
	/* age of the youngest spell at the newest look; UINT64_MAX: no thread calls a runtime */
	uint64_t youngest_ns;
	bool is_spent; /* true if the newest look must read no more threads */
	unsigned reads;
	/* thread at which the next look starts to read */
	size_t turn_process, turn_thread;
	int64_t budget_ns;
	uint64_t spent_ns, looked_ns;
};

/* Rows ------------------------------------------------------------------------------ */

/* Convert a time of CLOCK_BOOTTIME to ticks. */
static uint64_t get_ticks(const struct gt_host_watch *w, uint64_t ns)
{
	double ratio = 1;

	if (w->newest.boottime_ns > w->first.boottime_ns)
		ratio = (double)(w->newest.ticks - w->first.ticks) /
			(double)(w->newest.boottime_ns - w->first.boottime_ns);
	return w->newest.ticks +
	       (uint64_t)(int64_t)(((double)ns - (double)w->newest.boottime_ns) * ratio);
}

/* Queue a row. Called with `lock` held. */
static void put_row(struct gt_host_watch *w, const struct watched_process *p, uint32_t slot,
		    uint32_t ordinal, enum gt_host_detail detail, const struct gt_host_row *row)
{
	struct row *more = w->row_count < QUEUE_MOST
				   ? gt_grow(w->rows, w->row_count, &w->row_room, sizeof *more)
				   : NULL;

	if (!more)
		return;
	w->rows = more;
	w->rows[w->row_count] = (struct row){p->index, slot, ordinal, detail, *row};
	w->rows[w->row_count].row.start = get_ticks(w, row->start);
	w->rows[w->row_count++].row.end = get_ticks(w, row->end);
}

struct put {
	struct gt_host_watch *watch;
	const struct watched_process *process;
	uint32_t slot, ordinal;
};

static void on_row(const struct gt_host_row *row, void *data)
{
	const struct put *p = data;

	put_row(p->watch, p->process, p->slot, p->ordinal, GT_HOST_STATE, row);
}

static struct put put_of(struct gt_host_watch *w, const struct watched_process *p, size_t slot)
{
	return (struct put){w, p, (uint32_t)slot, p->threads[slot].ordinal};
}

static struct gt_process *find_process(const struct gt_drain *d, uint32_t index)
{
	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i]->segment && d->processes[i]->index == index)
			return d->processes[i];
	return NULL;
}

static void write_row(struct gt_drain *d, const struct row *r)
{
	struct gt_process *process = find_process(d, r->process);
	struct gt_counts counts = {0};
	struct gt_ring *ring = NULL;
	struct gt_stream *stream = NULL;
	struct gt_record_host record = {
		.head = {sizeof record / 8, GT_RECORD_HOST, (uint8_t)r->detail, r->row.state},
		.start = r->row.start,
		.end = r->row.end,
		.value = {r->row.call, 0, r->row.holder, 0, r->row.delay_ns, r->row.cpu_ns,
			  r->row.readings, r->row.object},
	};

	if (!process)
		return;
	if (r->detail == GT_HOST_WORKERS) {
		memset(record.value, 0, sizeof record.value);
		record.value[0] = r->row.delay_ns;
		record.value[2] = r->row.holder;
		record.value[4] = r->row.object;
	}
	record.value[1] = gt_process_text_id(d, process, r->row.text);
	if (r->slot < process->rings_known && process->rings[r->slot].ordinal == r->ordinal &&
	    !process->rings[r->slot].done)
		ring = &process->rings[r->slot];
	if (!ring || !ring->stream) {
		if (gt_capture_stream_create(d->writer, process->index, r->ordinal, &stream)) {
			gt_error_clear();
			return;
		}
	}
	if (gt_capture_write_records(stream ? stream : ring->stream, &record, sizeof record,
				     &counts))
		/* the file takes no more data, which is reported once, at the end */
		gt_error_clear();
	gt_capture_stream_destroy(stream);
	d->batch_dirty = true;
}

/* Write that the states of a process are known in part only. */
static void write_denied(struct gt_host_watch *w, uint32_t process, int error)
{
	struct gt_clock_tuple now;
	const bool is_full = error == -EMFILE || error == -ENFILE;
	char text[160];

	gt_clock_tuple_take(w->host_clock, &now);
	snprintf(text, sizeof text, "why threads wait: %s (%s)", strerror(-error),
		 is_full ? "raise the limit with ulimit -n"
			 : "gputap may not debug this process, see ptrace(2)");
	if (gt_event_write(w->drain, process, GT_EVENT_NOT_RECORDED, GT_DOMAIN_NONE, now.ticks, 0,
			   text))
		gt_error_clear(); /* the file takes no more data: reported once, at the end */
	w->drain->batch_dirty = true;
}

/* Return a process whose states became unreadable since the last call, or NULL. */
static struct watched_process *take_denied(struct gt_host_watch *w)
{
	for (size_t i = 0; w->has_denied && i < w->count; i++)
		if (w->processes[i]->denied && !w->processes[i]->is_noted) {
			w->processes[i]->is_noted = true;
			return w->processes[i];
		}
	w->has_denied = false;
	return NULL;
}

/* Write the queued rows. Called with `lock` held, which is released. */
static void write_rows(struct gt_host_watch *w)
{
	struct row *rows = w->rows;
	size_t count = w->row_count, room = w->row_room;
	const struct watched_process *denied;

	while ((denied = take_denied(w)))
		write_denied(w, denied->index, denied->denied);

	w->rows = w->taken;
	w->row_room = w->taken_room;
	w->row_count = 0;
	pthread_mutex_unlock(&w->lock);
	w->taken = rows;
	w->taken_room = room;
	for (size_t i = 0; i < count; i++)
		write_row(w->drain, &rows[i]);
}

void gt_host_watch_write(struct gt_host_watch *w)
{
	if (!w || pthread_mutex_trylock(&w->lock))
		return;
	write_rows(w);
}

static void finish_rows(struct gt_host_watch *w, struct watched_process *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct put put = put_of(w, p, i);

		if (p->threads[i].ordinal)
			gt_host_spell_flush(&p->threads[i].spell, on_row, &put);
	}
}

void gt_host_watch_write_all(struct gt_host_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->count; i++)
		if (!w->processes[i]->is_ended)
			finish_rows(w, w->processes[i]);
	write_rows(w);
}

void gt_host_watch_end(struct gt_host_watch *w, const struct gt_process *process)
{
	if (!w || !process->segment)
		return;
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->count; i++) {
		if (w->processes[i]->index != process->index || w->processes[i]->is_ended)
			continue;
		finish_rows(w, w->processes[i]);
		w->processes[i]->is_ended = true;
	}
	write_rows(w);
}

/* Progress -------------------------------------------------------------------------- */

/* Find the place of the newest record in a thread's ring. Return false if the ring is not readable
 * or too long. Called under the guard. */
static bool find_newest(const struct gt_process *process, uint32_t slot, uint32_t ordinal,
			uint32_t *block, uint32_t *committed)
{
	const struct gt_block *b;
	uint32_t next = *block;

	/* the block of the last look is a good start while it belongs to the thread */
	if (!gt_process_has_block(process, next) || gt_process_block(process, next)->slot != slot ||
	    gt_process_block(process, next)->ordinal != ordinal)
		next = atomic_load_explicit(&gt_process_slot(process, slot)->first,
					    memory_order_acquire);
	*committed = 0;
	*block = GT_BLOCK_NONE;
	for (int i = 0; i < BLOCKS_MOST; i++) {
		if (next == GT_BLOCK_NONE)
			return true;
		if (!gt_process_has_block(process, next))
			return false;
		b = gt_process_block(process, next);
		*block = next;
		next = atomic_load_explicit(&((struct gt_block *)(uintptr_t)b)->next,
					    memory_order_acquire);
		*committed = atomic_load_explicit(&((struct gt_block *)(uintptr_t)b)->committed,
						  memory_order_relaxed);
	}
	return false;
}

/* Return true if the thread has called a GPU runtime. */
static bool has_calls(const struct gt_slot *slot)
{
	for (int k = 0; k < GT_DOMAIN_COUNT; k++)
		if (!gt_domain_traits[k].annotations &&
		    atomic_load_explicit(
			    &((struct gt_slot *)(uintptr_t)slot)->domains[k].seen[GT_CLASS_CALL],
			    memory_order_relaxed))
			return true;
	return false;
}

/* Look at one slot. Called under the guard. */
static void look_at_slot(const struct gt_process *process, uint32_t i, struct watched_thread *t,
			 bool paused, uint64_t now)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	uint32_t block = t->block, committed = 0;
	bool is_known;

	t->is_due = false;
	if (atomic_load_explicit(&((struct gt_slot *)(uintptr_t)slot)->state,
				 memory_order_acquire) != GT_SLOT_ACTIVE ||
	    slot->ordinal != t->ordinal) {
		t->is_gone = true;
		return;
	}
	is_known = find_newest(process, i, t->ordinal, &block, &committed);
	if (paused || !is_known || block != t->block || committed != t->committed) {
		t->block = block;
		t->committed = committed;
		t->has_moved = true;
		t->is_due = t->spell.is_open;
	} else {
		t->spell.quiet_ns = now;
	}
	if (!t->calls)
		t->calls = has_calls(slot);
	if (t->has_moved)
		return;
	t->is_due = t->calls && now >= t->spell.next_ns;
}

/* Note the threads that have started since the last look. Called under the guard; sets ordinals
 * only. */
static void note_thread(const struct gt_process *process, uint32_t i, struct watched_thread *t)
{
	const struct gt_slot *slot = gt_process_slot(process, i);

	if (t->ordinal || atomic_load_explicit(&((struct gt_slot *)(uintptr_t)slot)->state,
					       memory_order_acquire) != GT_SLOT_ACTIVE)
		return;
	t->ordinal = slot->ordinal;
	t->tid = slot->tid;
	t->has_moved = true;
}

static void close_thread(struct watched_thread *t)
{
	if (t->is_open)
		gt_host_spell_close(&t->spell);
	memset(t, 0, sizeof *t);
}

/* Make room for the threads of a process. Return false if out of memory. */
static bool grow_threads(struct gt_host_watch *w, struct watched_process *p, uint32_t used)
{
	struct watched_thread *more;
	size_t before = p->room;

	if (used <= p->count)
		return true;
	pthread_mutex_lock(&w->lock);
	more = gt_grow_to(p->threads, used, &p->room, sizeof *more);
	if (more) {
		memset(more + before, 0, (p->room - before) * sizeof *more);
		p->threads = more;
		p->count = used;
	}
	pthread_mutex_unlock(&w->lock);
	return more != NULL;
}

static struct watched_process *find_watched(struct gt_host_watch *w, uint32_t index)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->processes[i]->index == index)
			return w->processes[i];
	return NULL;
}

static struct watched_process *add_watched(struct gt_host_watch *w,
					   const struct gt_process *process)
{
	struct watched_process *p = calloc(1, sizeof *p), **more;

	if (!p)
		return NULL;
	p->index = process->index;
	p->is_hidden = gt_host_process_open(process->pid, &p->files) != 0;
	pthread_mutex_lock(&w->lock);
	more = gt_grow(w->processes, w->count, &w->room, sizeof *more);
	if (more) {
		w->processes = more;
		w->processes[w->count++] = p;
	}
	pthread_mutex_unlock(&w->lock);
	if (!more) {
		gt_host_process_close(&p->files);
		free(p);
	}
	return more ? p : NULL;
}

/* Read the number of slots that were used. Return 0 if the segment is not readable. */
/* Return true if a runtime of the process may execute activities on threads of the process. */
static bool may_execute(const struct gt_process *process)
{
	volatile uint64_t runtimes = 0;

	if (!GT_GUARD())
		return false;
	runtimes = atomic_load_explicit(&process->segment->runtimes_seen, memory_order_relaxed);
	gt_guard_end();
	return runtimes & (GT_DOMAIN_BIT(GT_DOMAIN_OPENCL) | GT_DOMAIN_BIT(GT_DOMAIN_REFDEV));
}

static uint32_t read_slots_used(const struct gt_process *process)
{
	volatile uint32_t used = 0;

	if (!GT_GUARD())
		return 0;
	used = gt_process_slots_used(process);
	gt_guard_end();
	return used;
}

/* Return true if the process is not recorded now. Called under the guard. */
static bool is_paused(const struct gt_segment *r)
{
	uint32_t count = atomic_load_explicit(&((struct gt_segment *)(uintptr_t)r)->window_count,
					      memory_order_acquire);

	return count && !r->windows[(count - 1) % GT_WINDOWS_KEPT].recorded;
}

static void look_at_slots(const struct gt_process *process, struct watched_thread *threads,
			  size_t count, uint64_t now)
{
	bool paused;

	if (!GT_GUARD())
		return;
	paused = is_paused(process->segment);
	for (uint32_t i = 1; i < count; i++) {
		note_thread(process, i, &threads[i]);
		if (threads[i].ordinal)
			look_at_slot(process, i, &threads[i], paused, now);
	}
	gt_guard_end();
}

static void look_at_process(struct gt_host_watch *w, const struct gt_process *process, uint64_t now)
{
	struct watched_process *p;

	if (!process->segment || process->exited || process->lost || process->pidfd < 0 ||
	    process->is_unseen)
		return;
	p = find_watched(w, process->index);
	if (!p)
		p = add_watched(w, process);
	if (!p)
		return;
	p->is_seen = true;
	p->has_workers = may_execute(process);
	if (!p->is_hidden && grow_threads(w, p, read_slots_used(process)))
		look_at_slots(process, p->threads, p->count, now);
}

/* Forget processes that have ended. */
static void forget_processes(struct gt_host_watch *w)
{
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->count;) {
		struct watched_process *p = w->processes[i];

		if (p->is_seen && !p->is_ended) {
			i++;
			continue;
		}
		if (!p->is_ended)
			finish_rows(w, p);
		for (size_t k = 0; k < p->count; k++)
			close_thread(&p->threads[k]);
		free(p->threads);
		gt_host_process_close(&p->files);
		free(p);
		w->processes[i] = w->processes[--w->count];
	}
	pthread_mutex_unlock(&w->lock);
}

static void look_at_processes(struct gt_host_watch *w, uint64_t now)
{
	struct gt_drain *d = w->drain;

	for (size_t i = 0; i < w->count; i++)
		w->processes[i]->is_seen = false;
	pthread_mutex_lock(&d->list_lock);
	for (size_t i = 0; i < d->process_count; i++)
		look_at_process(w, d->processes[i], now);
	pthread_mutex_unlock(&d->list_lock);
	forget_processes(w);
}

/* Reading --------------------------------------------------------------------------- */

/* Return the time of the next reading: the next look while the state is new. */
static uint64_t find_next(const struct gt_host_spell *s)
{
	uint64_t wait = (s->last.ns - s->since_ns) / AGAIN_PART;

	return s->since_ns ? s->last.ns + (wait < AGAIN_MOST_NS ? wait : AGAIN_MOST_NS) : 0;
}

static void note_denied(struct gt_host_watch *w, struct watched_process *p, int error)
{
	pthread_mutex_lock(&w->lock);
	p->denied = error;
	w->has_denied = true;
	pthread_mutex_unlock(&w->lock);
}

/* Read a thread, and add the reading to its spell. */
static void read_thread(struct gt_host_watch *w, struct watched_process *p, size_t slot)
{
	struct watched_thread *t = &p->threads[slot];
	struct put put = put_of(w, p, slot);
	struct gt_host_spell_reading r;
	int status;

	if (!t->is_open) {
		gt_host_spell_init(&t->spell, &p->files, t->tid);
		t->is_open = true;
	}
	status = gt_host_spell_read(&t->spell, &w->peers, t->has_moved, &r);
	pthread_mutex_lock(&w->lock);
	if (!p->is_ended) {
		if (status)
			gt_host_spell_flush(&t->spell, on_row, &put);
		else
			gt_host_spell_add(&t->spell, &r, t->has_moved, on_row, &put);
	}
	if (t->has_moved || status)
		gt_host_spell_end(&t->spell);
	else
		t->spell.next_ns = find_next(&t->spell);
	pthread_mutex_unlock(&w->lock);
	t->has_moved = false;
	if (t->spell.thread.syscall_error && !p->denied)
		note_denied(w, p, t->spell.thread.syscall_error);
}

/* Return true for a thread that calls a GPU runtime, which is not a worker of the runtime. */
static bool is_caller(const void *process, uint32_t tid)
{
	const struct watched_process *p = process;

	for (size_t i = 0; i < p->count; i++)
		if (p->threads[i].calls && p->threads[i].tid == tid)
			return true;
	return false;
}

/* Read the delays of the other threads of the process. */
static void read_workers(struct gt_host_watch *w, struct watched_process *p, size_t slot,
			 bool is_last)
{
	struct gt_host_delays delays;
	struct gt_host_row row;

	if (!gt_host_workers_read(&p->workers, &p->files, is_last, is_caller, p, &delays))
		return;
	row = (struct gt_host_row){.start = delays.start,
				   .end = delays.end,
				   .holder = delays.tid,
				   .object = delays.sum_ns,
				   .delay_ns = delays.longest_ns};
	memcpy(row.text, delays.name, sizeof delays.name);
	pthread_mutex_lock(&w->lock);
	if (!p->is_ended)
		put_row(w, p, (uint32_t)slot, p->threads[slot].ordinal, GT_HOST_WORKERS, &row);
	pthread_mutex_unlock(&w->lock);
}

/* A thread that has made progress in this look may wait from now on. */
static void note_age(struct gt_host_watch *w, const struct watched_thread *t)
{
	uint64_t age =
		t->has_moved || !t->spell.since_ns ? 0 : t->spell.last.ns - t->spell.since_ns;

	if (t->calls && age < w->youngest_ns)
		w->youngest_ns = age;
}

/* Finish the rows of a thread that has ended. */
static void forget_thread(struct gt_host_watch *w, struct watched_process *p, size_t slot)
{
	struct put put = put_of(w, p, slot);

	pthread_mutex_lock(&w->lock);
	if (!p->is_ended)
		gt_host_spell_flush(&p->threads[slot].spell, on_row, &put);
	close_thread(&p->threads[slot]);
	pthread_mutex_unlock(&w->lock);
}

/* Return true if the readings of this look have taken too long, so that the others must wait. */
static bool is_spent(struct gt_host_watch *w)
{
	if (!w->is_spent && ++w->reads % SPENT_READS == 0)
		w->is_spent = gt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - w->spent_ns > LOOK_MOST_NS;
	return w->is_spent;
}

/* Read the threads of a process that are due, from @from up to @to. */
static void read_process(struct gt_host_watch *w, size_t process, size_t from, size_t to)
{
	struct watched_process *p = w->processes[process];

	for (size_t k = from; k < to; k++) {
		struct watched_thread *t = &p->threads[k];

		note_age(w, t);
		if (t->is_gone) {
			forget_thread(w, p, k);
		} else if (t->is_due && (t->has_moved || !is_spent(w))) {
			const bool is_last = t->has_moved;

			read_thread(w, p, k);
			if (p->has_workers)
				read_workers(w, p, k, is_last);
			/* the next look starts after the last thread that was read */
			w->turn_process = process;
			w->turn_thread = k + 1;
		}
		t->has_moved = false;
	}
}

/* Read the threads that are due, in turn. */
static void read_threads(struct gt_host_watch *w)
{
	size_t first = w->count ? w->turn_process % w->count : 0,
	       start = w->count ? w->turn_thread % (w->processes[first]->count + 1) : 0;

	w->youngest_ns = UINT64_MAX;
	w->is_spent = false;
	for (size_t n = 0; n < w->count; n++) {
		size_t process = (first + n) % w->count;

		read_process(w, process, n ? 0 : start, w->processes[process]->count);
	}
	if (w->count)
		read_process(w, first, 0, start);
}

/* The thread ------------------------------------------------------------------------ */

/* Return the time until the next look: the period, or more if all threads have been in their state
 * for long, or if the readings take too long. */
static uint64_t next_pause(struct gt_host_watch *w, uint64_t now)
{
	uint64_t spent = gt_clock_ns(CLOCK_THREAD_CPUTIME_ID), pause = w->youngest_ns / AGAIN_PART;

	if (w->youngest_ns == UINT64_MAX)
		pause = UNUSED_PERIODS * w->period_ns;
	else if (pause > PAUSE_MOST_NS)
		pause = PAUSE_MOST_NS;
	if (pause < w->period_ns)
		pause = w->period_ns;
	w->budget_ns +=
		(int64_t)((now - w->looked_ns) / BUDGET_PART) - (int64_t)(spent - w->spent_ns);
	if (w->budget_ns > (int64_t)BUDGET_BURST_NS)
		w->budget_ns = (int64_t)BUDGET_BURST_NS;
	w->spent_ns = spent;
	w->looked_ns = now;
	if (w->budget_ns < 0)
		pause += (uint64_t)-w->budget_ns * BUDGET_PART;
	return pause < SLEEP_MOST_NS ? pause : SLEEP_MOST_NS;
}

static void look(struct gt_host_watch *w)
{
	struct gt_clock_tuple tuple;

	gt_clock_tuple_take(w->host_clock, &tuple);
	pthread_mutex_lock(&w->lock);
	w->newest = tuple;
	pthread_mutex_unlock(&w->lock);
	look_at_processes(w, tuple.boottime_ns);
	read_threads(w);
}

static void *run(void *data)
{
	struct gt_host_watch *w = data;
	struct timespec until;
	uint64_t pause = w->period_ns, due;
	bool is_over = false;

	pthread_setname_np(pthread_self(), "thread-states");
	gt_short_slice_take();
	w->looked_ns = gt_clock_ns(CLOCK_BOOTTIME);
	while (!is_over) {
		due = gt_clock_ns(CLOCK_MONOTONIC) + pause;
		until = (struct timespec){(time_t)(due / (1000 * MS)), (long)(due % (1000 * MS))};
		pthread_mutex_lock(&w->lock);
		while (!w->is_over && !pthread_cond_timedwait(&w->wake, &w->lock, &until))
			continue;
		is_over = w->is_over;
		pthread_mutex_unlock(&w->lock);
		if (!is_over)
			look(w);
		pause = next_pause(w, gt_clock_ns(CLOCK_BOOTTIME));
	}
	return NULL;
}

/* Start the thread. It must not take the session's signals. */
static int start_thread(struct gt_host_watch *w)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int status;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* the guard's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&w->thread, &attributes, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -status;
}

struct gt_host_watch *gt_host_watch_start(struct gt_drain *drain, uint32_t host_clock,
					  uint64_t period_ns)
{
	struct gt_host_watch *w = calloc(1, sizeof *w);
	pthread_condattr_t clock;
	int status;

	if (!w) {
		gt_error(-ENOMEM, "no memory for the states of threads");
		return NULL;
	}
	w->drain = drain;
	w->host_clock = host_clock;
	w->period_ns = period_ns ? period_ns : GT_HOST_WATCH_PERIOD_MS * MS;
	w->budget_ns = (int64_t)BUDGET_BURST_NS;
	gt_clock_tuple_take(host_clock, &w->first);
	w->newest = w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &clock);
	pthread_condattr_destroy(&clock);
	status = start_thread(w);
	if (status) {
		gt_error(status, "cannot start a thread that reads the states of threads");
		free(w);
		return NULL;
	}
	return w;
}

void gt_host_watch_stop(struct gt_host_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_over = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	for (size_t i = 0; i < w->count; i++)
		w->processes[i]->is_ended = true;
	forget_processes(w);
	free(w->processes);
	free(w->rows);
	free(w->taken);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
