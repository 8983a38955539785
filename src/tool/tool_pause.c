/* SPDX-License-Identifier: MIT */
/* Implements gputap_pause() and gputap_resume(), pauses that the program requests. */
#include <errno.h>

#include "core/context.h"
#include "core/recording.h"
#include "gputap/gputap.h"

static int pause_program(bool paused)
{
	int saved = errno;

	if (!gt_recording_is_run() || atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		return -ENOTCONN;
	gt_contexts_pause(GT_PAUSE_PROGRAM, paused, GT_WINDOW_PROGRAM);
	errno = saved;
	return 0;
}

int gputap_pause(void)
{
	return pause_program(true);
}

int gputap_resume(void)
{
	return pause_program(false);
}
