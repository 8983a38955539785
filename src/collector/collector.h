/* SPDX-License-Identifier: MIT */
/* The collector: makes the session folder, starts the program, drains rings into a capture
 * until the program has ended, finishes the capture. One thread; poll, never spin. */
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
	const char *wanted; /* file that it becomes when the program has ended; NULL: that one */
	bool replace;
	bool compress;
	bool shared;    /* the capture may be read by others, as the umask says */
	bool wait_tree; /* stay until every process of the tree has ended */
	struct gt_keep_options keep;
	const char *snapshot_name; /* what snapshots are named after; NULL: the output */
	int snapshot_signal;       /* that asks for one instead of going to the program; 0: none */
	const struct gt_trigger *triggers;
	size_t trigger_count;
	uint64_t keep_after_ns;  /* from a trigger on, until its snapshot */
	uint32_t snapshots_most; /* by triggers */
	/* In the collector's thread, when a snapshot is written or cannot be (@error is a
	 * sentence). NULL: nobody is told */
	void (*on_snapshot)(const char *path, const char *error, enum gt_kept_reason reason,
			    const char *what);
	/* In a thread of its own, when a snapshot is whole, before on_snapshot: more may be added
	 * to it. NULL: nothing is */
	void (*complete_snapshot)(const char *path, void *data);
	void *complete_data;
	/* what to record and how; magic, version, bytes, host_clock are filled in */
	struct gt_session session;
	struct gt_window_options windows;
	const char *options_text; /* for gt_session_info.options */
};

struct gt_run_result {
	int wait_status; /* of the program, as waitpid() gives it */
	/* not 0: the program could not be started, and there is no capture */
	int exec_errno;
	uint32_t pid;       /* of the program */
	uint32_t processes; /* processes that recorded */
	uint32_t runtimes;  /* bit per enum gt_domain that was seen in any of them */
	uint32_t torn;      /* processes whose rings made no sense in part: they wrote over them */
	uint32_t refused;   /* segments of another version, or damaged from the start */
	uint32_t untraced;  /* programs that could not be traced */
	uint32_t still_running; /* processes that ran on when the session ended */
	/* calls and device work; unfinished is part of dropped */
	uint64_t seen, recorded, dropped, unfinished;
	uint64_t dropped_by[GT_DROP_REASON_COUNT];
	bool complete;   /* nothing that was traced and ended is missing */
	bool is_rebuilt; /* recovery had no sound journal; the capture is not complete then */
	/* negative errno: the capture could not take everything (disk full) */
	int output_error;
	/* triggers that came when there were enough snapshots, or one had just been taken; work
	 * that they could not be decided about */
	uint64_t triggers_left_out, triggers_undecided;
	struct gt_ranges_met ranges; /* of --from and --to */
};

/* Everything recorded, in the sizes that suit most programs. */
void gt_session_defaults(struct gt_session *session);

/**
 * gt_collector_run() - trace argv[0] with argv from start to end
 * The signals that are the session's own (of windows and snapshots) are ignored from its end on.
 * Return: 0, or negative errno with a cause when tracing could not even begin; the program was not
 * started then.
 */
int gt_collector_run(const struct gt_run_options *options, char *const *argv,
		     struct gt_run_result *result);

/**
 * gt_collector_recover() - finish a capture whose collector died
 * @directory: the session folder; it is removed when all is in the capture
 * @output: receives the capture's path, PATH_MAX bytes; "" if not even that is known
 * Programs of the session that still run are asked to record no more.
 * Return: 0, or negative errno with a cause: -EBUSY the collector lives, -ENOENT no such folder,
 *         -ENODATA it died before the program started, -EALREADY nothing is left to finish (the
 *         folder is removed by both), .. The folder stays as it is then and may be tried again.
 */
int gt_collector_recover(const char *directory, char *output, struct gt_run_result *result);

/* One session found on this machine, for `gputap recover` without a folder. */
struct gt_session_found {
	const char *path, *output; /* output: "" if not known */
	uint32_t collector_pid;    /* 0: it has no collector any more */
	bool in_use;               /* programs of it still run */
};
void gt_collector_sessions(void (*each)(const struct gt_session_found *found, void *data),
			   void *data);

#endif
