/* SPDX-License-Identifier: MIT */
#include "capture/collectives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

/* MPI_COMM_WORLD and MPI_COMM_SELF of MPICH and its derivatives */
enum { MPICH_WORLD = 0x44000000, MPICH_SELF = 0x44000001 };

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* Hash a handle. For handles that a call writes, only the lower half is recorded. */
static uint64_t key_of(uint32_t process, uint64_t handle)
{
	return mix(mix(1, process), (uint32_t)handle);
}

static uint32_t *find_current(const struct gt_collectives *c, uint32_t process, uint64_t handle)
{
	size_t at = (size_t)key_of(process, handle) & (c->slot_count - 1);

	for (;; at = (at + 1) & (c->slot_count - 1)) {
		const struct gt_collective_member *m =
			c->current[at] ? &c->members[c->current[at] - 1] : NULL;

		if (!m || (m->process == process && m->handle == (uint32_t)handle))
			return &c->current[at];
	}
}

static int grow_current(struct gt_collectives *c)
{
	size_t old_count = c->slot_count;
	uint32_t *old = c->current;

	if (c->current_count * 2 < c->slot_count)
		return 0;
	c->slot_count = old_count ? old_count * 2 : 64;
	c->current = calloc(c->slot_count, sizeof *c->current);
	if (!c->current) {
		c->current = old;
		c->slot_count = old_count;
		return gt_error(-ENOMEM, "cannot store collective calls");
	}
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			*find_current(c, c->members[old[i] - 1].process,
				      c->members[old[i] - 1].handle) = old[i];
	free(old);
	return 0;
}

/* Map the handle of the process to the communicator from now on. Return NULL if out of memory. */
static struct gt_collective_member *add_member(struct gt_collectives *c, uint32_t process,
					       uint64_t handle, uint64_t communicator)
{
	struct gt_collective_member *more;
	uint32_t *slot;

	if (grow_current(c))
		return NULL;
	more = gt_grow(c->members, c->count, &c->room, sizeof *more);
	if (!more) {
		gt_error(-ENOMEM, "cannot store collective calls");
		return NULL;
	}
	c->members = more;
	slot = find_current(c, process, handle);
	c->current_count += !*slot;
	c->members[c->count] = (struct gt_collective_member){
		.communicator = communicator,
		.handle = (uint32_t)handle,
		.process = process,
		.rank = -1,
	};
	*slot = (uint32_t)++c->count;
	return &c->members[c->count - 1];
}

static bool has_lost(const struct gt_collectives *c, uint32_t process)
{
	return c->find_gaps && c->find_gaps(c->gaps_data, process) == GT_COLLECTIVE_LOST;
}

uint64_t gt_collectives_whole(enum gt_domain domain)
{
	return mix(2, domain);
}

/* Return the member of a handle. Add a member if the process uses the handle without having created
 * it. */
static struct gt_collective_member *get_member(struct gt_collectives *c, uint32_t op,
					       uint32_t process, uint64_t handle)
{
	uint64_t whole = gt_collectives_whole((enum gt_domain)GT_OP_DOMAIN(op));

	if (c->slot_count) {
		uint32_t *slot = find_current(c, process, handle);

		if (*slot)
			return &c->members[*slot - 1];
	}
	if ((uint32_t)handle == MPICH_SELF || *gt_domain_traits[GT_OP_DOMAIN(op)].kernels ||
	    ((uint32_t)handle != MPICH_WORLD && has_lost(c, process)))
		whole = 0;
	for (size_t i = c->count; i-- > 0 && whole;) /* only one handle of a process refers to it */
		if (c->members[i].process == process && c->members[i].communicator == whole)
			whole = 0;
	return add_member(c, process, handle, whole);
}

const struct gt_collective_member *gt_collectives_member(struct gt_collectives *c, uint32_t op,
							 uint32_t process, uint64_t handle)
{
	return get_member(c, op, process, handle);
}

static int add_part(struct gt_collectives *c, struct gt_collective_member *m,
		    const struct gt_item *call, const struct gt_call_view *view)
{
	struct gt_collective_part *p;
	uint64_t root;

	if (c->parts_most && c->parts >= c->parts_most) {
		c->is_full = true;
		return 0;
	}
	p = gt_grow(m->parts, m->count, &m->room, sizeof *p);
	if (!p)
		return gt_error(-ENOMEM, "cannot store collective calls");
	m->parts = p;
	p = &m->parts[m->count++];
	*p = (struct gt_collective_part){.start_ns = call->start_ns,
					 .op = GT_OP(GT_OP_DOMAIN(call->op), GT_OP_NUMBER(call->op),
						     0),
					 .duration_ns = call->end_ns - call->start_ns};
	if (m->rank >= 0 && gt_call_role(view, GT_ROLE_ROOT, 0, &root)) {
		p->root_known = true;
		p->is_root = (int32_t)root == m->rank;
	}
	c->parts++;
	return 0;
}

