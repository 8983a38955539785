/* SPDX-License-Identifier: MIT */
/* The files of a flight recorder, `gputap run --keep`, within the writer of captures.
 *
 *   last.gputap                  how the session began; all that was kept, when it has ended
 *   .last.gputap.ID.keep/
 *       meta.N                   a capture without rows: all that rows need, whenever it came.
 *                                When it has doubled, what nothing needs any more is left out
 *                                of meta.N+1 (kept_filter.h)
 *       chunk.N                  | head 72 | open ranges | STREAM blocks .. |: rows of about a
 *                                sixteenth of the window
 *
 * A chunk that is older than the window is removed, and so are the oldest when all of them take
 * more than they may, or when the disk is full. Rows in a block lean on no other block, so the
 * chunks that are left can be put behind what is left of meta.N: snapshot.c does that.
 * A chunk and a meta.N become final, or go, right after a good flush: what the journal says
 * (collector/journal.h) is always there. */
#ifndef GPUTAP_CAPTURE_KEEP_H
#define GPUTAP_CAPTURE_KEEP_H

#include "capture/kept_filter.h"
#include "capture/open_ranges.h"

#define GT_CHUNK_MAGIC UINT64_C(0x314b4e4843505447) /* "GTPCHNK1" */

/* The first bytes of a chunk. */
struct gt_chunk_head {
	uint64_t magic;
	uint32_t number, host_clock;
	uint64_t open_bytes; /* of blocks that follow: ranges that were open when it began */
	struct gt_clock_tuple begun;
};
static_assert(sizeof(struct gt_chunk_head) == 72, "file format");

enum { GT_KEEP_CHUNKS = 64, GT_KEEP_NAME_BYTES = 32 };

struct gt_chunk {
	uint32_t number;
	uint64_t bytes; /* when it has ended */
	uint64_t begun_ns, ended_ns;
};

struct gt_keep {
	struct gt_writer_file rows; /* the newest chunk */
	struct gt_keep_options asked;
	char *folder;
	int folder_fd;
	int output_fd;
	uint32_t host_clock;
	uint32_t meta;                          /* number */
	uint32_t stale_meta;                    /* to be removed; 0: none */
	uint64_t filter_at;                     /* bytes of meta.N */
	struct gt_chunk chunks[GT_KEEP_CHUNKS]; /* oldest first; the last is being written */
	size_t count;
	uint64_t ended_bytes; /* of all but the last */
	uint64_t
		most_bytes; /* as asked, or half of what the disk has: the capture needs the rest */
	struct gt_open_ranges open;
	bool is_recovered; /* the collector that began it has died */
};

#endif
