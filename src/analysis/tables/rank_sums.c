/* SPDX-License-Identifier: MIT */
#include "analysis/tables/rank_sums.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/guard_memory.h"
#include "analysis/tables/hung_ranks.h"

void ranks_add_process(struct ranks *r, uint32_t process, uint32_t rank, uint32_t host)
{
	uint64_t key = (uint64_t)host << 32 | rank;
	uint32_t row = LOOKUP_NONE;

	if (rank != LOOKUP_NONE) {
		row = idmap_get(&r->ids, key);
		if (row == LOOKUP_NONE) {
			GROW_LIST(r->rows, r->count, r->room);
			row = r->count++;
			r->rows[row] = (struct ranks_row){.rank = rank,
							  .host = host,
							  .busy.pool = r->pool};
			idmap_put(&r->ids, key, row);
		}
		r->rows[row].processes++;
	}
	GROW_LIST(r->of_process, process, r->process_room);
	r->of_process[process] = row;
}

static struct ranks_row *row_of(struct ranks *r, uint32_t process)
{
	uint32_t row = process < r->process_room ? r->of_process[process] : LOOKUP_NONE;

	return row == LOOKUP_NONE || r->count < 2 ? NULL : &r->rows[row];
}

void ranks_add_life(struct ranks *r, uint32_t process, uint64_t start_ns, uint64_t end_ns)
{
	struct ranks_row *row;

	if (r->of_process[process] == LOOKUP_NONE)
		return;
	row = &r->rows[r->of_process[process]];
	if (start_ns && (!row->start_ns || start_ns < row->start_ns))
		row->start_ns = start_ns;
	if (end_ns > row->end_ns)
		row->end_ns = end_ns;
}

static enum gt_collective_gaps find_gaps(const void *data, uint32_t process)
{
	const struct ranks *r = data;

	if (r->is_part)
		return GT_COLLECTIVE_LOST;
	return r->capture ? gt_collective_find_gaps(r->capture, process) : GT_COLLECTIVE_COMPLETE;
}

static void note_last(struct ranks *r, const struct gt_item *call)
{
	struct ranks_last *last;

	if (gt_domain_traits[GT_OP_DOMAIN(call->op)].annotations)
		return;
	if (call->process >= r->last_count) {
		r->last = resize_list(r->last, r->last_count, r->process_room, sizeof *r->last);
		r->last_count = r->process_room;
	}
	last = &r->last[call->process];
	if (call->end_ns >= last->end_ns)
		*last = (struct ranks_last){call->end_ns,
					    GT_OP(GT_OP_DOMAIN(call->op), GT_OP_NUMBER(call->op),
						  0),
					    call->ordinal};
}

void ranks_add_call(struct ranks *r, const struct gt_item *call, bool counts)
{
	struct ranks_row *row = row_of(r, call->process);
	int status;

	if (!row)
		return;
	note_last(r, call);
	r->collectives.parts_most = RANKS_PARTS_MOST;
	r->collectives.find_gaps = find_gaps;
	r->collectives.gaps_data = r;
	status = gt_collectives_note(&r->collectives, call);
	if (status < 0)
		memory_ran_out();
	if (!counts)
		return;
	if (!call->depth)
		row->call_ns += call->end_ns - call->start_ns;
	if (status) {
		row->collectives++;
		row->collective_ns += call->end_ns - call->start_ns;
	}
}

void ranks_add_activity(struct ranks *r, uint32_t process, const struct timeline_span *span)
{
	struct ranks_row *row = row_of(r, process);

	if (row) {
		row->activity++;
		timeline_add(&row->busy, span);
	}
}

void ranks_add_kernel(struct ranks *r, const struct gt_item *kernel, uint32_t number,
		      const char *name, bool counts)
{
	struct ranks_row *row = row_of(r, kernel->process);

	if (!row)
		return;
	GROW_LIST(r->kinds, number, r->kind_room);
	if (!r->kinds[number])
		r->kinds[number] = gt_collective_kernel_named(name) ? 2 : 1;
	if (r->kinds[number] < 2)
		return;
	if (gt_collectives_note_kernel(&r->collectives, kernel))
		memory_ran_out();
	if (!counts)
		return;
	row->kernels++;
	row->kernel_ns += kernel->end_ns - kernel->start_ns;
}

