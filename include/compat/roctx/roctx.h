/* SPDX-License-Identifier: MIT */
/* ROCTx: annotations of a program for profilers. This header belongs to gputap's libroctx64.so.4,
 * which has the ABI of ROCm's library: a program compiled for one of the two libraries also runs
 * with the other. */
#ifndef GPUTAP_COMPAT_ROCTX_H
#define GPUTAP_COMPAT_ROCTX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t;

struct hsa_agent_s;
struct ihipStream_t;

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);

/**
 * roctxMarkA() - record a marker
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
void roctxMarkA(const char *message);

/**
 * roctxRangePushA() - start a range of this thread, which the matching roctxRangePop() ends
 * Return: nesting level of the range, from 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxRangePushA(const char *message);

/**
 * roctxRangePop() - end the innermost range of this thread
 * Return: nesting level of the range; -1: no range was open.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxRangePop(void);

/**
 * roctxRangeStartA() - start a range of the process, which any thread may end
 * Return: id of the range, never 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
roctx_range_id_t roctxRangeStartA(const char *message);
void roctxRangeStop(roctx_range_id_t id);

/**
 * roctxProfilerPause() - pause recording of calls and GPU activities until roctxProfilerResume()
 * An activity that was launched before the pause is recorded when it completes.
 * @tid: a thread, or 0 for all threads. gputap always pauses all threads
 * Return: 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxProfilerPause(roctx_thread_id_t tid);
int roctxProfilerResume(roctx_thread_id_t tid);

int roctxGetThreadId(roctx_thread_id_t *tid);

/**
 * roctxNameOsThread() - name this thread; the functions below name an agent, a device or a stream
 * Return: 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
int roctxNameHipDevice(const char *name, int device);
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);

#define roctxMark(message)       roctxMarkA(message)
#define roctxRangePush(message)  roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)

#ifdef __cplusplus
}
#endif
#endif
