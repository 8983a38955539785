/* SPDX-License-Identifier: MIT */
/* export/memory_use.h: allocations and frees by their calls. */
#include "export/memory_use.h"

#include "unit.h"

/* As a cursor gives it: a thread's calls, then the next thread's. */
static void note(struct gt_memory_use *use, const char *name, uint64_t ns, uint64_t address,
		 uint64_t bytes, int32_t status)
{
	const struct gt_operation_info *info = gt_operation_find(GT_DOMAIN_LEVEL_ZERO, name);
	uint64_t args[8] = {0};
	struct gt_item call = {.kind = GT_RECORD_CALL,
			       .op = info->op,
			       .start_ns = ns,
			       .end_ns = ns + 5,
			       .ret = (uint64_t)status,
			       .args = args};

	for (unsigned i = 0; i < info->nargs; i++)
		args[i] = info->args[i].role == GT_ROLE_ADDRESS ? address
			  : info->args[i].role == GT_ROLE_BYTES ? bytes
								: 0;
	gt_memory_use_note(use, &call, 0);
}

static const struct gt_memory_sum *sum_of(const struct gt_memory_use *use, enum gt_memory memory)
{
	return &use->sums[GT_DOMAIN_LEVEL_ZERO][memory];
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

	note(&use, "zeMemFree", 30, 0x1000, 0, 0); /* of a thread that is read first */
	note(&use, "zeMemFree", 60, 0x1000, 0, 0);
	note(&use, "zeMemAllocDevice", 10, 0x1000, 100, 0);
	note(&use, "zeMemAllocHost", 12, 0x2000, 7, 0);
	note(&use, "zeMemAllocDevice", 40, 0x1000, 300, 0); /* the same address again */
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

UNIT_TEST(what_failed_or_was_not_seen_has_no_bytes)
{
	struct gt_memory_use use = {0};

	note(&use, "zeMemAllocShared", 10, 0x1000, 100, 0x70000003);
	note(&use, "zeMemFree", 20, 0x1000, 0, 0); /* of what was allocated before the recording */
	note(&use, "zeMemFree", 25, 0, 0, 0);
	note(&use, "zeMemAllocShared", 30, 0x1000, 8, 0);
	note(&use, "zeMemAllocShared", 40, 0x1000, 16, 0); /* its free was not recorded */
	CHECK_OK(gt_memory_use_settle(&use, NULL, NULL));
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->allocations, 2);
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->frees, 0);
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->peak, 16);
	CHECK_EQ(sum_of(&use, GT_MEMORY_SHARED)->in_use, 16);
	gt_memory_use_fini(&use);
}
