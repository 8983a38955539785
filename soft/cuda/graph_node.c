/* SPDX-License-Identifier: MIT */
/* The program's view of graphs: nodes, dependencies, clones. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

/* Returns with the lock held unless it fails. */
static int enter_graph(CUgraph graph)
{
	const int status = graph ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	return soft_cu_knows_graph(graph) ? CUDA_SUCCESS : soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
}

static int enter_node(CUgraphNode node)
{
	const int status = node ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	return soft_cu_knows_node(node) ? CUDA_SUCCESS : soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
}

static bool has_nodes(CUgraph graph, const CUgraphNode *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!soft_cu_knows_node(nodes[i]) || nodes[i]->graph != graph)
			return false;
	return true;
}

/* Adding ---------------------------------------------------------------------------- */

/* Add a node, taking ownership of @task and @child. Call with the lock held; returns without it. */
static int leave_with_node(CUgraphNode *out, CUgraph graph, int type, struct soft_cu_task *task,
			   CUgraph child, const CUgraphNode *from, size_t count)
{
	CUgraphNode n = NULL;
	int status = CUDA_ERROR_INVALID_VALUE;

	if (out && (from || !count) && has_nodes(graph, from, count)) {
		n = soft_cu_add_node(graph, type, task, from, count);
		status = n ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (!n) {
		if (task)
			soft_cu_discard_task(task);
		if (child)
			soft_cu_free_graph(child);
		return soft_cu_leave(status);
	}
	n->child = child;
	*out = n;
	soft_cu_note_resource(&(struct soft_cu_resource_notice){
		.what = SOFT_CU_NODE_CREATED, .graph = graph, .node = n, .node_type = type});
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cu_make_node_task(const CUDA_KERNEL_NODE_PARAMS *p, struct soft_cu_task **task)
{
	return soft_cu_make_kernel_task(&(CUlaunchConfig){p->gridDimX, p->gridDimY, p->gridDimZ,
							  p->blockDimX, p->blockDimY, p->blockDimZ,
							  p->sharedMemBytes, NULL, NULL, 0},
					p->func, p->kernelParams, p->extra, task);
}

int soft_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
			      size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct soft_cu_task *task;
	int status = parameters ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	status = soft_cu_make_node_task(parameters, &task);
	return status ? soft_cu_leave(status)
		      : leave_with_node(node, graph, CU_GRAPH_NODE_TYPE_KERNEL, task, NULL, from,
					count);
}

int soft_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
				 size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	return soft_cuGraphAddKernelNode(node, graph, from, count, parameters);
}

int soft_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
			      size_t count, const CUDA_MEMCPY3D *copy,
			      CUcontext context __attribute__((unused)))
{
	struct soft_cu_task *task;
	int status = copy ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	status = soft_cu_make_copy_task(copy, &task);
	return status ? soft_cu_leave(status)
		      : leave_with_node(node, graph, CU_GRAPH_NODE_TYPE_MEMCPY, task, NULL, from,
					count);
}

int soft_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
			      size_t count, const CUDA_MEMSET_NODE_PARAMS *set,
			      CUcontext context __attribute__((unused)))
{
	struct soft_cu_task *task;
	int status = set ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	status = soft_cu_make_set_task(set, &task);
	return status ? soft_cu_leave(status)
		      : leave_with_node(node, graph, CU_GRAPH_NODE_TYPE_MEMSET, task, NULL, from,
					count);
}

static int add_task(CUgraphNode *node, CUgraph graph, const CUgraphNode *from, size_t count,
		    int type, enum soft_cu_kind kind, const struct soft_cu_task *what)
{
	const int status = enter_graph(graph);
	struct soft_cu_task *task;

	if (status)
		return status;
	task = soft_cu_make_task(kind);
	if (!task)
		return soft_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
	task->host = what->host;
	task->data = what->data;
	task->event = what->event;
	if (task->event)
		task->event->uses++;
	return leave_with_node(node, graph, type, task, NULL, from, count);
}

int soft_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from, size_t count,
			    const CUDA_HOST_NODE_PARAMS *host)
{
	if (!host || !host->fn)
		return CUDA_ERROR_INVALID_VALUE;
	return add_task(node, graph, from, count, CU_GRAPH_NODE_TYPE_HOST, SOFT_CU_TASK_HOST,
			&(struct soft_cu_task){.host = host->fn, .data = host->userData});
}

