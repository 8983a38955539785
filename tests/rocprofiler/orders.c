/* SPDX-License-Identifier: MIT */
/* A client with two contexts for one operation: prints the order of notifications, and their
 * arguments. PROGRAM: the program for this client. */
#include <stdio.h>

#ifdef PROGRAM
#include <hip/hip_runtime_api.h>

/* HIP 6 and later have a longer struct, and another function with this name */
#ifdef hipGetDeviceProperties
#undef hipGetDeviceProperties
hipError_t hipGetDeviceProperties(void *properties, int device);
#endif

int main(void)
{
	hipDeviceProp_t properties; /* at least as long as the old struct */

	return hipGetDeviceProperties(&properties, 0) != hipSuccess;
}
#else
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t contexts[2];

static int print(rocprofiler_callback_tracing_kind_t kind,
		 rocprofiler_tracing_operation_t operation, uint32_t number,
		 const void *const address, int32_t indirection, const char *type, const char *name,
		 const char *text, int32_t dereferenced, void *data)
{
	(void)kind, (void)operation, (void)number, (void)address, (void)indirection, (void)type,
		(void)text, (void)dereferenced, (void)data;
	printf(" %s", name);
	return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		    void *data)
{
	const char *name = "?";

	(void)user;
	rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &name, NULL);
	printf("%s %s %s", (const char *)data,
	       r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? "enter" : "exit", name);
	rocprofiler_iterate_callback_tracing_kind_operation_args(r, print, 0, NULL);
	printf("\n");
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	static const rocprofiler_tracing_operation_t operations[] = {
		ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevicePropertiesR0000,
		ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevicePropertiesR0600};

	(void)finalize, (void)data;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 2; i++) {
		rocprofiler_create_context(&contexts[i]);
		rocprofiler_configure_callback_tracing_service(
			contexts[i], ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operations, 2,
			on_call, i ? "second" : "first");
		rocprofiler_start_context(contexts[i]);
	}
	return 0;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "orders";
	return &result;
}
#endif
