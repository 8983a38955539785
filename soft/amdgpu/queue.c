/* SPDX-License-Identifier: MIT */
/* Creates and destroys queues with their doorbells and worker threads. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "soft/amdgpu/queue.h"
#include "soft/common/guard.h"

enum { DOORBELLS = 1024 };
#define DOORBELL_REST UINT64_MAX /* value before the first packet; not a valid index */

/* ROCr distinguishes doorbells by 10 bits of their address: one page of doorbells per GPU, aligned
 * to the page size. */
static _Alignas(DOORBELLS * 8) uint64_t doorbells[SOFT_AMDGPU_MAX][DOORBELLS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_queue *queues;

static bool number_used(HSAuint32 node, unsigned number)
{
	for (const struct soft_queue *q = queues; q; q = q->next)
		if (q->node == node && q->number == number)
			return true;
	return false;
}

/* Take the lowest free doorbell of the GPU. Return false if all doorbells are in use. */
static bool take_doorbell(struct soft_queue *q)
{
	for (q->number = 0; q->number < DOORBELLS; q->number++)
		if (!number_used(q->node, q->number)) {
			q->doorbell = &doorbells[q->node - 1][q->number];
			__atomic_store_n(q->doorbell, DOORBELL_REST, __ATOMIC_RELAXED);
			q->bell.cell = q->doorbell;
			return true;
		}
	return false;
}

/* Set the indices. Those of an AQL queue are in ROCr's queue structure, those of an SDMA queue in
 * this library. */
static void set_indices(struct soft_queue *q, HsaQueueResource *resource)
{
	if (q->type == HSA_QUEUE_COMPUTE_AQL) {
		q->write_index = resource->Queue_write_ptr_aql;
		q->read_index = resource->Queue_read_ptr_aql;
		q->aql = (amd_queue_t *)((char *)q->read_index -
					 offsetof(amd_queue_t, read_dispatch_id));
		return;
	}
	q->write_index = &q->own_indices[0];
	q->read_index = &q->own_indices[1];
	resource->Queue_write_ptr_aql = (HSAuint64 *)q->write_index;
	resource->Queue_read_ptr_aql = (HSAuint64 *)q->read_index;
}

/* Pin the thread according to the settings. Ignore a CPU that this process may not use. */
static void move_to_cpu(pthread_t thread)
{
	cpu_set_t set;

	if (soft_config()->cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned)soft_config()->cpu, &set);
	pthread_setaffinity_np(thread, sizeof set, &set);
}

/* Add @q to the list and start its bell and thread. Return 0 or an errno. */
static int start_queue(struct soft_queue *q)
{
	bool aql = q->type == HSA_QUEUE_COMPUTE_AQL;
	char name[16];
	int error;

	error = soft_bell_add(&q->bell);
	if (error)
		return error;
	snprintf(name, sizeof name, "gpu%hhu-%s%hu", (unsigned char)q->node, aql ? "aql" : "dma",
		 (unsigned short)q->number);
	error = soft_thread_start(&q->thread, name,
				  aql ? soft_queue_aql_activity : soft_queue_sdma_activity, q);
	if (error) {
		soft_bell_remove(&q->bell);
		return error;
	}
	move_to_cpu(q->thread);
	q->next = queues;
	queues = q;
	return 0;
}

static bool known_type(HSA_QUEUE_TYPE type)
{
	return type == HSA_QUEUE_COMPUTE_AQL || type == HSA_QUEUE_SDMA ||
	       type == HSA_QUEUE_SDMA_XGMI;
}

