/* SPDX-License-Identifier: MIT */
#include "cli/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/ui.h"

void ranks_add_process(struct ranks *r, uint32_t process, uint32_t rank, uint32_t host)
{
	uint64_t key = (uint64_t)host << 32 | rank;
	uint32_t row = LOOKUP_NONE;

	if (rank != LOOKUP_NONE) {
		row = idmap_get(&r->ids, key);
		if (row == LOOKUP_NONE) {
			if (r->count == r->room) {
				r->rows = lookup_grow(r->rows, r->room, r->room ? r->room * 2 : 16,
						      sizeof *r->rows);
				r->room = r->room ? r->room * 2 : 16;
			}
			row = r->count++;
			r->rows[row] = (struct ranks_row){.rank = rank, .host = host};
			idmap_put(&r->ids, key, row);
		}
		r->rows[row].processes++;
	}
	if (process >= r->process_room) {
		r->of_process = lookup_grow(r->of_process, r->process_room, process * 2 + 16,
					    sizeof *r->of_process);
		r->process_room = process * 2 + 16;
	}
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

void ranks_add_call(struct ranks *r, const struct gt_item *call, bool counts)
{
	struct ranks_row *row = row_of(r, call->process);
	int status;

	if (!row)
		return;
	r->collectives.parts_most = RANKS_PARTS_MOST;
	status = gt_collectives_note(&r->collectives, call);
	if (status < 0)
		exit(ui_fail(GT_EXIT_FAILURE, "out of memory"));
	if (!counts)
		return;
	if (!call->depth)
		row->call_ns += call->end_ns - call->start_ns;
	if (status) {
		row->collectives++;
		row->collective_ns += call->end_ns - call->start_ns;
	}
}

void ranks_add_work(struct ranks *r, uint32_t process, const struct timeline_span *span)
{
	struct ranks_row *row = row_of(r, process);

	if (row) {
		row->work++;
		timeline_add(&row->busy, span);
	}
}

static bool is_of_collective(const char *name)
{
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		if (*gt_domain_traits[d].kernels && !strncmp(name, gt_domain_traits[d].kernels,
							     strlen(gt_domain_traits[d].kernels)))
			return true;
	return false;
}

void ranks_add_kernel(struct ranks *r, const struct gt_item *kernel, uint32_t number,
		      const char *name)
{
	struct ranks_row *row = row_of(r, kernel->process);

	if (!row)
		return;
	if (number >= r->kind_room) {
		r->kinds = lookup_grow(r->kinds, r->kind_room, number + 64, sizeof *r->kinds);
		r->kind_room = number + 64;
	}
	if (!r->kinds[number])
		r->kinds[number] = is_of_collective(name) ? 2 : 1;
	if (r->kinds[number] < 2)
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

/* One call, made by all of these together. */
struct one_call {
	struct ranks *r;
	const struct gt_collective_member *members;
	size_t count, number;
};

static const struct gt_collective_part *part_of(const struct one_call *c, size_t member)
{
	return &c->members[member].parts[c->number];
}

/* @member waited for @other from its begin on. */
static uint64_t add_waiting(const struct one_call *c, size_t member, size_t other)
{
	const struct gt_collective_part *mine = part_of(c, member), *late = part_of(c, other);
	struct ranks *r = c->r;
	uint32_t waits = r->of_process[c->members[member].process],
		 for_whom = r->of_process[c->members[other].process];
	uint64_t ns;

	if (late->start_ns <= mine->start_ns || waits == for_whom)
		return 0;
	ns = late->start_ns - mine->start_ns;
	ns = ns < mine->duration_ns ? ns : mine->duration_ns;
	r->rows[waits].wait_ns += ns;
	r->rows[for_whom].caused_ns += ns;
	if (r->pairs) {
		struct ranks_pair *pair = &r->pairs[(size_t)waits * r->count + for_whom];

		pair->wait_ns += ns;
		pair->calls++;
	}
	return ns;
}

static size_t find_last(const struct one_call *c)
{
	size_t last = 0;

	for (size_t i = 1; i < c->count; i++)
		if (part_of(c, i)->start_ns > part_of(c, last)->start_ns)
			last = i;
	return last;
}

/* c->count: not known. */
static size_t find_root(const struct one_call *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (part_of(c, i)->root_known && part_of(c, i)->is_root)
			return i;
	return c->count;
}

static void compare_call(const struct one_call *c)
{
	const struct gt_operation_info *info = gt_operation(part_of(c, 0)->op);
	unsigned kind = info ? info->collective : GT_COLLECTIVE_ANY;
	size_t last = find_last(c), root = c->count;
	uint64_t ns = 0;

	if (kind == GT_COLLECTIVE_FROM_ROOT || kind == GT_COLLECTIVE_TO_ROOT)
		root = find_root(c);
	if (kind == GT_COLLECTIVE_ANY || (kind != GT_COLLECTIVE_ALL && root == c->count)) {
		c->r->unmatched++;
		return;
	}
	c->r->calls++;
	for (size_t i = 0; i < c->count; i++)
		c->r->rows[c->r->of_process[c->members[i].process]].compared++;
	if (kind == GT_COLLECTIVE_TO_ROOT) {
		ns = root == last ? 0 : add_waiting(c, root, last);
	} else {
		last = kind == GT_COLLECTIVE_FROM_ROOT ? root : last;
		for (size_t i = 0; i < c->count; i++)
			ns += i == last ? 0 : add_waiting(c, i, last);
	}
	if (ns)
		c->r->rows[c->r->of_process[c->members[last].process]].last++;
}

/* All members of a communicator from @first on. */
static void compare_members(struct ranks *r, size_t first, size_t members)
{
	struct one_call c = {r, r->collectives.members + first, members, 0};
	size_t calls = gt_collectives_calls(&r->collectives, first, members), most = 0;

	for (size_t i = 0; i < members; i++)
		most = c.members[i].count > most ? c.members[i].count : most;
	if (members < 2) { /* of itself alone, or the others' captures are not here */
		r->unmatched += c.members->communicator ? 0 : most;
		return;
	}
	r->unmatched += most - calls;
	for (; c.number < calls; c.number++)
		compare_call(&c);
}

int ranks_finish(struct ranks *r)
{
	int status = 0;

	for (uint32_t i = 0; i < r->count && !status; i++)
		status = timeline_finish(&r->rows[i].busy);
	if (status)
		return status;
	if (r->count && r->count <= RANKS_PAIRS_MOST)
		r->pairs = lookup_grow(NULL, 0, (size_t)r->count * r->count, sizeof *r->pairs);
	gt_collectives_finish(&r->collectives);
	for (size_t first = 0, members; first < r->collectives.count; first += members) {
		members = gt_collectives_members(&r->collectives, first);
		compare_members(r, first, members);
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
