/* SPDX-License-Identifier: MIT */
/* Walks the blocks of a capture file through their headers. The file may contain anything and may
 * change during reading. It is read with pread() into a window and never mapped, so that a
 * concurrent truncation causes a short read and not a SIGBUS. The scan examines each byte a bounded
 * number of times, because after a bad header it continues at the next position with a block's
 * magic. */
#include "capture/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/checksum.h"
#include "util/error.h"

enum { LOOK_BYTES = 4096 }; /* headers are far apart: reading more would waste time */

/* Make the bytes at `at` available: @wanted bytes, or fewer bytes at the end of the file. If the
 * window does not contain them, read @refill bytes.
 * Return the number of available bytes, 0 at the end, or negative errno. */
static ssize_t peek_bytes(struct gt_scan *s, uint64_t at, size_t wanted, size_t refill,
			  const uint8_t **p)
{
	size_t offset;

	if (at >= s->bytes)
		return 0;
	if (wanted > s->bytes - at)
		wanted = (size_t)(s->bytes - at);
	if (at < s->window_at || at - s->window_at > s->window_bytes ||
	    s->window_bytes - (at - s->window_at) < wanted) {
		size_t bytes = refill < s->bytes - at ? refill : (size_t)(s->bytes - at);
		int status;

		s->window_bytes = 0;
		status = gt_scan_read(s->fd, s->window, bytes, at);
		if (status == -ENODATA) { /* the file was cut while it was read */
			s->bytes = at;
			return 0;
		}
		if (status)
			return status;
		s->window_at = at;
		s->window_bytes = bytes;
	}
	offset = (size_t)(at - s->window_at);
	*p = s->window + offset;
	return (ssize_t)(s->window_bytes - offset);
}

/* Read the block header at `at`. Return 1 and *block for a good header, 0 for a bad one, or
 * negative errno. */
static int try_block(struct gt_scan *s, uint64_t at, struct gt_scan_block *block)
{
	const uint8_t *p = NULL;
	ssize_t n = peek_bytes(s, at, GT_FILE_HEAD_MAX, LOOK_BYTES, &p);
	struct gt_file_block *h = &block->head;

	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof *h)
		return 0;
	memcpy(h, p, sizeof *h);
	if (h->magic != GT_BLOCK_MAGIC || h->head_bytes < sizeof *h ||
	    h->head_bytes > GT_FILE_HEAD_MAX || h->head_bytes > n ||
	    h->stored_bytes > GT_FILE_PAYLOAD_MAX || h->raw_bytes > GT_FILE_PAYLOAD_MAX ||
	    gt_head_crc(p, h->head_bytes) != h->head_crc)
		return 0;
	memcpy(block->extension, p + sizeof *h, h->head_bytes - sizeof *h);
	block->at = block->head_at = at;
	return 1;
}

/* Return the next position after `at` that contains the magic, or the end. */
static int64_t find_magic(struct gt_scan *s, uint64_t at)
{
	static const uint32_t magic = GT_BLOCK_MAGIC;

	while (at < s->bytes) {
		const uint8_t *p = NULL, *hit;
		ssize_t n;
#ifdef SEEK_DATA
		/* skip holes in the file, which can easily be terabytes long */
		if (at + sizeof magic > s->window_at + s->window_bytes) {
			off_t data = lseek(s->fd, (off_t)at, SEEK_DATA);

			if (data < 0 && errno == ENXIO)
				break;
			if (data > (off_t)at)
				at = (uint64_t)data;
		}
#endif
		n = peek_bytes(s, at, sizeof magic, GT_SCAN_WINDOW, &p);
		if (n < 0)
			return n;
		if ((size_t)n < sizeof magic)
			break;
		hit = memmem(p, (size_t)n, &magic, sizeof magic);
		if (hit)
			return (int64_t)(at + (uint64_t)(hit - p));
		at += (uint64_t)n - (sizeof magic - 1);
	}
	return (int64_t)s->bytes;
}

void gt_scan_take_index(struct gt_scan *s, struct gt_index_info *info)
{
	gt_index_open(s->fd, s->at, s->bytes, info, &s->index);
}

void gt_scan_end(struct gt_scan *s)
{
	gt_index_close(s->index);
	s->index = NULL;
}

int gt_scan_next(struct gt_scan *s, struct gt_scan_block *block)
{
	uint64_t at = s->at;

	if (s->index && gt_index_next(s->index, at, block)) {
		s->at += (uint64_t)block->head.head_bytes + block->head.stored_bytes;
		return 1;
	}
	while (at < s->bytes) {
		int status = try_block(s, at, block);
		int64_t next;

		if (status < 0)
			return status;
		if (status) {
			uint64_t whole =
				(uint64_t)block->head.head_bytes + block->head.stored_bytes;

			if (at > s->at) {
				s->bad_bytes += at - s->at;
				s->bad_blocks++;
				s->at = at;
			}
			/* the file is cut here, so all remaining bytes belong to this payload */
			if (whole > s->bytes - at)
				break;
			s->at = at + whole;
			return 1;
		}
		next = find_magic(s, at + 1);
		if (next < 0)
			return (int)next;
		at = (uint64_t)next;
	}
	if (s->at < s->bytes) {
		s->bad_bytes += s->bytes - s->at;
		s->bad_blocks++;
		s->at = s->bytes;
	}
	return 0;
}

