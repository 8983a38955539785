/* SPDX-License-Identifier: MIT */
/* Collects blocks in a buffer and writes the buffer to the file: see writer.h. */
#include "capture/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/checksum.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	KEPT_MAX_BYTES = 8 << 20, /* maximum size of buffered metadata while writes fail */
};

int gt_writer_grow(const struct gt_capture_writer *w, uint8_t **buffer, size_t *room, size_t used,
		   size_t bytes)
{
	uint8_t *more = gt_grow_to(*buffer, used + bytes, room, 1);

	if (!more)
		return gt_error(-ENOMEM, "capture %s: cannot create a buffer of %zu bytes", w->path,
				used + bytes);
	*buffer = more;
	return 0;
}

int gt_writer_make_room(struct gt_capture_writer *w, struct gt_writer_file *f, size_t bytes)
{
	return gt_writer_grow(w, &f->out, &f->out_room, f->out_bytes, bytes);
}

static void count_written(struct gt_capture_writer *w, struct gt_writer_file *f, size_t bytes)
{
	f->bytes += bytes;
	if (f == &w->main && !w->keep)
		gt_index_add(&w->index, f->out, bytes);
}

/* Handle a partial write: leave whole blocks in the file, and keep the rest in the buffer. */
static int write_failed(struct gt_capture_writer *w, struct gt_writer_file *f, size_t written,
			int error)
{
	size_t whole = 0;

	while (written - whole >= sizeof(struct gt_file_block)) {
		struct gt_file_block head;

		memcpy(&head, f->out + whole, sizeof head);
		if (written - whole < (size_t)head.head_bytes + head.stored_bytes)
			break;
		whole += (size_t)head.head_bytes + head.stored_bytes;
	}
	count_written(w, f, whole);
	f->out_bytes -= whole;
	memmove(f->out, f->out + whole, f->out_bytes);
	if (written != whole && ftruncate(f->fd, (off_t)f->bytes))
		w->failed = true; /* a partial block remains in the file; readers skip it */
	return gt_error(error, "capture %s: cannot write %zu bytes", w->path, f->out_bytes);
}

int gt_writer_write_out(struct gt_capture_writer *w, struct gt_writer_file *f)
{
	size_t done = 0;

	if (f->bytes + f->out_bytes > w->limit_bytes)
		return gt_error(-EFBIG, "capture %s: file size limit (ulimit -f) reached", w->path);
	while (done < f->out_bytes) {
		ssize_t n =
			pwrite(f->fd, f->out + done, f->out_bytes - done, (off_t)(f->bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		/* evict older records to make room for these records */
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT) && w->keeper &&
		    w->keeper->drop_oldest(w))
			continue;
		if (n <= 0)
			return write_failed(w, f, done, n ? -errno : -EIO);
		done += (size_t)n;
	}
	count_written(w, f, f->out_bytes);
	f->out_bytes = 0;
	return 0;
}

void gt_writer_found_blocks(struct gt_capture_writer *w, uint64_t bytes)
{
	gt_index_add_file(&w->index, w->main.fd, bytes);
	gt_index_keep(&w->index);
	w->main.bytes = w->main.flushed_bytes = bytes;
}

int gt_writer_put_index(struct gt_capture_writer *w)
{
	struct gt_writer_file *f = &w->main;
	struct gt_file_block head = {.type = GT_BLOCK_INDEX};
	const uint64_t at = f->bytes;
	size_t bytes = 0;
	uint8_t *payload = gt_index_payload(&w->index, &bytes);
	int status = payload ? gt_writer_make_room(w, f, sizeof head + bytes) : 0;

	if (payload && !status) {
		gt_writer_put_block(f, &head, sizeof head, payload, bytes);
		status = gt_writer_write_out(w, f);
	}
	if (payload && !status) {
		gt_index_put(&w->index, payload, at);
		gt_index_keep(&w->index);
		f->flushed_bytes = f->bytes;
	} else if (status) {
		if (ftruncate(f->fd, (off_t)at)) /* a partial block remains; readers skip it */
			w->index.lost = true;
		gt_index_cut_back(&w->index);
		f->bytes = f->flushed_bytes = at;
		f->out_bytes = 0;
	}
	free(payload);
	return status;
}

void gt_writer_put_block(struct gt_writer_file *f, void *head, size_t head_bytes,
			 const void *payload, size_t bytes)
{
	struct gt_file_block *b = head;
	uint8_t *at = f->out + f->out_bytes;

	b->magic = GT_BLOCK_MAGIC;
	b->head_bytes = (uint16_t)head_bytes;
	b->stored_bytes = (uint32_t)bytes;
	if (!(b->flags & GT_BLOCK_ZSTD))
		b->raw_bytes = (uint32_t)bytes;
	b->payload_crc = gt_crc32c(0, payload, bytes);
	b->head_crc = 0;
	b->head_crc = gt_head_crc(head, head_bytes);
	if (payload != at + head_bytes)
		memmove(at + head_bytes, payload, bytes);
	memcpy(at, head, head_bytes);
	f->out_bytes += head_bytes + bytes;
}

int gt_writer_append_block(struct gt_capture_writer *w, uint8_t type, uint32_t process,
			   uint32_t ordinal, const void *payload, size_t bytes)
{
	struct gt_writer_file *f = &w->main;
	struct gt_file_block head = {.type = type, .process = process, .ordinal = ordinal};
	int status;

	if (f->out_bytes > GT_WRITER_WRITE_BYTES) {
		status = gt_writer_write_out(w, f);
		if (status && w->kept_bytes > KEPT_MAX_BYTES)
			return status;
		gt_error_clear();
	}
	status = gt_writer_make_room(w, f, sizeof head + bytes);
	if (status)
		return status;
	gt_writer_put_block(f, &head, sizeof head, payload, bytes);
	if (gt_writer_grow(w, &w->kept, &w->kept_room, w->kept_bytes, sizeof head + bytes)) {
		gt_error_clear();
		w->kept_short = true;
		return 0;
	}
	memcpy(w->kept + w->kept_bytes, f->out + f->out_bytes - sizeof head - bytes,
	       sizeof head + bytes);
	w->kept_bytes += sizeof head + bytes;
	return 0;
}
