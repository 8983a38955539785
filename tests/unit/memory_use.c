/* SPDX-License-Identifier: MIT */
/* analysis/model/memory_use.h, memory_tracks.h: allocations and frees from their calls, and over
 * time. */
#include "analysis/model/memory_tracks.h"

#include <stdlib.h>

#include "unit.h"

/* Add a call in the order of a cursor: the calls of one thread, then the calls of the next
 * thread. */
static void note_of(struct gt_memory_use *use, enum gt_domain domain, const char *name, uint64_t ns,
		    uint64_t address, uint64_t bytes, int32_t status)
{
	const struct gt_operation_info *info = gt_operation_find(domain, name);
	uint64_t args[8] = {0};
	struct gt_item call = {.kind = GT_RECORD_CALL,
			       .op = GT_OP(domain, GT_OP_NUMBER(info->op), info->nargs),
			       .start_ns = ns,
			       .end_ns = ns + 5,
			       .ret = (uint64_t)status,
			       .args = args};

	for (unsigned i = 0; i < info->nargs; i++)
		args[i] = info->args[i].role == GT_ROLE_ADDRESS ? address
			  : info->args[i].role == GT_ROLE_BYTES ? bytes
			  : info->args[i].role == GT_ROLE_TIMES ? 1
								: 0;
	gt_memory_use_note(use, &call, 0);
}

static void note(struct gt_memory_use *use, const char *name, uint64_t ns, uint64_t address,
		 uint64_t bytes, int32_t status)
{
	note_of(use, GT_DOMAIN_LEVEL_ZERO, name, ns, address, bytes, status);
}

static const struct gt_memory_sum *sum_of(const struct gt_memory_use *use, enum gt_memory memory)
{
	static const struct gt_memory_sum none;

	for (size_t i = 0; i < use->sum_count; i++)
		if (use->sums[i].memory == memory)
			return &use->sums[i];
	return &none;
}

static uint64_t freed_in_all;

static void add_freed(void *data, const struct gt_memory_change *change, uint64_t in_use)
{
	(void)data;
	(void)in_use;
	freed_in_all += change->is_free ? change->bytes : 0;
}

UNIT_TEST(a_free_of_another_thread_is_of_the_allocation_before_it)
{
	struct gt_memory_use use = {0};

	note(&use, "zeMemFree", 30, 0x1000, 0, 0); /* in a thread that is read first */
	note(&use, "zeMemFree", 60, 0x1000, 0, 0);
	note(&use, "zeMemAllocDevice", 10, 0x1000, 100, 0);
	note(&use, "zeMemAllocHost", 12, 0x2000, 7, 0);
	note(&use, "zeMemAllocDevice", 40, 0x1000, 300, 0); /* the same address, allocated again */
	note(&use, "zeMemAllocDevice", 45, 0x3000, 50, 0);
	CHECK_OK(gt_memory_use_settle(&use, add_freed, NULL));
	CHECK_EQ(freed_in_all, 400);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->allocations, 3);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->bytes, 450);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->frees, 2);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->freed_bytes, 400);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->peak, 350);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->in_use, 50);
	CHECK_EQ(sum_of(&use, GT_MEMORY_HOST)->in_use, 7);
	gt_memory_use_fini(&use);
}

UNIT_TEST(a_free_in_the_same_ns_is_of_the_allocation_that_has_just_returned)
{
	struct gt_memory_use use = {0};

	for (uint64_t ns = 10; ns < 1000; ns += 10) {
		note(&use, "zeMemAllocDevice", ns, 0x1000, 100, 0);
		note(&use, "zeMemFree", ns + 5, 0x1000, 0, 0); /* at the end of the allocation */
	}
	CHECK_OK(gt_memory_use_settle(&use, NULL, NULL));
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->frees, 99);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->peak, 100);
	CHECK_EQ(sum_of(&use, GT_MEMORY_DEVICE)->in_use, 0);
	gt_memory_use_fini(&use);
}

UNIT_TEST(what_failed_or_was_not_seen_has_no_bytes)
{
	struct gt_memory_use use = {0};

	note(&use, "zeMemAllocShared", 10, 0x1000, 100, 0x70000003);
	note(&use, "zeMemFree", 20, 0x1000, 0, 0); /* frees memory allocated before the recording */
	note(&use, "zeMemFree", 25, 0, 0, 0);
	note(&use, "zeMemAllocShared", 30, 0x1000, 8, 0);
	note(&use, "zeMemAllocShared", 40, 0x1000, 16, 0); /* the free was not recorded */
	CHECK_OK(gt_memory_use_settle(&use, NULL, NULL));
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->allocations, 2);
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->frees, 0);
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->peak, 16);
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->in_use, 16);
	gt_memory_use_fini(&use);
}