/* Check the file header. If the header is damaged but good blocks follow, only the header is
 * lost. */
static int check_header(struct gt_scan *s, const struct gt_file_header *h, size_t n,
			const char *path)
{
	struct gt_scan_block *block;
	int status;

	if (memcmp(h->magic, GT_FILE_MAGIC, n < 8 ? n : 8) && n < sizeof *h)
		return gt_error(-EBADMSG, "%s is not a gputap capture", path);
	if (n < sizeof *h)
		return gt_error(
			-EBADMSG,
			"capture %s is truncated within its first %zu bytes: nothing can be read",
			path, sizeof *h);
	if (!memcmp(h->magic, GT_FILE_MAGIC, 8) &&
	    gt_crc32c(0, h, offsetof(struct gt_file_header, crc)) == h->crc) {
		if (h->major > GT_FILE_MAJOR_MERGED)
			return gt_error(-ENOTSUP,
					"capture %s has format %u.%u; this gputap reads up to %u: "
					"use a newer gputap",
					path, h->major, h->minor, GT_FILE_MAJOR_MERGED);
		memcpy(s->uuid, h->uuid, sizeof s->uuid);
		s->at = h->header_bytes >= sizeof *h ? h->header_bytes : sizeof *h;
		return 0;
	}
	block = malloc(sizeof *block);
	if (!block)
		return gt_error(-ENOMEM, "cannot read capture %s", path);
	s->at = sizeof *h;
	status = try_block(s, s->at, block);
	free(block);
	if (status < 0)
		return gt_error(status, "capture %s: cannot read", path);
	if (status) {
		s->bad_bytes += sizeof *h;
		s->bad_blocks++;
		return 0;
	}
	if (memcmp(h->magic, GT_FILE_MAGIC, 8))
		return gt_error(-EBADMSG, "%s is not a gputap capture", path);
	return gt_error(-EBADMSG, "capture %s has a damaged header", path);
}

uint32_t gt_scan_section(const struct gt_scan_block *block)
{
	uint32_t number = GT_SECTION_NONE;
	size_t extension = block->head.head_bytes - sizeof block->head;

	if (block->head.flags & GT_BLOCK_OF_SECTION && extension >= sizeof number)
		memcpy(&number, block->extension + extension - sizeof number, sizeof number);
	return number;
}

int gt_scan_init(struct gt_scan *s, int fd, const char *path)
{
	struct gt_file_header header;
	struct stat st;
	size_t n;
	int status;

	memset(s, 0, offsetof(struct gt_scan, window));
	s->fd = fd;
	if (fstat(fd, &st))
		return gt_error(-errno, "cannot read capture %s", path);
	if (S_ISDIR(st.st_mode))
		return gt_error(-EISDIR, "cannot read capture %s", path);
	if (!S_ISREG(st.st_mode))
		return gt_error(0,
				"capture %s is not a regular file; captures are read from disk, "
				"not from a pipe",
				path);
	if (!st.st_size)
		return gt_error(-ENODATA, "capture %s is empty", path);
	s->bytes = (uint64_t)st.st_size;
	n = s->bytes < sizeof header ? (size_t)s->bytes : sizeof header;
	status = gt_scan_read(fd, &header, n, 0);
	if (status)
		return gt_error(status, "cannot read capture %s", path);
	return check_header(s, &header, n, path);
}

int gt_scan_find_end(int fd, const char *path, uint64_t limit, uint64_t *end)
{
	struct gt_scan *s = malloc(sizeof *s);
	struct gt_scan_block *block = malloc(sizeof *block);
	uint8_t *payload = malloc(GT_FILE_PAYLOAD_MAX);
	int status;

	if (!s || !block || !payload) {
		status = gt_error(-ENOMEM, "cannot read capture %s", path);
		goto out;
	}
	status = gt_scan_init(s, fd, path);
	if (status)
		goto out;
	s->bytes = limit < s->bytes ? limit : s->bytes;
	*end = s->at;
	while ((status = gt_scan_next(s, block)) > 0) {
		uint64_t at = block->at + block->head.head_bytes;

		status = gt_scan_read(fd, payload, block->head.stored_bytes, at);
		if (status)
			break;
		if (gt_block_is_of_session(&block->head) &&
		    gt_crc32c(0, payload, block->head.stored_bytes) == block->head.payload_crc)
			*end = at + block->head.stored_bytes;
	}
	if (status)
		gt_error(status, "cannot read capture %s", path);
out:
	free(payload);
	free(block);
	free(s);
	return status;
}