/* Return a hash that identifies the communicator that the call creates. */
static uint64_t made_by(const struct gt_call_view *view, const struct gt_collective_member *parent,
			uint64_t number)
{
	uint64_t h = parent ? mix(mix(3, parent->communicator), number) : 4, value;

	if (parent && !parent->communicator)
		return 0;
	for (unsigned i = 0; gt_call_role(view, GT_ROLE_SPLIT, i, &value); i++)
		h = mix(h, value);
	return h;
}

/* Return true if one more message may be stored. */
static bool has_room(const struct gt_collectives *c)
{
	return !c->parts_most || (!c->is_full && c->messages.count < c->parts_most / 16);
}

static int note_message(struct gt_collectives *c, struct gt_collective_member *m,
			const struct gt_item *call)
{
	if (!has_room(c)) {
		m->doubt |= GT_MESSAGES_SENT_UNSURE | GT_MESSAGES_RECEIVED_UNSURE;
		return 0;
	}
	return gt_messages_note(&c->messages, call, (uint32_t)(m - c->members) + 1, &m->doubt);
}

int gt_collectives_note_kernel(struct gt_collectives *c, const struct gt_item *kernel)
{
	return gt_collective_kernels_note(&c->kernels, kernel);
}

int gt_collectives_note(struct gt_collectives *c, const struct gt_item *call)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	struct gt_collective_member *m = NULL, *made;
	uint64_t handle, rank, number = 0;
	bool creates;

	gt_collective_kernels_pass(&c->kernels, call);
	if (!info || !info->joins || (!call->args && info->nargs))
		return 0;
	if (info->joints & (GT_JOINT_OPENS_BATCH | GT_JOINT_CLOSES_BATCH)) {
		gt_collective_kernels_batch(&c->kernels, call, info->joints & GT_JOINT_OPENS_BATCH);
		return 0;
	}
	if ((info->joints & (GT_JOINT_BEGINS | GT_JOINT_COMPLETES)) == GT_JOINT_COMPLETES) {
		gt_messages_complete(&c->messages, call);
		return 0;
	}
	creates = gt_call_role(&view, GT_ROLE_CREATES, 0, &handle);
	if (gt_call_role(&view, GT_ROLE_COMMUNICATOR, 0, &handle)) {
		m = get_member(c, call->op, call->process, handle);
		if (!m)
			return -ENOMEM;
		if (creates && info->collective)
			number = m->made++;
		if (info->joints & (GT_JOINT_SENDS | GT_JOINT_RECEIVES) && note_message(c, m, call))
			return -ENOMEM;
		if (info->joints & GT_JOINT_BY_KERNEL && !c->is_full &&
		    gt_collective_kernels_add(&c->kernels, call, (uint32_t)(m - c->members) + 1,
					      info->collective ? (uint32_t)m->count
							       : (uint32_t)c->messages.count |
									 GT_COLLECTIVE_MESSAGE))
			return -ENOMEM;
		if (info->collective && info->joints & GT_JOINT_BEGINS && has_room(c) &&
		    gt_messages_note_part(&c->messages, call, (uint32_t)(m - c->members) + 1,
					  (uint32_t)m->count + 1))
			return -ENOMEM;
		if (info->collective && add_part(c, m, call, &view))
			return -ENOMEM;
		if (!creates && gt_call_role(&view, GT_ROLE_RANK, 0, &rank))
			m->rank = (int32_t)rank;
	}
	/* only collective calls give the new communicator the same identity in all processes */
	if (gt_call_role(&view, GT_ROLE_CREATES, 0, &handle) && handle) {
		made = add_member(c, call->process, handle,
				  !m || (info->collective && !has_lost(c, call->process))
					  ? made_by(&view, m, number)
					  : 0);
		if (!made)
			return -ENOMEM;
		if (gt_call_role(&view, GT_ROLE_RANK, 0, &rank))
			made->rank = (int32_t)rank;
	}
	return info->collective != GT_COLLECTIVE_NONE;
}

