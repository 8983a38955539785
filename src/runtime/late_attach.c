/* SPDX-License-Identifier: MIT */
/* gputap_attach(), which `gputap attach` calls in a running program (core/late.h), in a thread that
 * libc has created there. All signals are blocked in that thread. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/exec_environment.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/seccomp.h"
#include "gputap/gputap.h"
#include "runtime/mapped.h"
#include "tool/tool_follow.h"

/* Let programs that this process executes join the session, or not. The functions in front of the
 * exec family stay for ever, and add nothing without a session. */
static void follow_programs(const char *folder)
{
	static struct gt_mapped_function list[GT_EXEC_FUNCTIONS];
	static bool is_done;
	struct gt_exec_function functions[GT_EXEC_FUNCTIONS];
	size_t count;

	if (!(gt_recording.session->late & GT_LATE_EXEC)) {
		gt_exec_forget();
		return;
	}
	if (!gt_exec_remember_late(folder) || is_done)
		return;
	is_done = true;
	count = gt_exec_functions(functions);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct gt_mapped_function){functions[i].name, functions[i].real,
						      functions[i].ours};
	gt_mapped_replace(list, count);
}

/**
 * gputap_attach() - record this process in a session, from now on
 * @folder: the session's folder
 * Return: 0: every runtime that is mapped is taken over; or negative errno:
 *         -EBUSY: another session records this process; -ECANCELED: the session has ended, or the
 *         process cannot create its segment; -EINVAL: the session is of another version.
 * Thread: any that holds no lock of a runtime. May be called again after the session's end.
 */
GPUTAP_API int gputap_attach(const char *folder);

int gputap_attach(const char *folder)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	int status;

	pthread_mutex_lock(&one);
	gt_seccomp_attach();
	gt_control_wait_end();
	status = gt_recording_attach(folder);
	if (!status) {
		gt_thread_own(); /* so that the hooks can write events and objects */
		gt_internal_enter();
		gt_late_begin();
		gt_mapped_attach();
		gt_late_attach_all();
		follow_programs(folder);
		gt_contexts_refresh();
		gt_contexts_changed();
		gt_control_attach();
		gt_internal_leave();
	}
	pthread_mutex_unlock(&one);
	return status;
}
