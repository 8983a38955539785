/* SPDX-License-Identifier: MIT */
/* Walking the blocks of a capture file by their headers, around what is damaged. */
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
	uint64_t bytes; /* of the file when the scan began */
	uint64_t at;    /* next block is looked for here */
	uint64_t bad_bytes, bad_blocks;
	uint8_t uuid[16];       /* of the file; 0 if its header is damaged */
	struct gt_index *index; /* gt_scan_take_index(); NULL: heads are read one by one */
	uint64_t window_at;
	size_t window_bytes;
	uint8_t window[GT_SCAN_WINDOW];
};

struct gt_scan_block {
	uint64_t at;      /* of the header in the file */
	uint64_t head_at; /* .. or of its copy in the index, which is what follows */
	struct gt_file_block head;
	uint8_t extension[GT_FILE_HEAD_MAX]; /* head_bytes - sizeof head */
};

#define GT_SECTION_NONE UINT32_MAX /* a file of one session does not say it */

/* Of a capture whose header is damaged. */
static inline bool gt_uuid_is_zero(const uint8_t uuid[16])
{
	static const uint8_t zero[16];

	return !memcmp(uuid, zero, sizeof zero);
}

/* Number of the section that a block belongs to. */
uint32_t gt_scan_section(const struct gt_scan_block *block);

/* Blocks from @at on up to @bytes, in a file that has no header or is known to be good. */
static inline void gt_scan_begin(struct gt_scan *s, int fd, uint64_t at, uint64_t bytes)
{
	memset(s, 0, offsetof(struct gt_scan, window));
	s->fd = fd;
	s->at = at;
	s->bytes = bytes;
}

/**
 * gt_scan_init() - check the file header
 * @path: for causes
 * Return: 0, or negative errno with a cause: -EISDIR, -ENODATA, -EBADMSG, -ENOTSUP.
 */
int gt_scan_init(struct gt_scan *s, int fd, const char *path);

/* Before the first block: from now on blocks are found by the file's index, if there is one that is
 * true. Payloads are not touched, nor are heads of streams: damage there is met by who reads them.
 * @s must go to gt_scan_end() then. */
void gt_scan_take_index(struct gt_scan *s, struct gt_index_info *info);
void gt_scan_end(struct gt_scan *s);

/* Return: 1 and *block, whose payload lies in the file whole; 0 at the end; negative errno:
 * cannot read. */
int gt_scan_next(struct gt_scan *s, struct gt_scan_block *block);

/* Read exactly; -ENODATA when the file is shorter. */
int gt_scan_read(int fd, void *buffer, size_t bytes, uint64_t at);

/* Where to go on writing: behind the last whole block with a good payload that lies below @limit
 * and is neither an end mark nor an index. */
int gt_scan_find_end(int fd, const char *path, uint64_t limit, uint64_t *end);

#endif
