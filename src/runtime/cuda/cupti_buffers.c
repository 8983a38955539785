/* SPDX-License-Identifier: MIT */
/* Manages the buffers for CUPTI's records, which are mapped and reused, never taken from an
 * allocator.
 *
 *   free ─ request ─► CUPTI's ─ complete ─► filled ─ read ─► free
 *
 * A buffer's head follows the part that CUPTI fills. CUPTI may complete a buffer in any thread,
 * including a program thread. The thread therefore only adds our buffer to the list, and the helper
 * reads the buffer. A client's buffer is read at once, because it must be returned to the client.
 * Locking: a spin lock around the lists; another spin lock around reading, taken with trylock
 * only. */
#define _GNU_SOURCE 1
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/cuda/cuda_parts.h"

enum { BYTES = 4 << 20, HEAD = 64, KEPT_FREE = 16 };

struct head {
	struct head *next;
	uint8_t *buffer;
	size_t valid;
};

static struct {
	_Atomic uint32_t lock;
	uint32_t free_count;
	struct head *free, *filled, **last;
} pool = {.last = &pool.filled};

static _Atomic uint32_t reading;
static _Atomic uint32_t drops; /* nonzero while no session wants records */

static void lock(void)
{
	while (atomic_exchange_explicit(&pool.lock, 1, memory_order_acquire))
		sched_yield();
}

static void unlock(void)
{
	atomic_store_explicit(&pool.lock, 0, memory_order_release);
}

static struct head *head_of(uint8_t *buffer)
{
	return (struct head *)(void *)(buffer + BYTES - HEAD);
}

static uint8_t *take_free(void)
{
	struct head *head;

	lock();
	head = pool.free;
	if (head) {
		pool.free = head->next;
		pool.free_count--;
	}
	unlock();
	return head ? head->buffer : NULL;
}

static void give_free(uint8_t *buffer)
{
	struct head *head = head_of(buffer);
	bool kept;

	lock();
	kept = pool.free_count < KEPT_FREE;
	if (kept) {
		head->buffer = buffer;
		head->next = pool.free;
		pool.free = head;
		pool.free_count++;
	}
	unlock();
	if (!kept)
		munmap(buffer, BYTES);
}

void gt_cupti_request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	uint8_t *ours;

	if (gt_cupti_client_request(buffer, bytes, records))
		return;
	ours = take_free();
	if (!ours) {
		ours = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (ours == MAP_FAILED)
			ours = NULL;
	}
	*buffer = ours;
	*bytes = ours ? BYTES - HEAD : 0;
	*records = 0;
}

static void read_records(struct gt_thread *t, uint8_t *buffer, size_t valid)
{
	const struct gt_cupti_library *library = gt_cupti_session_library();
	struct cupti_record *record = NULL;

	while (valid && library->cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
		gt_cuda_record(t, record);
}

static bool begin_reading(void)
{
	return !atomic_exchange_explicit(&reading, 1, memory_order_acquire);
}

static void end_reading(void)
{
	atomic_store_explicit(&reading, 0, memory_order_release);
}

/* Count the records that CUPTI dropped as lost, because their activities were counted as seen at
 * launch. */
static void count_dropped(void *context, uint32_t stream)
{
	const struct gt_cupti_library *library = gt_cupti_session_library();
	struct gt_thread *t = gt_thread_own();
	size_t dropped = 0;

	if (library->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) || !t ||
	    !gt_cuda_stream_open())
		return; /* in a pause no record was counted as seen */
	for (; dropped; dropped--)
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_CUDA_DRIVER, GT_DROP_RUNTIME);
}

void gt_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	/* CUPTI's thread has no gputap state yet, and must not get it inside the section below */
	struct gt_thread *t = gt_thread_own();
	struct head *head;
	bool is_ours;

	count_dropped(context, stream);
	if (!buffer)
		return;
	/* a client's buffer may have the same size as ours */
	is_ours = bytes == BYTES - HEAD && !gt_cupti_client_has_buffer(buffer);
	if (!is_ours) {
		while (!begin_reading())
			sched_yield();
		gt_internal_enter();
		read_records(t, buffer, valid);
		gt_internal_leave();
		end_reading();
	}
	gt_cupti_client_complete(context, stream, buffer, bytes, valid);
	if (!is_ours)
		return;
	if (atomic_load_explicit(&drops, memory_order_relaxed)) {
		give_free(buffer);
		return;
	}
	head = head_of(buffer);
	head->buffer = buffer;
	head->valid = valid;
	head->next = NULL;
	lock();
	*pool.last = head;
	pool.last = &head->next;
	unlock();
	if (valid > BYTES / 2)
		/* the buffer filled up before a flush, so records arrive fast */
		gt_cuda_helper_wake();
}

static struct head *take_filled(void)
{
	struct head *head;

	lock();
	head = pool.filled;
	if (head) {
		pool.filled = head->next;
		if (!pool.filled)
			pool.last = &pool.filled;
	}
	unlock();
	return head;
}

static void read_filled(struct gt_thread *t)
{
	struct head *head;

	gt_cuda_links_keep();
	while ((head = take_filled()) != NULL) {
		read_records(t, head->buffer, head->valid);
		give_free(head->buffer);
		gt_cuda_links_keep();
	}
}

void gt_cupti_buffers_read(struct gt_thread *t)
{
	if (!begin_reading())
		return;
	read_filled(t);
	end_reading();
}

static void unmap_free(void)
{
	uint8_t *buffer;

	while ((buffer = take_free()) != NULL)
		munmap(buffer, BYTES);
}

void gt_cupti_buffers_drop(bool on)
{
	atomic_store_explicit(&drops, on, memory_order_relaxed);
}

void gt_cupti_buffers_discard(void)
{
	struct head *head;

	while (!begin_reading())
		sched_yield();
	while ((head = take_filled()) != NULL)
		give_free(head->buffer);
	unmap_free();
	gt_cuda_objects_renew();
	end_reading();
}

void gt_cupti_buffers_restart(void)
{
	while (!begin_reading())
		sched_yield();
	read_filled(gt_thread_own());
	gt_cuda_links_forget();
	end_reading();
}
