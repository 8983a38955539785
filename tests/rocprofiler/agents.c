/* SPDX-License-Identifier: MIT */
/* A client that prints the agents and, for each dispatch, the agent that the dispatch was submitted
 * to. */
#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;

static rocprofiler_status_t print(rocprofiler_agent_version_t version, const void **agents,
				  size_t count, void *data)
{
	(void)version, (void)data;
	for (size_t i = 0; i < count; i++) {
		const rocprofiler_agent_v0_t *a = agents[i];

		printf("agent %lu node %u %s %s model '%s' banks %u caches %u links %u",
		       (unsigned long)a->id.handle, a->node_id,
		       a->type == ROCPROFILER_AGENT_TYPE_GPU ? "gpu" : "cpu", a->name,
		       a->model_name, a->mem_banks_count, a->caches_count, a->io_links_count);
		if (a->mem_banks_count)
			printf(" bank %lu", (unsigned long)a->mem_banks[0].size_in_bytes);
		for (uint32_t k = 0; k < a->caches_count; k++)
			printf(" L%u %lu/%u", a->caches[k].level, (unsigned long)a->caches[k].size,
			       a->caches[k].cache_line_size);
		for (uint32_t k = 0; k < a->io_links_count; k++)
			printf(" link %u-%u", a->io_links[k].node_from, a->io_links[k].node_to);
		printf("\n");
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static void on_dispatch(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
			void *data)
{
	const rocprofiler_callback_tracing_kernel_dispatch_data_t *d = r.payload;
	const rocprofiler_callback_tracing_memory_copy_data_t *c = r.payload;

	(void)user, (void)data;
	if (r.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
		return;
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH)
		printf("dispatch on agent %lu\n", (unsigned long)d->dispatch_info.agent_id.handle);
	else
		printf("copy from agent %lu to agent %lu\n", (unsigned long)c->src_agent_id.handle,
		       (unsigned long)c->dst_agent_id.handle);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	setvbuf(stdout, NULL, _IOLBF, 0);
	rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, print,
					   sizeof(rocprofiler_agent_v0_t), NULL);
	rocprofiler_create_context(&context);
	rocprofiler_configure_callback_tracing_service(context,
						       ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
						       NULL, 0, on_dispatch, NULL);
	rocprofiler_configure_callback_tracing_service(context,
						       ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
						       NULL, 0, on_dispatch, NULL);
	return rocprofiler_start_context(context);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "agents";
	return &result;
}
