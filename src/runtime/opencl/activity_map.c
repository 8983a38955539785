/* SPDX-License-Identifier: MIT */
/* Containers for OpenCL's objects: locks, memory, maps from handles.
 *
 * A thread that wants a lock spins briefly, then sleeps in short steps, then gives up, because the
 * holder may be a stopped thread, or the same thread below a signal handler. A thread that cannot
 * get a lock continues without it, and counts the activities that it could not record. Memory is
 * allocated in chunks and never freed; objects in it are reused.
 * Never here: malloc (the program may have replaced it), calls of the runtime. */
#include "core/recording.h"
#include "runtime/opencl/activity.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/pause.h"

enum { CHUNK_BYTES = 1 << 18, SPINS = 100, NAPS = 4000, NAP_NS = 20000 };

enum gt_cl_lock_result gt_cl_lock_wait(struct gt_cl_lock *lock, uint32_t epoch)
{
	const struct timespec nap = {0, NAP_NS};
	int saved = errno;

	for (unsigned i = 0; i < SPINS + NAPS; i++) {
		uint32_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
		enum gt_cl_lock_result result = owner ? GT_CL_LOCK_STALE : GT_CL_LOCK_TAKEN;

		/* an owner of this process is alive, also if it began in an earlier session */
		if (owner != epoch && !gt_recording_owns(owner) &&
		    atomic_compare_exchange_strong_explicit(&lock->owner, &owner, epoch,
							    memory_order_acquire,
							    memory_order_relaxed))
			return errno = saved, result;
		if (i >= SPINS) /* the holder lost its processor, so yield this one */
			syscall(SYS_nanosleep, &nap, NULL);
		else
			gt_pause_cpu();
	}
	errno = saved;
	return GT_CL_LOCK_FAILED;
}

void *gt_cl_memory_take(uint32_t epoch, size_t bytes)
{
	static struct gt_cl_lock lock;
	static char *cur, *end;
	int saved = errno;
	void *p = NULL;

	bytes = (bytes + 63) & ~(size_t)63;
	switch (gt_cl_lock_take(&lock, epoch)) {
	case GT_CL_LOCK_FAILED: return NULL;
	case GT_CL_LOCK_STALE: cur = end = NULL; break;
	case GT_CL_LOCK_TAKEN: break;
	}
	if ((size_t)(end - cur) < bytes) {
		size_t chunk = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

		p = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED) {
			cur = p;
			end = cur + chunk;
		}
		p = NULL;
	}
	if ((size_t)(end - cur) >= bytes) {
		p = cur;
		cur += bytes;
	}
	gt_cl_lock_release(&lock);
	errno = saved;
	return p;
}

void gt_cl_map_add(struct gt_cl_map *map, struct gt_cl_node *node, const void *handle)
{
	size_t bucket = (uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - map->bits);
	struct gt_cl_node *first =
		atomic_load_explicit(&map->buckets[bucket], memory_order_relaxed);

	node->handle = handle;
	do {
		node->next = first;
	} while (!atomic_compare_exchange_weak_explicit(&map->buckets[bucket], &first, node,
							memory_order_release,
							memory_order_relaxed));
}
