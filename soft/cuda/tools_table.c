/* SPDX-License-Identifier: MIT */
/* The table that cuGetExportTable() returns to a tool's library: see tools.h. */
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static bool find_context(CUcontext context, uint32_t *id, uint32_t *device)
{
	bool found;

	pthread_mutex_lock(&soft_cu_lock);
	context = context ? context : soft_cu_current();
	found = soft_cu_knows_context(context);
	if (found) {
		*id = context->id;
		*device = (uint32_t)context->device;
	}
	pthread_mutex_unlock(&soft_cu_lock);
	return found;
}

static bool find_stream(CUcontext context, CUstream stream, bool per_thread, uint32_t *id)
{
	const struct soft_cu_stream *s = NULL;

	pthread_mutex_lock(&soft_cu_lock);
	context = context ? context : soft_cu_current();
	if (soft_cu_knows_context(context))
		s = soft_cu_find_stream(context, stream, per_thread);
	if (s)
		*id = s->id;
	pthread_mutex_unlock(&soft_cu_lock);
	return s != NULL;
}

static bool get_context(unsigned index, CUcontext *context, uint32_t *id, uint32_t *device,
			uint32_t *null_stream)
{
	CUcontext c;

	pthread_mutex_lock(&soft_cu_lock);
	for (c = soft_cu_contexts; c && index; c = c->next)
		index--;
	if (c) {
		*context = c;
		*id = c->id;
		*device = (uint32_t)c->device;
		*null_stream = c->legacy.id;
	}
	pthread_mutex_unlock(&soft_cu_lock);
	return c != NULL;
}

static bool find_graph(void *graph, bool is_executable, uint32_t *id)
{
	bool found;

	pthread_mutex_lock(&soft_cu_lock);
	found = is_executable ? soft_cu_knows_exec(graph) : soft_cu_knows_graph(graph);
	if (found)
		*id = is_executable ? ((CUgraphExec)graph)->graph->id : ((CUgraph)graph)->id;
	pthread_mutex_unlock(&soft_cu_lock);
	return found;
}

static bool find_node(void *node, uint64_t *id)
{
	const struct soft_cu_node *n = node;
	bool found;

	pthread_mutex_lock(&soft_cu_lock);
	found = soft_cu_knows_node(node);
	if (found)
		*id = (uint64_t)n->graph->id << 32 | n->number;
	pthread_mutex_unlock(&soft_cu_lock);
	return found;
}

static unsigned count_devices(void)
{
	return soft_cu_check_driver() ? 0 : soft_cu_config.devices;
}

int soft_cuGetExportTable(const void **table, const CUuuid *id)
{
	static const struct soft_cu_tools_table tools = {
		.size = sizeof tools,
		.attach = soft_cu_attach_tool,
		.detach = soft_cu_detach_tool,
		.find_context = find_context,
		.find_stream = find_stream,
		.get_context = get_context,
		.find_graph = find_graph,
		.find_node = find_node,
		.count_devices = count_devices,
		.begin_call = soft_cu_begin_call,
		.end_call = soft_cu_end_call,
	};

	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table = memcmp(id->bytes, SOFT_CU_TOOLS_ID, sizeof id->bytes) ? NULL : &tools;
	return *table ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
