/* SPDX-License-Identifier: MIT */
/* Checks of librocprofiler-sdk.so.1 that need no runtime. The argument names the scenario. Prints
 * the results; on an error, prints a line and exits with status 1. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROCPROFILER_NONNULL(...) /* no attribute: the checks pass invalid pointers */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define IS(expression, status) is(#expression, (expression), ROCPROFILER_STATUS_##status, __LINE__)
#define HOLDS(expression)      is(#expression, (expression) ? 0 : 1, 0, __LINE__)

static int failures, initialized, finalized;
static rocprofiler_context_id_t context, second;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_client_finalize_t finalize_func;
static rocprofiler_client_id_t *client;
static uint64_t records, drops;

static void is(const char *text, int got, int wanted, int line)
{
	if (got == wanted)
		return;
	printf("line %d: %s is %d, not %d\n", line, text, got, wanted);
	failures++;
}

static void on_call(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *data)
{
	(void)record, (void)user_data, (void)data;
}

static void on_buffer(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		      rocprofiler_record_header_t **headers, size_t count, void *data,
		      uint64_t dropped)
{
	(void)c, (void)b, (void)headers, (void)data;
	records += count;
	drops = dropped;
}

/* Check the configuration of contexts and services. */
static void configure_all(void)
{
	rocprofiler_tracing_operation_t bad[] = {1, 999}, good[] = {1, 2};
	rocprofiler_external_correlation_id_request_kind_t kinds[] = {
		(rocprofiler_external_correlation_id_request_kind_t)77};
	rocprofiler_context_id_t unknown = {12345678};
	rocprofiler_buffer_id_t no_buffer = {4711};

	IS(rocprofiler_create_context(&context), SUCCESS);
	IS(rocprofiler_create_context(&context), ERROR_CONTEXT_ID_NOT_ZERO);
	IS(rocprofiler_create_context(&second), SUCCESS);
	HOLDS(context.handle && second.handle && context.handle != second.handle);
	IS(rocprofiler_configure_callback_tracing_service(
		   unknown, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL),
	   ERROR_CONTEXT_NOT_FOUND);
	/* upstream's C function throws std::out_of_range */
	IS(rocprofiler_configure_callback_tracing_service(context,
							  (rocprofiler_callback_tracing_kind_t)1234,
							  NULL, 0, on_call, NULL),
	   ERROR_KIND_NOT_FOUND);
	IS(rocprofiler_configure_callback_tracing_service(context,
							  ROCPROFILER_CALLBACK_TRACING_LAST, NULL,
							  0, on_call, NULL),
	   ERROR_KIND_NOT_FOUND);
	/* upstream keeps operation 1 in the service, and then refuses the correct list */
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, bad, 2, on_call, NULL),
	   ERROR_OPERATION_NOT_FOUND);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, good, 2, on_call, NULL),
	   SUCCESS);
	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, good, 1, on_call, NULL),
	   ERROR_SERVICE_ALREADY_CONFIGURED);
	IS(rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_NONE, on_buffer,
				     NULL, &buffer),
	   ERROR_INVALID_ARGUMENT);
	IS(rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_buffer, NULL, &buffer),
	   SUCCESS);
	IS(rocprofiler_configure_buffer_tracing_service(context,
							ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
							NULL, 0, no_buffer),
	   ERROR_BUFFER_NOT_FOUND);
	IS(rocprofiler_configure_buffer_tracing_service(context,
							ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
							NULL, 0, buffer),
	   SUCCESS);
	IS(rocprofiler_configure_buffer_tracing_service(context,
							ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
							NULL, 0, buffer),
	   ERROR_SERVICE_ALREADY_CONFIGURED);
	IS(rocprofiler_configure_external_correlation_id_request_service(context, kinds, 1, NULL,
									 NULL),
	   ERROR_INVALID_ARGUMENT);
	IS(rocprofiler_query_external_correlation_id_request_kind_name(kinds[0], NULL, NULL),
	   ERROR_KIND_NOT_FOUND);
	IS(rocprofiler_configure_buffer_dispatch_counting_service(context, buffer, NULL, NULL),
	   ERROR_INVALID_ARGUMENT);
}

