/* SPDX-License-Identifier: MIT */
/* What memory programs have allocated and freed, by their calls: how much of which kind, on which
 * device, and how much was in use when. A call that frees does not say how much: this finds the
 * allocation of that address before it, of whatever thread. What is counted by references (OpenCL's
 * objects) ends with the last of them.
 *
 * Calls are noted in any order, 48 bytes each, up to a limit; then they are put in the order of
 * their times. An allocation counts from the end of its call, a free from its begin: another thread
 * may get the address at once. */
#ifndef GPUTAP_EXPORT_MEMORY_USE_H
#define GPUTAP_EXPORT_MEMORY_USE_H

#include "capture/capture.h"
#include "export/map.h"
#include "record/operation.h"

enum { GT_MEMORY_NO_DEVICE = 0xffff }; /* none, or not known */

struct gt_memory_change {
	uint64_t ns, address;
	/* allocated or freed; a free's are 0 until gt_memory_use_settle(), and after it if the
	 * allocation was not seen */
	uint64_t bytes;
	uint32_t process, tag; /* of the caller's */
	/* of an allocation: one plus the index of that whose address it got while its end had not
	 * been seen, which is over with it; 0: there was none */
	uint32_t replaced;
	uint16_t device; /* index in the capture; a free's, as its memory: of its allocation */
	uint8_t domain, memory; /* enum gt_memory */
	bool is_free, is_retain, is_matched;
	uint32_t retained; /* an allocation: so many frees do not end it yet */
};

struct gt_memory_sum {
	enum gt_domain domain;
	enum gt_memory memory;
	uint32_t device; /* GT_MEMORY_NO_DEVICE */
	uint64_t allocations, bytes;
	uint64_t frees, freed_bytes; /* of allocations that were seen */
	uint64_t in_use, peak;       /* bytes */
};

struct gt_memory_use {
	const struct gt_capture *capture; /* NULL: no devices are known */
	struct gt_memory_change *changes;
	size_t count, room;
	bool is_full; /* there were more: sums are of those that were taken */
	/* by gt_memory_use_settle(), of each domain, kind and device */
	struct gt_memory_sum *sums;
	size_t sum_count, sum_room;
	struct gt_map sums_by_key;
};

/* A call of a capture; others than allocations and frees are ignored. Without memory `is_full` is
 * set. @tag: for gt_memory_change_fn */
void gt_memory_use_note(struct gt_memory_use *use, const struct gt_item *call, uint32_t tag);

/**
 * gt_memory_use_settle() - all calls have been noted
 * @each: called for each change in the order of time, with what is then in use of its domain,
 *        kind and device; NULL: the sums are enough
 * Return: 0 or -ENOMEM with a cause.
 */
typedef void gt_memory_change_fn(void *data, const struct gt_memory_change *change,
				 uint64_t in_use);
int gt_memory_use_settle(struct gt_memory_use *use, gt_memory_change_fn *each, void *data);

/* What identifies a sum, and a track of a process. */
static inline uint64_t gt_memory_key(unsigned domain, unsigned memory, unsigned device)
{
	return (uint64_t)device << 16 | domain << 8 | memory;
}

void gt_memory_use_fini(struct gt_memory_use *use);

#endif
