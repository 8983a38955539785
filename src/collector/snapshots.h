/* SPDX-License-Identifier: MIT */
/* Snapshots of a running session: captures of all records so far or, with --keep, of the records in
 * the window.
 *
 *   request of a command, a signal, a trigger --due--> rings read, sums and clocks written, flushed
 *     --thread--> copied into a separate file --done--> reported
 *
 * Only one snapshot is written at a time; others wait. The thread reads files that the collector
 * only appends to, or has opened before they are removed, so recording continues during the copy.
 * The thread runs at a lower priority. A failure is only reported, and does not affect the
 * recording. */
#ifndef GPUTAP_COLLECTOR_SNAPSHOTS_H
#define GPUTAP_COLLECTOR_SNAPSHOTS_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "collector/collector.h"
#include "collector/control.h"
#include "collector/drain.h"

enum {
	GT_SNAPSHOTS_WAITING = 8,
	GT_SNAPSHOTS_DONE = 64, /* maximum number of stored outcomes */
	GT_SNAPSHOT_TEXT = 256,
};

enum gt_snapshot_state { GT_SNAPSHOT_WAITS, GT_SNAPSHOT_WRITTEN, GT_SNAPSHOT_FAILED };

struct gt_snapshot_job {
	uint32_t number; /* starts at 1; 0: none */
	enum gt_snapshot_state state;
	enum gt_retained_reason reason;
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	bool replace, shared;
	bool stacks; /* with the stacks of threads without progress */
	char text[GT_SNAPSHOT_TEXT];
	char path[PATH_MAX]; /* "": derived from the capture's path when the snapshot is due */
	char error[512];
};

struct gt_snapshots {
	const struct gt_run_options *options;
	struct gt_drain *drain;
	uint64_t start_ns;    /* start of the session, BOOTTIME */
	uint32_t asked;       /* numbers assigned */
	uint32_t by_triggers; /* number of snapshots that triggers have requested */
	uint64_t next_ns;     /* triggers before this time are ignored */
	uint64_t left_out;
	struct gt_snapshot_job waiting[GT_SNAPSHOTS_WAITING];
	size_t waiting_count;
	/* newest outcomes, indexed by number */
	struct gt_snapshot_job done[GT_SNAPSHOTS_DONE];
	struct gt_snapshot_job now; /* owned by the thread while the thread runs */
	struct gt_snapshot *files;
	pthread_t thread;
	bool runs;
	_Atomic bool is_finished;
};

void gt_snapshots_init(struct gt_snapshots *s, const struct gt_run_options *options,
		       struct gt_drain *drain, uint64_t start_ns);
/* Finish all requested snapshots now. Call before the session's last records are written. */
void gt_snapshots_finish(struct gt_snapshots *s);

/* Request a snapshot. Return its number, or 0 if too many snapshots are waiting. @path: NULL or "":
 * derived from the capture's path. */
uint32_t gt_snapshots_ask(struct gt_snapshots *s, enum gt_retained_reason reason, const char *text,
			  const char *path, bool replace, uint64_t due_ns);
/* Let the snapshot that was requested last contain the stacks of threads without progress. */
void gt_snapshots_want_stacks(struct gt_snapshots *s);
/* Request a snapshot some time after a trigger, unless there are too many snapshots or the last
 * trigger is too recent. */
void gt_snapshots_trigger(struct gt_snapshots *s, const char *text, uint64_t now_ns);
/* Add the commands "snapshot [path=PATH] [replace=yes] [stacks=yes]", which answers "number=N", and
 * "snapshot-state number=N": "state=waits|written|failed", "path=", "error=". */
void gt_snapshots_offer(struct gt_snapshots *s, struct gt_control *control);
/* Call regularly, in the collector's thread. */
void gt_snapshots_advance(struct gt_snapshots *s, uint64_t now_ns);
/* Return the job with that number; NULL: no such number, or the job is too old. */
const struct gt_snapshot_job *gt_snapshots_find(const struct gt_snapshots *s, uint32_t number);

#endif
