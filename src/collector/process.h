/* SPDX-License-Identifier: MIT */
/* One process as the collector sees it: its mapped segment, and how far each ring is read.
 *
 * The segment is memory that a faulty program may overwrite at any time. So the geometry is checked
 * once and kept in private fields, every number read later is checked against it, and a ring that
 * is corrupt is given up (`torn`), never followed. Walking a chain is bounded: it visits at most
 * all blocks. */
#ifndef GPUTAP_COLLECTOR_PROCESS_H
#define GPUTAP_COLLECTOR_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "collector/folder.h"
#include "collector/journal.h"
#include "ring/segment.h"

/* A thread's ring. */
struct gt_ring {
	uint32_t block; /* current block; GT_BLOCK_NONE: the slot is free as far as we know */
	uint32_t at;    /* bytes of it that are read */
	uint32_t ordinal;
	uint32_t mark;    /* in the current batch; UINT32_MAX: none */
	uint64_t read_ns; /* when something was last read */
	struct gt_stream *stream;
	bool announced;    /* the thread is in the capture */
	bool broken, done; /* given up; drained to its end and to be freed with the batch */
};

struct gt_process {
	struct gt_segment *segment; /* NULL: refused, only its name is kept */
	int fd;                     /* of the segment; kept for gt_file_in_use() */
	int pidfd;                  /* -1: its pid is gone or meaningless here */
	uint32_t name_pid;          /* as in the file's name, with name_ticks */
	uint64_t name_ticks;
	/* geometry, checked and constant */
	uint64_t bytes, slots_offset, block_offset;
	uint32_t slot_count, block_bytes, block_count;
	uint32_t pid, ppid, number; /* number: gt_segment.process */

	uint32_t account, index;  /* in the journal, in the capture */
	struct gt_rank rank;      /* as in the capture */
	struct gt_counts pending; /* counts of the current batch: added to the account with it */
	bool touched;             /* the batch changes the account */
	bool announced;           /* the process is in the capture */
	_Atomic bool exited;      /* its process is gone, or was never in this pid namespace */
	_Atomic bool is_unseen;   /* ... or gone before it was found: unknown which */
	bool replaced;            /* replaced through exec: another process has its pid now */
	bool stopped;             /* requested to stop recording */
	bool ended;               /* its last records are written */
	bool torn;                /* something in its memory was corrupt */
	bool has_slices;          /* own_threads.c: its thread that follows was looked at */
	_Atomic bool lost;        /* so corrupt that it is no longer read */
	/* segment.full_count at that time; when records were last read, counts last written */
	uint64_t full_seen, active_ns, counted_ns;
	int32_t wait_status;
	/* used in memory.c */
	uint32_t group, blocks_seen, block_limit; /* segment.blocks_used and block_limit, checked */
	bool is_grouped;
	uint64_t cooled_ns;
	uint32_t *held; /* cold blocks taken from the pool */
	uint32_t held_count;
	size_t held_room;

	struct gt_ring *rings;
	uint32_t rings_known;
	uint32_t slots_used;   /* the highest value seen */
	uint32_t windows_seen; /* gt_segment.window_count: how many are in the capture */
};

/**
 * gt_process_open() - map a segment file and check its head
 * Return: 0; -EAGAIN: not possible now (descriptors or memory are short), try later; otherwise
 *         refused, with a cause: another version, damaged. Then only the name in @out is valid.
 */
int gt_process_open(const struct gt_folder *f, const char *name, struct gt_process *out);
void gt_process_close(struct gt_process *process);

static inline struct gt_slot *gt_process_slot(const struct gt_process *process, uint32_t i)
{
	return (struct gt_slot *)((char *)process->segment + process->slots_offset +
				  (uint64_t)i * sizeof(struct gt_slot));
}

static inline struct gt_block *gt_process_block(const struct gt_process *process, uint32_t number)
{
	return (struct gt_block *)((char *)process->segment + process->block_offset +
				   (uint64_t)(number - 1) * process->block_bytes);
}

static inline bool gt_process_has_block(const struct gt_process *process, uint32_t number)
{
	return number - 1 < process->block_count; /* 0 wraps */
}

/* Return the number of slots that were ever used. */
uint32_t gt_process_slots_used(const struct gt_process *process);
/* Make room for the state of @count rings. Return 0 or -ENOMEM. */
int gt_process_know_rings(struct gt_process *process, uint32_t count);

/* Push a drained block onto the pool's stack. */
void gt_process_give_back(struct gt_process *process, uint32_t block);
/* Free a slot whose thread has ended and has been read completely. */
void gt_process_free_slot(struct gt_process *process, uint32_t slot);

/* Add what the slot's thread counted as seen and dropped. */
void gt_process_add_slot_counts(const struct gt_process *process, uint32_t slot,
				struct gt_counts *counts);
void gt_counts_add(struct gt_counts *to, const struct gt_counts *what);

/* Description of a process for the capture. Strings are in @text. */
struct gt_process_text {
	char exe[512], argv[3072];
};
void gt_process_describe(const struct gt_process *process, struct gt_process_info *info,
			 struct gt_process_text *text);

#endif