void ranks_add_range(struct ranks *r, uint32_t process, const char *name)
{
	struct ranks_row *row = row_of(r, process);

	if (row && (!strncasecmp(name, "step", 4) || !strncmp(name, "ProfilerStep", 12)))
		row->steps++;
}

/* One collective call that all members made together. */
struct one_call {
	struct ranks *r;
	const struct gt_collective_match *match;
	unsigned kind; /* enum gt_collective */
	bool by_kernel;
};

static const struct gt_collective_part *part_of(const struct one_call *c, size_t member)
{
	return &c->match->members[member].parts[c->match->at[member]];
}

/* Time spent in a kernel, or in the call. */
struct stay {
	uint64_t start_ns, end_ns;
};

static struct stay stay_of(const struct one_call *c, size_t member)
{
	struct stay s = {0};

	gt_collective_times(&c->match->members[member], c->match->at[member], &s.start_ns,
			    &s.end_ns);
	return s;
}

/* Return the time after which @member no longer delayed the other members. */
static uint64_t begin_of(const struct one_call *c, size_t member)
{
	return c->by_kernel ? stay_of(c, member).start_ns : part_of(c, member)->start_ns;
}

static struct ranks_row *row_of_member(const struct one_call *c, size_t member)
{
	return &c->r->rows[c->r->of_process[c->match->members[member].process]];
}

/* A wait of one process for another process. */
struct waiting {
	struct ranks_row *waits, *for_whom;
	uint64_t ns;
	bool on_device, for_message;
	struct ranks_wait told;
};

static void add_waiting(struct ranks *r, const struct waiting *w)
{
	uint64_t device_ns = w->on_device ? w->ns : 0, message_ns = w->for_message ? w->ns : 0;

	if (r->each)
		r->each(r->to, &w->told);
	w->waits->wait_ns += w->ns;
	w->waits->device_wait_ns += device_ns;
	w->waits->message_wait_ns += message_ns;
	w->for_whom->caused_ns += w->ns;
	if (r->pairs) {
		struct ranks_pair *pair = &r->pairs[(size_t)(w->waits - r->rows) * r->count +
						    (size_t)(w->for_whom - r->rows)];

		pair->wait_ns += w->ns;
		pair->device_wait_ns += device_ns;
		pair->message_wait_ns += message_ns;
		pair->calls++;
	}
}

/* Add the time that @member waited for @other, starting when @member arrived. Return this time. */
static uint64_t compare_pair(const struct one_call *c, size_t member, size_t other)
{
	const struct stay mine = stay_of(c, member);
	uint64_t late_ns = begin_of(c, other);
	struct waiting w = {.waits = row_of_member(c, member),
			    .for_whom = row_of_member(c, other),
			    .on_device = c->by_kernel};

	if (late_ns <= mine.start_ns || mine.end_ns <= mine.start_ns || w.waits == w.for_whom)
		return 0;
	w.ns = (late_ns < mine.end_ns ? late_ns : mine.end_ns) - mine.start_ns;
	w.told = (struct ranks_wait){.process = c->match->members[member].process,
				     .for_process = c->match->members[other].process,
				     .start_ns = mine.start_ns,
				     .end_ns = mine.start_ns + w.ns,
				     .op = part_of(c, member)->op,
				     .on_device = c->by_kernel};
	add_waiting(c->r, &w);
	return w.ns;
}

static size_t find_last(const struct one_call *c)
{
	size_t last = 0;

	for (size_t i = 1; i < c->match->count; i++)
		if (begin_of(c, i) > begin_of(c, last))
			last = i;
	return last;
}

/* Return the number of the member that is the root; if the root is not known, the number of
 * members. */
