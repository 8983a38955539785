/* SPDX-License-Identifier: MIT */
/* Commands of the control socket that report and change the session's state.
 *
 *   session    capture=PATH command=... output=... pid=PROGRAM attached=yes|no (yes: `gputap
 *              attach`) collector=PID version=...
 *              state=recording|paused why=... since_ns= changed_ns= now_ns= (CLOCK_BOOTTIME)
 *              starts_in_ns= stops_in_ns= (next changes) processes=N pids=1,2,...
 *              following= (number of processes that use a runtime)
 *              behind= (number of these that are not in this state yet) windows=
 *   start      changed=yes|no, then the lines of session
 *   stop       changed=yes|no, then the lines of session
 *   status     the lines of session, then seen= recorded= lost= late=N late1= .. (what could not be
 *              given to a late tracer) kernels= bytes=
 *
 * All commands but status run at once in control's own thread. */
#ifndef GPUTAP_COLLECTOR_SESSION_STATUS_H
#define GPUTAP_COLLECTOR_SESSION_STATUS_H

#include "collector/child.h"
#include "collector/control.h"
#include "collector/drain.h"
#include "collector/session_windows.h"

struct gt_session_status {
	struct gt_drain *drain;
	const struct gt_child *child;
	struct gt_session_windows *windows;
	char *const *argv;  /* arguments of the program */
	const char *output; /* path of the capture, as the user gave it */
	const char *wanted; /* requested file: the capture, or an export of it */
	uint64_t since_ns;  /* start of the session, CLOCK_BOOTTIME */
};

/* @s must stay valid. */
void gt_session_status_offer(struct gt_session_status *s, struct gt_control *control);

#endif
