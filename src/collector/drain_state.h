/* SPDX-License-Identifier: MIT */
/* A session's processes and the batch being made, within the collector: drain.h has the face, the
 * files below it (ring_reader.c, events.c, ..) work on this. */
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
	GT_DRAIN_FULL, /* blocks that are handed on */
	/* and others, if there is a fair amount in them or it has lain there for long */
	GT_DRAIN_PARTIAL,
	GT_DRAIN_NOW, /* what is committed, of threads that go on */
	GT_DRAIN_ALL, /* everything that is committed */
};

struct gt_give_back {
	struct gt_process *process;
	uint32_t block;
};

struct gt_triggers;

/* A program that a process has reported as not traced; the collector meets it in /proc, too. */
struct gt_untraced_notice {
	uint32_t pid;                  /* of itself, or of who executed it */
	char name[GT_PROC_NAME_BYTES]; /* of its file, cut; "": not known */
	bool is_childs;                /* without a name, and of a child of the pid */
	bool is_taken;
};

struct gt_drain {
	struct gt_folder *folder;
	struct gt_journal journal;
	struct gt_capture_writer *writer;
	/* the rings' owners may be gone or asked to stop: nothing is given back */
	bool recovering;
	bool is_rebuilt; /* .. without a sound journal: what threads lost that ended is not known */

	/* changed with the lock held, by the collector's thread; others read them with it */
	pthread_mutex_t list_lock;
	struct gt_process **processes;
	size_t process_count, process_room;
	uint32_t next_index;

	/* calls of this session lie between them; by the clock tuples so far */
	uint64_t earliest_ticks, latest_ticks;

	/* the batch being made; its marks lie in the journal */
	uint64_t batch_bytes;
	bool batch_dirty; /* something stands in the capture's buffers */
	struct gt_process *mark_process[GT_JOURNAL_MARKS];
	struct gt_process *touched[GT_JOURNAL_REDOS];
	uint32_t touched_count;
	struct gt_give_back *give;
	size_t give_count, give_room;

	struct gt_triggers *triggers; /* NULL: none; borrowed */

	/* results */
	int output_error; /* the first one */
	uint32_t recorded, runtimes, torn, refused, untraced;
	struct gt_ranges_met ranges;
	struct gt_counts totals; /* of the processes that have ended */

	struct gt_untraced_notice *notices;
	size_t notice_count, notice_room;
};

#endif
