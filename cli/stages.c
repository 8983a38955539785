// SPDX-License-Identifier: MIT
#include "cli/stages.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_MOST = 1 << 20 };

/* Of the first pass: device work, at its start, and calls that wait for queues, at their end. */
struct row {
	uint64_t at;
	bool is_call;
	union {
		struct stages_work work;
		struct stages_call call;
	};
};

/* Of the second pass: work that moves data, and the call that waited for it. */
struct join {
	uint64_t id, start, end, earlier, slack;
	uint32_t process, thread, group;
	bool is_call, dependent;
};

struct running {
	uint64_t call_start, start, end, slack;
};

/* A queue as of the time that is looked at. */
struct queue {
	uint64_t ended; /* when the last of what is no longer running ended; 0: nothing has run */
	struct running *running;
	size_t count, room;
};

/* When any queue of a device worked: apart from each other, in order. */
struct span {
	uint64_t start, end, before; /* before: busy time of the spans before it */
};

struct device {
	struct span *spans;
	size_t count, room;
};

struct sweep {
	struct stages *stages;
	const struct stages_out *out;
	const struct stages_queue *known;
	size_t known_count;
	bool lost;
	struct queue *queues;
	size_t queue_room;
	struct device *devices;
	size_t device_room;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (int)x->is_call - (int)y->is_call;
}

static int compare_joins(const void *a, const void *b)
{
	const struct join *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->is_call != y->is_call)
		return (int)x->is_call - (int)y->is_call;
	return (x->start > y->start) - (x->start < y->start);
}

static int compare_queues(const void *a, const void *b)
{
	const struct stages_queue *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->handle > y->handle) - (x->handle < y->handle);
}

void stages_init(struct stages *s)
{
	*s = (struct stages){.work = {.row_bytes = sizeof(struct row), .compare = compare_rows},
			     .calls = {.row_bytes = sizeof(struct join), .compare = compare_joins}};
}

void stages_work(struct stages *s, const struct stages_work *work)
{
	struct row row;

	memset(&row, 0, sizeof row);
	row.at = work->start_ns;
	row.work = *work;
	spill_add(&s->work, &row);
}

void stages_call(struct stages *s, const struct stages_call *call)
{
	struct join join;
	struct row row;

	if (call->kind == STAGES_COPY) {
		memset(&join, 0, sizeof join);
		join.id = call->id;
		join.start = call->start_ns;
		join.end = call->end_ns;
		join.process = call->process;
		join.thread = call->thread;
		join.group = call->group;
		join.is_call = true;
		join.dependent = call->dependent;
		spill_add(&s->calls, &join);
		return;
	}
	memset(&row, 0, sizeof row);
	row.at = call->end_ns;
	row.is_call = true;
	row.call = *call;
	spill_add(&s->work, &row);
}

/* Queues and devices ------------------------------------------------------------- */

static struct queue *queue_at(struct sweep *w, uint32_t number)
{
	if (number >= w->queue_room) {
		w->queues = lookup_grow(w->queues, w->queue_room, number + 64, sizeof *w->queues);
		w->queue_room = number + 64;
	}
	return &w->queues[number];
}

static struct device *device_at(struct sweep *w, uint32_t number)
{
	if (number >= w->device_room) {
		w->devices =
			lookup_grow(w->devices, w->device_room, number + 8, sizeof *w->devices);
		w->device_room = number + 8;
	}
	return &w->devices[number];
}

/* What has ended by then is no longer running. */
static void advance(struct queue *q, uint64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < q->count; i++) {
		if (q->running[i].end > now)
			q->running[n++] = q->running[i];
		else if (q->running[i].end > q->ended)
			q->ended = q->running[i].end;
	}
	q->count = n;
}

static void add_running(struct queue *q, const struct stages_work *work)
{
	if (q->count == q->room) {
		size_t room = q->room ? 2 * q->room : 4;

		q->running = lookup_grow(q->running, q->room, room, sizeof *q->running);
		q->room = room;
	}
	q->running[q->count++] =
		(struct running){work->call_start_ns, work->start_ns, work->end_ns, work->slack_ns};
}

