/* SPDX-License-Identifier: MIT */
/* Finds, initialises and finalises tools. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_REGISTRATION_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_REGISTRATION_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* Identity of a client. Valid until the process ends. */
typedef struct rocprofiler_client_id_t {
	size_t size;
	const char *name; /* set by the tool */
	const uint32_t handle;
} rocprofiler_client_id_t;

/* Finalise this client, or the whole library if this is its only client. */
typedef void (*rocprofiler_client_finalize_t)(rocprofiler_client_id_t);
/* Create contexts and services. Return: 0; another value: initialisation failed, and the library
 * removes the client's contexts without calling finalize(). */
typedef int (*rocprofiler_tool_initialize_t)(rocprofiler_client_finalize_t finalize_func,
					     void *tool_data);
typedef void (*rocprofiler_tool_finalize_t)(void *tool_data);

typedef struct rocprofiler_tool_configure_result_t {
	size_t size;
	rocprofiler_tool_initialize_t initialize; /* may be NULL */
	rocprofiler_tool_finalize_t finalize;     /* may be NULL */
	void *tool_data;
} rocprofiler_tool_configure_result_t;

/* @status: receives 0 (not initialised), -1 (in progress) or 1 (initialised). */
rocprofiler_status_t rocprofiler_is_initialized(int *status) ROCPROFILER_API ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_is_finalized(int *status) ROCPROFILER_API ROCPROFILER_NONNULL(1);

/**
 * rocprofiler_configure() - describe a tool. A library that defines this function is a tool
 * @version:   10000 * major + 100 * minor + patch
 * @priority:  number of preceding tools
 * @client_id: valid until the process ends; the tool sets its name
 * Return: the functions to call, in static memory; NULL: the library does not use the tool.
 */
rocprofiler_tool_configure_result_t *rocprofiler_configure(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

typedef rocprofiler_tool_configure_result_t *(*rocprofiler_configure_func_t)(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id);

/**
 * rocprofiler_force_configure() - initialise now, at any time
 * @configure_func: function of a tool; NULL: only the tools that the library finds
 * If the library is initialised already, only this tool is configured and initialised, as in
 * upstream 1.3.2. A line on stderr names what the tool misses because a runtime was in use.
 * Return: CONFIGURATION_LOCKED: initialisation runs, or the function is NULL or known;
 *         OUT_OF_RESOURCES: too many tools.
 */
rocprofiler_status_t rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
	ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
