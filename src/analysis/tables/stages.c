/* SPDX-License-Identifier: MIT */
#include "analysis/tables/stages.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_MOST = 1 << 20 };

/* Origin of an activity (its process, device, queue and track) or of a call (its process, thread
 * and group). Must not contain padding, because origins are compared as bytes. */
struct stages_origin {
	uint64_t slack_ns;
	uint32_t process;
	uint32_t device, queue, track;
	uint32_t thread, group;
	uint32_t kind;   /* calls: enum stages_kind */
	uint32_t domain; /* calls: domain */
	uint32_t moves, dependent;
};

/* A row of the first pass, sorted by `at`: the start of a GPU activity, or the end of a call that
 * waits for queues. There is one row of 48 bytes for each activity. */
struct stage_row {
	uint64_t at;
	uint64_t other;         /* activity: its end; call: its start */
	uint64_t from;          /* activity: start of its call; call: handle of the queue */
	uint64_t id, submitted; /* activities only */
	uint32_t origin : 31, is_call : 1;
	uint32_t tag; /* activities only */
};

/* A row of the second pass: an activity, or a call that waited for an activity. */
struct join {
	uint64_t id, start, end;
	union {
		/* activity that moves data: time spent waiting for earlier activities */
		uint64_t earlier;
		uint64_t wait; /* call that waited for events or a stream: number of the wait */
	};
	uint32_t process;
	uint32_t origin : 31, is_call : 1;
};

/* A row of the third pass. A call that waited for events or a stream has one row, followed by one
 * row for each activity that it waited for. */
struct wait_part {
	uint64_t wait;
	uint64_t start, end; /* times of the call or of the activity */
	uint64_t slack;
	uint32_t origin; /* origin of the call or of the activity */
	uint8_t is_activity, found;
};

struct running {
	uint64_t call_start, start, end, slack;
};

/* State of a queue at the current time of the sweep. */
struct queue_state {
	uint64_t ended; /* latest end of the activities that have ended; 0: none has ended */
	struct running *running;
	size_t count, room;
};

/* A time in which any queue of a device was busy. Spans are disjoint and in order. */
struct span {
	uint64_t start, end, before; /* before: total length of the earlier spans */
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
	struct queue_state *queues;
	size_t queue_room;
	struct device *devices;
	size_t device_room;
};

