/* SPDX-License-Identifier: MIT */
/* The files of a flight recorder, `gputap run --keep`, within the capture writer.
 *
 *   last.gputap                  the start of the session; after its end, all retained records
 *   .last.gputap.ID.keep/
 *       meta.N                   a capture without rows: all metadata, regardless of age.
 *                                When its size has doubled, meta.N+1 is written without metadata
 *                                that is no longer needed (retained_filter.h)
 *       chunk.N                  | head 72 | open ranges | STREAM blocks .. |: rows of about a
 *                                sixteenth of the window
 *
 * Chunks older than the window are removed. The oldest chunks are also removed when the total size
 * of the chunks exceeds its limit, or when the disk is full. Rows of a block do not depend on other
 * blocks, so snapshot.c can append the remaining chunks to the needed metadata of meta.N. A chunk
 * or a meta.N is completed, or removed, only right after a good flush. So the files named in the
 * journal (collector/journal.h) always exist. */
#ifndef GPUTAP_CAPTURE_KEEP_H
#define GPUTAP_CAPTURE_KEEP_H

#include "capture/retained_filter.h"
#include "capture/open_ranges.h"

#define GT_CHUNK_MAGIC UINT64_C(0x314b4e4843505447) /* "GTPCHNK1" */

/* The first bytes of a chunk. */
struct gt_chunk_head {
	uint64_t magic;
	uint32_t number, host_clock;
	/* size of the blocks that follow: ranges that were open at the chunk's start */
	uint64_t open_bytes;
	struct gt_clock_tuple begun;
};
static_assert(sizeof(struct gt_chunk_head) == 72, "file format");

enum { GT_KEEP_CHUNKS = 64, GT_KEEP_NAME_BYTES = 32 };

struct gt_chunk {
	uint32_t number;
	uint64_t bytes; /* size of the chunk when it is complete */
	uint64_t begun_ns, ended_ns;
};

struct gt_keep {
	struct gt_writer_file rows; /* the newest chunk */
	struct gt_keep_options asked;
	char *folder;
	int folder_fd;
	int output_fd;
	uint32_t host_clock;
	uint32_t meta;       /* number */
	uint32_t stale_meta; /* number of the metadata file to remove; 0: none */
	uint64_t filter_at;  /* filter the metadata once meta.N reaches this size */
	struct gt_chunk chunks[GT_KEEP_CHUNKS]; /* oldest chunk first; rows go to the last chunk */
	size_t count;
	uint64_t ended_bytes; /* total size of all chunks except the last */
	/* requested limit, but at most half of the available space, because the capture needs the
	 * other half */
	uint64_t most_bytes;
	struct gt_open_ranges open;
	bool is_recovered; /* true if the collector that started the recorder has died */
};

#endif
