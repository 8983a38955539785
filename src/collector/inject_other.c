/* SPDX-License-Identifier: MIT */
/* See inject.h. Machines whose registers and calls gt_inject() does not know. */
#include "collector/inject.h"

#include <errno.h>

#include "util/error.h"

int gt_inject_check(pid_t pid)
{
	return gt_error(-ENOTSUP,
			"process %d cannot be attached to, because that is implemented for x86-64 "
			"only: start the program with gputap run",
			pid);
}

int gt_inject(const struct gt_inject_request *request, struct gt_inject_result *out)
{
	*out = (struct gt_inject_result){.answer = 0};
	return gt_inject_check(request->pid);
}
