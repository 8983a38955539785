/* SPDX-License-Identifier: MIT */
/* See collective_kernels.h. */
#include "capture/collective_kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

bool gt_collective_kernel_named(const char *name)
{
	if (name[0] == '_' && name[1] == 'Z')
		name += 2 + strspn(name + 2, "0123456789");
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++)
		if (*gt_domain_traits[d].kernels && !strncmp(name, gt_domain_traits[d].kernels,
							     strlen(gt_domain_traits[d].kernels)))
			return true;
	return false;
}

/* End the open launch. @last_id: last call of the launch in the thread; 0: the launch includes all
 * remaining calls. */
static void end_launch(struct gt_collective_kernels *k, uint64_t last_id)
{
	for (size_t i = k->launch_from; i < k->task_count && k->is_launching; i++)
		k->tasks[i].last_id =
			last_id ? last_id : GT_ID(GT_ID_ORDINAL(k->tasks[i].first_id) + 1, 0) - 1;
	k->is_launching = false;
}

void gt_collective_kernels_pass(struct gt_collective_kernels *k, const struct gt_item *call)
{
	if (call->process != k->process || call->ordinal != k->ordinal) {
		end_launch(k, 0);
		k->process = call->process;
		k->ordinal = call->ordinal;
		k->batches = 0;
	} else if (k->is_launching && call->depth <= k->launch_depth) {
		end_launch(k, call->id - 1);
	}
}

static void begin_launch(struct gt_collective_kernels *k, const struct gt_item *call, size_t from)
{
	for (size_t i = from; i < k->task_count; i++)
		k->tasks[i].first_id = call->id;
	k->launch_from = from;
	k->launch_depth = call->depth;
	k->is_launching = from < k->task_count;
}

int gt_collective_kernels_add(struct gt_collective_kernels *k, const struct gt_item *call,
			      uint32_t member, uint32_t part)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	struct gt_collective_task *t = gt_grow(k->tasks, k->task_count, &k->task_room, sizeof *t);

	if (!t)
		return gt_error(-ENOMEM, "cannot store collective calls");
	k->tasks = t;
	t = &k->tasks[k->task_count++];
	*t = (struct gt_collective_task){.process = call->process, .member = member, .part = part};
	gt_call_role(&view, GT_ROLE_STREAM, 0, &t->stream);
	if (!k->batches)
		begin_launch(k, call, k->task_count - 1);
	return 0;
}

void gt_collective_kernels_batch(struct gt_collective_kernels *k, const struct gt_item *call,
				 bool opens)
{
	if (opens) {
		if (!k->batches++)
			k->batch_from = k->task_count;
	} else if (k->batches && !--k->batches) {
		begin_launch(k, call, k->batch_from);
	}
}

int gt_collective_kernels_note(struct gt_collective_kernels *k, const struct gt_item *kernel)
{
	struct gt_collective_kernel *more;

	if (kernel->graph || !kernel->id || !kernel->start_ns ||
	    kernel->end_ns < kernel->start_ns) {
		k->of_graphs += kernel->graph != 0;
		k->unlinked += !kernel->graph;
		return 0;
	}
	more = gt_grow(k->kernels, k->kernel_count, &k->kernel_room, sizeof *more);
	if (!more)
		return gt_error(-ENOMEM, "cannot store the kernels of collective calls");
	k->kernels = more;
	k->kernels[k->kernel_count++] =
		(struct gt_collective_kernel){.id = kernel->id,
					      .start_ns = kernel->start_ns,
					      .end_ns = kernel->end_ns,
					      .stream = kernel->queue ? kernel->queue->handle : 0,
					      .process = kernel->process};
	return 0;
}

/* Joining ----------------------------------------------------------------------------------- */

/* Sort by launch. Parts of the same launch keep their order. */
static int compare_tasks(const void *a, const void *b)
{
	const struct gt_collective_task *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->first_id != y->first_id)
		return x->first_id < y->first_id ? -1 : 1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

