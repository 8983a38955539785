/* SPDX-License-Identifier: MIT */
/* The program under `gputap run`: started as if we were not there, signals passed on, its end
 * waited for.
 *
 * It stays in our process group and session, with the terminal, descriptors, signal mask and
 * dispositions that we were given. What a terminal sends reaches both of us; what is sent to us
 * alone is sent on. When job control stops it, we stop too, so that the shell sees a stopped
 * job. */
#ifndef GPUTAP_COLLECTOR_CHILD_H
#define GPUTAP_COLLECTOR_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct gt_child {
	pid_t pid;
	int pidfd;
	int signal_fd;      /* everything that can be caught, our own death apart */
	_Atomic bool ended; /* control's thread asks, too */
	bool stopped;
	/* INT, TERM, HUP or QUIT after the program's end: do not wait for the rest */
	bool interrupted;
	int wait_status;
	/* signals that are not the program's, but ours; NULL: none. True: it is taken */
	bool (*take)(void *data, int number);
	void *take_data;
	sigset_t mask_before;
	struct sigaction chld_before;
};

/* Block and collect signals. Before the session folder is made, so that Ctrl-C leaves nothing
 * behind. */
int gt_child_init(struct gt_child *c);

/**
 * gt_child_start() - fork and exec
 * @environment: of the program
 * Return: 0; or the negative errno of fork or exec, with a cause: nothing runs then.
 */
int gt_child_start(struct gt_child *c, char *const *argv, char *const *environment);

/* signal_fd or pidfd is readable: pass signals on, notice stop and end. */
void gt_child_poll(struct gt_child *c);

/* Signal mask and dispositions as they were; signals for the program that came after its end are
 * forgotten. */
void gt_child_fini(struct gt_child *c);

#endif
