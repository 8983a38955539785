/* SPDX-License-Identifier: MIT */
/* Internals of the writer of captures. Each file uses only those listed above it:
 *
 *   index_write.c      heads of the blocks in the file
 *   writer_blocks.c    collects blocks in a buffer, and writes the buffer to the file
 *   writer_metadata.c  stores metadata in blocks on arrival: records that are not rows, and the
 *                      collector's data on processes, threads, clocks and sums
 *   capture_writer.c   rows of threads, flushes, start and end of the file; has the design note
 *   retained_filter.c      selects metadata that a flight recorder still needs
 *   open_ranges.c      open ranges, for a flight recorder
 *   snapshot.c         captures from the files of a recording in progress
 *   keep.c             a flight recorder: rows go into chunk files, and the oldest of them are
 *                      evicted
 *
 * Each function here returns 0 or a negative errno with a cause, if it returns anything. */
#ifndef GPUTAP_CAPTURE_WRITER_H
#define GPUTAP_CAPTURE_WRITER_H

#include <zstd.h>

#include "capture/block_index.h"
#include "capture/capture.h"
#include "capture/format.h"

enum {
	GT_WRITER_WRITE_BYTES = 1 << 20, /* enough for a system call */
	/* records of one RECORDS block, except a single longer one */
	GT_WRITER_RECORDS_BYTES = 64 << 10,
};

/* A file of blocks, and those not written to it yet. */
struct gt_writer_file {
	int fd;
	uint64_t bytes;         /* size of the whole blocks in the file */
	uint64_t flushed_bytes; /* the same after the last good flush */
	uint8_t *out;
	size_t out_bytes, out_room;
};

struct gt_keep;

/* Hooks for a flight recorder: keep.c. */
struct gt_keeper {
	/* Make room on a full disk. Return true if there is more room now. */
	bool (*drop_oldest)(struct gt_capture_writer *w);
	void (*advance)(struct gt_capture_writer *w); /* called after a good flush */
	/* Make the capture, at the end, after a flush. Return 0 or negative errno with a cause. */
	int (*finish)(struct gt_capture_writer *w, bool complete);
	void (*destroy)(struct gt_keep *k); /* leaves the files */
	/* Look at records of a thread, before they become rows. */
	void (*look)(struct gt_keep *k, uint32_t process, uint32_t ordinal, const void *data,
		     size_t bytes);
	/* Note that a thread has ended; @ordinal 0: the process. */
	void (*end)(struct gt_keep *k, uint32_t process, uint32_t ordinal);
};

struct gt_capture_writer {
	struct gt_writer_file main;  /* the capture; with --keep the metadata, see keep.h */
	struct gt_writer_file *rows; /* file that rows are written to: `main`, or a chunk */
	/* index of `main`; with --keep none until it is the capture */
	struct gt_index_writer index;
	struct gt_keep *keep; /* NULL: not a flight recorder */
	const struct gt_keeper *keeper;
	int ballast_fd;
	int replaced_fd;                 /* the file that this one replaced, or -1 */
	uint8_t id[GT_CAPTURE_ID_BYTES]; /* id, as in the file's header */
	/* accepted records are lost: the capture cannot be complete */
	bool failed;
	bool kept_short; /* `kept` is incomplete */
	char *path;
	uint64_t kernels;     /* accepted */
	uint64_t limit_bytes; /* RLIMIT_FSIZE, minus room for the end; UINT64_MAX: none */
	uint8_t *kept;        /* metadata of `main` since the last good flush */
	size_t kept_bytes, kept_room;
	uint8_t *records; /* GT_WRITER_RECORDS_BYTES, for records_process */
	size_t records_bytes;
	uint32_t records_process;
	struct gt_stream *streams, *spare;
	unsigned spare_count;
	ZSTD_CCtx *zstd;
	gt_capture_event_function *on_event;
	void *on_event_data;
};

/* writer_blocks.c */

/* Make room for @bytes more in a buffer. */
int gt_writer_grow(const struct gt_capture_writer *w, uint8_t **buffer, size_t *room, size_t used,
		   size_t bytes);
/* Make room in a file's buffer, for gt_writer_put_block(). */
int gt_writer_make_room(struct gt_capture_writer *w, struct gt_writer_file *f, size_t bytes);
/* Note that blocks of `main`, up to its new end @bytes, are valid and permanent. */
void gt_writer_found_blocks(struct gt_capture_writer *w, uint64_t bytes);
/* Write an INDEX of heads that no INDEX lists yet, after a good flush. Return 0 or negative errno
 * with a cause: the file is unchanged. */
int gt_writer_put_index(struct gt_capture_writer *w);
/* Write the buffer to the file. Blocks that the file does not take stay in the buffer, whole. */
int gt_writer_write_out(struct gt_capture_writer *w, struct gt_writer_file *f);
/* Append a block for which room was made. @head: with its extension; magic, sizes and checksums are
 * filled in. */
void gt_writer_put_block(struct gt_writer_file *f, void *head, size_t head_bytes,
			 const void *payload, size_t bytes);
/* Append a block without extension, which is kept if a flush fails. */
int gt_writer_append_block(struct gt_capture_writer *w, uint8_t type, uint32_t process,
			   uint32_t ordinal, const void *payload, size_t bytes);

/* writer_metadata.c */

/**
 * gt_writer_put_record() - store one record that is not a row for a RECORDS block
 * @words:   size of the record; its own head is not read again
 * @doubted: set if no gputap writer would make it
 * It is not counted as recorded, so without room for it the batch continues without it.
 * Return: 0 or -EBADMSG.
 */
int gt_writer_put_record(struct gt_capture_writer *w, uint32_t process, const uint64_t *data,
			 uint32_t words, bool *doubted);
/* End the RECORDS block. */
int gt_writer_end_records(struct gt_capture_writer *w);
int gt_writer_put_session(struct gt_capture_writer *w, const struct gt_session_info *i);
int gt_writer_put_retained(struct gt_capture_writer *w, const struct gt_retained *kept);

/* capture_writer.c */

/* Create a writer without a file. */
int gt_writer_create(const char *path, struct gt_capture_writer **out);
/* Write the start of the file. @id: NULL: a new one */
int gt_writer_put_header(struct gt_capture_writer *w, const uint8_t id[GT_CAPTURE_ID_BYTES]);

#endif
