/* SPDX-License-Identifier: MIT */
/* A process in the collector: its mapped segment, and how far each ring was read.
 *
 * A faulty program may overwrite the segment at any time. The geometry is therefore checked once
 * and kept in private fields, and every number read later is checked against the geometry. A
 * corrupt ring is given up (`torn`), never followed. The walk along a chain visits at most as many
 * blocks as exist. */
#ifndef GPUTAP_COLLECTOR_PROCESS_H
#define GPUTAP_COLLECTOR_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "collector/folder.h"
#include "collector/journal.h"
#include "ring/segment.h"

struct gt_process_texts;

/* A thread's ring. */
struct gt_ring {
	/* current block; GT_BLOCK_NONE: as far as the collector knows, the slot is free */
	uint32_t block;
	uint32_t at; /* number of bytes of the block that were read */
	uint32_t ordinal;
	uint32_t mark;    /* index of the ring's mark in the current batch; UINT32_MAX: none */
	uint64_t read_ns; /* time at which records were last read */
	struct gt_stream *stream;
	bool announced; /* true if the thread was written to the capture */
	/* broken: true if the ring was given up. done: true if the ring was drained to its end, and
	 * the slot will be freed with the batch */
	bool broken, done;
};

struct gt_process {
	struct gt_segment *segment; /* NULL: the segment was refused, and only its name is kept */
	int fd;                     /* file of the segment; kept for gt_file_in_use() */
	_Atomic int pidfd;          /* -1: the pid is gone, or meaningless in this namespace */
	uint32_t name_pid; /* pid in the name of the file, which also contains name_ticks */
	uint64_t name_ticks;
	/* geometry of the segment, checked and constant */
	uint64_t bytes, slots_offset, block_offset;
	uint32_t slot_count, block_bytes, block_count;
	uint32_t pid, ppid, number; /* `number` is gt_segment.process */

	uint32_t account, index; /* indexes in the journal and in the capture */
	struct gt_rank rank;     /* rank as written to the capture */
	/* counts of the current batch; added to the account when the batch is committed */
	struct gt_counts pending;
	bool touched;        /* true if the batch changes the account */
	bool announced;      /* true if the process was written to the capture */
	_Atomic bool exited; /* true if the process is gone, or was never in this pid namespace */
	_Atomic bool is_unseen; /* no pidfd was opened: gone, or in another namespace */
	/* true if exec has replaced the process, so that another process has its pid */
	bool replaced;
	bool stopped;        /* true if the collector has asked the process to stop recording */
	bool ended;          /* true if the last records were written */
	bool has_open_calls; /* true if the last written set of open calls is not empty */
	bool torn;           /* true if any data in its memory was corrupt */
	/* true if own_threads.c has examined the thread that follows the session */
	bool has_slices;
	_Atomic bool lost; /* true if the segment is too corrupt to be read any longer */
	/* segment.full_count at the last look; time at which the last records were read; time at
	 * which the last counts were written */
	uint64_t full_seen, active_ns, counted_ns;
	uint64_t activity_ns; /* time at which the last GPU activity was read; 0: none */
	int32_t wait_status;
	/* used in memory.c */
	uint32_t group, blocks_seen, block_limit; /* segment.blocks_used and block_limit, checked */
	bool is_grouped;
	uint64_t cooled_ns;
	uint32_t *held; /* cold blocks that the collector has taken from the pool */
	uint32_t held_count;
	size_t held_room;

	struct gt_ring *rings;
	uint32_t rings_known;
	uint32_t slots_used; /* the highest value seen so far */
	/* number of changes written to the capture: gt_segment.window_count at the last write */
	uint32_t windows_seen;
	struct gt_process_texts *texts; /* texts that the collector has written; NULL: none */
};

/**
 * gt_process_open() - map a segment file and check its head
 * Return: 0; -EAGAIN: not possible now (out of descriptors or memory), try later; any other errno,
 *         with a cause: refused because of another version or damage. If refused, only the name in
 *         @out is valid.
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
	/* for number 0, number - 1 wraps to the maximum */
	return number - 1 < process->block_count;
}

/* Return the number of slots that were ever used. */
uint32_t gt_process_slots_used(const struct gt_process *process);
/* Make room for the state of @count rings. Return 0 or -ENOMEM. */
int gt_process_know_rings(struct gt_process *process, uint32_t count);

/* Push a drained block onto the pool's stack. */
void gt_process_give_back(struct gt_process *process, uint32_t block);
/* Free a slot whose thread has ended and has been read completely. */
void gt_process_free_slot(struct gt_process *process, uint32_t slot);

/* Add the seen and dropped counts of the slot's thread. */
void gt_process_add_slot_counts(const struct gt_process *process, uint32_t slot,
				struct gt_counts *counts);
void gt_counts_add(struct gt_counts *to, const struct gt_counts *what);

/* Describe the process for the capture. The struct has storage for its strings. */
struct gt_process_text {
	char exe[512], argv[3072];
};
void gt_process_describe(const struct gt_process *process, struct gt_process_info *info,
			 struct gt_process_text *text);

#endif
