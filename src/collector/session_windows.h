/* SPDX-License-Identifier: MIT */
/* Decides when the session records, from the options of `gputap run` (--paused, --delay,
 * --duration, --max-kernels, signals) and from `gputap start` and `gputap stop`. Both set
 * gt_session.control, which every process follows (tool/tool_follow.h). */
#ifndef GPUTAP_COLLECTOR_SESSION_WINDOWS_H
#define GPUTAP_COLLECTOR_SESSION_WINDOWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "collector/folder.h"
#include "ring/session.h"

/* Options of `gputap run`. */
struct gt_window_options {
	bool paused;          /* true to start paused */
	uint64_t delay_ns;    /* time until recording starts; 0: none, or not given */
	uint64_t duration_ns; /* length of the first window; 0: unlimited */
	/* number of kernels after which the window ends; 0: unlimited */
	uint64_t kernels;
	int start_signal, stop_signal; /* 0: no signal; if both are equal, the signal toggles */
	/* --from and --to; each process counts its own ranges */
	struct gt_range_bound ranges[GT_RANGE_EDGES];
};

/* Progress of the session's processes towards --from and --to. */
struct gt_ranges_met {
	/* number of matching ranges in the process that started the most */
	uint64_t begun[GT_RANGE_EDGES];
	/* number of processes whose window started; number of processes whose --to has ended */
	uint32_t windows, ended;
	uint32_t missed; /* number of processes whose --to ended before their --from started */
	/* true if a process had torch without gputap's package, which reports torch's ranges */
	bool lacks_torch;
};

/* Two threads use this struct, the collector's and control's. Both hold `lock` to access it. */
struct gt_session_windows {
	struct gt_folder *folder; /* borrowed; NULL: the session has not started */
	struct gt_window_options options;
	pthread_mutex_t lock;
	uint32_t control;                 /* gt_session.control */
	uint64_t start_at_ns, stop_at_ns; /* CLOCK_MONOTONIC; 0: not pending */
	uint64_t changed_ns;              /* CLOCK_BOOTTIME of the last change; 0: none */
	uint32_t windows;                 /* number of windows that have started */
	bool kernels_done;
	/* true if the end of the first window ends the session, instead of a pause */
	bool ends_session;
	bool is_over; /* ends_session: the window has ended */
};

/* Current state. */
struct gt_window_state {
	uint32_t control; /* gt_session.control */
	uint32_t windows;
	uint64_t start_at_ns, stop_at_ns, changed_ns;
	bool is_over; /* the session must end */
};

/* Set the initial control word, before the session's file is written. */
void gt_session_windows_prepare(struct gt_session *session, const struct gt_window_options *o);
/* Start the windows, when the program starts. */
void gt_session_windows_begin(struct gt_session_windows *w, struct gt_folder *folder,
			      const struct gt_window_options *o, uint64_t now_ns);

/* Begin again at @now_ns, when the session has attached to running processes. --duration and
 * --max-kernels end such a session. */
void gt_session_windows_attached(struct gt_session_windows *w, uint64_t now_ns);

struct gt_window_state gt_session_windows_read(struct gt_session_windows *w);

/* Change the state for all processes. Return false if the session already was in the requested
 * state. */
bool gt_session_windows_set(struct gt_session_windows *w, bool recording, enum gt_window_why why);

/* Apply changes that are due because of time or a count. @kernels: number of kernels recorded so
 * far. Return the ms until the next change may be due, or -1 if no change is pending. */
int gt_session_windows_look(struct gt_session_windows *w, uint64_t now_ns, uint64_t kernels);

/* Handle a signal sent to `gputap run`. Return true if the signal is for gputap and not for the
 * program. */
bool gt_session_windows_signal(struct gt_session_windows *w, int number);

/* Wake all threads that wait on the word, because the session is over. */
void gt_session_windows_end(struct gt_session_windows *w);

#endif
