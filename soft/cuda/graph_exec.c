/* SPDX-License-Identifier: MIT */
/* Executable graphs: clones that are launched as one task of a stream. The task runs copies of all
 * nodes' tasks, one after the other, in an order that satisfies the dependencies. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static struct soft_cu_exec *execs;

bool soft_cu_knows_exec(CUgraphExec exec)
{
	const struct soft_cu_exec *e = execs;

	while (e && e != exec)
		e = e->next;
	return e != NULL;
}

/* Returns with the lock held unless it fails. */
static int enter_exec(CUgraphExec exec)
{
	const int status = exec ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	return soft_cu_knows_exec(exec) ? CUDA_SUCCESS : soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
}

/* Instantiation ---------------------------------------------------------------------- */

/* Number the nodes of child graphs after the nodes of the graph. */
static uint32_t number_children(CUgraph graph, uint32_t next)
{
	for (struct soft_cu_node *n = graph->first; n; n = n->next) {
		if (!n->child)
			continue;
		for (struct soft_cu_node *c = n->child->first; c; c = c->next)
			c->number = next++;
		next = number_children(n->child, next);
	}
	return next;
}

static void note_exec(CUgraphExec exec, CUgraph original)
{
	soft_cu_note_resource(&(struct soft_cu_resource_notice){.what = SOFT_CU_GRAPH_CLONED,
								.graph = exec->graph,
								.original = original});
	for (struct soft_cu_node *n = exec->graph->first; n; n = n->next)
		soft_cu_note_resource(
			&(struct soft_cu_resource_notice){.what = SOFT_CU_NODE_CLONED,
							  .graph = exec->graph,
							  .original = original,
							  .node = n,
							  .original_node = n->original,
							  .node_type = n->type});
	soft_cu_note_resource(&(struct soft_cu_resource_notice){.what = SOFT_CU_EXEC_CREATED,
								.graph = original,
								.exec = exec});
}

static int instantiate(CUgraphExec *out, CUgraph graph)
{
	const int status = out && graph ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;
	CUgraphExec exec;

	if (status)
		return status;
	exec = calloc(1, sizeof *exec);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&soft_cu_lock);
	exec->graph = soft_cu_knows_graph(graph) ? soft_cu_clone_graph(graph) : NULL;
	if (!exec->graph) {
		free(exec);
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	}
	exec->graph->is_child = true;
	number_children(exec->graph, exec->graph->numbers);
	exec->next = execs;
	execs = exec;
	*out = exec;
	note_exec(exec, graph);
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph,
			    CUgraphNode *error __attribute__((unused)), char *text, size_t bytes)
{
	if (text && bytes)
		*text = 0;
	return instantiate(exec, graph);
}

int soft_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *text,
			       size_t bytes)
{
	return soft_cuGraphInstantiate(exec, graph, error, text, bytes);
}

int soft_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
				     unsigned long long flags __attribute__((unused)))
{
	return instantiate(exec, graph);
}

static int instantiate_with(CUgraphExec *exec, CUgraph graph,
			    CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
	enum { DONE = 0, ERROR = 1 };
	int status;

	if (!parameters)
		return CUDA_ERROR_INVALID_VALUE;
	status = instantiate(exec, graph);
	parameters->result_out = status ? ERROR : DONE;
	parameters->hErrNode_out = NULL;
	return status;
}

SOFT_CU_BOTH(cuGraphInstantiateWithParams, _ptsz,
	     (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters),
	     ((void)per_thread, instantiate_with(exec, graph, parameters)))

int soft_cuGraphExecDestroy(CUgraphExec exec)
{
	struct soft_cu_exec **link = &execs;
	int status = enter_exec(exec);

	if (status)
		return status;
	soft_cu_leave(CUDA_SUCCESS);
	soft_cu_notify_resource(
		&(struct soft_cu_resource_notice){.what = SOFT_CU_EXEC_DESTROYED, .exec = exec});
	status = enter_exec(exec);
	if (status)
		return status;
	while (*link != exec)
		link = &(*link)->next;
	*link = exec->next;
	soft_cu_free_graph(exec->graph);
	free(exec);
	return soft_cu_leave(CUDA_SUCCESS);
}

/* Launch ------------------------------------------------------------------------------ */

static bool is_ready(const struct soft_cu_node *n)
{
	for (size_t i = 0; i < n->from.count; i++)
		if (!n->from.at[i]->is_done)
			return false;
	return true;
}

static bool append_tasks(CUgraph graph, uint32_t id, struct soft_cu_task ***last);

static bool append_task(struct soft_cu_node *n, uint32_t id, struct soft_cu_task ***last)
{
	struct soft_cu_task *t;

	n->is_done = true;
	if (n->is_disabled)
		return true;
	if (n->child)
		return append_tasks(n->child, id, last);
	if (!n->task)
		return true;
	t = soft_cu_copy_task(n->task);
	if (!t)
		return false;
	t->activity.graph_id = id;
	t->activity.graph_node_id = (uint64_t)id << 32 | n->number;
	**last = t;
	*last = &t->next;
	return true;
}

/* Append all tasks: repeatedly append the first ready node, in the order in which nodes were
 * added. */
