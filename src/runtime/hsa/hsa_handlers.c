/* SPDX-License-Identifier: MIT */
/* Waits for signal handlers at exit. When the program ends, ROCr may still have to call handlers of
 * completed signals, and it calls them one after the other in its own thread. HIP's handlers use
 * objects that HIP's destructors free (seen with HIP 7.2.4: SIGSEGV in exit()).
 *
 *   ROCr's thread: | HIP's handler | .. | ours |
 *   exit(): our exit handler ── waits for ours ──► HIP's destructors ─► hsa_shut_down()
 *
 * Steps, at exit() and before HIP's destructors:
 *   1. A handler of gputap is added after HIP's handlers, on a signal whose condition is already
 *      met.
 *   2. This thread waits until that handler was called, for at most MOST_NS.
 * HIP itself waits for handlers of incomplete activities. Captures do not depend on this file. */
#include "runtime/hsa/hsa_handlers.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/hsa/hsa_runtime.h"

enum { EQUAL = 0 }; /* hsa_signal_condition_t */
/* Limits the wait for a handler that does not return. After the limit the program ends as it would
 * without gputap. */
#define MOST_NS (100 * GT_HSA_MS)

static bool wake_end(int64_t value, void *data)
{
	_Atomic uint32_t *done = data;

	(void)value;
	atomic_store_explicit(done, 1, memory_order_release);
	syscall(SYS_futex, done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return false;
}

/* Wait until *done is set. Return false on time-out. */
static bool wait_for_end(_Atomic uint32_t *done)
{
	uint64_t end = gt_hsa_boottime_ns() + MOST_NS, now;

	while (!atomic_load_explicit(done, memory_order_acquire)) {
		struct timespec left;

		now = gt_hsa_boottime_ns();
		if (now >= end)
			return false;
		left = (struct timespec){0, (long)(end - now)};
		syscall(SYS_futex, done, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
	}
	return true;
}

static void wait_for_handlers_of(struct gt_hsa_runtime *r)
{
	/* Static, because ROCr may call the handler late. */
	static _Atomic uint32_t done[GT_INSTANCES];
	gt_hsa_amd_ext_hsa_amd_signal_async_handler_fn *handle =
		GT_HSA_AMD(r, hsa_amd_signal_async_handler);
	uint64_t signal = 0;

	if (!handle || GT_HSA_CORE(r, hsa_signal_create)(0, 0, NULL, &signal) != GT_HSA_SUCCESS)
		return;
	atomic_store_explicit(&done[r->instance], 0, memory_order_relaxed);
	if (handle(signal, EQUAL, 0, (void *)(uintptr_t)wake_end, &done[r->instance]) !=
		    GT_HSA_SUCCESS ||
	    wait_for_end(&done[r->instance]))
		GT_HSA_CORE(r, hsa_signal_destroy)(signal);
}

void gt_hsa_wait_for_handlers(void)
{
	int saved = errno;

	for (uint32_t i = 0; i < GT_INSTANCES; i++)
		if (gt_hsa_runtimes[i].tables)
			wait_for_handlers_of(&gt_hsa_runtimes[i]);
	errno = saved;
}
