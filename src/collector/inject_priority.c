/* SPDX-License-Identifier: MIT */
/* See inject_priority.h. Defines the struct because libc's headers before glibc 2.41 have none, and
 * the kernel's header conflicts with libc's. */
#include "collector/inject_priority.h"

#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/short_slice.h"

enum { POLICY_USUAL = 0, RESET_ON_FORK = 1, NICE_FIRST = -20, SLICE_NS = 100000 };

bool gt_inject_priority_take(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		return true;
	if (setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE_FIRST))
		gt_short_slice_take();
	return false;
}

static bool has_capability(unsigned number)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{.effective = 0}};

	return !syscall(SYS_capget, &head, data) &&
	       data[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number);
}

void gt_inject_priority_lend(pid_t tid, struct gt_inject_priority *before)
{
	struct gt_inject_priority raised;

	memset(before, 0, sizeof *before);
	if (syscall(SYS_sched_getattr, tid, before, sizeof *before, 0) ||
	    before->policy != POLICY_USUAL) {
		before->size = 0;
		return;
	}
	raised = *before;
	raised.runtime = SLICE_NS;
	if (has_capability(CAP_SYS_NICE))
		raised = (struct gt_inject_priority){.size = sizeof raised,
						     .policy = SCHED_FIFO,
						     .flags = RESET_ON_FORK,
						     .priority = 1};
	if (syscall(SYS_sched_setattr, tid, &raised, 0))
		before->size = 0;
}

void gt_inject_priority_return(pid_t tid, const struct gt_inject_priority *before)
{
	if (before->size)
		syscall(SYS_sched_setattr, tid, before, 0);
}
