/* SPDX-License-Identifier: MIT */
/* A client that requests all unsupported features, and prints the answers. */
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/deprecated/counters.h>
#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>
#include <rocprofiler-sdk/spm.h>

#pragma GCC diagnostic ignored "-Wnonnull" /* a query without results calls no callback */
#define ASK(name, ...) \
	printf("%s %s\n", #name, rocprofiler_get_status_name(rocprofiler_##name(__VA_ARGS__)))

static rocprofiler_status_t no_configurations(
	const rocprofiler_pc_sampling_configuration_t *configs, size_t count, void *data)
{
	(void)configs, (void)count, (void)data;
	puts("called");
	return ROCPROFILER_STATUS_SUCCESS;
}

static void no_trace(rocprofiler_thread_trace_decoder_record_type_t type, void *events,
		     uint64_t count, void *data)
{
	(void)type, (void)events, (void)count, (void)data;
	puts("called");
}

static void ask_for_counters(rocprofiler_context_id_t ctx, rocprofiler_agent_id_t agent,
			     rocprofiler_buffer_id_t buffer)
{
	rocprofiler_counter_config_id_t config = {0};
	rocprofiler_counter_id_t counter = {0};
	rocprofiler_counter_info_v0_t info;
	rocprofiler_user_data_t none = {0};
	size_t size = 0;

	ASK(query_record_counter_id, 0, &counter);
	ASK(query_record_dimension_position, 0, 0, &size);
	ASK(query_counter_info, counter, ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
	ASK(iterate_agent_supported_counters, agent, NULL, NULL);
	ASK(create_counter, "x", 1, "x", 1, "x", 1, agent, &counter);
	ASK(create_counter_config, agent, &counter, 0, &config);
	ASK(destroy_counter_config, config);
	ASK(iterate_counter_dimensions, counter, NULL, NULL);
	ASK(query_counter_instance_count, agent, counter, &size);
	ASK(load_counter_definition, "", 0, ROCPROFILER_COUNTER_FLAG_NONE);
	ASK(configure_device_counting_service, ctx, buffer, agent, NULL, NULL);
	ASK(sample_device_counting_service, ctx, none, ROCPROFILER_COUNTER_FLAG_NONE, NULL, &size);
	ASK(configure_spm_service, ctx, buffer, config, 0);
}

static void ask_for_traces(rocprofiler_context_id_t ctx, rocprofiler_agent_id_t agent,
			   rocprofiler_buffer_id_t buffer)
{
	rocprofiler_thread_trace_decoder_id_t decoder = {7};
	rocprofiler_user_data_t none = {0};
	char data[1] = {0};
	int there = -7;

	ASK(configure_pc_sampling_service, ctx, agent, ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP,
	    ROCPROFILER_PC_SAMPLING_UNIT_TIME, 1, buffer, 0);
	ASK(query_pc_sampling_agent_configurations, agent, no_configurations, data);
	printf("names %p %p\n",
	       (const void *)rocprofiler_get_pc_sampling_instruction_type_name(
		       ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU),
	       (const void *)rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
		       ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_NONE));
	ASK(configure_device_thread_trace_service, ctx, agent, NULL, 0, NULL, none);
	ASK(configure_dispatch_thread_trace_service, ctx, agent, NULL, 0, NULL, NULL, NULL);
	ASK(thread_trace_decoder_create, &decoder, "/");
	printf("decoder %d\n", (int)decoder.handle);
	ASK(thread_trace_decoder_codeobj_load, decoder, 1, 0, 0, data, 1);
	ASK(thread_trace_decoder_codeobj_unload, decoder, 1);
	ASK(trace_decode, decoder, no_trace, data, 1, NULL);
	printf("info %p\n", (const void *)rocprofiler_thread_trace_decoder_info_string(
				    decoder, ROCPROFILER_THREAD_TRACE_DECODER_INFO_DATA_LOST));
	rocprofiler_thread_trace_decoder_destroy(decoder);
	ASK(ompt_is_initialized, &there);
	printf("openmp %d\n", there);
	ASK(ompt_is_finalized, &there);
	printf("openmp %d\n", there);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	rocprofiler_context_id_t ctx = {0};
	rocprofiler_agent_id_t agent = {0};
	rocprofiler_buffer_id_t buffer = {0};

	(void)finalize, (void)data;
	ASK(create_context, &ctx);
	ask_for_counters(ctx, agent, buffer);
	ask_for_traces(ctx, agent, buffer);
	ASK(start_context, ctx); /* the context contains no service, because all were refused */
	return 0;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *runtime,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};

	(void)version, (void)runtime, (void)priority, (void)id;
	return &result;
}

int main(void)
{
	return rocprofiler_force_configure(rocprofiler_configure) != ROCPROFILER_STATUS_SUCCESS;
}
