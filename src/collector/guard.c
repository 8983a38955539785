/* SPDX-License-Identifier: MIT */
/* Handles SIGBUS while a ring is read: see guard.h. */
#include "collector/guard.h"

#include <signal.h>
#include <stddef.h>

_Thread_local sigjmp_buf gt_guard_point;

static _Thread_local volatile sig_atomic_t armed;
static struct sigaction before;
static bool installed;

static void on_bus(int number)
{
	if (armed) {
		armed = 0;
		siglongjmp(gt_guard_point, 1);
	}
	/* elsewhere, SIGBUS is a bug in gputap: die */
	signal(number, SIG_DFL);
	raise(number);
}

void gt_guard_install(void)
{
	/* SA_NODEFER, because the handler ends with a jump, which does not restore the mask */
	struct sigaction action = {.sa_handler = on_bus, .sa_flags = SA_NODEFER};

	if (!installed)
		installed = sigaction(SIGBUS, &action, &before) == 0;
}

void gt_guard_restore(void)
{
	if (installed)
		sigaction(SIGBUS, &before, NULL);
	installed = false;
}

void gt_guard_begin(void)
{
	armed = 1;
}

void gt_guard_end(void)
{
	armed = 0;
}
