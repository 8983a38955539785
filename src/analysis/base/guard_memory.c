/* SPDX-License-Identifier: MIT */
/* See guard_memory.h. */
#include "analysis/base/guard_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#include "util/error.h"

static _Thread_local jmp_buf *innermost; /* NULL: no guard */

int guard_memory(int (*step)(void *data), void *data)
{
	jmp_buf *volatile outer = innermost;
	jmp_buf here;
	int status;

	if (setjmp(here)) {
		innermost = outer;
		return gt_error(-ENOMEM, "out of memory");
	}
	innermost = &here;
	status = step(data);
	innermost = outer;
	return status;
}

void memory_ran_out(void)
{
	if (!innermost)
		abort();
	longjmp(*innermost, 1);
}
