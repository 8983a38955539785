/* SPDX-License-Identifier: MIT */
/* When the session is recorded: what `gputap run` was asked for (--paused, --delay, --duration,
 * --max-kernels, signals), and `gputap start` and `stop`. All come down to gt_session.control,
 * which every process follows (tool/tool_follow.h). */
#ifndef GPUTAP_COLLECTOR_SESSION_WINDOWS_H
#define GPUTAP_COLLECTOR_SESSION_WINDOWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "collector/folder.h"
#include "ring/session.h"

/* As `gputap run` was told. */
struct gt_window_options {
	bool paused;                   /* begin with a pause */
	uint64_t delay_ns;             /* recorded from then on; 0: at once, or not said */
	uint64_t duration_ns;          /* of the first window; 0: without end */
	uint64_t kernels;              /* after so many it ends; 0: without end */
	int start_signal, stop_signal; /* 0: none; the same: by turns */
	struct gt_range_bound ranges[GT_RANGE_EDGES]; /* of each process; counted by it */
};

/* How far processes have come by --from and --to. */
struct gt_ranges_met {
	uint64_t begun[GT_RANGE_EDGES]; /* of those names, in the process that began most */
	uint32_t windows, ended;        /* processes whose window began; whose --to has ended */
	uint32_t missed;                /* .. before their --from came */
	bool lacks_torch; /* a process had torch, but not gputap's package for its ranges */
};

/* Changed and read by two threads, the collector's and control's, with the lock held. */
struct gt_session_windows {
	struct gt_folder *folder; /* borrowed; NULL: the session has not begun */
	struct gt_window_options options;
	pthread_mutex_t lock;
	uint32_t control;                 /* gt_session.control */
	uint64_t start_at_ns, stop_at_ns; /* CLOCK_MONOTONIC; 0: not to come */
	uint64_t changed_ns;              /* CLOCK_BOOTTIME of the last change; 0: none */
	uint32_t windows;                 /* that have begun */
	bool kernels_done;
};

/* As it stands now. */
struct gt_window_state {
	uint32_t control; /* gt_session.control */
	uint32_t windows;
	uint64_t start_at_ns, stop_at_ns, changed_ns;
};

/* Before the session's file is written: what its control begins with. */
void gt_session_windows_prepare(struct gt_session *session, const struct gt_window_options *o);
/* The program starts now. */
void gt_session_windows_begin(struct gt_session_windows *w, struct gt_folder *folder,
			      const struct gt_window_options *o, uint64_t now_ns);

struct gt_window_state gt_session_windows_read(struct gt_session_windows *w);

/* Change it for all processes. Return: false: it was so already. */
bool gt_session_windows_set(struct gt_session_windows *w, bool recording, enum gt_window_why why);

/* What time and counts ask for. @kernels: recorded so far. Return: ms until the next look must be;
 * -1: none must. */
int gt_session_windows_look(struct gt_session_windows *w, uint64_t now_ns, uint64_t kernels);

/* A signal came to `gputap run`. True: it was ours, and is not the program's. */
bool gt_session_windows_signal(struct gt_session_windows *w, int number);

/* Wake all who wait for the word, as the session is over. */
void gt_session_windows_end(struct gt_session_windows *w);

#endif
