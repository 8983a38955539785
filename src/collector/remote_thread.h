/* SPDX-License-Identifier: MIT */
/* Reads the registers of a thread of another process.
 *
 *   blocked in a system call   /proc/PID/task/TID/syscall: number, sp, pc. The thread is not
 *                              stopped, so that no call of it returns early (EINTR)
 *   running                    ptrace: seize, interrupt, read, detach. 10 to 50 us
 *
 * A thread that is about to block when it is stopped may be in a system call by then. If that call
 * returned EINTR and no signal is pending, the thread makes the call again.
 * Only one thread of this process may use these functions. */
#ifndef GPUTAP_COLLECTOR_REMOTE_THREAD_H
#define GPUTAP_COLLECTOR_REMOTE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/remote_unwind.h"

enum gt_remote_state {
	GT_REMOTE_GONE,    /* the thread has ended, or the kernel does not say where it is */
	GT_REMOTE_REFUSED, /* not readable; errno says why */
	GT_REMOTE_BLOCKED, /* in a system call, or stopped by a signal */
	GT_REMOTE_RUNNING, /* has a processor, or waits for one */
};

/* Descriptors of a thread's files in /proc. */
struct gt_remote_files {
	int system_call, schedule;
	int error; /* errno if `system_call` could not be opened */
};

struct gt_remote_look {
	int system_call; /* number; -1: none */
	/* number of times that the thread got a processor, which shows whether it has run since
	 * another look. 0: not known */
	uint64_t runs;
	uint64_t delay_ns; /* time in which the thread has waited for a processor */
	struct gt_remote_registers registers; /* valid if BLOCKED */
};

void gt_remote_files_open(struct gt_remote_files *files, uint32_t pid, uint32_t tid);
void gt_remote_files_close(struct gt_remote_files *files);

enum gt_remote_state gt_remote_thread_look(const struct gt_remote_files *files,
					   struct gt_remote_look *look);

enum gt_remote_stop {
	GT_REMOTE_STOPPED, /* the caller reads memory, then calls gt_remote_thread_release() */
	/* not stopped yet, because the thread waits for a processor. Call
	 * gt_remote_thread_wait() soon */
	GT_REMOTE_PENDING,
	GT_REMOTE_FAILED, /* errno says why; ESRCH: the thread has ended */
};

/* @since_ns: receives a time (CLOCK_MONOTONIC) at which the thread had not stopped yet. */
enum gt_remote_stop gt_remote_thread_stop(uint32_t tid, struct gt_remote_registers *registers,
					  uint64_t *since_ns);
/* Look again for the stop of a pending thread. */
enum gt_remote_stop gt_remote_thread_wait(uint32_t tid, struct gt_remote_registers *registers);
/* Resume the thread. Return false if it has ended; the caller then takes its status with
 * waitpid(). */
bool gt_remote_thread_release(uint32_t pid, uint32_t tid);

#endif
