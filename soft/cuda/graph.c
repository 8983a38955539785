/* SPDX-License-Identifier: MIT */
/* Graphs as objects: nodes in the order in which they were added, each with its dependencies. An
 * executable graph is a clone with its own id. The nodes keep their numbers. CUPTI's node id is
 * graph << 32 | number. All functions are called with the driver's lock held. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static struct soft_cu_graph *graphs;

CUgraph soft_cu_make_graph(void)
{
	CUgraph g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->id = soft_cu_new_graph_id();
	g->last = &g->first;
	g->next = graphs;
	graphs = g;
	return g;
}

static void free_node(struct soft_cu_node *n)
{
	if (n->task)
		soft_cu_discard_task(n->task);
	if (n->child)
		soft_cu_free_graph(n->child);
	free(n->from.at);
	free(n);
}

void soft_cu_free_graph(CUgraph graph)
{
	struct soft_cu_graph **link = &graphs;

	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
	for (struct soft_cu_node *n = graph->first, *next; n; n = next) {
		next = n->next;
		free_node(n);
	}
	free(graph);
}

bool soft_cu_knows_graph(CUgraph graph)
{
	const struct soft_cu_graph *g = graphs;

	while (g && g != graph)
		g = g->next;
	return g != NULL;
}

bool soft_cu_knows_node(CUgraphNode node)
{
	for (const struct soft_cu_graph *g = graphs; g; g = g->next)
		for (const struct soft_cu_node *n = g->first; n; n = n->next)
			if (n == node)
				return true;
	return false;
}

bool soft_cu_append_nodes(struct soft_cu_nodes *nodes, const CUgraphNode *from, size_t count)
{
	CUgraphNode *at;

	if (!count)
		return true;
	at = realloc(nodes->at, (nodes->count + count) * sizeof *at);
	if (!at)
		return false;
	nodes->at = at;
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < nodes->count && nodes->at[k] != from[i])
			k++;
		if (k == nodes->count)
			nodes->at[nodes->count++] = from[i];
	}
	return true;
}

CUgraphNode soft_cu_add_node(CUgraph graph, int type, struct soft_cu_task *task,
			     const CUgraphNode *from, size_t count)
{
	struct soft_cu_node *n = calloc(1, sizeof *n);

	if (!n || !soft_cu_append_nodes(&n->from, from, count)) {
		free(n);
		return NULL;
	}
	n->graph = graph;
	n->type = type;
	n->number = graph->numbers++;
	n->task = task;
	*graph->last = n;
	graph->last = &n->next;
	return n;
}

static CUgraphNode find_clone(CUgraph clone, CUgraphNode original)
{
	for (struct soft_cu_node *n = clone->first; n; n = n->next)
		if (n->original == original)
			return n;
	return NULL;
}

/* Clone a node without its dependencies. */
static bool clone_node(CUgraph clone, const struct soft_cu_node *original)
{
	struct soft_cu_task *task = original->task ? soft_cu_copy_task(original->task) : NULL;
	CUgraphNode n = task || !original->task
				? soft_cu_add_node(clone, original->type, task, NULL, 0)
				: NULL;

	if (!n) {
		if (task)
			soft_cu_discard_task(task);
		return false;
	}
	n->number = original->number;
	n->original = (CUgraphNode)(uintptr_t)original;
	if (!original->child)
		return true;
	n->child = soft_cu_clone_graph(original->child);
	if (n->child)
		n->child->is_child = true;
	return n->child != NULL;
}

CUgraph soft_cu_clone_graph(CUgraph graph)
{
	CUgraph clone = soft_cu_make_graph();
	bool done = clone != NULL;

	for (struct soft_cu_node *n = graph->first; done && n; n = n->next)
		done = clone_node(clone, n);
	for (struct soft_cu_node *n = clone ? clone->first : NULL; done && n; n = n->next)
		for (size_t i = 0; done && i < n->original->from.count; i++) {
			CUgraphNode from = find_clone(clone, n->original->from.at[i]);

			done = soft_cu_append_nodes(&n->from, &from, 1);
		}
	if (!done) {
		if (clone)
			soft_cu_free_graph(clone);
		return NULL;
	}
	clone->numbers = graph->numbers;
	return clone;
}
