/* SPDX-License-Identifier: MIT */
/* See append.h. */
#include "capture/append.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/checksum.h"
#include "capture/newfile.h"
#include "util/error.h"

int gt_append_create(const struct gt_capture *c, struct gt_append *a)
{
	*a = (struct gt_append){.capture = c};
	return gt_writer_create(c->files[0].path, &a->writer);
}

void gt_append_destroy(struct gt_append *a)
{
	gt_capture_writer_destroy(a->writer);
	a->writer = NULL;
}

/* Find the end marker after all other blocks. Return false if there is none. */
static bool read_end(struct gt_append *a, int fd, uint64_t bytes)
{
	size_t n = bytes < sizeof a->end ? (size_t)bytes : sizeof a->end;
	struct gt_file_block head;

	if (gt_scan_read(fd, a->end, n, bytes - n))
		return false;
	for (size_t at = 0; at + sizeof head <= n; at++) {
		memcpy(&head, a->end + at, sizeof head);
		if (head.magic != GT_BLOCK_MAGIC || head.type != GT_BLOCK_END ||
		    head.head_bytes < sizeof head ||
		    head.head_bytes + head.stored_bytes != n - at ||
		    head.stored_bytes < offsetof(struct gt_file_end, index) ||
		    gt_head_crc(a->end + at, head.head_bytes) != head.head_crc)
			continue;
		memmove(a->end, a->end + at, n - at);
		a->end_bytes = n - at;
		a->end_at = bytes - a->end_bytes;
		return true;
	}
	return false;
}

int gt_append_open(struct gt_append *a)
{
	const struct capture_file *file = &a->capture->files[0];
	struct gt_capture_writer *w = a->writer;
	struct gt_file_header header;
	struct stat st;
	int status;

	w->main.fd = open(file->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (w->main.fd < 0 || fstat(w->main.fd, &st))
		return gt_error(-errno, "cannot open capture %s", file->path);
	status = gt_new_file_lock(w->main.fd, file->path);
	if (status)
		return status;
	if (!S_ISREG(st.st_mode) || gt_scan_read(w->main.fd, &header, sizeof header, 0) ||
	    memcmp(header.uuid, file->uuid, sizeof header.uuid) != 0)
		return gt_error(-ESTALE, "another capture has replaced %s", file->path);
	if ((uint64_t)st.st_size != file->bytes)
		return gt_error(-ESTALE, "capture %s has changed", file->path);
	if (!read_end(a, w->main.fd, (uint64_t)st.st_size))
		return gt_error(-ENOTSUP, "capture %s has no end marker", file->path);
	w->main.bytes = w->main.flushed_bytes = a->end_at;
	return 0;
}

/* Restore the original end of the file. Return @status. */
static int restore(struct gt_append *a, int status)
{
	const int fd = a->writer->main.fd;
	const off_t bytes = (off_t)(a->end_at + a->end_bytes);

	if (pwrite(fd, a->end, a->end_bytes, (off_t)a->end_at) != (ssize_t)a->end_bytes ||
	    ftruncate(fd, bytes))
		return gt_error(status, "capture %s has lost its end marker", a->writer->path);
	return status;
}

int gt_append_write(struct gt_append *a)
{
	struct gt_writer_file *f = &a->writer->main;
	uint8_t copy[GT_APPEND_TAIL_BYTES];
	struct gt_file_block head;
	uint64_t bytes;
	int status = gt_writer_make_room(a->writer, f, a->end_bytes);

	if (status)
		return status;
	/* the copy includes fields that a later version appended, and may lack the last field */
	memcpy(copy, a->end, a->end_bytes);
	memcpy(&head, copy, sizeof head);
	bytes = f->bytes + f->out_bytes;
	memcpy(copy + head.head_bytes + offsetof(struct gt_file_end, bytes), &bytes, sizeof bytes);
	gt_writer_put_block(f, copy, head.head_bytes, copy + head.head_bytes, head.stored_bytes);
	status = gt_writer_write_out(a->writer, f);
	return status ? restore(a, status) : 0;
}
