/* SPDX-License-Identifier: MIT */
/* util/short_slice.h. */
#include "util/short_slice.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "unit.h"

UNIT_TEST(a_short_slice_needs_no_descriptor)
{
	struct rlimit limit;
	bool taken;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &limit);
	errno = EXDEV;
	taken = gt_short_slice_take();
	CHECK_EQ(errno, EXDEV);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	CHECK_EQ(taken, prctl(PR_GET_SECCOMP) == 0);
}