UNIT_TEST(cuda_says_of_each_allocation_which_memory_it_is_and_of_each_free_what)
{
	static const struct {
		const char *allocate, *release;
		enum gt_memory memory;
	} pairs[] = {
		{"cuMemAlloc_v2", "cuMemFree_v2", GT_MEMORY_DEVICE},
		{"cuMemAllocPitch_v2", "cuMemFree_v2", GT_MEMORY_DEVICE},
		{"cuMemCreate", "cuMemRelease", GT_MEMORY_DEVICE},
		{"cuMemAllocManaged", "cuMemFree_v2", GT_MEMORY_SHARED},
		{"cuMemAllocHost_v2", "cuMemFreeHost", GT_MEMORY_HOST},
		{"cuMemHostAlloc", "cuMemFreeHost", GT_MEMORY_HOST},
		{"cuMemHostRegister_v2", "cuMemHostUnregister", GT_MEMORY_REGISTERED},
		{"cuMemAllocAsync", "cuMemFreeAsync", GT_MEMORY_POOL},
		{"cuMemAllocAsync_ptsz", "cuMemFreeAsync_ptsz", GT_MEMORY_POOL},
		{"cuMemAllocFromPoolAsync", "cuMemFreeAsync", GT_MEMORY_POOL},
		{"cuMemAllocFromPoolAsync_ptsz", "cuMemFree_v2", GT_MEMORY_POOL},
		{"cuMemAddressReserve", "cuMemAddressFree", GT_MEMORY_VIRTUAL},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct gt_memory_use use = {0};
		const struct gt_memory_sum *sum;

		note_of(&use, GT_DOMAIN_CUDA_DRIVER, pairs[i].allocate, 10, 0x1000, 100, 0);
		note_of(&use, GT_DOMAIN_CUDA_DRIVER, pairs[i].release, 20, 0x1000, 0, 0);
		CHECK_OK(gt_memory_use_settle(&use, NULL, NULL));
		sum = sum_of(&use, pairs[i].memory);
		if (sum->peak != 100 || sum->freed_bytes != 100 || sum->in_use)
			unit_fail(__FILE__, __LINE__, "%s: peak %llu, freed %llu",
				  pairs[i].allocate, (unsigned long long)sum->peak,
				  (unsigned long long)sum->freed_bytes);
		gt_memory_use_fini(&use);
	}
}

/* Over time ----------------------------------------------------------------------- */

struct drawn {
	uint64_t points, ns, peak, peak_ns, end;
};

static void draw(void *data, const struct gt_memory_track *track, uint64_t ns, uint64_t in_use)
{
	struct drawn *d = (struct drawn *)data + track->index;

	CHECK(ns >= d->ns);
	d->points++;
	d->ns = ns;
	d->end = in_use;
	if (in_use > d->peak) {
		d->peak = in_use;
		d->peak_ns = ns;
	}
}

UNIT_TEST(a_short_track_has_every_change)
{
	struct gt_memory_use use = {0};
	struct drawn drawn[2] = {{0}, {0}};

	note(&use, "zeMemAllocDevice", 10, 0x1000, 100, 0);
	note(&use, "zeMemAllocHost", 12, 0x2000, 7, 0);
	note(&use, "zeMemAllocDevice", 14, 0x3000, 30, 0);
	note(&use, "zeMemFree", 26, 0x2000, 0, 0);
	note(&use, "zeMemFree", 28, 0x9000, 0, 0); /* frees an unknown allocation */
	/* the address was free, and is now used by another kind of memory */
	note(&use, "zeMemAllocHost", 30, 0x3000, 1, 0);
	CHECK_OK(gt_memory_tracks_each(&use, draw, drawn));
	CHECK_EQ(drawn[0].points, 3);
	CHECK_EQ(drawn[0].peak, 130);
	CHECK_EQ(drawn[0].end, 100);
	CHECK_EQ(drawn[1].points, 3);
	CHECK_EQ(drawn[1].peak, 7);
	CHECK_EQ(drawn[1].end, 1);
	gt_memory_use_fini(&use);
}

UNIT_TEST(a_long_track_has_few_points_and_its_peak)
{
	enum { PAIRS = 500000, AT = 333333 };
	struct gt_memory_use use = {0};
	struct drawn drawn = {0};

	note(&use, "zeMemAllocDevice", 1, 0x10, 1000, 0); /* which stays */
	for (uint64_t i = 1; i <= PAIRS; i++) {
		note(&use, "zeMemAllocDevice", 100 * i, 0x1000, i == AT ? 777777 : i % 1000, 0);
		note(&use, "zeMemFree", 100 * i + 50, 0x1000, 0, 0);
	}
	CHECK_OK(gt_memory_tracks_each(&use, draw, &drawn));
	CHECK(drawn.points > GT_MEMORY_PARTS);
	CHECK(drawn.points <= 4 * (GT_MEMORY_PARTS + 1));
	CHECK_EQ(drawn.peak, 778777);
	CHECK_EQ(drawn.peak_ns, 100 * (uint64_t)AT + 5); /* time at which the call ended */
	CHECK_EQ(drawn.end, 1000);
	CHECK_EQ(drawn.ns, 100 * (uint64_t)PAIRS + 50);
	gt_memory_use_fini(&use);
}
