/* SPDX-License-Identifier: MIT */
/* Memory that programs have allocated and freed, from their calls: amounts by kind and device, and
 * how much was in use when. A freeing call does not have a size: it is taken from the previous
 * allocation of that address, in any thread. Reference-counted objects (OpenCL's) end with the last
 * reference.
 *
 * Calls are added in any order, 48 bytes each, up to a limit; then they are sorted by time. An
 * allocation counts from the end of its call, a free from its start, because another thread may get
 * the address at once. */
#ifndef GPUTAP_EXPORT_MEMORY_USE_H
#define GPUTAP_EXPORT_MEMORY_USE_H

#include "capture/capture.h"
#include "export/map.h"
#include "record/operation.h"

enum { GT_MEMORY_NO_DEVICE = 0xffff }; /* none, or not known */

struct gt_memory_change {
	uint64_t ns, address;
	/* allocated or freed; a free's are 0 until gt_memory_use_settle(), and also after it if the
	 * allocation was not seen */
	uint64_t bytes;
	uint32_t process, tag; /* tag: the caller's */
	/* for an allocation: one plus the index of the allocation with the same address whose end
	 * was not seen, and which this one ends; 0: none */
	uint32_t replaced;
	uint16_t device; /* index in the capture; for a free, like its memory, its allocation's */
	uint8_t domain, memory; /* enum gt_memory */
	bool is_free, is_retain, is_matched;
	uint32_t retained; /* for an allocation: number of frees that do not end it yet */
};

struct gt_memory_sum {
	enum gt_domain domain;
	enum gt_memory memory;
	uint32_t device; /* GT_MEMORY_NO_DEVICE */
	uint64_t allocations, bytes;
	uint64_t frees, freed_bytes; /* frees of allocations that were seen */
	uint64_t in_use, peak;       /* bytes */
};

struct gt_memory_use {
	const struct gt_capture *capture; /* NULL: no devices are known */
	struct gt_memory_change *changes;
	size_t count, room;
	bool is_full; /* there were more calls: sums cover only those added */
	/* filled in gt_memory_use_settle(), for each domain, kind and device */
	struct gt_memory_sum *sums;
	size_t sum_count, sum_room;
	struct gt_map sums_by_key;
};

/* Add a call of a capture; only allocations and frees count. If memory is exhausted `is_full` is
 * set. @tag: for gt_memory_change_fn */
void gt_memory_use_note(struct gt_memory_use *use, const struct gt_item *call, uint32_t tag);

/**
 * gt_memory_use_settle() - compute the sums after all calls have been added
 * @each: called for each change in time order, with the amount then in use of its domain, kind and
 *        device; NULL: only sums are needed
 * Return: 0 or -ENOMEM with a cause.
 */
typedef void gt_memory_change_fn(void *data, const struct gt_memory_change *change,
				 uint64_t in_use);
int gt_memory_use_settle(struct gt_memory_use *use, gt_memory_change_fn *each, void *data);

/* Return the key of a sum, and of a track of a process. */
static inline uint64_t gt_memory_key(unsigned domain, unsigned memory, unsigned device)
{
	return (uint64_t)device << 16 | domain << 8 | memory;
}

void gt_memory_use_fini(struct gt_memory_use *use);

#endif
