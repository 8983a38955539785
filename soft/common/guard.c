/* SPDX-License-Identifier: MIT */
/* Handles memory faults of worker threads: the signal handlers leave the guarded call with a jump.
 * See guard.h. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "soft/common/guard.h"

struct guard {
	sigjmp_buf back;
	uint64_t address;
};

/* Saving the signal mask costs a system call each time. SA_NODEFER leaves the mask unchanged, but
 * ThreadSanitizer's handler, which calls ours, has blocked all signals. */
#ifdef __SANITIZE_THREAD__
enum { SAVE_MASK = 1 };
#else
enum { SAVE_MASK = 0 };
#endif

static __thread struct guard *volatile guard; /* guarded call of this thread, or NULL */

static pthread_mutex_t install = PTHREAD_MUTEX_INITIALIZER;
/* written under `install`, before our handler can run */
static struct sigaction before_segv, before_bus;

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = number == SIGSEGV ? &before_segv : &before_bus;

	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(number, info, context);
	else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
		before->sa_handler(number);
	else
		/* when the access is repeated, it ends the program, as without this library */
		sigaction(number, before, NULL);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	struct guard *g = guard;

	if (!g || info->si_code <= 0) { /* outside a guarded call, or sent with kill() */
		pass_on(number, info, context);
		return;
	}
	g->address = (uint64_t)info->si_addr;
	siglongjmp(g->back, 1);
}

static void take_signal(int number, struct sigaction *before)
{
	struct sigaction ours = {.sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK},
			 now;

	sigemptyset(&ours.sa_mask);
	if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	    now.sa_sigaction == on_fault)
		return;
	*before = now;
	sigaction(number, &ours, NULL);
}

void soft_guard_init(void)
{
	pthread_mutex_lock(&install);
	take_signal(SIGSEGV, &before_segv);
	take_signal(SIGBUS, &before_bus);
	pthread_mutex_unlock(&install);
}

bool soft_guard_call(void (*function)(void *), void *argument, uint64_t *address)
{
	struct guard g;

	if (sigsetjmp(g.back, SAVE_MASK)) {
		guard = NULL;
		*address = g.address;
		return false;
	}
	guard = &g;
	function(argument);
	guard = NULL;
	return true;
}
