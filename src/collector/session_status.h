/* SPDX-License-Identifier: MIT */
/* Commands of the control socket that say and change how the session stands.
 *
 *   session    capture=PATH command=.. output=.. pid=PROGRAM collector=PID version=..
 *              state=recording|paused why=.. since_ns= changed_ns= now_ns= (CLOCK_BOOTTIME)
 *              starts_in_ns= stops_in_ns= (what is to come) processes=N pids=1,2,..
 *              following= (processes that use a runtime) behind= (of them: not yet in this state)
 *              windows=
 *   start      changed=yes|no, then as session
 *   stop       the same
 *   status     as session, then seen= recorded= lost= kernels= bytes=
 *
 * All but status is done by control's own thread, at once. */
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