int soft_cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
				   size_t count, CUevent event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	return add_task(node, graph, from, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
			SOFT_CU_TASK_RECORD, &(struct soft_cu_task){.event = event});
}

int soft_cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
				 size_t count, CUevent event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	return add_task(node, graph, from, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT, SOFT_CU_TASK_WAIT,
			&(struct soft_cu_task){.event = event});
}

int soft_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
			     size_t count)
{
	const int status = enter_graph(graph);

	return status ? status
		      : leave_with_node(node, graph, CU_GRAPH_NODE_TYPE_EMPTY, NULL, NULL, from,
					count);
}

int soft_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *from,
				  size_t count, CUgraph child)
{
	int status = child ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;
	CUgraph clone = NULL;

	if (status)
		return status;
	if (soft_cu_knows_graph(child) && child != graph)
		clone = soft_cu_clone_graph(child);
	if (!clone)
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	clone->is_child = true;
	return leave_with_node(node, graph, CU_GRAPH_NODE_TYPE_GRAPH, NULL, clone, from, count);
}

int soft_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct soft_cu_task *task;
	int status = parameters ? enter_node(node) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	status = node->type == CU_GRAPH_NODE_TYPE_KERNEL ? soft_cu_make_node_task(parameters, &task)
							 : CUDA_ERROR_INVALID_VALUE;
	if (!status) {
		soft_cu_discard_task(node->task);
		node->task = task;
	}
	return soft_cu_leave(status);
}

/* Graphs ------------------------------------------------------------------------------ */

int soft_cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	const int status = graph && !flags ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	*graph = soft_cu_make_graph();
	if (*graph)
		soft_cu_note_resource(
			&(struct soft_cu_resource_notice){.what = SOFT_CU_GRAPH_CREATED,
							  .graph = *graph});
	return soft_cu_leave(*graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

int soft_cuGraphDestroy(CUgraph graph)
{
	int status = enter_graph(graph);

	if (status)
		return status;
	if (graph->is_child)
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	soft_cu_leave(CUDA_SUCCESS);
	soft_cu_notify_resource(
		&(struct soft_cu_resource_notice){.what = SOFT_CU_GRAPH_DESTROYED, .graph = graph});
	status = enter_graph(graph);
	if (status)
		return status;
	soft_cu_free_graph(graph);
	return soft_cu_leave(CUDA_SUCCESS);
}

static bool waits_for(const struct soft_cu_node *n, CUgraphNode from)
{
	for (size_t i = 0; i < n->from.count; i++)
		if (n->from.at[i] == from)
			return true;
	return false;
}

static void forget_edge(CUgraphNode n, CUgraphNode from)
{
	size_t left = 0;

	for (size_t i = 0; i < n->from.count; i++)
		if (n->from.at[i] != from)
			n->from.at[left++] = n->from.at[i];
	n->from.count = left;
}

int soft_cuGraphDestroyNode(CUgraphNode node)
{
	const int status = enter_node(node);
	struct soft_cu_node **link;

	if (status)
		return status;
	link = &node->graph->first;
	for (struct soft_cu_node *n = node->graph->first; n; n = n->next)
		forget_edge(n, node);
	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	if (!*link)
		node->graph->last = link;
	if (node->task)
		soft_cu_discard_task(node->task);
	if (node->child)
		soft_cu_free_graph(node->child);
	free(node->from.at);
	free(node);
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphClone(CUgraph *clone, CUgraph original)
{
	const int status = clone ? enter_graph(original) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*clone = soft_cu_clone_graph(original);
	if (*clone)
		soft_cu_note_resource(&(struct soft_cu_resource_notice){
			.what = SOFT_CU_GRAPH_CLONED, .graph = *clone, .original = original});
	return soft_cu_leave(*clone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

int soft_cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
	const int status = node ? enter_graph(clone) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	for (*node = clone->first; *node && (*node)->original != original;)
		*node = (*node)->next;
	return soft_cu_leave(*node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Edges ----------------------------------------------------------------------------- */

/* Return true if @to already depends on @from, directly or through other nodes. */
static bool is_behind(const struct soft_cu_node *to, const struct soft_cu_node *from)
{
	if (to == from)
		return true;
	for (size_t i = 0; i < to->from.count; i++)
		if (is_behind(to->from.at[i], from))
			return true;
	return false;
}

int soft_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				size_t count)
{
	int status = (from && to) || !count ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	if (!has_nodes(graph, from, count) || !has_nodes(graph, to, count))
		status = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !status && i < count; i++) {
		if (is_behind(from[i], to[i])) /* a cycle */
			status = CUDA_ERROR_INVALID_VALUE;
		else if (!soft_cu_append_nodes(&to[i]->from, &from[i], 1))
			status = CUDA_ERROR_OUT_OF_MEMORY;
	}
	return soft_cu_leave(status);
}

int soft_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				   const CUgraphEdgeData *data __attribute__((unused)),
				   size_t count)
{
	return soft_cuGraphAddDependencies(graph, from, to, count);
}

int soft_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				   size_t count)
{
	int status = (from && to) || !count ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	if (!has_nodes(graph, from, count) || !has_nodes(graph, to, count))
		status = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !status && i < count; i++) {
		if (waits_for(to[i], from[i]))
			forget_edge(to[i], from[i]);
		else
			status = CUDA_ERROR_INVALID_VALUE;
	}
	return soft_cu_leave(status);
}