static int compare_rows(const void *a, const void *b)
{
	const struct stage_row *x = a, *y = b;

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

static int compare_parts(const void *a, const void *b)
{
	const struct wait_part *x = a, *y = b;

	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	if (x->is_activity != y->is_activity)
		return (int)x->is_activity - (int)y->is_activity;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
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
	*s = (struct stages){.activity = {.row_bytes = sizeof(struct stage_row),
					  .compare = compare_rows},
			     .calls = {.row_bytes = sizeof(struct join), .compare = compare_joins},
			     .parts = {.row_bytes = sizeof(struct wait_part),
				       .compare = compare_parts}};
	wait_targets_init(&s->wait_targets);
}

/* Origins ------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct stages *s, const struct stages_origin *origin)
{
	uint64_t words[sizeof *origin / 8], h = 0;

	memcpy(words, origin, sizeof words);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		h = (h ^ words[i]) * UINT64_C(0xd6e8feb86659fd93);
		h ^= h >> 32;
	}
	for (;; h++) {
		uint32_t *slot = &s->slots[h & (s->slot_count - 1)];

		if (!*slot || !memcmp(&s->origins[*slot - 1], origin, sizeof *origin))
			return slot;
	}
}

static void add_slots(struct stages *s)
{
	free(s->slots);
	s->slot_count = s->slot_count ? 2 * s->slot_count : 256;
	s->slots = allocate_list(s->slot_count, sizeof *s->slots);
	for (uint32_t i = 0; i < s->origin_count; i++)
		*slot_of(s, &s->origins[i]) = i + 1;
}

/* Return the number of an origin. @last: cache for the few origins that are looked up
 * repeatedly. */
static uint32_t get_number(struct stages *s, const struct stages_origin *origin, uint32_t *last)
{
	uint32_t *slot;

	last += (origin->track + origin->queue + origin->moves + origin->thread + origin->group) %
		STAGES_LAST;
	if (*last && !memcmp(&s->origins[*last - 1], origin, sizeof *origin))
		return *last - 1;
	if (2 * (s->origin_count + 1) > s->slot_count)
		add_slots(s);
	slot = slot_of(s, origin);
	if (!*slot) {
		GROW_LIST(s->origins, s->origin_count, s->origin_room);
		s->origins[s->origin_count] = *origin;
		*slot = ++s->origin_count;
	}
	*last = *slot;
	return *slot - 1;
}

void stages_activity(struct stages *s, const struct stages_activity *activity)
{
	struct stages_origin origin = {.slack_ns = activity->slack_ns,
				       .process = activity->process,
				       .device = activity->device,
				       .queue = activity->queue,
				       .track = activity->track,
				       .moves = activity->moves};
	struct stage_row row = {.at = activity->start_ns,
				.other = activity->end_ns,
				.from = activity->call_start_ns,
				.id = activity->id,
				.submitted = activity->submitted_ns,
				.origin = get_number(s, &origin, s->last_activity) & INT32_MAX,
				.tag = activity->tag};

	sorter_add(&s->activity, &row);
}

void stages_call(struct stages *s, const struct stages_call *call)
{
	struct stages_origin origin = {.process = call->process,
				       .thread = call->thread,
				       .group = call->group,
				       .domain = call->domain,
				       .kind = call->kind,
				       .dependent = call->dependent};
	uint32_t number = get_number(s, &origin, s->last_call);

	if (call->kind == STAGES_COPY) {
		struct join join = {.id = call->id,
				    .start = call->start_ns,
				    .end = call->end_ns,
				    .process = call->process,
				    .origin = number & INT32_MAX,
				    .is_call = true};

		sorter_add(&s->calls, &join);
	} else if (call->kind == STAGES_EVENTS || call->kind == STAGES_STREAM) {
		struct wait_part part = {.wait = s->event_waits++,
					 .start = call->start_ns,
					 .end = call->end_ns,
					 .origin = number};

		sorter_add(&s->parts, &part);
		for (size_t i = 0; i < call->handle_count; i++) {
			struct wait_handle handle = {call->handles[i], call->process,
						     call->kind == STAGES_STREAM};

			wait_targets_add_wait(&s->wait_targets, &handle, call->start_ns, part.wait);
		}
	} else {
		struct stage_row row = {.at = call->end_ns,
					.other = call->start_ns,
					.from = call->queue,
					.origin = number & INT32_MAX,
					.is_call = true};

		sorter_add(&s->activity, &row);
	}
}

/* Queues and devices ------------------------------------------------------------- */

static struct queue_state *queue_at(struct sweep *w, uint32_t number)
{
	GROW_LIST(w->queues, number, w->queue_room);
	return &w->queues[number];
}

static struct device *device_at(struct sweep *w, uint32_t number)
{
	GROW_LIST(w->devices, number, w->device_room);
	return &w->devices[number];
}

/* Remove activities that have ended by @now. */
static void advance(struct queue_state *q, uint64_t now)
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

static void add_running(struct queue_state *q, const struct stage_row *activity,
			const struct stages_origin *origin)
{
	GROW_LIST(q->running, q->count, q->room);
	q->running[q->count++] =
		(struct running){activity->from, activity->at, activity->other, origin->slack_ns};
}

static void add_span(struct device *d, uint64_t start, uint64_t end)
{
	struct span *last = d->count ? &d->spans[d->count - 1] : NULL;

	if (last && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	if (d->count == SPANS_MOST) { /* activities never wait that long in a queue */
		memmove(d->spans, d->spans + SPANS_MOST / 2, SPANS_MOST / 2 * sizeof *d->spans);
		d->count = SPANS_MOST / 2;
	}
	GROW_LIST(d->spans, d->count, d->room);
	last = d->count ? &d->spans[d->count - 1] : NULL;
	d->spans[d->count++] =
		(struct span){start, end, last ? last->before + (last->end - last->start) : 0};
}

/* Return the busy time of the device up to @time. */
static uint64_t busy_by(const struct device *d, uint64_t time)
{
	size_t low = d->count, high = d->count;
	const struct span *s;

	/* search from the end, because @time is usually late */
	for (size_t step = 1; low && d->spans[low - 1].start >= time; step *= 2) {
		high = low - 1;
		low = low > step ? low - step : 0;
	}
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

/* Find how long an activity waited for earlier activities of its own queue, and for those of other
 * queues on the device. */
static void find_behind(struct sweep *w, const struct stage_row *activity,
			const struct stages_origin *origin, uint64_t *own, uint64_t *others)
{
	struct queue_state *q = origin->queue == LOOKUP_NONE ? NULL : queue_at(w, origin->queue);
	const struct device *d = device_at(w, origin->device);
	uint64_t start = activity->at, from = activity->from, free_at = from, beside = start;

	*own = *others = 0;
	if (q) {
		advance(q, start);
		free_at = q->ended > from ? q->ended : from;
		for (size_t i = 0; i < q->count;
		     i++) /* out-of-order queue, or overlapping time stamps */
			beside = q->running[i].start < beside ? q->running[i].start : beside;
	}
	if (!from || start <= from)
		return;
	beside = beside > free_at ? beside : free_at;
	*own = (free_at - from) + (start - beside);
	if (beside > free_at)
		*others = busy_by(d, beside) - busy_by(d, free_at);
}

static void sweep_activity(struct sweep *w, const struct stage_row *activity)
{
	const struct stages_origin *origin = &w->stages->origins[activity->origin];
	const struct stages_activity started = {.id = activity->id,
						.call_start_ns = activity->from,
						.submitted_ns = activity->submitted,
						.start_ns = activity->at,
						.end_ns = activity->other,
						.tag = activity->tag};
	uint64_t own, others;

	if (w->out->activity)
		w->out->activity(w->out->data, &started);
	find_behind(w, activity, origin, &own, &others);
	if (origin->track != LOOKUP_NONE && activity->from && activity->at >= activity->from)
		w->out->latency(w->out->data, origin->track, own, others,
				activity->at - activity->from - own - others);
	if ((origin->moves || w->stages->event_waits) && activity->id) {
		struct join join = {.id = activity->id,
				    .start = activity->at,
				    .end = activity->other,
				    .earlier = own + others,
				    .process = origin->process,
				    .origin = activity->origin & INT32_MAX};

		sorter_add(&w->stages->calls, &join);
	}
	if (origin->queue != LOOKUP_NONE)
		add_running(queue_at(w, origin->queue), activity, origin);
	add_span(device_at(w, origin->device), activity->at, activity->other);
}

/* Find the end of the last activity of a queue that a call waited for. Return false if the call
 * returned before that, or some activities of the queue have no times. */
static bool find_last(struct sweep *w, const struct stages_queue *known,
		      const struct stage_row *call, uint64_t *last)
{
	struct queue_state *q = queue_at(w, known->queue);

	advance(q, call->at);
	*last = q->ended > *last ? q->ended : *last;
	for (size_t i = 0; i < q->count; i++) {
		const struct running *r = &q->running[i];

		if (r->call_start >= call->other)
			continue; /* another thread's activity, not waited for */
		if (r->end - call->at > r->slack)
			return false;
		*last = call->at;
	}
	return !known->untimed;
}

static void sweep_call(struct sweep *w, const struct stage_row *call)
{
	const struct stages_origin *origin = &w->stages->origins[call->origin];
	struct stages_wait wait = {0};
	uint64_t last = call->other, length = call->at - call->other;
	bool found = false, sure = !w->lost;
	struct stages_queue key = {.process = origin->process, .handle = call->from};
	size_t low = 0, high = w->known_count;

	if (origin->kind == STAGES_FINISH_ALL)
		key.handle = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_queues(&w->known[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < w->known_count && w->known[low].process == origin->process; low++) {
		const struct stages_queue *known = &w->known[low];

		if (origin->kind == STAGES_FINISH && known->handle != call->from)
			break;
		if (known->domain != origin->domain)
			continue;
		found = true;
		sure = find_last(w, known, call, &last) && sure;
	}
	if (found && sure) {
		wait.earlier_ns = last - call->other;
		wait.runtime_ns = length - wait.earlier_ns;
	} else {
		wait.unknown_ns = length;
	}
	w->out->wait(w->out->data, origin->thread, origin->group, &wait);
}

/* The second pass ---------------------------------------------------------------- */

/* Activities of a call that were seen so far. */
struct seen_activity {
	uint64_t id, start, end, slack;
	uint32_t process, origin; /* origin: origin of the last activity */
	/* first start and last end of the activities that move data */
	uint64_t moves_from, moves_until;
	uint64_t moved, earlier; /* times of the activities that move data */
	bool any, moves;
};

static void add_moving(struct seen_activity *w, const struct join *j)
{
	uint64_t from;

	if (!w->moves) {
		w->moves = true;
		w->moves_from = w->moves_until = j->start;
		w->earlier = j->earlier;
	}
	from = j->start > w->moves_until ? j->start : w->moves_until;
	w->moved += j->end > from ? j->end - from : 0;
	w->moves_until = j->end > w->moves_until ? j->end : w->moves_until;
}

static void add_seen(struct seen_activity *w, const struct join *j,
		     const struct stages_origin *origin)
{
	if (!w->any || w->id != j->id || w->process != j->process)
		*w = (struct seen_activity){.id = j->id,
					    .process = j->process,
					    .start = j->start,
					    .any = true};
	if (j->end >= w->end) {
		w->end = j->end;
		w->origin = j->origin;
	}
	w->slack = origin->slack_ns > w->slack ? origin->slack_ns : w->slack;
	if (origin->moves)
		add_moving(w, j);
}

static bool are_of(const struct seen_activity *w, const struct join *call)
{
	return w->any && w->id == call->id && w->process == call->process;
}

static void split_copy(const struct seen_activity *w, const struct join *call,
		       const struct stages_origin *origin, const struct stages_out *out)
{
	struct stages_wait wait = {0};
	uint64_t length = call->end - call->start,
		 late = w->moves_until > call->end ? w->moves_until - call->end : 0;

	if (!are_of(w, call) || !w->moves || w->moves_from < call->start || late > w->slack ||
	    late > w->moved) {
		wait.unknown_ns = length;
	} else {
		wait.transfer_ns = w->moved - late;
		wait.earlier_ns = w->earlier;
		wait.runtime_ns = length - wait.transfer_ns - wait.earlier_ns;
		/* before its own activity, the call may have waited for anything */
		if (origin->dependent) {
			wait.unknown_ns = w->moves_from - call->start - w->earlier;
			wait.runtime_ns -= wait.unknown_ns;
		}
	}
	out->wait(out->data, origin->thread, origin->group, &wait);
}

static void add_part(struct stages *s, const struct seen_activity *w, const struct join *event)
{
	struct wait_part part = {.wait = event->wait, .is_activity = true};

	if (are_of(w, event)) {
		part.found = true;
		part.start = w->start;
		part.end = w->end;
		part.slack = w->slack;
		part.origin = w->origin;
	}
	sorter_add(&s->parts, &part);
}

static int join_calls(struct stages *s, const struct stages_out *out)
{
	struct seen_activity seen = {.any = false};
	const void *row;
	int rc;

	while ((rc = sorter_next(&s->calls, &row)) > 0) {
		const struct join *j = row;
		const struct stages_origin *origin = &s->origins[j->origin];

		if (!j->is_call)
			add_seen(&seen, j, origin);
		else if (origin->kind == STAGES_EVENTS)
			add_part(s, &seen, j);
		else
			split_copy(&seen, j, origin, out);
	}
	return rc;
}

/* Calls that waited for events or a stream --------------------------------------- */

struct events {
	struct stages *stages;
	uint32_t origin; /* origin of rows that request the activities of a call */
};

static void ask_for_activity(void *to, uint64_t wait, uint32_t process, uint64_t id)
{
	struct events *e = to;
	struct wait_part unknown = {.wait = wait, .is_activity = true};
	struct join join = {.id = id,
			    .wait = wait,
			    .process = process,
			    .origin = e->origin & INT32_MAX,
			    .is_call = true};

	if (id)
		sorter_add(&e->stages->calls, &join);
	else
		sorter_add(&e->stages->parts, &unknown);
}

static int find_awaited(struct stages *s)
{
	const struct stages_origin origin = {.kind = STAGES_EVENTS};
	struct events events = {s, get_number(s, &origin, s->last_call)};

	return wait_targets_find(&s->wait_targets, ask_for_activity, &events);
}

/* Split a wait for events or a stream. @last: the activity with the latest end among those that
 * were unfinished when the call began. A handle whose activity was already finished is not
 * conclusive, because the handle may since belong to another event whose call was not recorded.
 * @sure: true if all handles were conclusive, the activities of all handles are known, and the call
 * waited for nothing else. */
static void split_events(const struct stages *s, const struct wait_part *call,
			 const struct wait_part *last, bool sure, const struct stages_out *out)
{
	const struct stages_origin *origin = &s->origins[call->origin];
	struct stages_wait wait = {0};
	uint64_t until = last->end < call->end ? last->end : call->end,
		 from = last->start > call->start ? last->start : call->start;

	if (!last->found || last->end - until > last->slack) {
		wait.unknown_ns = call->end - call->start;
	} else {
		wait.transfer_ns =
			s->origins[last->origin].moves && until > from ? until - from : 0;
		wait.earlier_ns = until - call->start - wait.transfer_ns;
		*(sure ? &wait.runtime_ns : &wait.unknown_ns) = call->end - until;
	}
	out->wait(out->data, origin->thread, origin->group, &wait);
}

static int join_events(struct stages *s, bool lost, const struct stages_out *out)
{
	struct wait_part call = {.start = 0}, last = {.found = false};
	bool any = false, sure = false;
	const void *row;
	int rc;

	while ((rc = sorter_next(&s->parts, &row)) > 0) {
		const struct wait_part *p = row;

		if (!p->is_activity) {
			if (any)
				split_events(s, &call, &last, sure, out);
			any = true;
			sure = !lost && !s->origins[p->origin].dependent;
			call = *p;
			last = (struct wait_part){.found = false};
		} else if (p->found && p->end > call.start) {
			last = *p;
		} else {
			sure = false;
		}
	}
	if (any)
		split_events(s, &call, &last, sure, out);
	return rc;
}

int stages_finish(struct stages *s, struct stages_queue *queues, size_t queue_count, bool lost,
		  const struct stages_out *out)
{
	struct sweep w = {
		.stages = s, .out = out, .known = queues, .known_count = queue_count, .lost = lost};
	const void *row;
	int rc;

	rc = find_awaited(s);
	if (rc)
		return rc;
	if (queue_count)
		qsort(queues, queue_count, sizeof *queues, compare_queues);
	while ((rc = sorter_next(&s->activity, &row)) > 0) {
		const struct stage_row *r = row;

		if (r->is_call)
			sweep_call(&w, r);
		else
			sweep_activity(&w, r);
	}
	for (size_t i = 0; i < w.queue_room; i++)
		free(w.queues[i].running);
	for (size_t i = 0; i < w.device_room; i++)
		free(w.devices[i].spans);
	free(w.queues);
	free(w.devices);
	rc = rc ? rc : join_calls(s, out);
	return rc ? rc : join_events(s, lost, out);
}

void stages_fini(struct stages *s)
{
	sorter_fini(&s->activity);
	sorter_fini(&s->calls);
	sorter_fini(&s->parts);
	wait_targets_fini(&s->wait_targets);
	free(s->origins);
	free(s->slots);
	*s = (struct stages){0};
}
