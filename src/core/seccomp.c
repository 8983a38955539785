/* SPDX-License-Identifier: MIT */
/* prctl(), exported in front of libc's, to notice restrictions that a program sets for itself.
 * syscall() with the numbers of prctl() and seccomp() reaches this file via core/exec_syscall.c.
 *
 *   a filter is installed    gputap no longer calls prctl() in the process
 *   strict mode              the thread's calls are no longer recorded: the kernel would kill it
 *                            for gputap's system calls, and reading the processor's time stamp
 *                            counter raises SIGSEGV
 *   PR_SET_TSC               raises only this SIGSEGV, in this thread and the threads that it
 *                            creates: recording ends in the process
 *
 * A program that gputap attaches to may have set them before: the injector refuses filters that
 * could end it (collector/inject_seccomp.c), and gt_seccomp_attach() learns of all others.
 *
 * All other calls are passed on unchanged. Never here: a system call between a filter's
 * installation and the return to the program. Not noticed: system calls that a program makes with
 * its own instructions. */
#include "core/seccomp.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/exec_environment.h"
#include "core/recording.h"
#include "core/tap.h"

enum { STATUS_BYTES = 4096 };

#define EXPORT __attribute__((visibility("default")))

static GT_AT_START int (*real_prctl)(int, ...);

static bool is_filter(long number, unsigned long a, unsigned long b)
{
	return number == SYS_seccomp ? a == SECCOMP_SET_MODE_FILTER
				     : a == PR_SET_SECCOMP && b == SECCOMP_MODE_FILTER;
}

static bool is_strict(long number, unsigned long a, unsigned long b)
{
	return number == SYS_seccomp ? a == SECCOMP_SET_MODE_STRICT
				     : a == PR_SET_SECCOMP && b == SECCOMP_MODE_STRICT;
}

static void report(const char *text)
{
	if (gt_recording_is_run())
		gt_event_write(gt_thread_own(), GT_EVENT_FAULT, GT_DOMAIN_NONE, 0, text);
}

void gt_seccomp_before(long number, unsigned long a, unsigned long b)
{
	if (is_strict(number, a, b)) {
		report("a thread enters seccomp's strict mode: its further calls are not recorded");
		gt_internal_enter();
	} else if (number == SYS_prctl && a == PR_SET_TSC && b == PR_TSC_SIGSEGV &&
		   gt_recording_is_run() && gt_host_clock == GT_HOST_CLOCK_COUNTER) {
		report("the program disables the processor's time stamp counter: recording stops");
		gt_recording_stop();
	}
}

void gt_seccomp_after(long number, unsigned long a, unsigned long b, long result)
{
	if (is_strict(number, a, b) && result != 0)
		gt_internal_leave();
	if (is_filter(number, a, b) && result >= 0) {
		atomic_store_explicit(&gt_seccomp_filtered, true, memory_order_relaxed);
		gt_exec_remember_filter();
	}
}

void gt_seccomp_attach(void)
{
	char text[STATUS_BYTES];
	const int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* unknown counts as filtered */
	if (!strstr(text, "\nSeccomp:\t0"))
		atomic_store_explicit(&gt_seccomp_filtered, true, memory_order_relaxed);
}

__attribute__((constructor)) static void find_prctl(void)
{
	*(void **)&real_prctl = dlsym(RTLD_NEXT, "prctl");
	if (getenv(GT_FILTERED_ENV))
		atomic_store_explicit(&gt_seccomp_filtered, true, memory_order_relaxed);
}

/* Reads four arguments even if fewer were passed, like libc's prctl(). */
EXPORT int prctl(int option, ...)
{
	unsigned long a, b, c, d;
	va_list list;
	int result;

	va_start(list, option);
	a = va_arg(list, unsigned long);
	b = va_arg(list, unsigned long);
	c = va_arg(list, unsigned long);
	d = va_arg(list, unsigned long);
	va_end(list);
	gt_seccomp_before(SYS_prctl, (unsigned long)option, a);
	result = real_prctl ? real_prctl(option, a, b, c, d)
			    : (int)syscall(SYS_prctl, option, a, b, c, d);
	gt_seccomp_after(SYS_prctl, (unsigned long)option, a, result);
	return result;
}
