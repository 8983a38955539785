/* SPDX-License-Identifier: MIT */
/* What memory programs have allocated and freed, by their calls: how much of which kind, and how
 * much was in use when. A call that frees does not say how much: this finds the allocation of that
 * address before it, of whatever thread. What is counted by references (OpenCL's objects) ends with
 * the last of them.
 *
 * Calls are noted in any order, 48 bytes each, up to a limit; then they are put in the order of
 * their times. An allocation counts from the end of its call, a free from its begin: another thread
 * may get the address at once. */
#ifndef GPUTAP_EXPORT_MEMORY_USE_H
#define GPUTAP_EXPORT_MEMORY_USE_H

#include "capture/capture.h"
#include "record/operation.h"

struct gt_memory_change {
	uint64_t ns, address;
	/* allocated or freed; a free's are 0 until gt_memory_use_settle(), and after it if the
	 * allocation was not seen */
	uint64_t bytes;
	uint32_t process, tag; /* of the caller's */
	/* of an allocation: one plus the index of that whose address it got while its end had not
	 * been seen, which is over with it; 0: there was none */
	uint32_t replaced;
	uint8_t domain, memory; /* enum gt_memory; a free's: of its allocation */
	bool is_free, is_retain, is_matched;
	uint32_t retained; /* an allocation: so many frees do not end it yet */
};

struct gt_memory_sum {
	enum gt_domain domain;
	enum gt_memory memory;
	uint64_t allocations, bytes;
	uint64_t frees, freed_bytes; /* of allocations that were seen */
	uint64_t in_use, peak;       /* bytes */
};

struct gt_memory_use {
	struct gt_memory_change *changes;
	size_t count, room;
	bool is_full; /* there were more: sums are of those that were taken */
	struct gt_memory_sum sums[GT_DOMAIN_COUNT][GT_MEMORY_COUNT];
};

/* A call of a capture; others than allocations and frees are ignored. Without memory `is_full` is
 * set. @tag: for gt_memory_change_fn */
void gt_memory_use_note(struct gt_memory_use *use, const struct gt_item *call, uint32_t tag);

/**
 * gt_memory_use_settle() - all calls have been noted
 * @each: called for each change in the order of time, with what is then in use of its domain and
 *        kind; NULL: the sums are enough
 * Return: 0 or -ENOMEM with a cause.
 */
typedef void gt_memory_change_fn(void *data, const struct gt_memory_change *change,
				 uint64_t in_use);
int gt_memory_use_settle(struct gt_memory_use *use, gt_memory_change_fn *each, void *data);

void gt_memory_use_fini(struct gt_memory_use *use);

#endif