THUNK_API HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
					  HSA_QUEUE_PRIORITY priority, void *ring, HSAuint64 bytes,
					  HsaEvent *event, HsaQueueResource *resource)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_OUT_OF_RESOURCES;
	struct soft_queue *q;

	(void)priority; /* all priorities are equal here */
	(void)event;
	if (soft_opened())
		return soft_opened();
	if (!soft_is_gpu(node))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	if (!known_type(type))
		return HSAKMT_STATUS_NOT_SUPPORTED;
	if (!ring || bytes < SOFT_PAGE || (bytes & (bytes - 1)))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (soft_fails(SOFT_FAIL_QUEUE))
		return HSAKMT_STATUS_OUT_OF_RESOURCES;
	q = calloc(1, sizeof *q);
	if (!q)
		return HSAKMT_STATUS_NO_MEMORY;
	q->node = node;
	q->type = type;
	q->ring = ring;
	q->bytes = bytes;
	q->suspended = percentage == 0;
	/* again, because the program may have installed handlers since the first time */
	soft_guard_init();
	pthread_mutex_lock(&lock);
	if (take_doorbell(q)) {
		set_indices(q, resource);
		if (start_queue(q) == 0)
			status = HSAKMT_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	if (status) {
		free(q);
		return status;
	}
	resource->QueueId = (HSA_QUEUEID)q;
	resource->Queue_DoorBell_aql = (HSAuint64 *)q->doorbell;
	soft_trace(1, "GPU %u queue %u: %s, %llu bytes", node, q->number,
		   type == HSA_QUEUE_COMPUTE_AQL ? "AQL" : "SDMA", (unsigned long long)bytes);
	return HSAKMT_STATUS_SUCCESS;
}

/* Remove the queue from the list. Return NULL if the list does not contain it. */
static struct soft_queue *take_queue(HSA_QUEUEID id)
{
	struct soft_queue *found = NULL;

	pthread_mutex_lock(&lock);
	for (struct soft_queue **at = &queues; *at; at = &(*at)->next)
		if ((HSA_QUEUEID)*at == id) {
			found = *at;
			*at = found->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

static struct soft_queue *find_locked(HSA_QUEUEID id)
{
	for (struct soft_queue *q = queues; q; q = q->next)
		if ((HSA_QUEUEID)q == id)
			return q;
	return NULL;
}

/* Destroy a queue, even if one of its kernels never ends. */
THUNK_API HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id)
{
	struct soft_queue *q;

	if (soft_opened())
		return soft_opened();
	q = take_queue(id);
	if (!q)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	soft_bell_stop(&q->bell);
	pthread_join(q->thread, NULL);
	soft_bell_remove(&q->bell);
	soft_trace(1, "GPU %u queue %u: destroyed after %llu packets", q->node, q->number,
		   (unsigned long long)q->packets);
	soft_isa_destroy(q->isa);
	soft_kernel_cache_clear(&q->kernels);
	free(q);
	return HSAKMT_STATUS_SUCCESS;
}

/* Ring a queue for ROCr 7, whose call passes no index. The caller owns the queue, so the queue
 * exists. */
void soft_dtif_ring(HSA_QUEUEID id)
{
	struct soft_queue *q = (struct soft_queue *)id;

	__atomic_store_n(&q->called, 1, __ATOMIC_RELAXED);
	soft_bell_ring(&q->bell);
}

/* Change a queue. Percentage 0 suspends the queue, which is how ROCr stops a failed queue. Other
 * changes have no effect here. */
THUNK_API HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage,
					  HSA_QUEUE_PRIORITY priority, void *ring, HSAuint64 bytes,
					  HsaEvent *event)
{
	struct soft_queue *q;

	(void)priority;
	(void)ring;
	(void)bytes;
	(void)event;
	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	q = find_locked(id);
	if (q && percentage == 0)
		__atomic_store_n(&q->suspended, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return q ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

THUNK_API HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *mask)
{
	(void)id;
	if (soft_opened())
		return soft_opened();
	return count && mask && count % 32 == 0 ? HSAKMT_STATUS_SUCCESS
						: HSAKMT_STATUS_INVALID_PARAMETER;
}

/* Enable global wave sync, which the kernels of a cooperative launch use to wait for each other.
 * ROCr uses one such queue per GPU. */
THUNK_API HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *first)
{
	struct soft_queue *q;

	if (soft_opened())
		return soft_opened();
	if (!count || count > SOFT_GWS)
		return HSAKMT_STATUS_OUT_OF_RESOURCES;
	pthread_mutex_lock(&lock);
	q = find_locked(id);
	if (q)
		__atomic_store_n(&q->cooperative, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	*first = 0;
	return q ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

void soft_queue_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	queues = NULL; /* the threads of the queues exist only in the parent */
}
