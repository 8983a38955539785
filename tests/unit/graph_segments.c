/* SPDX-License-Identifier: MIT */
/* The order in which HIP 7.2.4 submits a graph's nodes. The expected orders were observed with HIP.
 * Runs without HIP. */
#include <stdio.h>
#include <stdlib.h>

#include "../../src/runtime/hip/hip_graph_segments.c"
#include "unit.h"

enum { NODES = 64, EDGES = 128 };

/* Used by hip_graph_nodes.c. */
void *gt_hip_alloc(size_t bytes)
{
	return calloc(1, bytes);
}

void gt_hip_free(const void *p, size_t bytes)
{
	(void)bytes;
	free((void *)(uintptr_t)p);
}

struct edge {
	uint32_t from, to;
};

static bool made, child;
static uint32_t child_node = NODES;

/* Return the order as "3 1 5 ...", in a static buffer. @edges are in the order of their
 * creation. */
static const char *order_of(uint32_t count, const struct edge *edges, uint32_t edge_count)
{
	static char text[NODES * 4];
	uint32_t first[NODES + 1] = {0}, to[EDGES], left[NODES] = {0}, kind[NODES], order[NODES],
			       n = 0;
	const struct gt_hip_shape shape = {count, first, to, left, kind};
	size_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		first[i] = n;
		kind[i] = i == child_node ? GT_HIP_NODE_GRAPH : GT_HIP_NODE_KERNEL;
		for (uint32_t k = 0; k < edge_count; k++)
			if (edges[k].from == i) {
				left[edges[k].to]++;
				to[n++] = edges[k].to;
			}
	}
	first[count] = n;
	made = gt_hip_segments_order(&shape, child, order);
	text[0] = '\0';
	for (uint32_t i = 0; made && i < count; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", i ? " " : "", order[i]);
	return text;
}

#define ORDER(count, ...)                                   \
	order_of(count, (const struct edge[]){__VA_ARGS__}, \
		 sizeof(struct edge[]){__VA_ARGS__} / sizeof(struct edge))

UNIT_TEST(segments_are_submitted_level_by_level_and_in_the_order_in_which_they_are_found)
{
	CHECK_STR(ORDER(8, {3, 1}, {5, 0}, {3, 5}, {4, 2}, {7, 6}), "3 4 2 7 6 1 5 0");
}

UNIT_TEST(a_chain_is_one_segment)
{
	CHECK_STR(ORDER(4, {2, 0}, {0, 3}, {3, 1}), "2 0 3 1");
}

UNIT_TEST(where_branches_join_another_segment_begins)
{
	/* 0 forks into 1 2 and 3 4, which join in 5; 6 follows */
	CHECK_STR(ORDER(7, {0, 1}, {1, 2}, {0, 3}, {3, 4}, {2, 5}, {4, 5}, {5, 6}),
		  "0 1 2 3 4 5 6");
}

UNIT_TEST(a_child_graph_is_a_segment_of_its_own)
{
	child_node = 1;
	CHECK_STR(ORDER(4, {0, 1}, {1, 2}, {2, 3}), "0 1 2 3");
	CHECK_STR(ORDER(5, {0, 1}, {1, 2}, {3, 4}), "0 3 4 1 2");
}

UNIT_TEST(many_short_segments_are_not_made_but_of_a_child_or_if_the_user_says_so)
{
	struct edge edges[16];

	for (uint32_t i = 0; i < 16; i++)
		edges[i] = (struct edge){i, 16 + i};
	order_of(32, edges, 16);
	CHECK(!made);
	setenv("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", "2", 1);
	order_of(32, edges, 16);
	CHECK(made);
	unsetenv("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING");
	child = true;
	order_of(32, edges, 16);
	CHECK(made);
}

UNIT_TEST(none_are_made_if_the_user_wants_none)
{
	setenv("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", "0", 1);
	ORDER(2, {0, 1});
	CHECK(!made);
}
