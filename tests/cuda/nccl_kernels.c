/* SPDX-License-Identifier: MIT */
/* The kernel that nccl_library.c launches on the software driver, under the names of NCCL's
 * kernels. */
#include <time.h>
#include <unistd.h>

#include "nccl_ranks.h"
#include "soft/cuda/cuda_api.h"

enum { POLL_US = 50, LONGEST_S = 30 };

/* Wait for at least this number of arrivals, but not forever. */
static void wait_for(atomic_uint *count, unsigned least)
{
	time_t end = time(NULL) + LONGEST_S;

	while (atomic_load(count) < least && time(NULL) < end)
		usleep(POLL_US);
}

static void begin_piece(const struct kernel_work *w, const struct piece *p)
{
	switch (p->kind) {
	case OF_ALL: atomic_fetch_add(&w->shared->arrived[p->number], 1); break;
	case FROM_ROOT:
		if (w->rank == p->peer)
			atomic_store(&w->shared->arrived[p->number], w->size);
		break;
	case SEND: atomic_fetch_add(&w->shared->sent[w->rank][p->peer], 1); break;
	case RECEIVE: atomic_fetch_add(&w->shared->awaited[p->peer][w->rank], 1); break;
	}
}

static void end_piece(const struct kernel_work *w, const struct piece *p)
{
	switch (p->kind) {
	case OF_ALL:
	case FROM_ROOT: wait_for(&w->shared->arrived[p->number], w->size); break;
	case SEND: wait_for(&w->shared->awaited[w->rank][p->peer], p->number + 1); break;
	case RECEIVE: wait_for(&w->shared->sent[p->peer][w->rank], p->number + 1); break;
	}
}

static void work(const struct kernel_work *w)
{
	for (unsigned i = 0; i < w->count; i++)
		begin_piece(w, &w->pieces[i]);
	for (unsigned i = 0; i < w->count; i++)
		end_piece(w, &w->pieces[i]);
}

SOFT_CUDA_KERNEL(ncclDevKernel_AllReduce_Sum_f32_RING_LL, sizeof(struct kernel_work *))
{
	(void)at;
	work(*(struct kernel_work **)arguments[0]);
}

SOFT_CUDA_KERNEL(ncclDevKernel_SendRecv, sizeof(struct kernel_work *))
{
	(void)at;
	work(*(struct kernel_work **)arguments[0]);
}

SOFT_CUDA_KERNEL(add_numbers, sizeof(int))
{
	(void)at;
	usleep((useconds_t) * (int *)arguments[0]);
}