/* List nodes. With NULL, only count the nodes. Otherwise write at most *@count nodes, and set
 * *@count to the number written. */

static int list_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count, bool roots)
{
	const int status = count ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;
	size_t found = 0;

	if (status)
		return status;
	for (CUgraphNode n = graph->first; n; n = n->next) {
		if (roots && n->from.count)
			continue;
		if (nodes && found == *count)
			break;
		if (nodes)
			nodes[found] = n;
		found++;
	}
	*count = found;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	return list_nodes(graph, nodes, count, false);
}

int soft_cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	return list_nodes(graph, nodes, count, true);
}

int soft_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
	const int status = count && !from == !to ? enter_graph(graph) : CUDA_ERROR_INVALID_VALUE;
	size_t found = 0;

	if (status)
		return status;
	for (CUgraphNode n = graph->first; n; n = n->next)
		for (size_t i = 0; i < n->from.count && (!from || found < *count); i++, found++)
			if (from) {
				from[found] = n->from.at[i];
				to[found] = n;
			}
	*count = found;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
			    CUgraphEdgeData *data, size_t *count)
{
	const int status = soft_cuGraphGetEdges(graph, from, to, count);

	if (!status && data)
		memset(data, 0, *count * sizeof *data);
	return status;
}

int soft_cuGraphNodeGetType(CUgraphNode node, int *type)
{
	const int status = type ? enter_node(node) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*type = node->type;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	const int status = graph ? enter_node(node) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*graph = node->child;
	return soft_cu_leave(*graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* @nodes: NULL: only count the nodes. */
static int list_neighbours(CUgraphNode node, CUgraphNode *nodes, size_t *count, bool behind)
{
	const int status = count ? enter_node(node) : CUDA_ERROR_INVALID_VALUE;
	size_t found = 0;

	if (status)
		return status;
	for (CUgraphNode n = node->graph->first; n; n = n->next) {
		if (!(behind ? waits_for(n, node) : waits_for(node, n)))
			continue;
		if (nodes && found == *count)
			break;
		if (nodes)
			nodes[found] = n;
		found++;
	}
	*count = found;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
	return list_neighbours(node, nodes, count, false);
}

int soft_cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
				       size_t *count)
{
	const int status = list_neighbours(node, nodes, count, false);

	if (!status && data)
		memset(data, 0, *count * sizeof *data);
	return status;
}

int soft_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
	return list_neighbours(node, nodes, count, true);
}

int soft_cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
					 CUgraphEdgeData *data, size_t *count)
{
	const int status = list_neighbours(node, nodes, count, true);

	if (!status && data)
		memset(data, 0, *count * sizeof *data);
	return status;
}

/* The node owns the returned arguments, which are valid until the node is changed or destroyed. */
int soft_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
{
	const int status = parameters ? enter_node(node) : CUDA_ERROR_INVALID_VALUE;
	const struct soft_cu_task *t;

	if (status)
		return status;
	if (node->type != CU_GRAPH_NODE_TYPE_KERNEL)
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	t = node->task;
	*parameters = (CUDA_KERNEL_NODE_PARAMS){
		.func = t->function,
		.gridDimX = t->position.grid_dim.x,
		.gridDimY = t->position.grid_dim.y,
		.gridDimZ = t->position.grid_dim.z,
		.blockDimX = t->position.block_dim.x,
		.blockDimY = t->position.block_dim.y,
		.blockDimZ = t->position.block_dim.z,
		.sharedMemBytes = t->shared,
		.kernelParams = t->arguments,
	};
	return soft_cu_leave(CUDA_SUCCESS);
}
