/* SPDX-License-Identifier: MIT */
/* See idle.h. Finds queues that were blocked by other activities, because of events.
 *
 *   1. The calls show to which call's activity each event refers, and which calls wait for the
 *      event (wait_targets.h). A wait belongs to the call that ended a gap, or to a stream, in
 *      which it blocks the next activities.
 *   2. The events of a wait are joined with the activities of their calls by call id, to find when
 *      the last of these activities ended.
 *   3. The waits and the rests (last parts) of gaps of each stream are read in the order of their
 *      calls. A rest was blocked until all waits since the stream's previous rest had ended. */
#include <stdlib.h>
#include <string.h>

#include "analysis/idle/idle_steps.h"
#include "analysis/idle/wait_targets.h"
#include "record/operation.h"

enum { EVENTS_MOST = 256 };

/* The activity of a call, or (wait != 0) a wait for this activity. */
struct held_join {
	uint64_t id, end, wait; /* wait: number of the wait + 1 */
	uint32_t process, name;
};

/* Result for one event of a wait. */
struct held_answer {
	uint64_t wait, end;
	uint32_t name;
	bool found; /* false: the end is not known */
};

/* A wait of a stream, or of the activity that ended a gap. A wait of an activity may name no
 * event. */
struct held_wait {
	uint64_t number, stream, at;
	uint64_t end; /* latest known end of the wait targets */
	struct idle_rest rest;
	uint32_t process, name;
	bool has_rest, unsure;
};

struct idle_blocked {
	struct wait_targets wait_targets;
	struct sorter joins, answers, waits, streams;
	uint64_t wait_count;
};

static int compare_numbers(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int compare_joins(const void *a, const void *b)
{
	const struct held_join *x = a, *y = b;

	if (x->process != y->process)
		return compare_numbers(x->process, y->process);
	if (x->id != y->id)
		return compare_numbers(x->id, y->id);
	if (x->wait != y->wait)
		return compare_numbers(x->wait, y->wait);
	return x->end != y->end ? compare_numbers(x->end, y->end)
				: compare_numbers(x->name, y->name);
}

static int compare_answers(const void *a, const void *b)
{
	const struct held_answer *x = a, *y = b;

	if (x->wait != y->wait)
		return compare_numbers(x->wait, y->wait);
	if (x->end != y->end)
		return compare_numbers(x->end, y->end);
	return x->found != y->found ? compare_numbers(x->found, y->found)
				    : compare_numbers(x->name, y->name);
}

static int compare_waits(const void *a, const void *b)
{
	const struct held_wait *x = a, *y = b;

	return compare_numbers(x->number, y->number);
}

static int compare_streams(const void *a, const void *b)
{
	const struct held_wait *x = a, *y = b;

	if (x->process != y->process)
		return compare_numbers(x->process, y->process);
	if (x->stream != y->stream)
		return compare_numbers(x->stream, y->stream);
	return x->at != y->at ? compare_numbers(x->at, y->at)
			      : compare_numbers(x->number, y->number);
}

struct idle_blocked *idle_blocked_create(void)
{
	struct idle_blocked *h = allocate_list(1, sizeof *h);

	wait_targets_init(&h->wait_targets);
	h->joins = (struct sorter){.row_bytes = sizeof(struct held_join), .compare = compare_joins};
	h->answers = (struct sorter){.row_bytes = sizeof(struct held_answer),
				     .compare = compare_answers};
	h->waits = (struct sorter){.row_bytes = sizeof(struct held_wait), .compare = compare_waits};
	h->streams =
		(struct sorter){.row_bytes = sizeof(struct held_wait), .compare = compare_streams};
	return h;
}

void idle_blocked_destroy(struct idle_blocked *h)
{
	if (!h)
		return;
	wait_targets_fini(&h->wait_targets);
	sorter_fini(&h->joins);
	sorter_fini(&h->answers);
	sorter_fini(&h->waits);
	sorter_fini(&h->streams);
	free(h);
}

void idle_blocked_add_activity(struct idle_blocked *h, uint32_t process, uint64_t id, uint64_t end,
			       uint32_t name)
{
	const struct held_join join = {.id = id, .end = end, .process = process, .name = name};

	sorter_add(&h->joins, &join);
}

/* Calls ----------------------------------------------------------------------------- */

static bool find_role(const struct gt_item *call, enum gt_role role, uint64_t *value)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};

	return call->args && gt_call_role(&view, role, 0, value);
}

/* Add the events of a wait. Return true if all events are known. */
static bool add_events(struct idle_blocked *h, const struct gt_item *call, uint64_t wait)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	struct wait_handle event = {.process = call->process};
	uint64_t events[EVENTS_MOST];
	const struct gt_operation_info *info = gt_operation(call->op);
	size_t count = 1;
	/* a single event in addition to a list is the event that the call returns */
	const bool one = !idle_names_events(info) && find_role(call, GT_ROLE_EVENT, &events[0]);

	if (!one &&
	    (!call->args || !gt_call_elements(&view, GT_ROLE_EVENT, events, EVENTS_MOST, &count)))
		return false;
	for (size_t i = 0; i < count; i++) {
		event.handle = events[i];
		wait_targets_add_wait(&h->wait_targets, &event, call->start_ns, wait << 1 | one);
	}
	return true;
}

static struct held_wait wait_of(struct idle_blocked *h, const struct gt_item *call)
{
	struct held_wait wait = {.number = h->wait_count++,
				 .at = call->start_ns,
				 .process = call->process};

	if (!find_role(call, GT_ROLE_STREAM, &wait.stream))
		wait.stream = UINT64_MAX; /* not known, because arguments were not recorded */
	return wait;
}