static size_t find_root(const struct one_call *c)
{
	for (size_t i = 0; i < c->match->count; i++)
		if (part_of(c, i)->root_known && part_of(c, i)->is_root)
			return i;
	return c->match->count;
}

/* Return true if, for all members, the call belongs to the same launch as the previous call. */
static bool is_fused(const struct one_call *c)
{
	for (size_t i = 0; i < c->match->count; i++) {
		const struct gt_collective_activity *activity = c->match->members[i].activity;

		if (!activity || !activity[c->match->at[i]].fused)
			return false;
	}
	return true;
}

/* Return true if the kernels' times are known for all members, and the kernels of all members
 * correspond. */
static bool has_kernels(const struct one_call *c)
{
	const struct gt_collective_activity *first = NULL;

	for (size_t i = 0; i < c->match->count; i++) {
		const struct gt_collective_activity *activity = c->match->members[i].activity;

		if (!activity || !activity[c->match->at[i]].kernels)
			return false;
		activity += c->match->at[i];
		first = first ? first : activity;
		if (activity->kernels != first->kernels || activity->fused != first->fused)
			return false;
	}
	return true;
}

/* Return the kind of wait for the calls of one launch. If any call makes all members wait for the
 * last member, the whole launch does. */
static unsigned kind_of(const struct one_call *c)
{
	const struct gt_collective_member *m = c->match->members;
	const struct gt_operation_info *info = gt_operation(part_of(c, 0)->op);
	unsigned kind = info ? info->collective : GT_COLLECTIVE_ANY;

	for (size_t k = c->match->at[0] + 1; c->by_kernel && k < m->count && m->activity[k].fused;
	     k++) {
		const struct gt_operation_info *other = gt_operation(m->parts[k].op);

		if (other && other->collective == GT_COLLECTIVE_ALL)
			return GT_COLLECTIVE_ALL;
		if (m->parts[k].op != part_of(c, 0)->op ||
		    m->parts[k].is_root != part_of(c, 0)->is_root)
			kind = GT_COLLECTIVE_ANY;
	}
	return kind;
}

static void compare_call(struct one_call *c)
{
	const struct gt_operation_info *info = gt_operation(part_of(c, 0)->op);
	size_t last, root = c->match->count;
	uint64_t ns = 0;

	c->by_kernel = info && info->joints & GT_JOINT_BY_KERNEL;
	if (c->by_kernel && is_fused(c))
		return; /* the launch that contains this call has already been compared */
	if (c->by_kernel && !has_kernels(c)) {
		c->r->unmatched++;
		return;
	}
	c->kind = kind_of(c);
	if (c->kind == GT_COLLECTIVE_FROM_ROOT || c->kind == GT_COLLECTIVE_TO_ROOT)
		root = find_root(c);
	if (c->kind == GT_COLLECTIVE_ANY ||
	    (c->kind != GT_COLLECTIVE_ALL && root == c->match->count)) {
		c->r->unmatched++;
		return;
	}
	c->r->calls++;
	for (size_t i = 0; i < c->match->count; i++) {
		row_of_member(c, i)->compared++;
		if (c->by_kernel)
			c->r->compared_kernels +=
				c->match->members[i].activity[c->match->at[i]].kernels;
	}
	last = find_last(c);
	if (c->kind == GT_COLLECTIVE_TO_ROOT) {
		ns = root == last ? 0 : compare_pair(c, root, last);
	} else {
		last = c->kind == GT_COLLECTIVE_FROM_ROOT ? root : last;
		for (size_t i = 0; i < c->match->count; i++)
			ns += i == last ? 0 : compare_pair(c, i, last);
	}
	if (ns)
		row_of_member(c, last)->last++;
}

static void fini_match(void *data)
{
	gt_collective_match_fini(data);
}

