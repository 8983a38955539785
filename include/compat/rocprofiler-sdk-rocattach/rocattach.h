/* SPDX-License-Identifier: MIT */
/* librocprofiler-sdk-rocattach.so.1: puts a tool for rocprofiler-sdk into a running process and
 * takes it out again. AMD's `rocprofv3 --attach PID` and `rocprof-attach` open this library (since
 * rocprofiler-sdk 1.1).
 *
 * ROCPROF_ATTACH_TOOL_LIBRARY: tool libraries, separated by colons, as the process sees them.
 * Default: librocprofiler-sdk-tool.so.1. The variables of the calling process whose names begin
 * with ROCP are set in the attached process, where they remain.
 *
 * Each error is explained in a line on stderr. Functions may be called in any thread; they wait for
 * each other. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_ROCATTACH_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_ROCATTACH_H

#include <rocprofiler-sdk-rocattach/defines.h>
#include <rocprofiler-sdk-rocattach/types.h>
#include <rocprofiler-sdk-rocattach/version.h>

ROCATTACH_EXTERN_C_INIT

/* Return the library's version. Each pointer may be NULL. */
rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor,
					 uint32_t *patch) ROCATTACH_API;
rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *info) ROCATTACH_API
	ROCATTACH_NONNULL(1);

/**
 * rocattach_attach() - load rocprofiler-sdk and the tools into a process, and start the tools
 * Calls the tools' tool_attach() there. With gputap, the process need not have been started with
 * ROCP_TOOL_ATTACH=1.
 * Return: SUCCESS; INVALID_ARGUMENT (attached already; a tool that the process does not see);
 *         NOT_SUPPORTED; PTRACE_* (the process cannot be stopped); ERROR (the tool or its start
 *         failed in the process).
 */
rocattach_status_t rocattach_attach(int pid) ROCATTACH_API;

/**
 * rocattach_detach() - stop the tools of a process
 * Calls the tools' tool_detach() there; the libraries remain loaded. The process can be attached
 * again. @pid 0: all processes, and always SUCCESS.
 * Return: SUCCESS; INVALID_ARGUMENT (not attached by this process); otherwise as above. The process
 *         counts as detached in any case.
 */
rocattach_status_t rocattach_detach(int pid) ROCATTACH_API;

/**
 * rocattach_attach_tree() - attach to a process and to its descendants that use ROCm
 * Children that are started later are not attached. If the first process fails, no other is
 * attached.
 * Return: SUCCESS, or the last error.
 */
rocattach_status_t rocattach_attach_tree(int pid) ROCATTACH_API;

/* Detach from the processes that rocattach_attach_tree(@pid) has attached to. */
rocattach_status_t rocattach_detach_tree(int pid) ROCATTACH_API;

/* Return the name of a status, or its text. NULL: unknown status. */
const char *rocattach_get_status_name(rocattach_status_t status) ROCATTACH_API;
const char *rocattach_get_status_string(rocattach_status_t status) ROCATTACH_API;

ROCATTACH_EXTERN_C_FINI

#endif
