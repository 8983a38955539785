/* SPDX-License-Identifier: MIT */
/* How a tool is found, initialised and finalised. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_REGISTRATION_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_REGISTRATION_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* Stays until the process ends. */
typedef struct rocprofiler_client_id_t {
	size_t size;
	const char *name; /* for the tool to set */
	const uint32_t handle;
} rocprofiler_client_id_t;

/* Handed to initialize(): finalises this client, or, when it is the only one, everything. */
typedef void (*rocprofiler_client_finalize_t)(rocprofiler_client_id_t);
/* Make contexts and services. Not 0: it failed; what was made is dropped, finalize() is not
 * called. */
typedef int (*rocprofiler_tool_initialize_t)(rocprofiler_client_finalize_t finalize_func,
					     void *tool_data);
typedef void (*rocprofiler_tool_finalize_t)(void *tool_data);

typedef struct rocprofiler_tool_configure_result_t {
	size_t size;
	rocprofiler_tool_initialize_t initialize; /* may be NULL */
	rocprofiler_tool_finalize_t finalize;     /* may be NULL */
	void *tool_data;
} rocprofiler_tool_configure_result_t;

/* @status: receives 0 not yet, -1 in the middle, 1 done. */
rocprofiler_status_t rocprofiler_is_initialized(int *status) ROCPROFILER_API ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_is_finalized(int *status) ROCPROFILER_API ROCPROFILER_NONNULL(1);

/**
 * rocprofiler_configure() - a tool defines this; it is how it is found
 * @version:   10000 * major + 100 * minor + patch
 * @priority:  how many tools come before this one
 * @client_id: stays; set its name
 * Return: what to call, static; NULL: no part in it.
 */
rocprofiler_tool_configure_result_t *rocprofiler_configure(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

typedef rocprofiler_tool_configure_result_t *(*rocprofiler_configure_func_t)(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id);

/* Initialise now, with this tool first; NULL: with those that are found. CONFIGURATION_LOCKED:
 * it was done already. */
rocprofiler_status_t rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
	ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
