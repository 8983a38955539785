/* SPDX-License-Identifier: MIT */
/* Internals of the capture writer. Each file uses only the files listed above it:
 *
 *   index_write.c      heads of the blocks in the file
 *   writer_blocks.c    collects blocks in a buffer, and writes the buffer to the file
 *   writer_metadata.c  stores metadata in blocks on arrival: records that are not rows, and the
 *                      collector's data on processes, threads, clocks and sums
 *   capture_writer.c   rows of threads, flushes, start and end of the file; has the design note
 *   retained_filter.c  selects metadata that a flight recorder still needs
 *   open_ranges.c      open ranges, for a flight recorder
 *   snapshot.c         captures from the files of a recording in progress
 *   keep.c             a flight recorder: writes rows to chunk files and evicts the oldest chunks
 *
 * Each function here returns void, or 0 or a negative errno with a cause. */
#ifndef GPUTAP_CAPTURE_WRITER_H
#define GPUTAP_CAPTURE_WRITER_H

#include <zstd.h>

#include "capture/block_index.h"
#include "capture/capture.h"
#include "capture/format.h"

enum {
	GT_WRITER_WRITE_BYTES = 1 << 20, /* enough for one system call */
	/* size limit of a RECORDS block; a single larger record gets its own block */
	GT_WRITER_RECORDS_BYTES = 64 << 10,
};

/* A file of blocks, and the blocks that were not written to it yet. */
struct gt_writer_file {
	int fd;
	uint64_t bytes;         /* total size of the whole blocks in the file */
	uint64_t flushed_bytes; /* `bytes` after the last good flush */
	uint8_t *out;
	size_t out_bytes, out_room;
};

struct gt_keep;

/* Hooks for a flight recorder: keep.c. */
struct gt_keeper {
	/* Make room on a full disk. Return true on success. */
	bool (*drop_oldest)(struct gt_capture_writer *w);
	void (*advance)(struct gt_capture_writer *w); /* called after a good flush */
	/* Create the capture at the end, after a flush. Return 0 or negative errno with a cause. */
	int (*finish)(struct gt_capture_writer *w, bool complete);
	void (*destroy)(struct gt_keep *k); /* does not remove the files */
	/* Inspect records of a thread before they become rows. */
	void (*look)(struct gt_keep *k, uint32_t process, uint32_t ordinal, const void *data,
		     size_t bytes);
	/* Note the end of a thread; @ordinal 0: of the process. */
	void (*end)(struct gt_keep *k, uint32_t process, uint32_t ordinal);
};

struct gt_capture_writer {
	struct gt_writer_file main;  /* the capture; with --keep the metadata, see keep.h */
	struct gt_writer_file *rows; /* file to which rows are written: `main`, or a chunk */
	/* index of `main`; with --keep, empty until `main` becomes the capture */
	struct gt_index_writer index;
	struct gt_keep *keep; /* NULL: not a flight recorder */
	const struct gt_keeper *keeper;
	int ballast_fd;
	int replaced_fd;                 /* the file that this capture replaced, or -1 */
	uint8_t id[GT_CAPTURE_ID_BYTES]; /* id in the header of the file */
	/* true if accepted records were lost, so that the capture cannot be complete */
	bool failed;
	bool kept_short; /* true if `kept` is incomplete */
	char *path;
	uint64_t kernels;     /* accepted */
	uint64_t limit_bytes; /* RLIMIT_FSIZE minus room for the end; UINT64_MAX: no limit */
	uint8_t *kept;        /* metadata blocks of `main` since the last good flush */
	size_t kept_bytes, kept_room;
	uint8_t *records; /* buffer of GT_WRITER_RECORDS_BYTES, for records of records_process */
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
/* Note that the blocks of `main` before its new end @bytes are valid and permanent. */
void gt_writer_found_blocks(struct gt_capture_writer *w, uint64_t bytes);
/* Write an INDEX of the heads that no INDEX lists yet. Call after a good flush. Return 0, or
 * negative errno with a cause; on failure the file is unchanged. */
int gt_writer_put_index(struct gt_capture_writer *w);
/* Write the buffer to the file. Blocks that the file cannot take stay in the buffer, whole. */
int gt_writer_write_out(struct gt_capture_writer *w, struct gt_writer_file *f);
/* Append a block for which gt_writer_make_room() has made room. @head: head with its extension; the
 * function fills in magic, sizes and checksums. */
void gt_writer_put_block(struct gt_writer_file *f, void *head, size_t head_bytes,
			 const void *payload, size_t bytes);
/* Append a block without extension. The block survives a failed flush. */
int gt_writer_append_block(struct gt_capture_writer *w, uint8_t type, uint32_t process,
			   uint32_t ordinal, const void *payload, size_t bytes);

/* writer_metadata.c */

/**
 * gt_writer_put_record() - store one record that is not a row in a RECORDS block
 * @words:   size of the record; the function does not read the record's head again
 * @doubted: set if gputap never writes such a record
 * The record does not count as recorded, so the batch continues if there is no room for it.
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
/* Write the start of the file. @id: id of the capture; NULL: a new id */
int gt_writer_put_header(struct gt_capture_writer *w, const uint8_t id[GT_CAPTURE_ID_BYTES]);

#endif
