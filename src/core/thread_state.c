/* SPDX-License-Identifier: MIT */
/* State of threads that thread.h declares, and functions without other dependencies: the clock that
 * is always available, and the blocking of signals. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/callback.h"
#include "core/recording.h"
#include "util/clock_ns.h"
#include "util/static_tls.h"

/* with more alignment, glibc loads no library under an auditor */
_Alignas(GT_STATIC_TLS_ALIGNMENT) _Thread_local struct gt_thread gt_thread = {
	.epoch = GT_EPOCH_NONE,
};
GT_HOT uint32_t gt_skip_nested[GT_DOMAIN_COUNT];
_Thread_local uint32_t gt_callback_depth;
GT_AT_START struct gt_thread_hooks gt_thread_hooks;

uint64_t gt_ticks_boottime(void)
{
	return gt_clock_ns(CLOCK_BOOTTIME);
}

void gt_signals_block(uint64_t *before)
{
	const uint64_t all = ~UINT64_C(0);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof all);
}

void gt_signals_restore(const uint64_t *before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof *before);
}
