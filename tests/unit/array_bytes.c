/* SPDX-License-Identifier: MIT */
/* runtime/array_bytes.h: sizes of arrays in CUDA and HIP. */
#include "runtime/array_bytes.h"
#include "unit.h"

UNIT_TEST(an_array_has_the_bytes_of_its_elements)
{
	CHECK_EQ(gt_array_descriptor_bytes(&(struct gt_array_descriptor){64, 32, 0x20, 1}), 8192);
	CHECK_EQ(gt_array_descriptor_bytes(&(struct gt_array_descriptor){100, 0, 0x10, 4}), 800);
	CHECK_EQ(gt_array_descriptor_bytes(&(struct gt_array_descriptor){7, 3, 0x01, 2}), 42);
	CHECK_EQ(gt_array3d_descriptor_bytes(&(struct gt_array3d_descriptor){8, 8, 8, 0x0a, 2, 0},
					     1),
		 4096);
}

UNIT_TEST(levels_of_an_array_are_halved_but_not_its_layers)
{
	/* 16 x 8, 8 x 4, 4 x 2, 2 x 1, 1 x 1: each level with four layers, or with decreasing
	 * depth */
	CHECK_EQ(gt_array3d_descriptor_bytes(&(struct gt_array3d_descriptor){16, 8, 4, 0x20, 1,
									     GT_ARRAY_LAYERED},
					     5),
		 4 * 4 * (128 + 32 + 8 + 2 + 1));
	CHECK_EQ(gt_array3d_descriptor_bytes(&(struct gt_array3d_descriptor){16, 8, 4, 0x20, 1, 0},
					     5),
		 4 * (128 * 4 + 32 * 2 + 8 + 2 + 1));
}

UNIT_TEST(what_has_no_memory_has_no_bytes_and_what_is_not_known_is_said)
{
	CHECK_EQ(gt_array3d_descriptor_bytes(&(struct gt_array3d_descriptor){64, 64, 0, 0x20, 1,
									     GT_ARRAY_SPARSE},
					     1),
		 0);
	CHECK_EQ(gt_array_descriptor_bytes(&(struct gt_array_descriptor){64, 64, 0xb0, 3}),
		 UINT64_MAX);
}