static void add_span(struct device *d, uint64_t start, uint64_t end)
{
	struct span *last = d->count ? &d->spans[d->count - 1] : NULL;

	if (last && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	if (d->count == SPANS_MOST) { /* nobody stands in a queue for so long */
		memmove(d->spans, d->spans + SPANS_MOST / 2, SPANS_MOST / 2 * sizeof *d->spans);
		d->count = SPANS_MOST / 2;
		last = &d->spans[d->count - 1];
	}
	if (d->count == d->room) {
		size_t room = d->room ? 2 * d->room : 256;

		d->spans = lookup_grow(d->spans, d->room, room, sizeof *d->spans);
		d->room = room;
		last = d->count ? &d->spans[d->count - 1] : NULL;
	}
	d->spans[d->count++] =
		(struct span){start, end, last ? last->before + (last->end - last->start) : 0};
}

/* How long the device had been busy by then. */
static uint64_t busy_by(const struct device *d, uint64_t time)
{
	size_t low = 0, high = d->count;
	const struct span *s;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->spans[middle].start < time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return d->count ? d->spans[0].before : 0;
	s = &d->spans[low - 1];
	return s->before + (time < s->end ? time : s->end) - s->start;
}

/* The first pass ----------------------------------------------------------------- */

/* How long work stood behind its own queue's work, and behind others' work of the device. */
static void find_behind(struct sweep *w, const struct stages_work *work, uint64_t *own,
			uint64_t *others)
{
	struct queue *q = work->queue == LOOKUP_NONE ? NULL : queue_at(w, work->queue);
	const struct device *d = device_at(w, work->device);
	uint64_t start = work->start_ns, from = work->call_start_ns, free_at = from, beside = start;

	*own = *others = 0;
	if (q) {
		advance(q, start);
		free_at = q->ended > from ? q->ended : from;
		for (size_t i = 0; i < q->count;
		     i++) /* of a queue out of order, or stamps that overlap */
			beside = q->running[i].start < beside ? q->running[i].start : beside;
	}
	if (!from || start <= from)
		return;
	beside = beside > free_at ? beside : free_at;
	*own = (free_at - from) + (start - beside);
	*others = busy_by(d, beside) - busy_by(d, free_at);
}

static void sweep_work(struct sweep *w, const struct stages_work *work)
{
	uint64_t own, others;

	find_behind(w, work, &own, &others);
	if (work->lane != LOOKUP_NONE && work->call_start_ns &&
	    work->start_ns >= work->call_start_ns)
		w->out->latency(w->out->data, work->lane, own, others,
				work->start_ns - work->call_start_ns - own - others);
	if (work->moves && work->id) {
		struct join join;

		memset(&join, 0, sizeof join);
		join.id = work->id;
		join.process = work->process;
		join.start = work->start_ns;
		join.end = work->end_ns;
		join.earlier = own + others;
		join.slack = work->slack_ns;
		spill_add(&w->stages->calls, &join);
	}
	if (work->queue != LOOKUP_NONE)
		add_running(queue_at(w, work->queue), work);
	add_span(device_at(w, work->device), work->start_ns, work->end_ns);
}

/* When the last work of a queue ended that a call waited for. False: it returned before that, or
 * not all of the queue's work has times. */
static bool find_last(struct sweep *w, const struct stages_queue *known,
		      const struct stages_call *call, uint64_t *last)
{
	struct queue *q = queue_at(w, known->queue);

	advance(q, call->end_ns);
	*last = q->ended > *last ? q->ended : *last;
	for (size_t i = 0; i < q->count; i++) {
		const struct running *r = &q->running[i];

		if (r->call_start >= call->start_ns)
			continue; /* another thread's, which is not waited for */
		if (r->end - call->end_ns > r->slack)
			return false;
		*last = call->end_ns;
	}
	return !known->untimed;
}

static void sweep_call(struct sweep *w, const struct stages_call *call)
{
	struct stages_wait wait = {0};
	uint64_t last = call->start_ns, length = call->end_ns - call->start_ns;
	bool found = false, sure = !w->lost;
	struct stages_queue key = {.process = call->process, .handle = call->queue};
	size_t low = 0, high = w->known_count;

	if (call->kind == STAGES_FINISH_ALL)
		key.handle = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_queues(&w->known[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < w->known_count && w->known[low].process == call->process; low++) {
		const struct stages_queue *known = &w->known[low];

		if (call->kind == STAGES_FINISH && known->handle != call->queue)
			break;
		if (call->kind == STAGES_FINISH_ALL && known->finished_alone)
			continue;
		found = true;
		sure = find_last(w, known, call, &last) && sure;
	}
	if (found && sure) {
		wait.earlier_ns = last - call->start_ns;
		wait.runtime_ns = length - wait.earlier_ns;
	} else {
		wait.unknown_ns = length;
	}
	w->out->wait(w->out->data, call->thread, call->group, &wait);
}

/* The second pass ---------------------------------------------------------------- */

/* The work of a blocking copy, as far as it was seen. */
struct pieces {
	uint64_t id, start, end, moved, earlier, slack;
	uint32_t process;
	bool any;
};

static void add_piece(struct pieces *p, const struct join *j)
{
	uint64_t from;

	if (!p->any || p->id != j->id || p->process != j->process)
		*p = (struct pieces){.id = j->id,
				     .process = j->process,
				     .start = j->start,
				     .end = j->start,
				     .earlier = j->earlier,
				     .any = true};
	from = j->start > p->end ? j->start : p->end;
	p->moved += j->end > from ? j->end - from : 0;
	p->end = j->end > p->end ? j->end : p->end;
	p->slack = j->slack > p->slack ? j->slack : p->slack;
}

static void split_copy(const struct pieces *p, const struct join *call,
		       const struct stages_out *out)
{
	struct stages_wait wait = {0};
	uint64_t length = call->end - call->start,
		 late = p->end > call->end ? p->end - call->end : 0;

	if (!p->any || p->id != call->id || p->process != call->process || p->start < call->start ||
	    late > p->slack || late > p->moved) {
		wait.unknown_ns = length;
	} else {
		wait.moving_ns = p->moved - late;
		wait.earlier_ns = p->earlier;
		wait.runtime_ns = length - wait.moving_ns - wait.earlier_ns;
		if (call->dependent) { /* before it began, it may have waited for anything */
			wait.unknown_ns = p->start - call->start - p->earlier;
			wait.runtime_ns -= wait.unknown_ns;
		}
	}
	out->wait(out->data, call->thread, call->group, &wait);
}

static int join_calls(struct stages *s, const struct stages_out *out)
{
	struct pieces pieces = {.any = false};
	const void *row;
	int rc;

	while ((rc = spill_next(&s->calls, &row)) > 0) {
		const struct join *j = row;

		if (j->is_call)
			split_copy(&pieces, j, out);
		else
			add_piece(&pieces, j);
	}
	return rc;
}

int stages_finish(struct stages *s, struct stages_queue *queues, size_t queue_count, bool lost,
		  const struct stages_out *out)
{
	struct sweep w = {
		.stages = s, .out = out, .known = queues, .known_count = queue_count, .lost = lost};
	const void *row;
	int rc;

	if (queue_count)
		qsort(queues, queue_count, sizeof *queues, compare_queues);
	while ((rc = spill_next(&s->work, &row)) > 0) {
		const struct row *r = row;

		if (r->is_call)
			sweep_call(&w, &r->call);
		else
			sweep_work(&w, &r->work);
	}
	for (size_t i = 0; i < w.queue_room; i++)
		free(w.queues[i].running);
	for (size_t i = 0; i < w.device_room; i++)
		free(w.devices[i].spans);
	free(w.queues);
	free(w.devices);
	return rc ? rc : join_calls(s, out);
}

void stages_fini(struct stages *s)
{
	spill_fini(&s->work);
	spill_fini(&s->calls);
}
