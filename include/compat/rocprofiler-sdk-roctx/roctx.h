/* SPDX-License-Identifier: MIT */
/* ROCTx: annotations of a program for profilers. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCTX_ROCTX_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCTX_ROCTX_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk-roctx/defines.h>
#include <rocprofiler-sdk-roctx/types.h>
#include <rocprofiler-sdk-roctx/version.h>

ROCTX_EXTERN_C_INIT

struct hsa_agent_s;
struct ihipStream_t;

/* Record a marker. */
void roctxMarkA(const char *message) ROCTX_API ROCTX_NONNULL(1);
/* Start and end a range of this thread. Return: nesting level of the range, from 0; negative if
 * roctxRangePop() finds no open range. */
int roctxRangePushA(const char *message) ROCTX_API ROCTX_NONNULL(1);
int roctxRangePop(void) ROCTX_API;
/* Start and end a range of the process. Any thread may end the range. */
roctx_range_id_t roctxRangeStartA(const char *message) ROCTX_API ROCTX_NONNULL(1);
void roctxRangeStop(roctx_range_id_t id) ROCTX_API;
/* Ask tools to pause or resume recording. @tid: a thread; 0: all threads. */
int roctxProfilerPause(roctx_thread_id_t tid) ROCTX_API;
int roctxProfilerResume(roctx_thread_id_t tid) ROCTX_API;
/* Name this thread, an agent, a device or a stream. */
int roctxNameOsThread(const char *name) ROCTX_API ROCTX_NONNULL(1);
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent) ROCTX_API
	ROCTX_NONNULL(1, 2);
int roctxNameHipDevice(const char *name, int device_id) ROCTX_API ROCTX_NONNULL(1);
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream) ROCTX_API
	ROCTX_NONNULL(1);
int roctxGetThreadId(roctx_thread_id_t *tid) ROCTX_API ROCTX_NONNULL(1);

ROCTX_EXTERN_C_FINI

#ifndef roctxMark
#define roctxMark(message) roctxMarkA(message)
#endif
#ifndef roctxRangePush
#define roctxRangePush(message) roctxRangePushA(message)
#endif
#ifndef roctxRangeStart
#define roctxRangeStart(message) roctxRangeStartA(message)
#endif

#endif
