/* SPDX-License-Identifier: MIT */
/* Inside of the writer of captures, in the order in which its files use each other:
 *
 *   index_write.c      heads of the blocks that went into the file
 *   writer_blocks.c    blocks in one buffer, and the buffer into the file
 *   writer_metadata.c  what becomes blocks as it comes: records that are no rows, and what the
 *                      collector says of processes, threads, clocks and sums
 *   capture_writer.c   rows of threads, flushes, the file's begin and end; it has the design note
 *   kept_filter.c      metadata that is still needed, of a flight recorder
 *   open_ranges.c      ranges that are open, of a flight recorder
 *   snapshot.c         captures from the files of a recording that goes on
 *   keep.c             a flight recorder: rows go into chunk files, of which the oldest are thrown
 *                      away
 *
 * Each function here returns 0 or a negative errno with a cause, if it returns anything. */
#ifndef GPUTAP_CAPTURE_WRITER_H
#define GPUTAP_CAPTURE_WRITER_H

#include <zstd.h>

#include "capture/block_index.h"
#include "capture/capture.h"
#include "capture/format.h"

enum {
	GT_WRITER_WRITE_BYTES = 1 << 20, /* worth a system call */
	/* records of one RECORDS block, but for a single longer one */
	GT_WRITER_RECORDS_BYTES = 64 << 10,
};

/* A file of blocks, and those that are still to be written to it. */
struct gt_writer_file {
	int fd;
	uint64_t bytes;         /* whole blocks in the file */
	uint64_t flushed_bytes; /* .. after the last good flush */
	uint8_t *out;
	size_t out_bytes, out_room;
};

struct gt_keep;

/* What a flight recorder does where others do nothing: keep.c. */
struct gt_keeper {
	/* The disk is full. True: there is more room now. */
	bool (*drop_oldest)(struct gt_capture_writer *w);
	void (*advance)(struct gt_capture_writer *w); /* after a good flush */
	/* At the end, after a flush: the capture is made. 0 or negative errno with a cause. */
	int (*finish)(struct gt_capture_writer *w, bool complete);
	void (*destroy)(struct gt_keep *k); /* the files stay */
	/* Records of a thread, before they become rows. */
	void (*look)(struct gt_keep *k, uint32_t process, uint32_t ordinal, const void *data,
		     size_t bytes);
	/* A thread has ended; @ordinal 0: the process. */
	void (*end)(struct gt_keep *k, uint32_t process, uint32_t ordinal);
};

struct gt_capture_writer {
	struct gt_writer_file main;   /* the capture; with --keep what rows need, see keep.h */
	struct gt_writer_file *rows;  /* where rows go: `main`, or a chunk */
	struct gt_index_writer index; /* of `main`; none with --keep, until it is the capture */
	struct gt_keep *keep;         /* NULL: everything is kept */
	const struct gt_keeper *keeper;
	int ballast_fd;
	int replaced_fd;                 /* the file whose place this one took, or -1 */
	uint8_t id[GT_CAPTURE_ID_BYTES]; /* as in the file's header */
	/* something that was accepted is lost: the capture cannot be complete */
	bool failed;
	bool kept_short; /* `kept` misses something */
	char *path;
	uint64_t kernels;     /* accepted */
	uint64_t limit_bytes; /* RLIMIT_FSIZE, minus room for the end; UINT64_MAX: none */
	uint8_t *kept;        /* what of `main` is no rows, since the last good flush */
	size_t kept_bytes, kept_room;
	uint8_t *records; /* GT_WRITER_RECORDS_BYTES, of records_process */
	size_t records_bytes;
	uint32_t records_process;
	struct gt_stream *streams, *spare;
	unsigned spare_count;
	ZSTD_CCtx *zstd;
	gt_capture_event_function *on_event;
	void *on_event_data;
};

/* writer_blocks.c */

/* So many bytes more of a buffer. */
int gt_writer_grow(const struct gt_capture_writer *w, uint8_t **buffer, size_t *room, size_t used,
		   size_t bytes);
/* .. of a file's, for gt_writer_put_block(). */
int gt_writer_make_room(struct gt_capture_writer *w, struct gt_writer_file *f, size_t bytes);
/* Blocks that lie in `main`, to its new end @bytes, are known to be there for good. */
void gt_writer_found_blocks(struct gt_capture_writer *w, uint64_t bytes);
/* An INDEX of heads that wait for one goes to the file, after a good flush. 0 or negative errno
 * with a cause: the file is as it was. */
int gt_writer_put_index(struct gt_capture_writer *w);
/* The buffer into the file. What the file does not take stays in the buffer, in whole blocks. */
int gt_writer_write_out(struct gt_capture_writer *w, struct gt_writer_file *f);
/* Append a block whose room was made. @head: with its extension; magic, sizes and checksums are
 * filled in. */
void gt_writer_put_block(struct gt_writer_file *f, void *head, size_t head_bytes,
			 const void *payload, size_t bytes);
/* Append a block without extension, which outlives a flush that fails. */
int gt_writer_append_block(struct gt_capture_writer *w, uint8_t type, uint32_t process,
			   uint32_t ordinal, const void *payload, size_t bytes);

/* writer_metadata.c */

/**
 * gt_writer_put_record() - keep one record that is no row for a RECORDS block
 * @words:   that it has; its own head is not looked at again
 * @doubted: set where no writer of ours would make it
 * It is not counted as recorded, so where there is no room for it the batch goes on without it.
 * Return: 0 or -EBADMSG.
 */
int gt_writer_put_record(struct gt_capture_writer *w, uint32_t process, const uint64_t *data,
			 uint32_t words, bool *doubted);
/* The RECORDS block ends. */
int gt_writer_end_records(struct gt_capture_writer *w);
int gt_writer_put_session(struct gt_capture_writer *w, const struct gt_session_info *i);
int gt_writer_put_kept(struct gt_capture_writer *w, const struct gt_kept *kept);

/* capture_writer.c */

/* A writer without a file. */
int gt_writer_create(const char *path, struct gt_capture_writer **out);
/* The first bytes of the file. @id: NULL: a new one */
int gt_writer_put_header(struct gt_capture_writer *w, const uint8_t id[GT_CAPTURE_ID_BYTES]);

#endif