static int compare_kernels(const void *a, const void *b)
{
	const struct gt_collective_kernel *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* The tasks of one launch, and the kernels of the launch. */
struct launch {
	const struct gt_collective_task *tasks;
	const struct gt_collective_kernel *kernels;
	size_t task_count, kernel_count;
};

static bool is_of_launch(const struct gt_collective_task *launch,
			 const struct gt_collective_kernel *kernel)
{
	return kernel->process == launch->process && kernel->id >= launch->first_id &&
	       kernel->id <= launch->last_id;
}

/* Return true if a task of another member has the same stream, because the kernels of the two
 * members cannot then be distinguished. */
static bool is_shared(const struct launch *l, const struct gt_collective_task *task)
{
	for (size_t i = 0; i < l->task_count; i++)
		if (l->tasks[i].member != task->member && l->tasks[i].stream == task->stream)
			return true;
	return false;
}

/* Return true if the launch contains both messages and collective calls of the member, because the
 * assignment of the launch's kernels is then unknown. */
static bool is_mixed(const struct launch *l, uint32_t member)
{
	bool has_message = false, has_part = false;

	for (size_t i = 0; i < l->task_count; i++)
		if (l->tasks[i].member == member) {
			has_message |= (l->tasks[i].part & GT_COLLECTIVE_MESSAGE) != 0;
			has_part |= !(l->tasks[i].part & GT_COLLECTIVE_MESSAGE);
		}
	return has_message && has_part;
}

static struct gt_collective_activity find_activity(const struct launch *l,
						   const struct gt_collective_task *task,
						   bool is_alone)
{
	struct gt_collective_activity activity = {0};

	for (size_t i = 0; i < l->kernel_count; i++) {
		const struct gt_collective_kernel *kernel = &l->kernels[i];

		if (!is_alone && kernel->stream != task->stream)
			continue;
		if (!activity.kernels++ || kernel->start_ns < activity.start_ns) {
			activity.start_ns = kernel->start_ns;
			activity.end_ns = kernel->end_ns;
		}
	}
	return activity;
}

static void join_launch(const struct launch *l,
			void (*found)(void *to, const struct gt_collective_task *task,
				      const struct gt_collective_activity *activity),
			void *to)
{
	bool is_alone = l->tasks[0].member == l->tasks[l->task_count - 1].member;
	struct gt_collective_activity activity = {0};

	for (size_t i = 0; i < l->task_count; i++) {
		const struct gt_collective_task *task = &l->tasks[i];

		activity.fused = i && task[-1].member == task->member;
		if (!activity.fused) {
			activity = (struct gt_collective_activity){0};
			if (!is_mixed(l, task->member) && (is_alone || !is_shared(l, task)))
				activity = find_activity(l, task, is_alone);
		}
		found(to, task, &activity);
	}
}

void gt_collective_kernels_join(struct gt_collective_kernels *k,
				void (*found)(void *to, const struct gt_collective_task *task,
					      const struct gt_collective_activity *activity),
				void *to)
{
	size_t kernel = 0;

	end_launch(k, 0);
	if (k->task_count)
		qsort(k->tasks, k->task_count, sizeof *k->tasks, compare_tasks);
	if (k->kernel_count)
		qsort(k->kernels, k->kernel_count, sizeof *k->kernels, compare_kernels);
	for (size_t i = 0; i < k->task_count;) {
		const struct gt_collective_task *first = &k->tasks[i];
		struct launch l = {.tasks = first};

		for (; i < k->task_count && k->tasks[i].process == first->process &&
		       k->tasks[i].first_id == first->first_id;
		     i++)
			l.task_count++;
		if (!first->first_id)
			continue;
		while (kernel < k->kernel_count && (k->kernels[kernel].process < first->process ||
						    (k->kernels[kernel].process == first->process &&
						     k->kernels[kernel].id < first->first_id)))
			kernel++;
		if (kernel < k->kernel_count)
			l.kernels = &k->kernels[kernel];
		for (; kernel < k->kernel_count && is_of_launch(first, &k->kernels[kernel]);
		     kernel++)
			l.kernel_count++;
		join_launch(&l, found, to);
	}
}

void gt_collective_kernels_fini(struct gt_collective_kernels *k)
{
	free(k->tasks);
	free(k->kernels);
	*k = (struct gt_collective_kernels){0};
}