/* Note to which activity the call's event refers: to the call's own activity, or to the last
 * activity of the stream. */
static void note_events(struct idle_blocked *h, const struct gt_item *call,
			const struct gt_operation_info *info)
{
	struct wait_handle event = {.process = call->process},
			   stream = {.process = call->process, .is_stream = true};
	const bool gives_activity = info->kind == GT_KIND_LAUNCH || info->kind == GT_KIND_COPY ||
				    info->kind == GT_KIND_SET;

	if (info->signals_arg >= 0 && (unsigned)info->signals_arg < GT_OP_NARGS(call->op)) {
		event.handle = call->args[info->signals_arg];
		if (event.handle)
			wait_targets_add_call(&h->wait_targets, &event, call->start_ns, call->id);
	} else if (gives_activity && find_role(call, GT_ROLE_STREAM, &stream.handle)) {
		wait_targets_add_call(&h->wait_targets, &stream, call->start_ns, call->id);
	} else if (info->kind == GT_KIND_MARKER &&
		   find_role(call, GT_ROLE_STREAM, &stream.handle) &&
		   find_role(call, GT_ROLE_EVENT, &event.handle)) {
		wait_targets_add_record(&h->wait_targets, &event, &stream, call->start_ns);
	}
}

void idle_blocked_note_call(struct idle_blocked *h, const struct gt_item *call)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	enum idle_hold how;

	if (!info)
		return;
	if (call->args)
		note_events(h, call, info);
	if (idle_call_holds(call, &how) && how == IDLE_HOLDS_STREAM) {
		struct held_wait wait = wait_of(h, call);

		wait.unsure = !add_events(h, call, wait.number);
		sorter_add(&h->waits, &wait);
	}
}

void idle_blocked_add_rest(struct idle_blocked *h, const struct gt_item *call,
			   const struct idle_rest *rest)
{
	struct held_wait wait = wait_of(h, call);
	enum idle_hold how;

	wait.has_rest = true;
	wait.rest = *rest;
	if (idle_call_holds(call, &how) && how == IDLE_HOLDS_ACTIVITY)
		wait.unsure = !add_events(h, call, wait.number);
	sorter_add(&h->waits, &wait);
}

/* Joins ----------------------------------------------------------------------------- */

/* Add the call to which an event refers. A single event that refers to no call was recorded before
 * any activity and blocks nothing. An event in a list was returned by a call. If that call is not
 * known, the event may be one that the program sets itself. */
static void add_found(void *to, uint64_t wait, uint32_t process, uint64_t id)
{
	struct idle_blocked *h = to;
	const struct held_join join = {.id = id, .wait = (wait >> 1) + 1, .process = process};
	const struct held_answer nothing = {.wait = wait >> 1};

	if (id)
		sorter_add(&h->joins, &join);
	else if (!(wait & 1))
		sorter_add(&h->answers, &nothing);
}

static int join_activity(struct idle_blocked *h)
{
	struct held_join last = {.id = 0};
	const void *next;
	int rc;

	while ((rc = sorter_next(&h->joins, &next)) > 0) {
		const struct held_join *j = next;
		struct held_answer answer = {.wait = j->wait - 1};

		if (!j->wait) {
			last = *j;
			continue;
		}
		if (last.id == j->id && last.process == j->process) {
			answer.found = true;
			answer.end = last.end;
			answer.name = last.name;
		}
		sorter_add(&h->answers, &answer);
	}
	return rc;
}

/* Join each wait with the results for its events, and sort the wait into its stream. */
static int join_answers(struct idle_blocked *h)
{
	const struct held_answer *answer;
	const void *next;
	int rc, has = sorter_next(&h->answers, &next);

	answer = next;
	while (has >= 0 && (rc = sorter_next(&h->waits, &next)) > 0) {
		struct held_wait wait = *(const struct held_wait *)next;

		for (; has > 0 && answer->wait <= wait.number;
		     has = sorter_next(&h->answers, (const void **)&answer)) {
			if (answer->wait < wait.number)
				continue;
			wait.unsure |= !answer->found;
			if (answer->end > wait.end) {
				wait.end = answer->end;
				wait.name = answer->name;
			}
		}
		sorter_add(&h->streams, &wait);
	}
	return has < 0 ? has : rc;
}

static void split_rest(struct idle *s, const struct held_wait *wait, const struct held_wait *before)
{
	const struct held_wait *last = before->end > wait->end ? before : wait;
	struct idle_open gap;

	idle_open_gap(s, &gap, &wait->rest.gap);
	gap.calls = wait->rest.calls;
	idle_split_rest(s, &gap, wait->rest.from, last->end, last->name,
			wait->unsure || before->unsure);
	idle_close_gap(s, &gap);
}

int idle_blocked_finish(struct idle *s)
{
	struct idle_blocked *h = s->held;
	struct held_wait before = {.number = 0}; /* waits of the stream since its last rest */
	const void *next;
	int rc = wait_targets_find(&h->wait_targets, add_found, h);

	rc = rc ? rc : join_activity(h);
	rc = rc ? rc : join_answers(h);
	while (!rc && (rc = sorter_next(&h->streams, &next)) > 0) {
		const struct held_wait *wait = next;

		if (wait->process != before.process || wait->stream != before.stream)
			before = (struct held_wait){.process = wait->process,
						    .stream = wait->stream};
		rc = 0;
		if (!wait->has_rest) {
			before.unsure |= wait->unsure;
			if (wait->end > before.end) {
				before.end = wait->end;
				before.name = wait->name;
			}
			continue;
		}
		split_rest(s, wait, &before);
		before.end = 0;
		/* if the stream is not known, the wait may belong to a gap of another stream */
		before.unsure &= wait->stream == UINT64_MAX;
	}
	return rc;
}