static int compare_members(const void *a, const void *b)
{
	const struct gt_collective_member *x = a, *y = b;

	if (x->communicator != y->communicator)
		return x->communicator < y->communicator ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

static int compare_parts(const void *a, const void *b)
{
	const struct gt_collective_part *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* A part, and the GPU activity that executes it. */
struct sorted_part {
	struct gt_collective_part part; /* first member, for compare_parts() */
	struct gt_collective_activity activity;
};

static void sort_parts(struct gt_collective_member *m)
{
	struct sorted_part *sorted = m->activity ? calloc(m->count, sizeof *sorted) : NULL;

	if (!sorted) {
		qsort(m->parts, m->count, sizeof *m->parts, compare_parts);
		/* out of memory: the activities cannot be sorted together with their parts */
		free(m->activity);
		m->activity = NULL;
		return;
	}
	for (size_t i = 0; i < m->count; i++)
		sorted[i] = (struct sorted_part){m->parts[i], m->activity[i]};
	qsort(sorted, m->count, sizeof *sorted, compare_parts);
	for (size_t i = 0; i < m->count; i++) {
		m->parts[i] = sorted[i].part;
		m->activity[i] = sorted[i].activity;
	}
	free(sorted);
}

static void take_activity(void *to, const struct gt_collective_task *task,
			  const struct gt_collective_activity *activity)
{
	struct gt_collectives *c = to;
	struct gt_collective_member *m = &c->members[task->member - 1];

	if (task->part & GT_COLLECTIVE_MESSAGE) {
		uint32_t number = task->part & ~GT_COLLECTIVE_MESSAGE;

		if (number && number <= c->messages.count) {
			c->messages.list[number - 1].start_ns = activity->start_ns;
			c->messages.list[number - 1].end_ns = activity->end_ns;
			c->messages.list[number - 1].wait_id = task->first_id;
		}
		return;
	}
	if (!m->activity)
		m->activity = calloc(m->count, sizeof *m->activity);
	if (m->activity && task->part < m->count)
		m->activity[task->part] = *activity;
}

/* Store the waits for collective calls that were only started. */
static void take_waits(struct gt_collectives *c)
{
	for (size_t i = 0; i < c->messages.count; i++) {
		const struct gt_message *message = &c->messages.list[i];
		struct gt_collective_member *m = &c->members[message->member - 1];

		if (!message->part || !message->wait_id || message->part > m->count)
			continue;
		if (!m->activity)
			m->activity = calloc(m->count, sizeof *m->activity);
		if (m->activity)
			m->activity[message->part - 1] = (struct gt_collective_activity){
				.start_ns = message->start_ns,
				.end_ns = message->end_ns,
				.kernels = 1,
			};
	}
}

static struct gt_message_member find_member(const void *data, uint32_t member)
{
	const struct gt_collectives *c = data;
	const struct gt_collective_member *m = &c->members[member - 1];
	struct gt_message_member found = {m->communicator, m->rank, m->doubt};

	if (c->find_gaps && c->find_gaps(c->gaps_data, m->process))
		found.doubt = GT_MESSAGES_SENT_UNSURE | GT_MESSAGES_RECEIVED_UNSURE;
	return found;
}

int gt_collectives_finish(struct gt_collectives *c)
{
	int status;

	gt_collective_kernels_join(&c->kernels, take_activity, c);
	gt_collective_kernels_fini(&c->kernels);
	take_waits(c);
	status = gt_messages_match(&c->messages, find_member, c);
	for (size_t i = 0; i < c->count; i++) {
		struct gt_collective_member *m = &c->members[i];
		bool rising = true;

		for (size_t k = 1; k < m->count && rising; k++)
			rising = m->parts[k - 1].start_ns <= m->parts[k].start_ns;
		/* parts of several threads, which were read one after the other */
		if (!rising)
			sort_parts(m);
	}
	if (c->count)
		qsort(c->members, c->count, sizeof *c->members, compare_members);
	free(c->current); /* indexes in this table refer to the old order */
	c->current = NULL;
	c->slot_count = c->current_count = 0;
	return status;
}

size_t gt_collectives_members(const struct gt_collectives *c, size_t first)
{
	size_t end = first;

	while (end < c->count && c->members[end].communicator == c->members[first].communicator)
		end++;
	return end - first;
}

bool gt_collective_times(const struct gt_collective_member *m, size_t part, uint64_t *start_ns,
			 uint64_t *end_ns)
{
	const struct gt_collective_part *p = &m->parts[part];
	const struct gt_operation_info *info = gt_operation(p->op);

	if (!info || !(info->joints & (GT_JOINT_BY_KERNEL | GT_JOINT_BEGINS))) {
		*start_ns = p->start_ns;
		*end_ns = p->start_ns + p->duration_ns;
		return true;
	}
	if (!m->activity || !m->activity[part].kernels)
		return false;
	*start_ns = m->activity[part].start_ns;
	*end_ns = m->activity[part].end_ns;
	return true;
}

void gt_collectives_fini(struct gt_collectives *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->members[i].parts);
		free(c->members[i].activity);
	}
	free(c->members);
	free(c->current);
	gt_collective_kernels_fini(&c->kernels);
	gt_messages_fini(&c->messages);
	*c = (struct gt_collectives){0};
}
