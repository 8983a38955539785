/* SPDX-License-Identifier: MIT */
/* See external.h. The thread's stacks are in a separate mapping, created at the thread's first
 * push. */
#include "core/external.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "core/recording.h"

struct gt_external {
	/* counts ids beyond GT_EXTERNAL_DEPTH too, so that each pop matches its push */
	uint32_t depth[GT_EXTERNAL_STACK_COUNT];
	uint64_t ids[GT_EXTERNAL_STACK_COUNT][GT_EXTERNAL_DEPTH];
};

struct gt_push_hooks gt_push_hooks;

static void write_record(struct gt_thread *t, enum gt_external_stack stack, int push, uint64_t id)
{
	enum gt_drop_reason why;
	struct gt_record_external *e;

	if (!t || !gt_recording_is_run()) /* without a session, tools read the stacks */
		return;
	e = gt_ring_try(t, sizeof *e, &why);
	if (!e)
		return;
	e->head = (struct gt_record){sizeof *e / 8, GT_RECORD_EXTERNAL, (uint8_t)push, stack};
	e->time = gt_ticks();
	e->value = id;
	gt_ring_commit(t, sizeof *e);
}

static __attribute__((noinline, cold)) struct gt_external *make_stacks(void)
{
	struct gt_external *e;
	int saved = errno;

	e = mmap(NULL, sizeof *e, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	gt_thread.external = e == MAP_FAILED ? NULL : e;
	return gt_thread.external;
}

int gt_external_push(struct gt_thread *t, enum gt_external_stack stack, uint64_t id)
{
	struct gt_external *e = gt_thread.external;

	if (gt_unlikely(!e)) {
		e = make_stacks();
		if (!e)
			return -ENOMEM;
	}
	if (e->depth[stack] >= GT_EXTERNAL_DEPTH) {
		e->depth[stack]++;
		return -ENOSPC;
	}
	/* the caller has just attached the thread, which wrote the stack without this push */
	write_record(t, stack, 1, id);
	e->ids[stack][e->depth[stack]++] = id;
	gt_push_notify(stack == GT_EXTERNAL_USER ? GT_PUSHED_USER : GT_PUSHED_OPERATION, id);
	return 0;
}

int gt_external_pop(struct gt_thread *t, enum gt_external_stack stack, uint64_t *id)
{
	struct gt_external *e = gt_thread.external;

	if (!e || e->depth[stack] == 0)
		return -ENODATA;
	if (e->depth[stack] > GT_EXTERNAL_DEPTH) {
		e->depth[stack]--;
		*id = 0;
		return 0;
	}
	*id = e->ids[stack][e->depth[stack] - 1];
	write_record(t, stack, 0, *id);
	e->depth[stack]--;
	gt_pop_notify(stack == GT_EXTERNAL_USER ? GT_PUSHED_USER : GT_PUSHED_OPERATION);
	return 0;
}

static uint32_t kept_depth(const struct gt_external *e, int stack)
{
	return e->depth[stack] < GT_EXTERNAL_DEPTH ? e->depth[stack] : GT_EXTERNAL_DEPTH;
}

void gt_external_tops(uint64_t tops[GT_EXTERNAL_STACK_COUNT])
{
	const struct gt_external *e = gt_thread.external;

	for (int i = 0; i < GT_EXTERNAL_STACK_COUNT; i++)
		tops[i] = e && kept_depth(e, i) ? e->ids[i][kept_depth(e, i) - 1] : 0;
}

void gt_external_renew(struct gt_thread *t)
{
	const struct gt_external *e = t->external;

	if (!e)
		return;
	for (int s = 0; s < GT_EXTERNAL_STACK_COUNT; s++)
		for (uint32_t i = 0; i < kept_depth(e, s); i++)
			write_record(t, (enum gt_external_stack)s, 1, e->ids[s][i]);
}

void gt_external_release(struct gt_thread *t)
{
	if (t->external)
		munmap(t->external, sizeof *t->external);
	t->external = NULL;
}
