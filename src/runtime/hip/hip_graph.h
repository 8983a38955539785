/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files for HIP graphs.
 *
 *   hip_graph.c           executable graphs by handle; the launch; packets of nodes
 *   hip_graph_nodes.c     a graph's nodes and the order in which HIP submits them, queried from the
 *                         runtime at instantiation
 *   hip_graph_segments.c  that order in HIP 7.2.x */
#ifndef GPUTAP_RUNTIME_HIP_GRAPH_H
#define GPUTAP_RUNTIME_HIP_GRAPH_H

#include "core/emit.h"
#include "generated/hip_wraps.h"
#include "runtime/graph_nodes.h"
#include "generated/hip_compiler_taps.h"
#include "generated/hip_taps.h"

#define GT_HIP(table, f) ((__typeof__(gt_hip_##f##_fn) *)(table)->taps[GT_HIP_INDEX_##f].real)

/* Kinds of nodes; the values are the letters used in the graph's object. */
enum gt_hip_node_kind {
	GT_HIP_NODE_KERNEL = 'k',
	GT_HIP_NODE_COPY = 'c',
	GT_HIP_NODE_FILL = 'f',
	GT_HIP_NODE_HOST = 'h',
	GT_HIP_NODE_GRAPH = 'g', /* a child graph, whose nodes follow directly */
	GT_HIP_NODE_EMPTY = 'e',
	GT_HIP_NODE_EVENT = 'v',
	GT_HIP_NODE_OTHER = 'o',
};

/* One node, at its place in the order of submission. */
struct gt_hip_node {
	void *handle; /* hipGraphNode_t of the original graph */
	/* number in the order of creation; a child graph's nodes come after the node that contains
	 * it */
	uint32_t ordinal;
	uint32_t name;    /* string id of a kernel's name; 0 if unknown */
	uint32_t grid[3]; /* work-items of a kernel; 0 if unknown */
	/* place of the first node of each kind, from this node on; `count` if none */
	uint32_t next[GT_GRAPH_PARTS];
	uint8_t kind; /* enum gt_hip_node_kind */
	bool first,
		last; /* true if no node with an activity is before this node; after this node */
};

struct gt_hip_nodes {
	uint32_t count;
	bool branches;  /* true if several of HIP's threads may submit the graph */
	bool uncertain; /* true if the order of creation or submission is unknown */
	/* true if streams with threads may submit the graph's copies and fills while the launching
	 * thread submits its kernels */
	bool apart;
	size_t bytes;              /* size of the mapping */
	struct gt_hip_node *order; /* [count + 1]: the last element is a sentinel */
	uint32_t *place;           /* indexed by ordinal */
};

/* One graph's nodes in the order of their creation, without the nodes of its child graphs. */
struct gt_hip_shape {
	uint32_t count;
	/* [count + 1] into edge_to: successors in the order in which their edges were added */
	const uint32_t *edge_first, *edge_to;
	const uint32_t *left; /* number of predecessors */
	const uint32_t *kind;
};

/**
 * gt_hip_segments_order() - find the order in which HIP submits the nodes, if it uses segments
 * @child: true for a graph in another graph's segment
 * Return: false if HIP does not form segments; @order is unchanged then.
 */
bool gt_hip_segments_order(const struct gt_hip_shape *shape, bool child, uint32_t *order);

/* Return zeroed memory, or NULL. Preserves errno. */
void *gt_hip_alloc(size_t bytes);
void gt_hip_free(const void *p, size_t bytes);

/**
 * gt_hip_nodes_ask() - get the nodes of @graph, in the order in which HIP submits them
 * Return: false if the order is unknown; @nodes is empty then.
 */
bool gt_hip_nodes_ask(const struct gt_table *table, struct gt_thread *t, void *graph,
		      struct gt_hip_nodes *nodes);
/* Return the string id of the kernel in hipKernelNodeParams, or 0 if unknown. */
uint32_t gt_hip_kernel_name(const struct gt_table *table, struct gt_thread *t, const void *params);
/* Get the number of work-items in hipKernelNodeParams. */
void gt_hip_kernel_grid(const void *params, uint32_t grid[3]);
/* Return the string id of a kernel's name. @function: the kernel's host stub, or a
 * hipFunction_t. */
uint32_t gt_hip_function_name(const struct gt_table *table, struct gt_thread *t,
			      const void *function, bool by_pointer);
void gt_hip_nodes_free(struct gt_hip_nodes *nodes);

#endif
