/* SPDX-License-Identifier: MIT */
/* See short_slice.h. Defines the struct because libc's headers before glibc 2.41 have none, and the
 * kernel's header conflicts with libc's. */
#include "util/short_slice.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS UINT64_C(100000) /* the kernel's minimum */

enum { SCHED_USUAL = 0, RESET_ON_FORK = 1 }; /* SCHED_OTHER, SCHED_FLAG_RESET_ON_FORK */

/* First version of the kernel's struct sched_attr. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Return true if system calls are filtered, or if the filter state is unknown. Opens no file,
 * because the file's descriptor would briefly occupy the number that a thread of the program
 * expects for its own next descriptor. */
static bool is_filtered(void)
{
	return syscall(SYS_prctl, PR_GET_SECCOMP, 0UL, 0UL, 0UL, 0UL) != 0;
}

static bool take(int tid)
{
	struct attributes a;

	memset(&a, 0, sizeof a);
	if (is_filtered() || syscall(SYS_sched_getattr, tid, &a, sizeof a, 0) ||
	    a.policy != SCHED_USUAL)
		return false;
	a.size = sizeof a;
	a.flags |= RESET_ON_FORK;
	a.runtime = SLICE_NS;
	return syscall(SYS_sched_setattr, tid, &a, 0) == 0;
}

bool gt_short_slice_take(void)
{
	int saved = errno;
	bool taken = take(0);

	errno = saved;
	return taken;
}

bool gt_short_slice_give(int tid)
{
	return take(tid);
}
