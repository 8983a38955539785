/* SPDX-License-Identifier: MIT */
/* The session that `gputap top` observes: found through session_find.h, queried before each view,
 * and controlled with keys. A capture whose session cannot be reached from here (in another
 * container) is also observed; then it is only known to grow. */
#ifndef GPUTAP_CLI_TOP_SESSION_H
#define GPUTAP_CLI_TOP_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct top_session {
	char path[PATH_MAX];        /* the capture's */
	char folder[PATH_MAX];      /* "": not reachable */
	unsigned looks;             /* attempts to find it, without success */
	int collector;              /* its pidfd; -1: not known */
	bool is_paused, was_paused; /* was: when last looked at */
	char why[32];               /* reason for the pause: "delay", "command" */
	uint64_t starts_in_ns;      /* without a command; 0: not known */
	uint64_t looked_ns;         /* time of the last look; 0: none yet */
	/* paused part of the time between the last two looks, and since the first */
	uint64_t paused_ns, all_paused_ns;
	char said[160];    /* result of the last key; "": none */
	uint64_t snapshot; /* number of the one being written; 0: none */
};

/* Find a session. Return the exit code; errors are reported. */
int top_session_find(struct top_session *s, const char *which);
/* Read the session's state, and whether the snapshot is written. Return the time, CLOCK_BOOTTIME:
 * pauses are counted until then, so views must end there. */
uint64_t top_session_look(struct top_session *s);
/* Pause or resume, whichever changes the state; not every process has followed yet. */
void top_session_switch(struct top_session *s);
void top_session_snapshot(struct top_session *s);
/* Return true if the session's collector has died, or ended. */
bool top_session_is_over(const struct top_session *s);

#endif
