/* SPDX-License-Identifier: MIT */
/* Commands of the control socket that say and change how the session stands: status, start, stop.
 *
 *   status     capture=PATH command=.. directory=.. pid=PROGRAM collector=PID version=..
 *              state=recording|paused why=.. since_ns= changed_ns= now_ns= (CLOCK_BOOTTIME)
 *              starts_in_ns= stops_in_ns= (what is to come) processes=N pids=1,2,..
 *              following= (processes that use a runtime) behind= (of them: not yet in this state)
 *              seen= recorded= lost= kernels= bytes= windows=
 *   start      changed=yes|no, then as status
 *   stop       the same */
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
	char *const *argv;  /* of the program */
	const char *output; /* capture, as it was given */
	const char *wanted; /* file that was asked for: the capture, or an export of it */
	uint64_t since_ns;  /* CLOCK_BOOTTIME */
};

/* @s stays. */
void gt_session_status_offer(struct gt_session_status *s, struct gt_control *control);

#endif
