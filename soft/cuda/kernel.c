/* SPDX-License-Identifier: MIT */
/* Runs a kernel: calls its function once for each thread of each block, one block after the other.
 *
 * If the threads of a kernel wait for each other, each thread of a block has a host thread. The
 * host threads process all blocks together:
 *
 * 	all: arrive ─ the last thread zeroes shared memory ─ run ─ arrive ─ the next block
 *
 * A thread that faults leaves the crew, so that the other threads no longer wait for it. */
#include <stdlib.h>
#include <string.h>

#include "soft/common/bell.h"
#include "soft/common/guard.h"
#include "soft/cuda/cuda_parts.h"

static void run_block(const struct soft_cu_task *t, struct soft_cuda_position *p)
{
	if (p->shared)
		memset(p->shared, 0, t->shared);
	for (unsigned z = 0; z < p->block_dim.z; z++)
		for (unsigned y = 0; y < p->block_dim.y; y++)
			for (unsigned x = 0; x < p->block_dim.x; x++) {
				p->thread_index.x = x;
				p->thread_index.y = y;
				p->thread_index.z = z;
				t->function->call(p, t->arguments);
			}
}

static void run_grid(const struct soft_cu_task *t, struct soft_cuda_position *p,
		     void (*run)(const struct soft_cu_task *t, struct soft_cuda_position *p))
{
	for (p->block_index.z = 0; p->block_index.z < p->grid_dim.z; p->block_index.z++)
		for (p->block_index.y = 0; p->block_index.y < p->grid_dim.y; p->block_index.y++)
			for (p->block_index.x = 0; p->block_index.x < p->grid_dim.x;
			     p->block_index.x++)
				run(t, p);
}

/* Blocks whose threads run at the same time ------------------------------------------- */

struct crew {
	const struct soft_cu_task *task;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* threads: number of threads that have not left; waiting: number that have arrived */
	unsigned threads, waiting;
	uint64_t rounds;
	bool has_failed;
	void *shared;
};

struct member {
	struct crew *crew;
	pthread_t thread;
	struct soft_cuda_position position;
};

/* Release the threads once all have arrived. Call with the lock held. */
static void end_round(struct crew *c)
{
	c->waiting = 0;
	c->rounds++;
	pthread_cond_broadcast(&c->changed);
}

static void arrive(struct crew *c, bool begins_block)
{
	uint64_t round;

	pthread_mutex_lock(&c->lock);
	round = c->rounds;
	if (++c->waiting == c->threads) {
		if (begins_block && c->shared)
			memset(c->shared, 0, c->task->shared);
		end_round(c);
	}
	while (c->rounds == round)
		pthread_cond_wait(&c->changed, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static void synchronize(const struct soft_cuda_position *at)
{
	arrive(at->block, false);
}

static void run_thread(const struct soft_cu_task *t, struct soft_cuda_position *p)
{
	arrive(p->block, true);
	t->function->call(p, t->arguments);
	arrive(p->block, false);
}

static void run_guarded(void *data)
{
	struct member *m = data;

	run_grid(m->crew->task, &m->position, run_thread);
}

static void *run_member(void *data)
{
	struct member *m = data;
	struct crew *c = m->crew;
	uint64_t address;
	const bool done = soft_guard_call(run_guarded, m, &address);

	pthread_mutex_lock(&c->lock);
	c->has_failed |= !done;
	if (--c->threads && c->waiting == c->threads)
		end_round(c);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static int start_members(struct crew *c, struct member *members, unsigned count)
{
	const struct soft_cuda_position *p = &c->task->position;
	unsigned started = 0;

	for (; started < count; started++) {
		struct member *m = &members[started];

		m->crew = c;
		m->position = *p;
		m->position.thread_index.x = started % p->block_dim.x;
		m->position.thread_index.y = started / p->block_dim.x % p->block_dim.y;
		m->position.thread_index.z = started / p->block_dim.x / p->block_dim.y;
		m->position.shared = c->shared;
		m->position.synchronize = synchronize;
		m->position.block = c;
		if (soft_thread_start(&m->thread, "soft-cuda-block", run_member, m))
			break;
	}
	if (started < count) { /* the started threads must not wait for threads that could not be
	 * started */
		pthread_mutex_lock(&c->lock);
		c->has_failed = true;
		c->threads -= count - started;
		if (c->threads && c->waiting == c->threads)
			end_round(c);
		pthread_mutex_unlock(&c->lock);
	}
	for (unsigned i = 0; i < started; i++)
		pthread_join(members[i].thread, NULL);
	return started == count ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

static int run_crew(const struct soft_cu_task *t, void *shared)
{
	const struct soft_cuda_position *p = &t->position;
	const unsigned count = p->block_dim.x * p->block_dim.y * p->block_dim.z;
	struct member *members = calloc(count, sizeof *members);
	struct crew c = {.task = t, .threads = count, .shared = shared};
	int status = CUDA_ERROR_LAUNCH_FAILED;

	if (!members)
		return status;
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.changed, NULL);
	status = start_members(&c, members, count);
	if (!status && c.has_failed)
		status = CUDA_ERROR_ILLEGAL_ADDRESS;
	pthread_cond_destroy(&c.changed);
	pthread_mutex_destroy(&c.lock);
	free(members);
	return status;
}

int soft_cu_run_kernel(const struct soft_cu_task *t)
{
	struct soft_cuda_position p = t->position;
	int status = CUDA_SUCCESS;

	if (soft_cu_fails(SOFT_CU_FAIL_KERNEL))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	p.shared = t->shared ? malloc(t->shared) : NULL;
	if (t->function->parameters->synchronizes)
		status = run_crew(t, p.shared);
	else
		run_grid(t, &p, run_block);
	free(p.shared);
	return status;
}
