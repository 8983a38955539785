/* SPDX-License-Identifier: MIT */
/* ROCTx: what a program says about itself, for profilers to show. This header goes with gputap's
 * libroctx64.so.4, which has the interface of ROCm's; a program compiled with either runs with
 * either. */
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
 * roctxMarkA() - this moment has a name
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
void roctxMarkA(const char *message);

/**
 * roctxRangePushA() - a range of this thread begins; it ends with the roctxRangePop() that belongs
 * to it
 * Return: its level, from 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxRangePushA(const char *message);

/**
 * roctxRangePop() - the innermost range of this thread ends
 * Return: the level that it had; -1: there was none.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxRangePop(void);

/**
 * roctxRangeStartA() - a range of the process begins, that any thread may end
 * Return: its id, never 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
roctx_range_id_t roctxRangeStartA(const char *message);
void roctxRangeStop(roctx_range_id_t id);

/**
 * roctxProfilerPause() - record nothing until roctxProfilerResume(): no call, and no device work
 * that is launched meanwhile Work that was launched before is recorded when it completes.
 * @tid: the thread that is meant, 0: all; under gputap always all
 * Return: 0.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
int roctxProfilerPause(roctx_thread_id_t tid);
int roctxProfilerResume(roctx_thread_id_t tid);

int roctxGetThreadId(roctx_thread_id_t *tid);

/**
 * roctxNameOsThread() - how this thread, that agent, device or stream is to be called
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