static bool append_tasks(CUgraph graph, uint32_t id, struct soft_cu_task ***last)
{
	for (struct soft_cu_node *n = graph->first; n; n = n->next)
		n->is_done = false;
	for (struct soft_cu_node *n = graph->first; n;) {
		if (n->is_done || !is_ready(n)) {
			n = n->next;
			continue;
		}
		if (!append_task(n, id, last))
			return false;
		n = graph->first;
	}
	return true;
}

static int launch_graph(CUgraphExec exec, CUstream stream, bool per_thread)
{
	struct soft_cu_task *task, **last;
	struct soft_cu_stream *s;
	CUcontext context;
	int status = exec ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	s = soft_cu_find_stream(context, stream, per_thread);
	if (!soft_cu_knows_exec(exec) || !s)
		return soft_cu_leave(s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
	task = soft_cu_make_task(SOFT_CU_TASK_GRAPH);
	if (!task)
		return soft_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
	last = &task->graph;
	task->activity.graph_id = exec->graph->id;
	if (append_tasks(exec->graph, exec->graph->id, &last))
		return soft_cu_leave(soft_cu_submit(s, task, false));
	soft_cu_discard_task(task);
	return soft_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
}

SOFT_CU_BOTH(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream),
	     launch_graph(exec, stream, per_thread))

static int upload_graph(CUgraphExec exec, CUstream stream, bool per_thread)
{
	struct soft_cu_stream *s;
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	s = soft_cu_find_stream(context, stream, per_thread);
	return soft_cu_leave(!s                         ? CUDA_ERROR_INVALID_HANDLE
			     : soft_cu_knows_exec(exec) ? CUDA_SUCCESS
							: CUDA_ERROR_INVALID_VALUE);
}

SOFT_CU_BOTH(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream stream),
	     upload_graph(exec, stream, per_thread))

/* Changes ------------------------------------------------------------------------------ */

static CUgraphNode find_node(CUgraph graph, CUgraphNode original)
{
	for (struct soft_cu_node *n = graph->first; n; n = n->next) {
		CUgraphNode inner = n->child ? find_node(n->child, original) : NULL;

		if (n->original == original || inner)
			return inner ? inner : n;
	}
	return NULL;
}

int soft_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	struct soft_cu_task *task;
	CUgraphNode n;
	int status = parameters ? enter_exec(exec) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	n = find_node(exec->graph, node);
	status = n && n->type == CU_GRAPH_NODE_TYPE_KERNEL
			 ? soft_cu_make_node_task(parameters, &task)
			 : CUDA_ERROR_INVALID_VALUE;
	if (!status) {
		soft_cu_discard_task(n->task);
		n->task = task;
	}
	return soft_cu_leave(status);
}

int soft_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
					   const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	return soft_cuGraphExecKernelNodeSetParams(exec, node, parameters);
}

int soft_cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
	const int status = enter_exec(exec);
	CUgraphNode n;

	if (status)
		return status;
	n = find_node(exec->graph, node);
	if (n)
		n->is_disabled = !enabled;
	return soft_cu_leave(n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

int soft_cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *enabled)
{
	const int status = enabled ? enter_exec(exec) : CUDA_ERROR_INVALID_VALUE;
	CUgraphNode n;

	if (status)
		return status;
	n = find_node(exec->graph, node);
	if (n)
		*enabled = !n->is_disabled;
	return soft_cu_leave(n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Compare two graphs node by node, in order of creation. Return CU_GRAPH_EXEC_UPDATE_... */
static int compare_graphs(CUgraph a, CUgraph b, CUgraphNode *error)
{
	struct soft_cu_node *n = a->first, *m = b->first;

	for (; n && m; n = n->next, m = m->next) {
		*error = m;
		if (n->type != m->type)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
		if (n->from.count != m->from.count)
			return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		if (n->child) {
			int result = compare_graphs(n->child, m->child, error);

			if (result)
				return result;
		}
	}
	*error = m;
	return n || m ? CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED : CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Replace the executable graph's content with a clone of @graph. The clone takes the id of the
 * executable graph, so that the executable graph keeps its identity. */
static int update(CUgraphExec exec, CUgraph graph, CUgraphNode *error, int *result)
{
	const int status = result && error && graph ? enter_exec(exec) : CUDA_ERROR_INVALID_VALUE;
	CUgraph clone;

	if (status)
		return status;
	*error = NULL;
	if (!soft_cu_knows_graph(graph))
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	*result = compare_graphs(exec->graph, graph, error);
	if (*result)
		return soft_cu_leave(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	clone = soft_cu_clone_graph(graph);
	if (!clone)
		return soft_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
	clone->id = exec->graph->id;
	clone->is_child = true;
	number_children(clone, clone->numbers);
	for (struct soft_cu_node *n = exec->graph->first, *m = clone->first; n && m;
	     n = n->next, m = m->next) {
		/* nodes keep the identity that they got when the graph was instantiated */
		m->original = n->original;
		m->number = n->number;
	}
	soft_cu_free_graph(exec->graph);
	exec->graph = clone;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error, int *result)
{
	return update(exec, graph, error, result);
}

int soft_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
	if (!result)
		return CUDA_ERROR_INVALID_VALUE;
	result->errorFromNode = NULL;
	return update(exec, graph, &result->errorNode, &result->result);
}
