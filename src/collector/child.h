/* SPDX-License-Identifier: MIT */
/* Starts the program of `gputap run` as if gputap were not there, passes on signals, and waits for
 * the program's end.
 *
 * The program stays in gputap's process group and session, with the terminal, descriptors, signal
 * mask and dispositions that gputap was given. Signals from the terminal reach both processes;
 * signals sent to gputap alone are passed on. When job control stops the program, gputap stops too,
 * so that the shell sees a stopped job. */
#ifndef GPUTAP_COLLECTOR_CHILD_H
#define GPUTAP_COLLECTOR_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gt_child {
	pid_t pid;
	int pidfd;
	/* receives all signals that can be caught, except those raised by a crash of gputap */
	int signal_fd;
	_Atomic bool ended; /* true if the program has ended; also read in control's thread */
	bool stopped;
	/* true if INT, TERM, HUP or QUIT came after the program's end: do not wait for the
	 * remaining processes. is_attached: the signal came at any time: end the session */
	bool interrupted;
	/* true if gputap did not start the program, but attached to it: signals are for gputap, and
	 * the exit status stays unknown */
	bool is_attached;
	uint64_t start; /* is_attached: start of the program, in clock ticks since boot */
	int wait_status;
	/* handles a signal that is meant for gputap and not for the program; NULL: there are no
	 * such signals. Returns true if the signal was handled */
	bool (*take)(void *data, int number);
	void *take_data;
	sigset_t mask_before;
	struct sigaction chld_before;
};

/* Block and collect signals. Call before the session folder is created, so that Ctrl-C leaves
 * nothing behind. */
int gt_child_init(struct gt_child *c);

/**
 * gt_child_start() - fork and exec
 * @environment: environment of the program
 * Return: 0, or the negative errno of fork or exec with a cause; no program runs then.
 */
int gt_child_start(struct gt_child *c, char *const *argv, char *const *environment);

/* Watch a running program instead of starting one. @start: as in /proc/PID/stat. Return 0, or
 * -ESRCH with a cause. */
int gt_child_attach(struct gt_child *c, pid_t pid, uint64_t start);

/* Pass on signals, and notice stops and the program's end. Call when signal_fd or pidfd is
 * readable. */
void gt_child_poll(struct gt_child *c);

/* Restore signal mask and dispositions. Discard signals for the program that arrived after its
 * end. */
void gt_child_fini(struct gt_child *c);

#endif
