/* SPDX-License-Identifier: MIT */
/* From rings into the capture: all processes of a session, read in batches (see journal.h for why).
 *
 * A block that has a successor is read at once. A block that its thread still fills is read only
 * now and then, and not for a few records: a reader close behind the writer takes the cache line
 * away from it. A block goes back to its pool when its records are in the file.
 * Records that the file cannot take (disk full) are counted as lost, so that programs never wait
 * for a disk. */
#ifndef GPUTAP_COLLECTOR_DRAIN_H
#define GPUTAP_COLLECTOR_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "collector/folder.h"
#include "collector/process.h"
#include "collector/journal.h"

struct gt_give_back {
	struct gt_process *process;
	uint32_t block;
};

struct gt_drain {
	struct gt_folder *folder;
	struct gt_journal journal;
	struct gt_capture_writer *writer;
	/* the rings' owners may be gone or told to stop: nothing is given back */
	bool recovering;

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

	/* results */
	int output_error; /* the first one */
	uint32_t recorded, runtimes, torn, refused, untraced;
	struct gt_counts totals; /* of the processes that have ended */
};

/* @writer: borrowed. The journal is the caller's to create or open. */
void gt_drain_init(struct gt_drain *d, struct gt_folder *folder, struct gt_capture_writer *writer);
void gt_drain_fini(struct gt_drain *d);

/**
 * gt_drain_add() - a segment file has appeared
 * Return: 0, also when it is known already or refused (counted); -EAGAIN: not now.
 */
int gt_drain_add(struct gt_drain *d, const char *name, struct gt_process **out);

/* The process whose segment file has that name, refused ones too. NULL: none. */
struct gt_process *gt_drain_find(const struct gt_drain *d, uint32_t pid, uint64_t ticks);

enum gt_drain_how {
	GT_DRAIN_FULL, /* blocks that are handed on */
	/* and others, if there is a fair amount in them or it has lain there for long */
	GT_DRAIN_PARTIAL,
	GT_DRAIN_ALL, /* everything that is committed */
};
/* Read a process's rings. Return: bytes read. */
uint64_t gt_drain_process(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
			  uint64_t now_ns);

/* Finish the batch: the capture is flushed, the journal says so, blocks go back. */
void gt_drain_commit(struct gt_drain *d);

void gt_drain_write_clock(struct gt_drain *d, const struct gt_clock_tuple *tuple);
void gt_drain_write_counts(struct gt_drain *d, struct gt_process *process);

/* The process is gone (or the session is over): read everything, write its end, forget it. */
void gt_drain_end_process(struct gt_drain *d, struct gt_process *process, uint64_t now_ns);

/* At the end: processes that left word that they could not make a ring file. */
void gt_drain_write_untraced(struct gt_drain *d);

/* The session's first program cannot be traced: @path, and why not. */
void gt_drain_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *path,
			     const char *why);

/* At a process's end: what it has told of programs that could not be traced. */
void gt_drain_write_lost(struct gt_drain *d, struct gt_process *process);

/* Tell every process to record no more. */
void gt_drain_stop(struct gt_drain *d);

/* For recover: carry out a redo that the journal still holds. */
void gt_drain_redo(struct gt_drain *d);

/* What became of all processes that have ended. */
struct gt_run_result;
void gt_drain_result(const struct gt_drain *d, struct gt_run_result *result);

#endif
