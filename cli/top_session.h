/* SPDX-License-Identifier: MIT */
/* The session that `gputap top` observes. session_find.h finds it. gputap top queries it before
 * each view, and keys control it. If the session cannot be reached, for example because it runs in
 * another container, its capture can still be observed, but the state of the session is not
 * known. */
#ifndef GPUTAP_CLI_TOP_SESSION_H
#define GPUTAP_CLI_TOP_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct top_session {
	char path[PATH_MAX];        /* path of the capture */
	char folder[PATH_MAX];      /* folder of the session; "": not reachable */
	unsigned looks;             /* number of failed attempts to find the session */
	int collector;              /* pidfd of the collector; -1: not known */
	bool is_paused, was_paused; /* was_paused: value at the previous query */
	char why[32];               /* reason for the pause: "delay", "command" */
	uint64_t starts_in_ns;      /* time until recording starts by itself; 0: not known */
	uint64_t looked_ns;         /* time of the previous query; 0: none yet */
	/* paused time between the last two queries, and since the first query */
	uint64_t paused_ns, all_paused_ns;
	char said[160];    /* result of the last key; "": none */
	uint64_t snapshot; /* number of the snapshot that is being written; 0: none */
};

/* Find a session. Return the exit code; errors are reported. */
int top_session_find(struct top_session *s, const char *which);
/* Read the session's state, and whether the snapshot was written. Return the time (CLOCK_BOOTTIME)
 * up to which pauses are counted. The current view must end at this time. */
uint64_t top_session_look(struct top_session *s);
/* Pause recording, or resume it if it is paused. Processes may change their state later. */
void top_session_switch(struct top_session *s);
void top_session_snapshot(struct top_session *s);
/* Return true if the session's collector has ended or crashed. */
bool top_session_is_over(const struct top_session *s);

#endif