/* Compare all members of a communicator, starting with @first. */
static int compare_members(struct ranks *r, size_t first, size_t members, uint64_t tolerance_ns)
{
	struct gt_collective_match match;
	struct one_call c = {.r = r, .match = &match};
	struct cleanup cleanup;
	size_t most = 0;
	int status;

	for (size_t i = 0; i < members; i++)
		if (r->collectives.members[first + i].count > most)
			most = r->collectives.members[first + i].count;
	if (members < 2) { /* other members do not exist, or are not included */
		r->unmatched += r->collectives.members[first].communicator ? 0 : most;
		return 0;
	}
	status = gt_collective_match_init(&match, &r->collectives, first, members, tolerance_ns);
	cleanup_push(&cleanup, fini_match, &match);
	while (!status && gt_collective_match_next(&match))
		compare_call(&c);
	r->unmatched += most - match.matched;
	r->is_unsure |= match.is_unsure;
	cleanup_pop(&cleanup);
	return status;
}

/* Find the messages that a rank waited for. If a message appears to be received before it was sent,
 * the two records belong to different messages. */
static void compare_messages(struct ranks *r, uint64_t tolerance_ns)
{
	const struct gt_messages *m = &r->collectives.messages;

	if (tolerance_ns == GT_COLLECTIVE_NO_CLOCK)
		return;
	for (size_t i = 0; i < m->wait_count; i++) {
		const struct gt_message_wait *wait = &m->waits[i];
		struct waiting w = {.waits = &r->rows[r->of_process[wait->process]],
				    .for_whom = &r->rows[r->of_process[wait->for_process]],
				    .on_device = wait->by_kernel,
				    .for_message = true};

		if (wait->sent_ns > wait->end_ns + tolerance_ns || w.waits == w.for_whom)
			continue;
		w.waits->messages++;
		w.for_whom->messages++;
		if (wait->sent_ns <= wait->start_ns)
			continue;
		w.ns = (wait->sent_ns < wait->end_ns ? wait->sent_ns : wait->end_ns) -
		       wait->start_ns;
		w.told = (struct ranks_wait){.process = wait->process,
					     .for_process = wait->for_process,
					     .start_ns = wait->start_ns,
					     .end_ns = wait->start_ns + w.ns,
					     .on_device = wait->by_kernel};
		add_waiting(r, &w);
	}
}

int ranks_finish(struct ranks *r)
{
	uint64_t tolerance_ns = r->capture ? gt_collective_tolerance_ns(r->capture) : 0;
	int status = 0;

	for (uint32_t i = 0; i < r->count && !status; i++)
		status = timeline_finish(&r->rows[i].busy);
	if (status)
		return status;
	if (r->count && r->count <= RANKS_PAIRS_MOST)
		r->pairs = allocate_list((size_t)r->count * r->count, sizeof *r->pairs);
	r->unlinked_kernels = r->collectives.kernels.task_count
				      ? r->collectives.kernels.unlinked
				      : r->collectives.kernels.kernel_count;
	r->graph_kernels = r->collectives.kernels.of_graphs;
	r->kernels = r->collectives.kernels.kernel_count + r->collectives.kernels.unlinked +
		     r->graph_kernels;
	status = hung_ranks_find(r);
	status = status ? status : gt_collectives_finish(&r->collectives);
	if (status)
		return status;
	compare_messages(r, tolerance_ns);
	for (size_t first = 0, members; first < r->collectives.count; first += members) {
		members = gt_collectives_members(&r->collectives, first);
		status = compare_members(r, first, members, tolerance_ns);
		if (status)
			return status;
	}
	gt_collectives_fini(&r->collectives);
	return 0;
}

void ranks_fini(struct ranks *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		timeline_fini(&r->rows[i].busy);
	gt_collectives_fini(&r->collectives);
	idmap_fini(&r->ids);
	hang_fini(&r->hung);
	free(r->last);
	free(r->rows);
	free(r->of_process);
	free(r->pairs);
	free(r->kinds);
	*r = (struct ranks){0};
}

uint32_t ranks_straggler(const struct ranks *r)
{
	uint32_t most = LOOKUP_NONE;

	for (uint32_t i = 0; i < r->count; i++)
		if (r->rows[i].caused_ns &&
		    (most == LOOKUP_NONE || r->rows[i].caused_ns > r->rows[most].caused_ns))
			most = i;
	return most;
}
