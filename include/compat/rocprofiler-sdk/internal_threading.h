/* SPDX-License-Identifier: MIT */
/* Threads of the library: functions that create threads for delivering buffers, and that request
 * notifications when the library creates a thread. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_INTERNAL_THREADING_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_INTERNAL_THREADING_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

typedef void (*rocprofiler_internal_thread_library_cb_t)(rocprofiler_runtime_library_t, void *);

/* @precreate, @postcreate: called before and after the library creates a thread, in the thread that
 * creates it; may be NULL. */
rocprofiler_status_t rocprofiler_at_internal_thread_create(
	rocprofiler_internal_thread_library_cb_t precreate,
	rocprofiler_internal_thread_library_cb_t postcreate, int libs, void *data) ROCPROFILER_API;

typedef struct rocprofiler_callback_thread_t {
	uint64_t handle;
} rocprofiler_callback_thread_t;

rocprofiler_status_t rocprofiler_create_callback_thread(rocprofiler_callback_thread_t *cb_thread_id)
	ROCPROFILER_API ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_assign_callback_thread(rocprofiler_buffer_id_t buffer_id,
							rocprofiler_callback_thread_t cb_thread_id)
	ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
