/* SPDX-License-Identifier: MIT */
/* What the collector has done with the rings, so that `gputap recover` can go on exactly where
 * it stopped: nothing twice, nothing left out, whatever instruction the SIGKILL hit.
 *
 *   <folder>/journal:   | head | marks | redo accounts | accounts |      mapped, like the rings
 *   <folder>/position:  which capture, and its length after the last batch that was carried out
 *
 * The collector works with a journal of its own memory and copies each step of it into the mapped
 * file, under the guard (guard.h): any program of the user can cut that file. A file that was cut
 * is written anew with the next step.
 *
 * Work is done in batches. A batch's records go into the capture's buffers; then
 *   1. the capture is flushed: its file is now `redo_capture_bytes` long;
 *   2. marks (how far each ring is read) and the changed accounts stand in the redo area; phase
 *     = REDO;
 *   3. they are carried out: slot.first, block.drained, accounts, capture_bytes; phase = IDLE;
 *   4. only then are drained blocks given back to their pools.
 * Killed before 2: the capture is cut back to capture_bytes and the batch is read from the rings
 * again. Killed after 2: step 3 is done again, which changes nothing if it was done already.
 * Without a sound journal, `gputap recover` makes one: the capture is cut back to `position`, its
 * processes and what is recorded of them are counted, and the rings are read from where they say.
 * Locking: flock() on the file; who holds it is the session's collector. */
#ifndef GPUTAP_COLLECTOR_JOURNAL_H
#define GPUTAP_COLLECTOR_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "collector/folder.h"

#define GT_JOURNAL_MAGIC   UINT64_C(0x3152554f4a505447) /* "GTPJOUR1" */
#define GT_JOURNAL_VERSION 3u

enum {
	GT_JOURNAL_MARKS = 4096, /* rings in one batch */
	GT_JOURNAL_REDOS = 64,   /* processes in one batch */
	/* processes at one time; sparse, and fewer if files may not be so long */
	GT_JOURNAL_ACCOUNTS = 8192,
};

enum gt_account_state {
	GT_ACCOUNT_FREE = 0,
	GT_ACCOUNT_OPEN = 1,
	GT_ACCOUNT_ENDED = 2 /* all is in the capture */
};

/* What is known of a process beside its segment. */
struct gt_account {
	uint32_t state, pid;
	uint64_t start_ticks; /* with pid: the segment file's name */
	uint32_t index;       /* of the process in the capture */
	uint32_t torn;        /* bytes in its rings were no records */
	/* recorded; and seen and dropped of the threads that ended, and the collector's own
	 * losses */
	struct gt_counts counts;
};

struct gt_mark {
	uint32_t account, slot, ordinal;
	uint32_t first, drained; /* the ring now begins there */
	uint32_t free_slot;      /* its thread has ended and everything is read */
};

struct gt_redo {
	uint32_t number, reserved; /* of the account */
	struct gt_account account;
};

enum gt_journal_phase { GT_JOURNAL_IDLE = 0, GT_JOURNAL_REDO = 1 };

struct gt_journal_head {
	uint64_t magic;
	uint32_t version, bytes;
	uint32_t collector_pid;
	uint32_t accounts_used; /* high-water mark, for searching */
	uint64_t capture_bytes; /* length of the capture that goes with what the rings say */
	uint32_t next_index;
	_Atomic uint32_t phase;
	uint64_t redo_capture_bytes;
	uint32_t redo_next_index, mark_count, redo_count;
	uint32_t account_count;
	/* which capture it is: a name can be another one's by now */
	uint8_t capture_id[GT_CAPTURE_ID_BYTES];
	struct gt_keep_position kept, redo_kept; /* of a flight recorder, as capture_bytes */
};

struct gt_journal_file {
	struct gt_journal_head head;
	struct gt_mark marks[GT_JOURNAL_MARKS];
	struct gt_redo redos[GT_JOURNAL_REDOS];
	struct gt_account accounts[];
};

/* A second place for what recovery cannot do without. */
struct gt_position {
	uint64_t magic;
	uint64_t capture_bytes;
	struct gt_keep_position kept;
	uint8_t capture_id[GT_CAPTURE_ID_BYTES];
	uint32_t next_index;
	uint32_t crc; /* of all before it */
};

struct gt_journal {
	int fd, position_fd; /* -1: there is no such file */
	uint64_t bytes;
	uint32_t account_count;
	struct gt_journal_file *file;   /* in memory of our own */
	struct gt_journal_file *shared; /* mapped, for stores; NULL: recovery made the journal */
};

/* @capture_id: gt_capture_writer_id() */
int gt_journal_create(const struct gt_folder *f, const uint8_t capture_id[GT_CAPTURE_ID_BYTES],
		      struct gt_journal *out);
/* For recover. -EBUSY: the collector still lives; -ENOENT: there is none; -EBADMSG: it is cut or
 * damaged. */
int gt_journal_open(const struct gt_folder *f, struct gt_journal *out);
/* In place of one that is missing or damaged: empty, in memory alone. */
int gt_journal_make(const struct gt_folder *f, struct gt_journal *out);
/* False: there is none, or it is damaged. */
bool gt_position_read(const struct gt_folder *f, struct gt_position *out);
void gt_journal_close(struct gt_journal *j);

/* Which collector holds the journal; 0: none does. */
uint32_t gt_journal_owner(const struct gt_folder *f);

/* The account of a segment file, or UINT32_MAX. */
uint32_t gt_journal_find(const struct gt_journal *j, uint32_t pid, uint64_t start_ticks);
/* A free one, or UINT32_MAX. It stays free in the file until a redo fills it. */
uint32_t gt_journal_take(struct gt_journal *j);
void gt_journal_release(struct gt_journal *j, uint32_t number);

/* Steps 2 and 3 for what does not lie in segments; marks are the caller's, in between. */
void gt_journal_redo_begin(struct gt_journal *j, uint64_t capture_bytes,
			   const struct gt_keep_position *kept, uint32_t next_index);
void gt_journal_redo_accounts(struct gt_journal *j);
void gt_journal_redo_end(struct gt_journal *j);

#endif
