/* SPDX-License-Identifier: MIT */
/* Computes the order of submission in HIP 7.2.x, which splits a graph into segments and enqueues
 * the segments level by level:
 *
 *   segment   a chain of nodes. Only its last node may have several successors, and only its first
 *             node may have several predecessors. A child graph is a separate segment. HIP finds
 *             segments along each branch, in the order of edges
 *   level     of a segment: one more than the highest level of the segments that it waits for.
 *             Segments of one level are enqueued in the order in which they became ready
 *
 * HIP enqueues a graph of many short segments along its branches instead, as in earlier releases.
 * The user can choose one method for all graphs (DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING: 0 never, 2
 * always segments). */
#include <stdlib.h>
#include <string.h>

#include "runtime/hip/hip_graph.h"

/* HIP does not use segments if a graph has at least MANY segments with fewer than SHORT nodes each
 * on average */
enum { MANY = 16, SHORT = 8 };

struct segments {
	const struct gt_hip_shape *shape;
	size_t bytes;
	uint32_t *stack; /* nodes to visit; later, the numbers of a segment's successors */
	uint32_t *nodes; /* nodes of all segments, in sequence */
	uint32_t *first; /* [count + 1] into nodes */
	uint32_t *of;    /* segment of each node */
	uint32_t *level, *left, *ready, *place;
	uint8_t *visited;
	uint32_t count, length; /* number of segments; number of nodes */
};

static bool begin_segments(struct segments *s, const struct gt_hip_shape *shape)
{
	size_t n = shape->count, edges = shape->edge_first[n];
	uint32_t *u;

	s->shape = shape;
	s->bytes = (edges + 1 + 7 * (n + 2)) * sizeof *u + n;
	u = gt_hip_alloc(s->bytes);
	if (!u)
		return false;
	s->stack = u, u += edges + 1;
	s->nodes = u, u += n + 2;
	s->first = u, u += n + 2;
	s->of = u, u += n + 2;
	s->level = u, u += n + 2;
	s->left = u, u += n + 2;
	s->ready = u, u += n + 2;
	s->place = u, u += n + 2;
	s->visited = (uint8_t *)u;
	return true;
}

/* End the current segment before index @end, if the segment is not empty. */
static void cut_segment(struct segments *s, uint32_t end)
{
	for (uint32_t i = s->first[s->count]; i < end; i++)
		s->of[s->nodes[i]] = s->count;
	if (end > s->first[s->count])
		s->first[++s->count] = end;
}

static void visit_node(struct segments *s, uint32_t node)
{
	const uint32_t *edges = s->shape->edge_first;
	bool fork = edges[node + 1] - edges[node] > 1, join = s->shape->left[node] > 1;

	if (s->shape->kind[node] == GT_HIP_NODE_GRAPH || join)
		cut_segment(s, s->length);
	s->nodes[s->length++] = node;
	if (s->shape->kind[node] == GT_HIP_NODE_GRAPH || fork || edges[node + 1] == edges[node])
		cut_segment(s, s->length);
}

static void find_segments(struct segments *s)
{
	const uint32_t *edges = s->shape->edge_first;

	for (uint32_t root = 0; root < s->shape->count; root++) {
		uint32_t top = 0;

		if (s->shape->left[root])
			continue;
		s->stack[top++] = root;
		while (top) {
			uint32_t node = s->stack[--top];

			if (s->visited[node]) {
				cut_segment(s, s->length);
				continue;
			}
			s->visited[node] = 1;
			visit_node(s, node);
			for (uint32_t k = edges[node + 1]; k-- > edges[node];)
				s->stack[top++] = s->shape->edge_to[k];
		}
	}
}

/* Put the segments that wait for @segment into s->stack, ordered by number. */
static uint32_t find_successors(struct segments *s, uint32_t segment)
{
	uint32_t last = s->nodes[s->first[segment + 1] - 1], n = 0;

	for (uint32_t k = s->shape->edge_first[last]; k < s->shape->edge_first[last + 1]; k++) {
		uint32_t to = s->of[s->shape->edge_to[k]], i = n++;

		for (; i && s->stack[i - 1] > to; i--)
			s->stack[i] = s->stack[i - 1];
		s->stack[i] = to;
	}
	return n;
}

/* Fill s->ready with segments in the order in which they become ready, and compute s->level. */
static uint32_t sort_segments(struct segments *s)
{
	uint32_t head = 0, tail = 0, highest = 0;

	for (uint32_t i = 0; i < s->count; i++)
		for (uint32_t n = find_successors(s, i); n--;)
			s->left[s->stack[n]]++;
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->left[i])
			s->ready[tail++] = i;
	while (head < tail) {
		uint32_t i = s->ready[head++], n = find_successors(s, i);

		for (uint32_t k = 0; k < n; k++) {
			uint32_t j = s->stack[k];

			if (s->level[j] < s->level[i] + 1)
				s->level[j] = s->level[i] + 1;
			if (s->level[j] > highest)
				highest = s->level[j];
			if (!--s->left[j])
				s->ready[tail++] = j;
		}
	}
	return highest;
}

bool gt_hip_segments_order(const struct gt_hip_shape *shape, bool child, uint32_t *order)
{
	const char *setting = getenv("DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING");
	struct segments s = {0};
	uint32_t highest, n = 0;

	if ((setting && !atoi(setting)) || !begin_segments(&s, shape))
		return false;
	find_segments(&s);
	if (s.length != shape->count ||
	    (!child && s.count >= MANY && s.length < (uint64_t)SHORT * s.count &&
	     !(setting && atoi(setting) == 2))) {
		gt_hip_free(s.stack, s.bytes);
		return false;
	}
	highest = sort_segments(&s);
	/* stable counting sort by level, into s.left, which is all 0 now */
	for (uint32_t i = 0; i < s.count; i++)
		s.place[s.level[i] + 1]++;
	for (uint32_t i = 0; i <= highest; i++)
		s.place[i + 1] += s.place[i];
	for (uint32_t i = 0; i < s.count; i++)
		s.left[s.place[s.level[s.ready[i]]]++] = s.ready[i];
	for (uint32_t i = 0; i < s.count; i++)
		for (uint32_t k = s.first[s.left[i]]; k < s.first[s.left[i] + 1]; k++)
			order[n++] = s.nodes[k];
	gt_hip_free(s.stack, s.bytes);
	return true;
}
