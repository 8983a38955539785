/* SPDX-License-Identifier: MIT */
/* runtime/cuda/cuda_links.c finds the call for a CUPTI correlation id. Runs without CUPTI. */
#include "runtime/cuda/cuda_parts.h"
#include "unit.h"

/* Add a link as the callback of a launch does (cuda_activity.c). */
static void launch(uint32_t correlation, uint64_t call)
{
	struct gt_cuda_link *l;

	CHECK(gt_cuda_links_begin());
	l = &gt_cuda_links[correlation % GT_CUDA_LINKS];
	l->id = call;
	l->records = 1;
	l->flags = GT_CUDA_RECORDED | GT_CUDA_COUNTED;
	atomic_store(&l->correlation, correlation);
	atomic_store(&gt_cuda_links_newest, correlation);
}

/* Return the call that a record with this id is linked to, or 0. */
static uint64_t find_call(uint32_t correlation)
{
	struct gt_cuda_link link = {0};
	bool more;

	return gt_cuda_link_find(correlation, &link, &more) ? link.id : 0;
}

static bool is_linked(uint32_t correlation)
{
	struct gt_cuda_link link;
	bool more;

	return gt_cuda_link_find(correlation, &link, &more);
}

UNIT_TEST(a_record_is_linked_to_the_launch_of_its_id)
{
	launch(7, 70);
	launch(8, 80);
	CHECK_EQ(find_call(7), 70);
	CHECK_EQ(find_call(8), 80);
	CHECK_EQ(find_call(9), 0);
}

UNIT_TEST(a_record_of_id_0_has_no_launch)
{
	CHECK(!is_linked(0));
	launch(1, 10);
	CHECK(!is_linked(0));
}

UNIT_TEST(a_record_of_id_0_is_not_linked_to_a_place_that_is_rewritten)
{
	launch(GT_CUDA_LINKS, 70); /* place 0 */
	atomic_store(&gt_cuda_links[0].correlation, 0);
	CHECK(!is_linked(0));
}

UNIT_TEST(a_record_of_id_0_is_not_linked_to_a_launch_that_was_kept)
{
	launch(3, 30);
	launch(GT_CUDA_LINKS, 70);
	gt_cuda_links_keep();
	launch(GT_CUDA_LINKS + 3, 90);
	/* the only record of this launch, so the retained slot is free again */
	CHECK_EQ(find_call(3), 30);
	CHECK(!is_linked(0));
}

UNIT_TEST(ids_that_are_counted_anew_are_not_linked_to_earlier_launches)
{
	launch(5, 50);
	gt_cuda_links_forget();
	CHECK(!is_linked(5));
	launch(5, 51);
	CHECK_EQ(find_call(5), 51);
}
