/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files for HIP graphs.
 *
 *   hip_graph.c           tracks executable graphs and launches; maps packets to nodes
 *   hip_graph_nodes.c     finds a graph's nodes and their order of submission, by querying the
 *                         runtime at instantiation
 *   hip_graph_segments.c  finds the order of submission in HIP 7.2.x */
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
	/* number in the order of creation; the nodes of a child graph follow the node that contains
	 * the child graph */
	uint32_t ordinal;
	uint32_t name;    /* string id of a kernel's name; 0 if unknown */
	uint32_t grid[3]; /* work-items of a kernel; 0 if unknown */
	/* place of the first node of each kind, from this node on; `count` if no such node
	 * follows */
	uint32_t next[GT_GRAPH_PARTS];
	uint8_t kind; /* enum gt_hip_node_kind */
	/* true if no node with an activity precedes this node; true if none follows */
	bool first, last;
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
	uint32_t *place;           /* place of each node, indexed by ordinal */
};

/* One graph's nodes in the order of their creation, without the nodes of its child graphs. */
struct gt_hip_shape {
	uint32_t count;
	/* [count + 1] into edge_to: successors in the order in which their edges were added */
	const uint32_t *edge_first, *edge_to;
	const uint32_t *left; /* number of each node's predecessors */
	const uint32_t *kind;
};

/**
 * gt_hip_segments_order() - find the order in which HIP submits the nodes, if it uses segments
 * @child: true for a graph in another graph's segment
 * Return: false if HIP does not form segments; @order is unchanged then.
 */
bool gt_hip_segments_order(const struct gt_hip_shape *shape, bool child, uint32_t *order);

/* Return zeroed memory, or NULL if out of memory. Preserves errno. */
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
