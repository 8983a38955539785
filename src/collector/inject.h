/* SPDX-License-Identifier: MIT */
/* Loads a library into a process that was started without it (`gputap attach`).
 *
 *   gputap                          one thread of the process        its other threads
 *   ─────────────────────────────   ──────────────────────────────   ─────────────────
 *   read files, symbols, stacks     blocked in poll(), read(), ...   run all the time
 *   PTRACE_SEIZE, PTRACE_INTERRUPT  stopped
 *   unwind: outside malloc, ...?    (if not: resume, try another)
 *   mmap(), mprotect()              two system calls
 *   run pthread_create(worker)      on our stack
 *   restore, PTRACE_DETACH          continues as before
 *   wait for the worker's answer                                     worker: dlopen(), function()
 *
 * Only two system calls and one pthread_create() run in the thread of the program. The worker is a
 * thread that libc created, because a thread of a raw clone() has no thread-local storage, and a
 * single-threaded program omits malloc's locks until it calls pthread_create().
 * The worker runs with all signals blocked, and ends by a jump to munmap(): only the library stays.
 *
 * Time-outs of the interrupted call: poll(), ppoll(), select(), nanosleep() and futex() continue
 * with the rest of their time. epoll_wait(), semtimedop(), sigtimedwait() and recv() start anew.
 *
 * x86-64 with glibc only. Never here: SIGTRAP, single steps, a signal that the program sees. */
#ifndef GPUTAP_COLLECTOR_INJECT_H
#define GPUTAP_COLLECTOR_INJECT_H

#include <stdint.h>
#include <sys/types.h>

struct gt_inject_request {
	pid_t pid;
	const char *library;  /* absolute path, as this process sees it */
	const char *function; /* int function(const char *argument); NULL: only load the library */
	const char *argument; /* NULL: "" */
	/* A thread that was not ready for pthread_create() after this time is resumed, and another
	 * thread is stopped. 0: 50 ms */
	uint64_t deadline_ns;
	uint64_t patience_ns; /* time in which a thread must be found at a safe place. 0: 5 s */
	uint64_t answer_ns;   /* time in which the function must return. 0: 60 s */
};

struct gt_inject_result {
	int answer;       /* what the function returned */
	uint64_t stop_ns; /* longest time for which a thread was stopped */
	unsigned tries;   /* number of threads that were stopped */
};

/**
 * gt_inject() - load a library into a process and call a function of it
 * @out: receives what is known, also after a failure
 * Return: 0; or a negative errno with a cause that names the way out: -ESRCH (no such process, or
 *         it has ended or called exec), -EPERM (the kernel's rules), -ENOTSUP (a process that
 *         cannot be attached to), -EBUSY (traced or stopped), -EAGAIN (no thread was at a safe
 *         place), -ELIBBAD (the library cannot be loaded there), -ETIMEDOUT (the worker still
 *         runs), -ENOMEM.
 * Thread: any; blocks. Works in a child process.
 */
int gt_inject(const struct gt_inject_request *request, struct gt_inject_result *out);

/**
 * gt_inject_check() - find out if a process can be attached to, without stopping it
 * Filters of system calls (seccomp) are checked by gt_inject() only, because the kernel shows them
 * only for a stopped thread.
 * Return: as gt_inject().
 */
int gt_inject_check(pid_t pid);

#endif
