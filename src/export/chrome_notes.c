/* SPDX-License-Identifier: MIT */
/* See chrome_notes.h. */
#include "export/chrome_notes.h"

static uint32_t get_offset(const struct gt_chrome *x)
{
	return (uint32_t)(x->out.next - x->out.base);
}

static void *add_note(struct gt_chrome *x, enum gt_chrome_note_kind kind, size_t bytes)
{
	struct gt_chrome_note *note;

	bytes = (bytes + 7) & ~(size_t)7;
	note = gt_part_note(x->part, bytes);
	if (note)
		*note = (struct gt_chrome_note){kind, (uint32_t)bytes};
	else
		x->left = true;
	return note;
}

void gt_chrome_note_thread(struct gt_chrome *x, const struct gt_view_thread *t)
{
	struct gt_chrome_thread_note *n = add_note(x, GT_CHROME_NOTE_THREAD, sizeof *n);

	x->noted = t;
	x->left |= t->index >= x->known_threads;
	if (n) {
		n->at = get_offset(x);
		n->process = t->process;
		n->ordinal = t->ordinal;
	}
}

void gt_chrome_note_activity(struct gt_chrome *x, const struct gt_item *activity, bool timed,
			     const struct gt_chrome_place *place)
{
	struct gt_chrome_activity_note *n = add_note(x, GT_CHROME_NOTE_ACTIVITY, sizeof *n);

	x->left |= !activity->queue;
	if (n) {
		n->place = *place;
		n->process = activity->process;
		n->timed = timed;
		n->queue = activity->queue;
		n->start_ns = activity->start_ns;
		n->end_ns = activity->end_ns;
	}
}

void gt_chrome_note_replay(struct gt_chrome *x, const struct gt_item *activity,
			   uint64_t correlation)
{
	struct gt_chrome_replay_note *n = add_note(x, GT_CHROME_NOTE_REPLAY, sizeof *n);

	if (n) {
		n->correlation = correlation;
		n->activity = *activity;
	}
}

void gt_chrome_note_mark(struct gt_chrome *x, const struct gt_item *call)
{
	size_t args = call->args ? GT_OP_NARGS(call->op) * sizeof *call->args : 0,
	       payload = call->payload ? call->payload_bytes : 0;
	struct gt_chrome_mark_note *n =
		add_note(x, GT_CHROME_NOTE_MARK, sizeof *n + args + payload);
	char *rest = (char *)(n + 1);

	if (!n)
		return;
	n->at = get_offset(x);
	n->call = *call;
	if (args)
		memcpy(rest, call->args, args);
	if (payload)
		memcpy(rest + args, call->payload, payload);
}

void gt_chrome_note_memory(struct gt_chrome *x)
{
	size_t bytes = x->memory.count * sizeof *x->memory.changes;
	struct gt_chrome_memory_note *n =
		bytes ? add_note(x, GT_CHROME_NOTE_MEMORY, sizeof *n + bytes) : NULL;

	if (n) {
		n->count = x->memory.count;
		memcpy(n + 1, x->memory.changes, bytes);
	}
}
