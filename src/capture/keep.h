/* SPDX-License-Identifier: MIT */
/* The files of a flight recorder, `gputap run --keep`, within the writer of captures.
 *
 *   last.gputap                  how the session started; at its end, all that was retained
 *   .last.gputap.ID.keep/
 *       meta.N                   a capture without rows: all metadata, regardless of age.
 *                                When it has doubled, meta.N+1 is written without metadata that
 *                                nothing needs any more (retained_filter.h)
 *       chunk.N                  | head 72 | open ranges | STREAM blocks .. |: rows of about a
 *                                sixteenth of the window
 *
 * A chunk older than the window is removed; the oldest chunks are also removed when all together
 * exceed their limit, or when the disk is full. Rows of a block do not depend on other blocks, so
 * the remaining chunks can be appended to the metadata still needed from meta.N: snapshot.c does
 * that. A chunk and a meta.N are completed, or removed, right after a good flush: files named in
 * the journal (collector/journal.h) always exist. */
#ifndef GPUTAP_CAPTURE_KEEP_H
#define GPUTAP_CAPTURE_KEEP_H

#include "capture/retained_filter.h"
#include "capture/open_ranges.h"

#define GT_CHUNK_MAGIC UINT64_C(0x314b4e4843505447) /* "GTPCHNK1" */

/* The first bytes of a chunk. */
struct gt_chunk_head {
	uint64_t magic;
	uint32_t number, host_clock;
	uint64_t open_bytes; /* bytes of blocks that follow: ranges open when it was started */
	struct gt_clock_tuple begun;
};
static_assert(sizeof(struct gt_chunk_head) == 72, "file format");

enum { GT_KEEP_CHUNKS = 64, GT_KEEP_NAME_BYTES = 32 };

struct gt_chunk {
	uint32_t number;
	uint64_t bytes; /* size of the chunk when complete */
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
	uint32_t stale_meta;                    /* number of the meta file to remove; 0: none */
	uint64_t filter_at;                     /* filter the metadata when meta.N has this size */
	struct gt_chunk chunks[GT_KEEP_CHUNKS]; /* oldest first; the last is being written */
	size_t count;
	uint64_t ended_bytes; /* size of all chunks but the last */
	uint64_t
		/* as requested, but at most half of the available space: the capture needs the
		 * rest */
		most_bytes;
	struct gt_open_ranges open;
	bool is_recovered; /* the collector that started it has died */
};

#endif
