/* SPDX-License-Identifier: MIT */
/* Walks the blocks of a capture file through their headers, skipping damaged parts. */
#ifndef GPUTAP_CAPTURE_SCAN_H
#define GPUTAP_CAPTURE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "capture/block_index.h"
#include "capture/format.h"

#define GT_SCAN_WINDOW (64u << 10)

struct gt_scan {
	int fd;
	uint64_t bytes; /* size of the file at the start of the scan */
	uint64_t at;    /* expected position of the next block */
	uint64_t bad_bytes, bad_blocks;
	uint8_t uuid[16];       /* id of the file; 0 if its header is damaged */
	struct gt_index *index; /* set by gt_scan_take_index(); NULL: read heads from the blocks */
	uint64_t window_at;
	size_t window_bytes;
	uint8_t window[GT_SCAN_WINDOW];
};

struct gt_scan_block {
	uint64_t at; /* position of the header in the file */
	/* position of the head: in the file, or of the copy in the index; the extension follows */
	uint64_t head_at;
	struct gt_file_block head;
	uint8_t extension[GT_FILE_HEAD_MAX]; /* head_bytes - sizeof head */
};

/* stands for the section number of blocks that have none, in a file of one session */
#define GT_SECTION_NONE UINT32_MAX

/* Return true if @uuid is the id of a capture with a damaged header. */
static inline bool gt_uuid_is_zero(const uint8_t uuid[16])
{
	static const uint8_t zero[16];

	return !memcmp(uuid, zero, sizeof zero);
}

/* Return true if the block belongs to a session, and not to the file as a whole. */
static inline bool gt_block_is_of_session(const struct gt_file_block *head)
{
	return head->type != GT_BLOCK_END && head->type != GT_BLOCK_INDEX &&
	       head->type != GT_BLOCK_SUMMARY;
}

/* Return the number of a block's section. */
uint32_t gt_scan_section(const struct gt_scan_block *block);

/* Start at block @at and end at @bytes, in a file that has no header or whose header was
 * checked. */
static inline void gt_scan_begin(struct gt_scan *s, int fd, uint64_t at, uint64_t bytes)
{
	memset(s, 0, offsetof(struct gt_scan, window));
	s->fd = fd;
	s->at = at;
	s->bytes = bytes;
}

/**
 * gt_scan_init() - check the file header
 * @path: for error messages
 * Return: 0, or negative errno with a cause: -EISDIR, -ENODATA, -EBADMSG, -ENOTSUP.
 */
int gt_scan_init(struct gt_scan *s, int fd, const char *path);

/* Use the file's index, if a correct one exists, to find blocks. Call before the first block. The
 * scan then skips payloads and stream heads; readers of those blocks detect damage in them. Call
 * gt_scan_end() afterwards. */
void gt_scan_take_index(struct gt_scan *s, struct gt_index_info *info);
void gt_scan_end(struct gt_scan *s);

/* Return 1 and *block, whose payload lies completely in the file; 0 at the end; negative errno if
 * the file cannot be read. */
int gt_scan_next(struct gt_scan *s, struct gt_scan_block *block);

/* Read exactly @bytes; -ENODATA if the file is shorter. */
int gt_scan_read(int fd, void *buffer, size_t bytes, uint64_t at);

/* Find the position at which writing continues: the end of the last whole block below @limit that
 * has a good payload and belongs to a session. The end marker, indexes and summaries are cut
 * off. */
int gt_scan_find_end(int fd, const char *path, uint64_t limit, uint64_t *end);

#endif
