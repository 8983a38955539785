/* SPDX-License-Identifier: MIT */
/* Memory that programs allocated and freed, computed from their calls: sums per kind and device,
 * and the memory in use over time. A freeing call has no size, so the size is that of the latest
 * allocation at the freed address, by any thread. A reference-counted object (OpenCL) is freed with
 * its last reference.
 *
 * Calls are added in any order, at 48 bytes each, up to a limit, and then sorted by time. An
 * allocation counts from the end of its call. A free counts from the start of its call, because
 * another thread may receive the same address immediately. */
#ifndef GPUTAP_ANALYSIS_MODEL_MEMORY_USE_H
#define GPUTAP_ANALYSIS_MODEL_MEMORY_USE_H

#include "analysis/base/map.h"
#include "capture/capture.h"
#include "record/operation.h"

enum { GT_MEMORY_NO_DEVICE = 0xffff }; /* no device, or device not known */

struct gt_memory_change {
	uint64_t ns, address;
	/* Bytes allocated or freed. For a free, 0 until gt_memory_use_settle(), and afterwards 0 if
	 * the allocation was not recorded. */
	uint64_t bytes;
	uint32_t process, tag; /* tag: set by the caller */
	/* For an allocation: one plus the index of the earlier allocation at the same address whose
	 * free was not recorded and which this allocation ends; 0: none. */
	uint32_t replaced;
	uint16_t device;        /* index in the capture; a free has the index of its allocation */
	uint8_t domain, memory; /* enum gt_memory */
	bool is_free, is_retain, is_matched;
	uint32_t retained; /* for an allocation: number of frees that do not end it yet */
};

struct gt_memory_sum {
	enum gt_domain domain;
	enum gt_memory memory;
	uint32_t device; /* may be GT_MEMORY_NO_DEVICE */
	uint64_t allocations, bytes;
	uint64_t frees, freed_bytes; /* frees whose allocation was recorded */
	uint64_t in_use, peak;       /* bytes */
};

struct gt_memory_use {
	const struct gt_capture *capture; /* NULL: devices are not known */
	struct gt_memory_change *changes;
	size_t count, room;
	bool is_full; /* true if calls were left out: sums cover only the added calls */
	/* One sum per domain, kind and device, filled by gt_memory_use_settle(). */
	struct gt_memory_sum *sums;
	size_t sum_count, sum_room;
	struct gt_map sums_by_key;
};

/* Add a call of a capture. Calls other than allocations and frees are ignored. If memory is
 * exhausted, `is_full` is set. @tag: passed on to gt_memory_change_fn */
void gt_memory_use_note(struct gt_memory_use *use, const struct gt_item *call, uint32_t tag);

/* Add changes that another struct gt_memory_use collected. */
void gt_memory_use_add(struct gt_memory_use *use, const struct gt_memory_change *changes,
		       size_t count);

/**
 * gt_memory_use_settle() - compute the sums after all calls have been added
 * @each: called for each change in time order, with the bytes then in use in its domain, kind and
 *        device; NULL: only the sums are needed
 * Return: 0 or -ENOMEM with a cause.
 */
typedef void gt_memory_change_fn(void *data, const struct gt_memory_change *change,
				 uint64_t in_use);
int gt_memory_use_settle(struct gt_memory_use *use, gt_memory_change_fn *each, void *data);

/* Return the key of a sum, and of a track within a process. */
static inline uint64_t gt_memory_key(unsigned domain, unsigned memory, unsigned device)
{
	return (uint64_t)device << 16 | domain << 8 | memory;
}

void gt_memory_use_fini(struct gt_memory_use *use);

#endif