static void start_and_stop(void)
{
	int status = -1;

	IS(rocprofiler_context_is_valid(context, &status), SUCCESS);
	HOLDS(status == 1);
	IS(rocprofiler_stop_context(context), ERROR_CONTEXT_NOT_FOUND);
	IS(rocprofiler_start_context(context), SUCCESS);
	IS(rocprofiler_start_context(context), SUCCESS);
	IS(rocprofiler_context_is_active(context, &status), SUCCESS);
	HOLDS(status == 1);
	IS(rocprofiler_stop_context(context), SUCCESS);
	IS(rocprofiler_context_is_active(context, &status), SUCCESS);
	HOLDS(status == 0);
}

static void push_and_pop(void)
{
	rocprofiler_user_data_t value = {7}, got = {0};
	rocprofiler_thread_id_t tid = 0;

	IS(rocprofiler_get_thread_id(&tid), SUCCESS);
	IS(rocprofiler_push_external_correlation_id(context, 1, value), ERROR_INVALID_ARGUMENT);
	IS(rocprofiler_push_external_correlation_id(context, tid, value), SUCCESS);
	IS(rocprofiler_pop_external_correlation_id(context, tid, &got), SUCCESS);
	HOLDS(got.value == 7);
	IS(rocprofiler_pop_external_correlation_id(context, tid, &got), ERROR_INVALID_ARGUMENT);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	int status = 0;

	initialized++;
	finalize_func = finalize;
	IS(rocprofiler_is_initialized(&status), SUCCESS);
	HOLDS(status == -1);
	configure_all();
	start_and_stop();
	push_and_pop();
	return strcmp(data, "failing") ? 0 : -1;
}

/* Upstream deadlocks if a tool's finalize() calls a function that finalises. */
static void finalize(void *data)
{
	int status = 0;

	(void)data;
	finalized++;
	IS(rocprofiler_is_finalized(&status), SUCCESS);
	HOLDS(status == -1);
	IS(rocprofiler_stop_context(context), SUCCESS);
	IS(rocprofiler_start_context(context), ERROR_CONFIGURATION_LOCKED);
	IS(rocprofiler_flush_buffer(buffer), SUCCESS);
	finalize_func(*client);
}

static rocprofiler_tool_configure_result_t *configure(uint32_t version, const char *runtime_version,
						      uint32_t priority,
						      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	HOLDS(version == 10000 && runtime_version && priority == 0 && !id->name);
	client = id;
	id->name = "check";
	result.tool_data = getenv("SCENARIO");
	return &result;
}

static int ended(void)
{
	printf("initialized %d finalized %d\n", initialized, finalized);
	fflush(stdout);
	return failures != 0;
}

static void at_end(void)
{
	if (ended())
		_exit(1);
}

int main(void)
{
	const char *scenario = getenv("SCENARIO");
	rocprofiler_context_id_t late = {0};
	uint32_t kinds = 0;
	int status = 5;

	atexit(at_end);
	IS(rocprofiler_is_initialized(&status), SUCCESS);
	HOLDS(status == 0);
	IS(rocprofiler_create_context(&late), ERROR_CONFIGURATION_LOCKED);
	IS(rocprofiler_force_configure(configure), SUCCESS);
	IS(rocprofiler_force_configure(configure), ERROR_CONFIGURATION_LOCKED);
	IS(rocprofiler_is_initialized(&status), SUCCESS);
	HOLDS(status == 1 && initialized == 1);
	IS(rocprofiler_create_context(&late), ERROR_CONFIGURATION_LOCKED);
	IS(rocprofiler_configure_callback_tracing_service(context,
							  ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
							  NULL, 0, on_call, NULL),
	   ERROR_CONFIGURATION_LOCKED);
	if (!strcmp(scenario, "failing")) {
		/* if initialize() failed, the objects of the tool no longer exist; upstream keeps
		 * them */
		IS(rocprofiler_context_is_valid(context, &status), ERROR_CONTEXT_NOT_FOUND);
		IS(rocprofiler_flush_buffer(buffer), ERROR_BUFFER_NOT_FOUND);
	} else if (!strcmp(scenario, "finalizing")) {
		finalize_func(*client);
		IS(rocprofiler_is_finalized(&status), SUCCESS);
		HOLDS(status == 1 && finalized == 1);
		finalize_func(*client);
		HOLDS(finalized == 1);
		IS(rocprofiler_flush_buffer(buffer), ERROR_FINALIZED);
	}
	(void)kinds;
	return failures != 0;
}
