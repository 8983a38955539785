/* SPDX-License-Identifier: MIT */
/* The session that `gputap top` looks at: found by session_find.h, asked for its state before each
 * view, and told what keys say. A capture whose session cannot be seen from here (of another
 * container) is looked at, too; then nothing is known but that it grows. */
#ifndef GPUTAP_CLI_TOP_SESSION_H
#define GPUTAP_CLI_TOP_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct top_session {
	char path[PATH_MAX];        /* of the capture */
	char folder[PATH_MAX];      /* "": it cannot be seen */
	unsigned looks;             /* for it, without finding it */
	int collector;              /* its pidfd; -1: not known */
	bool is_paused, was_paused; /* was: when it was looked at last */
	char why[32];               /* it is paused: "delay", "command" */
	uint64_t starts_in_ns;      /* by itself; 0: nobody knows */
	uint64_t looked_ns;         /* when it was looked at last; 0: not yet */
	/* how much of the time between the last two looks, and since the first, was paused */
	uint64_t paused_ns, all_paused_ns;
	char said[160];    /* what came of the last key; "": nothing */
	uint64_t snapshot; /* that is being written; 0: none */
};

/* Return: exit code; reported. */
int top_session_find(struct top_session *s, const char *which);
/* Its state now, and whether the snapshot is written. Return: when that was, CLOCK_BOOTTIME: the
 * pauses are counted until then, so views must end there. */
uint64_t top_session_look(struct top_session *s);
/* Pause or go on, as it is not now; every process has not followed yet. */
void top_session_switch(struct top_session *s);
void top_session_snapshot(struct top_session *s);
/* Its collector has died, or ended. */
bool top_session_is_over(const struct top_session *s);

#endif
