/* SPDX-License-Identifier: MIT */
/* Answers clients' queries about the calling thread and the clock. */
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk.h"

SDK_EXPORT rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts)
{
	*ts = gputap_now();
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid)
{
	static _Thread_local uint64_t known __attribute__((tls_model("initial-exec")));
	static _Thread_local pid_t known_in __attribute__((tls_model("initial-exec")));
	pid_t process = getpid(); /* in a fork's child, another id */

	if (!known || known_in != process) {
		known = (uint64_t)syscall(SYS_gettid);
		known_in = process;
	}
	*tid = known;
	return ROCPROFILER_STATUS_SUCCESS;
}
