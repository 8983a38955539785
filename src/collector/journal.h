/* SPDX-License-Identifier: MIT */
/* Records how far the collector has processed the rings, so that `gputap recover` can continue
 * exactly where the collector stopped, without duplicates or omissions, even if SIGKILL interrupted
 * the collector at any instruction.
 *
 *   <folder>/journal:   | head | marks | redo accounts | accounts |      mapped, like the rings
 *   <folder>/position:  id of the capture, and its length after the last batch that was carried out
 *
 * The collector works with a private copy of the journal and copies each step into the mapped file,
 * under the guard (guard.h), because any program of the user can truncate the file. The next step
 * rewrites a file that was truncated.
 *
 * Work is done in batches. A batch's records go into the capture's buffers; then
 *   1. the capture is flushed: its file is now `redo_capture_bytes` long;
 *   2. marks (how far each ring is read) and the changed accounts are in the redo area; phase =
 *      REDO;
 *   3. the redo area is carried out: slot.first, block.drained, accounts, capture_bytes; phase =
 *      IDLE;
 *   4. only then are drained blocks given back to their pools.
 * If the collector is killed before step 2, the capture is cut back to capture_bytes and the batch
 * is read from the rings again. If it is killed after step 2, step 3 is repeated, which changes
 * nothing if step 3 was done already.
 * Without a valid journal, `gputap recover` makes a new journal: it cuts the capture back to
 * `position`, counts the capture's processes and their records, and reads the rings from the
 * positions that the rings contain.
 * Locking: flock() on the file; the process that holds the lock is the session's collector. */
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
	GT_JOURNAL_MARKS = 4096, /* maximum number of rings in one batch */
	GT_JOURNAL_REDOS = 64,   /* maximum number of processes in one batch */
	/* maximum number of concurrent processes; the file is sparse, and smaller if the file size
	 * is limited */
	GT_JOURNAL_ACCOUNTS = 8192,
};

enum gt_account_state {
	GT_ACCOUNT_FREE = 0,
	GT_ACCOUNT_OPEN = 1,
	GT_ACCOUNT_ENDED = 2 /* the capture contains everything */
};

/* State of a process that is not stored in its segment. */
struct gt_account {
	uint32_t state, pid;
	uint64_t start_ticks; /* with `pid`, forms the name of the segment file */
	uint32_t index;       /* index of the process in the capture */
	/* nonzero if the process's rings contained bytes that were not records */
	uint32_t torn;
	/* counts of recorded records; also counts of seen and dropped records of ended threads, and
	 * the collector's own losses */
	struct gt_counts counts;
};

struct gt_mark {
	uint32_t account, slot, ordinal;
	uint32_t first, drained; /* new start of the ring: first block, and bytes drained in it */
	uint32_t free_slot; /* nonzero if the thread has ended and its ring was read completely */
};

struct gt_redo {
	uint32_t number, reserved; /* number of the account */
	struct gt_account account;
};

enum gt_journal_phase { GT_JOURNAL_IDLE = 0, GT_JOURNAL_REDO = 1 };

struct gt_journal_head {
	uint64_t magic;
	uint32_t version, bytes;
	uint32_t collector_pid;
	uint32_t accounts_used; /* high-water mark, which limits searches */
	uint64_t capture_bytes; /* length of the capture that matches the state of the rings */
	uint32_t next_index;
	_Atomic uint32_t phase;
	uint64_t redo_capture_bytes;
	uint32_t redo_next_index, mark_count, redo_count;
	uint32_t account_count;
	/* identifies the capture, because another file may have taken its name */
	uint8_t capture_id[GT_CAPTURE_ID_BYTES];
	struct gt_keep_position kept, redo_kept; /* like capture_bytes, for a flight recorder */
};

struct gt_journal_file {
	struct gt_journal_head head;
	struct gt_mark marks[GT_JOURNAL_MARKS];
	struct gt_redo redos[GT_JOURNAL_REDOS];
	struct gt_account accounts[];
};

/* A second copy of the data that recovery needs. */
struct gt_position {
	uint64_t magic;
	uint64_t capture_bytes;
	struct gt_keep_position kept;
	uint8_t capture_id[GT_CAPTURE_ID_BYTES];
	uint32_t next_index;
	uint32_t crc; /* CRC of all preceding fields */
};

struct gt_journal {
	int fd, position_fd; /* -1: no such file */
	uint64_t bytes;
	uint32_t account_count;
	struct gt_journal_file *file; /* private copy */
	/* mapped, for stores; NULL: the journal was made by recovery */
	struct gt_journal_file *shared;
};

/* @capture_id: gt_capture_writer_id() */
int gt_journal_create(const struct gt_folder *f, const uint8_t capture_id[GT_CAPTURE_ID_BYTES],
		      struct gt_journal *out);
/* Open the journal, for recovery. Return 0; -EBUSY: the collector is alive; -ENOENT: no journal;
 * -EBADMSG: the journal is truncated or damaged. */
int gt_journal_open(const struct gt_folder *f, struct gt_journal *out);
/* Make an empty journal in memory only, to replace a missing or damaged journal. */
int gt_journal_make(const struct gt_folder *f, struct gt_journal *out);
/* Read the position. Return false if the file is missing or damaged. */
bool gt_position_read(const struct gt_folder *f, struct gt_position *out);
void gt_journal_close(struct gt_journal *j);

/* Return the pid of the collector that holds the journal, or 0. */
uint32_t gt_journal_owner(const struct gt_folder *f);

/* Return the account of a segment file, or UINT32_MAX. */
uint32_t gt_journal_find(const struct gt_journal *j, uint32_t pid, uint64_t start_ticks);
/* Return a free account, or UINT32_MAX. The account stays free in the file until a redo fills
 * it. */
uint32_t gt_journal_take(struct gt_journal *j);
void gt_journal_release(struct gt_journal *j, uint32_t number);

/* Carry out steps 2 and 3 for all state outside segments. The caller carries out the marks in
 * between. */
void gt_journal_redo_begin(struct gt_journal *j, uint64_t capture_bytes,
			   const struct gt_keep_position *kept, uint32_t next_index);
void gt_journal_redo_accounts(struct gt_journal *j);
void gt_journal_redo_end(struct gt_journal *j);

#endif
