/* SPDX-License-Identifier: MIT */
/* The collector: creates the session folder, starts the program, drains rings into a capture until
 * the program has ended, and finishes the capture. A single thread polls and never spins. */
#ifndef GPUTAP_COLLECTOR_COLLECTOR_H
#define GPUTAP_COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture.h"
#include "collector/attach_target.h"
#include "collector/triggers.h"
#include "collector/sample_host.h"
#include "collector/session_windows.h"
#include "ring/session.h"

struct gt_run_options {
	const char *output; /* path of the capture to write */
	/* requested file if it is an export of the capture; NULL: the capture itself */
	const char *wanted;
	bool replace;
	bool compress;
	bool shared;    /* true if other users may read the capture, as far as the umask allows */
	bool wait_tree; /* true to stay until every process of the tree has ended */
	struct gt_keep_options keep;
	const char *snapshot_name; /* base name of snapshots; NULL: base name of the output */
	/* signal that requests a snapshot and is not passed on to the program; 0: none */
	int snapshot_signal;
	const struct gt_trigger *triggers;
	size_t trigger_count;
	uint64_t keep_after_ns;  /* time from a trigger to its snapshot */
	uint32_t snapshots_most; /* maximum number of snapshots through triggers */
	/* called in the collector's thread when a snapshot was written, or could not be written
	 * (@error is a sentence then). NULL: no callback */
	void (*on_snapshot)(const char *path, const char *error, enum gt_retained_reason reason,
			    const char *what);
	/* called in a separate thread when a snapshot is complete, before on_snapshot; may add data
	 * to the snapshot. NULL: no callback */
	void (*complete_snapshot)(const char *path, void *data);
	void *complete_data;
	/* recording options; the collector fills in magic, version, bytes and host_clock */
	struct gt_session session;
	struct gt_window_options windows;
	/* time between two looks at the states of threads, if session.host_state is set; 0: the
	 * default */
	uint64_t host_state_ns;
	uint64_t sample_host_ns; /* time between samples of stacks of the host; 0: none */
	/* running processes to attach to, instead of starting a program; NULL: start it. The first
	 * one is the program, whose end ends the session */
	const struct gt_attach_target *targets;
	size_t target_count;
	/* called for each target: it is recorded now, or it cannot be (@note->error). With one
	 * target, gt_collector_run() fails instead. NULL: no callback */
	void (*on_attach)(const struct gt_attach_note *note, void *data);
	void *attach_data;
	const char *directory;    /* working folder of the program; NULL: gputap's */
	const char *options_text; /* for gt_session_info.options */
};

struct gt_run_result {
	int wait_status; /* the program's wait status, as from waitpid() */
	/* nonzero: the program could not be started, and no capture exists */
	int exec_errno;
	uint32_t pid;     /* pid of the program */
	bool is_detached; /* the session was attached and ended before the program */
	/* number of processes that had not detached when the session ended, because they were
	 * stopped, or hung in a runtime */
	uint32_t not_detached;
	uint32_t processes; /* number of processes that were recorded */
	uint64_t runtimes;  /* bit per enum gt_domain that was seen in any of these processes */
	/* number of processes with partly corrupt rings, because the program has overwritten
	 * them */
	uint32_t torn;
	/* number of segments that have another version or were damaged from the start */
	uint32_t refused;
	uint32_t untraced;      /* number of programs that could not be traced */
	uint32_t still_running; /* number of processes still running when the session ended */
	/* calls and GPU activities; `dropped` includes `unfinished` */
	uint64_t seen, recorded, dropped, unfinished;
	uint64_t dropped_by[GT_DROP_REASON_COUNT];
	bool complete; /* true if the capture contains everything that was traced and has ended */
	/* true if recovery had no valid journal; the capture is never complete then */
	bool is_rebuilt;
	/* negative errno if the capture could not store everything (disk full) */
	int output_error;
	/* number of triggers ignored because there were enough snapshots or a snapshot had just
	 * been taken; number of GPU activities for which the triggers could not be evaluated */
	uint64_t triggers_left_out, triggers_undecided;
	struct gt_ranges_met ranges;     /* results for --from and --to */
	struct gt_sample_totals samples; /* results of sample_host_ns */
};

/* Set the defaults: record everything, with sizes suitable for most programs. */
void gt_session_defaults(struct gt_session *session);

/**
 * gt_collector_run() - trace argv[0] with argv from start to end
 * With options->targets, attach to these processes instead; argv is then the command line of the
 * first. The session ends with the first process, by SIGINT, SIGTERM, SIGHUP or SIGQUIT, by
 * `gputap detach`, or after the options' duration or number of kernels. The processes continue.
 * Signals that control windows and snapshots are ignored after the end of the session.
 * Return: 0, or negative errno with a cause if tracing could not start. The program was then not
 *         started, or is not recorded, and no capture exists.
 */
int gt_collector_run(const struct gt_run_options *options, char *const *argv,
		     struct gt_run_result *result);

/**
 * gt_collector_recover() - finish a capture whose collector died
 * @directory: the session folder; removed once all data is in the capture
 * @output: receives the capture's path, PATH_MAX bytes; "" if unknown
 * Asks programs of the session that are still running to stop recording.
 * Return: 0, or negative errno with a cause: -EBUSY the collector is alive, -ENOENT no such folder,
 *         -ENODATA the collector died before the program started, -EALREADY nothing is left to
 *         finish, or another errno. -ENODATA and -EALREADY remove the folder. With any other errno
 *         the folder stays unchanged, and recovery can be repeated.
 */
int gt_collector_recover(const char *directory, char *output, struct gt_run_result *result);

/* A session found on this machine, for `gputap recover` without a folder. */
struct gt_session_found {
	const char *path, *output; /* `output` is "" if unknown */
	uint32_t collector_pid;    /* 0: the collector is gone */
	bool in_use;               /* true if programs of the session are still running */
};
void gt_collector_sessions(void (*each)(const struct gt_session_found *found, void *data),
			   void *data);

#endif
