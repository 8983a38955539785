/* SPDX-License-Identifier: MIT */
/* Contexts. The services of a context are active while the context is active. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CONTEXT_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CONTEXT_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

#define ROCPROFILER_CONTEXT_NONE ROCPROFILER_HANDLE_LITERAL(rocprofiler_context_id_t, 0UL)

/* Create a context. Call this function only while tools are initialised. @context_id: 0 on entry,
 * receives the handle. */
rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t *context_id)
	ROCPROFILER_API ROCPROFILER_NONNULL(1);
/* Start a context, or stop it. Starting an active context succeeds. Stopping an inactive context
 * returns CONTEXT_NOT_FOUND. */
rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context_id) ROCPROFILER_API;
rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context_id) ROCPROFILER_API;
/* @status: receives 1 (active) or 0. */
rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id,
						   int *status) ROCPROFILER_API
	ROCPROFILER_NONNULL(2);
rocprofiler_status_t rocprofiler_context_is_valid(rocprofiler_context_id_t context_id,
						  int *status) ROCPROFILER_API
	ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
