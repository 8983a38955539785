/* SPDX-License-Identifier: MIT */
/* The collector: creates the session folder, starts the program, drains rings into a capture until
 * the program has ended, and finishes the capture. One thread, which polls and never spins. */
#ifndef GPUTAP_COLLECTOR_COLLECTOR_H
#define GPUTAP_COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture.h"
#include "collector/triggers.h"
#include "collector/session_windows.h"
#include "ring/session.h"

struct gt_run_options {
	const char *output; /* capture to write */
	/* requested file if that is an export of the capture; NULL: the capture itself */
	const char *wanted;
	bool replace;
	bool compress;
	bool shared;    /* others may read the capture, as the umask allows */
	bool wait_tree; /* stay until every process of the tree has ended */
	struct gt_keep_options keep;
	const char *snapshot_name; /* base name of snapshots; NULL: that of the output */
	/* requests a snapshot and is not passed on to the program; 0: none */
	int snapshot_signal;
	const struct gt_trigger *triggers;
	size_t trigger_count;
	uint64_t keep_after_ns;  /* time from a trigger to its snapshot */
	uint32_t snapshots_most; /* limit of snapshots through triggers */
	/* called in the collector's thread when a snapshot is written or cannot be (@error is a
	 * sentence). NULL: no callback */
	void (*on_snapshot)(const char *path, const char *error, enum gt_retained_reason reason,
			    const char *what);
	/* called in a separate thread when a snapshot is complete, before on_snapshot: may add to
	 * it. NULL: no callback */
	void (*complete_snapshot)(const char *path, void *data);
	void *complete_data;
	/* what to record and how; the collector fills in magic, version, bytes and host_clock */
	struct gt_session session;
	struct gt_window_options windows;
	const char *options_text; /* for gt_session_info.options */
};

struct gt_run_result {
	int wait_status; /* the program's, as from waitpid() */
	/* nonzero: the program could not be started, and there is no capture */
	int exec_errno;
	uint32_t pid;       /* the program's */
	uint32_t processes; /* processes that recorded */
	uint32_t runtimes;  /* bit per enum gt_domain that was seen in any of them */
	/* processes whose rings were corrupt in part: the program wrote over them */
	uint32_t torn;
	uint32_t refused;       /* segments of another version, or damaged from the start */
	uint32_t untraced;      /* programs that could not be traced */
	uint32_t still_running; /* processes still running when the session ended */
	/* calls and GPU activities; unfinished is part of dropped */
	uint64_t seen, recorded, dropped, unfinished;
	uint64_t dropped_by[GT_DROP_REASON_COUNT];
	bool complete; /* true if nothing is missing of what was traced and has ended */
	/* true if recovery had no valid journal; the capture is not complete then */
	bool is_rebuilt;
	/* negative errno: the capture could not store everything (disk full) */
	int output_error;
	/* triggers ignored because there were enough snapshots or one had just been taken; GPU
	 * activities that the triggers could not be evaluated for */
	uint64_t triggers_left_out, triggers_undecided;
	struct gt_ranges_met ranges; /* for --from and --to */
};

/* Set the defaults: record everything, with sizes that suit most programs. */
void gt_session_defaults(struct gt_session *session);

/**
 * gt_collector_run() - trace argv[0] with argv from start to end
 * The session's own signals (of windows and snapshots) are ignored after its end.
 * Return: 0, or negative errno with a cause when tracing could not start; then the program was not
 * started.
 */
int gt_collector_run(const struct gt_run_options *options, char *const *argv,
		     struct gt_run_result *result);

/**
 * gt_collector_recover() - finish a capture whose collector died
 * @directory: the session folder; it is removed when all is in the capture
 * @output: receives the capture's path, PATH_MAX bytes; "" if it is unknown
 * Programs of the session that are still running are requested to stop recording.
 * Return: 0, or negative errno with a cause, such as -EBUSY the collector is alive, -ENOENT no such
 *         folder, -ENODATA it died before the program started, -EALREADY nothing is left to finish
 *         (the last two remove the folder). In other cases the folder stays as it is and recovery
 *         can be repeated.
 */
int gt_collector_recover(const char *directory, char *output, struct gt_run_result *result);

/* A session found on this machine, for `gputap recover` without a folder. */
struct gt_session_found {
	const char *path, *output; /* output: "" if unknown */
	uint32_t collector_pid;    /* 0: its collector is gone */
	bool in_use;               /* its programs are still running */
};
void gt_collector_sessions(void (*each)(const struct gt_session_found *found, void *data),
			   void *data);

#endif
