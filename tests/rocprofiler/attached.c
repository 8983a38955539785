/* SPDX-License-Identifier: MIT */
/* A client that is attached and detached: counts HIP calls while it is attached. FORCES: a library
 * with force_another(), which adds a client at any time; NAME is printed before each line. KERNELS:
 * counts kernels instead. */
#include <stdio.h>
#include <stdlib.h>

#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#ifndef NAME
#define NAME "client"
#endif

static rocprofiler_context_id_t context;
static unsigned calls;

#ifdef KERNELS
#define KIND ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH
#define WHAT "kernels"
#else
#define KIND ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API
#define WHAT "calls"
#endif

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *data)
{
	(void)user, (void)data;
	calls += record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_configure_callback_tracing_service(context, KIND, NULL, 0, on_call, NULL);
	printf(NAME " initialize\n");
#ifdef FORCES
	return rocprofiler_start_context(context);
#else
	return 0;
#endif
}

static void finalize(void *data)
{
	(void)data;
	printf(NAME " finalize, %u " WHAT "\n", calls);
}

static rocprofiler_tool_configure_result_t *configure(uint32_t version, const char *runtime_version,
						      uint32_t priority,
						      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version;
	id->name = NAME;
	printf(NAME " configure %u\n", priority);
	return &result;
}

#ifdef FORCES
int force_another(void);
int force_another(void)
{
	return rocprofiler_force_configure(configure);
}
#else
static int print_library(rocprofiler_runtime_registration_info_t *info, void *data)
{
	(void)data;
	printf(" %s", info->common_name);
	return 0;
}

static int attach(rocprofiler_client_detach_t detach_func, rocprofiler_context_id_t *ids,
		  uint64_t count, void *data)
{
	(void)data;
	printf(NAME " attach, contexts %d, detach %d, kernels %s, libraries",
	       count == 1 && ids[0].handle == context.handle, detach_func != NULL,
	       getenv("ROCPROF_KERNEL_TRACE"));
	rocprofiler_iterate_runtime_registration_info(print_library, NULL);
	printf("\n");
	return rocprofiler_start_context(context);
}

static void detach(void *data)
{
	int active = 1;

	(void)data;
	rocprofiler_context_is_active(context, &active);
	printf(NAME " detach, active %d, %u " WHAT "\n", active, calls);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	return configure(version, runtime_version, priority, id);
}

rocprofiler_tool_configure_attach_result_t *rocprofiler_configure_attach(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_attach_result_t result = {sizeof result, attach, detach,
								    NULL};

	(void)version, (void)runtime_version, (void)priority, (void)id;
	return &result;
}
#endif
