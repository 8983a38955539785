/* SPDX-License-Identifier: MIT */
/* A session's processes and the current batch. Internal to the collector: drain.h is the interface;
 * the files below drain.c (ring_reader.c, events.c, ...) use this state. */
#ifndef GPUTAP_COLLECTOR_DRAIN_STATE_H
#define GPUTAP_COLLECTOR_DRAIN_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "collector/folder.h"
#include "collector/journal.h"
#include "collector/proc_files.h"
#include "collector/process.h"
#include "collector/session_windows.h"

enum gt_drain_how {
	GT_DRAIN_FULL, /* only blocks that their thread has handed over */
	/* also blocks in use that hold enough new records, or that have not been read for a long
	 * time */
	GT_DRAIN_PARTIAL,
	GT_DRAIN_NOW, /* all committed records of threads that continue to record */
	GT_DRAIN_ALL, /* all committed records */
};

enum { GT_LATE_NAMED = 4, GT_LATE_BYTES = 256 };

struct gt_give_back {
	struct gt_process *process;
	uint32_t block;
};

struct gt_progress;
struct gt_triggers;
struct gt_host_watch;
struct gt_sample_host;

/* A program that a process has reported as not traced. The collector also finds the program in
 * /proc. */
struct gt_untraced_notice {
	uint32_t pid;                  /* pid of the program, or of the process that executed it */
	char name[GT_PROC_NAME_BYTES]; /* name of the program's file, truncated; "": unknown */
	/* true if the notice has no name and belongs to a child of the pid */
	bool is_childs;
	bool is_taken;
};

struct gt_drain {
	struct gt_folder *folder;
	struct gt_journal journal;
	struct gt_capture_writer *writer;
	/* true during recovery: the owners of the rings may be gone or about to stop, so no blocks
	 * are given back */
	bool recovering;
	/* true during recovery without a valid journal: losses of ended threads are unknown */
	bool is_rebuilt;

	/* the collector's thread changes the list with list_lock held; other threads hold it to
	 * read the list */
	pthread_mutex_t list_lock;
	struct gt_process **processes;
	size_t process_count, process_room;
	uint32_t next_index;

	/* range of valid times of this session, derived from the clock tuples so far */
	uint64_t earliest_ticks, latest_ticks;
	struct gt_clock_tuple first_clock; /* the first clock tuple; ticks 0: none */
	uint32_t stacks_skipped;           /* numbers that stacks of snapshots have used */

	/* the current batch; the journal contains its marks */
	uint64_t batch_bytes;
	bool batch_dirty; /* true if the capture's buffers are not empty */
	struct gt_process *mark_process[GT_JOURNAL_MARKS];
	struct gt_process *touched[GT_JOURNAL_REDOS];
	uint32_t touched_count;
	struct gt_give_back *give;
	size_t give_count, give_room;

	struct gt_triggers *triggers;     /* borrowed; NULL: none */
	struct gt_progress *progress;     /* borrowed; NULL: none */
	struct gt_host_watch *host_watch; /* borrowed; NULL: none */
	struct gt_sample_host *sampler;   /* borrowed; NULL: none */

	/* results */
	int output_error; /* the first error */
	uint32_t recorded, torn, refused, untraced;
	uint64_t runtimes; /* set of domains */
	struct gt_ranges_met ranges;
	struct gt_counts totals; /* totals of the processes that have ended */

	struct gt_untraced_notice *notices;
	size_t notice_count, notice_room;

	/* distinct texts of GT_EVENT_LATE; only the first are kept */
	char late[GT_LATE_NAMED][GT_LATE_BYTES];
	uint32_t late_count;
	/* time at which an attached session ended in processes that continue; 0: not ended */
	uint64_t detached_ns;
};

#endif
