/* SPDX-License-Identifier: MIT */
/* Tools that are attached to a running program, and the runtimes that it has registered. Since
 * rocprofiler-sdk 1.1; upstream may change it. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_REGISTRATION_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_REGISTRATION_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/registration.h>

ROCPROFILER_EXTERN_C_INIT

/* A library that has registered its tables. */
typedef struct rocprofiler_runtime_registration_info_t {
	size_t size;
	const char *common_name; /* "hip", "hsa", ... */
	uint32_t lib_version;    /* 10000 * major + 100 * minor + patch */
	uint64_t api_table_length;
} rocprofiler_runtime_registration_info_t;

/* gputap passes NULL in its place, as upstream does. */
typedef void (*rocprofiler_client_detach_t)(rocprofiler_client_id_t);

/* Start to trace; start contexts here rather than in initialize(). Called at each attachment.
 * @context_ids: the client's contexts, valid during the call. Return: 0; other values are
 * ignored. */
typedef int (*rocprofiler_tool_attach_t)(rocprofiler_client_detach_t detach_func,
					 rocprofiler_context_id_t *context_ids,
					 uint64_t context_ids_length, void *tool_data);
/* Stop to trace. Called after the client's contexts have been stopped. */
typedef void (*rocprofiler_tool_detach_t)(void *tool_data);

typedef struct rocprofiler_tool_configure_attach_result_t {
	size_t size;
	rocprofiler_tool_attach_t tool_attach; /* may be NULL */
	rocprofiler_tool_detach_t tool_detach; /* may be NULL */
	void *tool_data;
} rocprofiler_tool_configure_attach_result_t;

/**
 * rocprofiler_configure_attach() - describe how a tool is attached and detached
 * A tool may define this function next to rocprofiler_configure(), in the same library, with the
 * same parameters. The library calls it after rocprofiler_configure() has returned a result.
 * Return: the functions to call; the library copies them. NULL: the tool cannot be attached.
 */
rocprofiler_tool_configure_attach_result_t *rocprofiler_configure_attach(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

typedef rocprofiler_tool_configure_attach_result_t *(*rocprofiler_configure_attach_func_t)(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id);

/* Return nonzero to end the iteration. */
typedef int (*rocprofiler_runtime_registration_info_cb_t)(
	rocprofiler_runtime_registration_info_t *info, void *data);

/**
 * rocprofiler_iterate_runtime_registration_info() - list the libraries that have registered tables
 * The list is that of the process's librocprofiler-register, if it has one that can be asked,
 * otherwise the tables that gputap has seen.
 * Return: SUCCESS; INVALID_ARGUMENT (@callback is NULL).
 */
rocprofiler_status_t rocprofiler_iterate_runtime_registration_info(
	rocprofiler_runtime_registration_info_cb_t callback, void *data) ROCPROFILER_API
	ROCPROFILER_NONNULL(1);

ROCPROFILER_EXTERN_C_FINI

#endif
