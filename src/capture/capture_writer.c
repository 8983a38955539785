/* SPDX-License-Identifier: MIT */
/* Writes captures. All data is collected as blocks in one buffer. Large writes of whole blocks move
 * the buffer to the file, so the file is valid at any moment. If a write fails, the blocks stay in
 * the buffer. A failed flush cuts the file back to the last good flush, discards the records since
 * then (the caller still has these records, or counts them), and keeps the other blocks, which are
 * small.
 *
 *   stream:   records -> encoder (its own 96 KiB of rows) --full, flush, destroy--> block in `out`
 *   the rest: strings, objects, .. -> `records` --other process, full, flush--> block in `out`,
 *             and in `kept` until the next good flush
 *   `out` --1 MiB, flush--> file
 *
 * A batch of records is accepted or refused before any record is encoded, because the writer first
 * reserves room for the worst case. Only one thread uses a writer. The traced program can change
 * the memory of the records while the writer reads it. So all retained data is copied first and
 * checked in the copy. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/checksum.h"
#include "capture/encode.h"
#include "capture/newfile.h"
#include "capture/scan.h"
#include "capture/writer.h"
#include "util/error.h"

enum {
	BALLAST_BYTES = 64 << 10, /* disk space reserved for the last sums and the end marker */
	STREAM_HEAD_BYTES = sizeof(struct gt_file_block) + sizeof(struct gt_file_stream) +
			    GT_CLASS_COUNT * GT_DOMAIN_COUNT * sizeof(struct gt_file_count) +
			    sizeof(struct gt_file_bounds) +
			    GT_FILE_DEVICES_MAX * sizeof(struct gt_file_device),
	/* encoders for future threads, with pages that are mapped already */
	SPARE_STREAMS = 16,
};

static_assert(STREAM_HEAD_BYTES <= GT_FILE_HEAD_MAX, "a stream block's header fits");

struct gt_stream {
	struct gt_capture_writer *writer;
	struct gt_stream *next, **link; /* links in writer.streams or writer.spare */
	uint32_t process, ordinal;
	/* range of the times of calls in blocks that ended since the last
	 * gt_capture_stream_is_doubted() */
	uint64_t first_ticks, last_ticks;
	struct gt_encoder encoder;
};

static void close_replaced(struct gt_capture_writer *w)
{
	if (w->replaced_fd >= 0)
		close(w->replaced_fd);
	w->replaced_fd = -1;
}

/* Streams ------------------------------------------------------------------- */

/* Write the bounds at @at. Return the end of the written data. */
static uint8_t *put_bounds(const struct gt_encoder *e, uint8_t *at)
{
	const bool lost = e->device_count == GT_FILE_DEVICES_LOST;
	const size_t entries = (lost ? 0 : e->device_count) * sizeof *e->devices;
	struct gt_file_bounds bounds = {.bytes = (uint32_t)sizeof bounds,
					.marks = e->marks,
					.device_entries = e->device_count};

	memcpy(at, &bounds, sizeof bounds);
	memcpy(at + sizeof bounds, e->devices, entries);
	return at + sizeof bounds + entries;
}

/* Write the head of a stream block from the counts of its encoder. Return head_bytes. */
static size_t stream_head(const struct gt_stream *s, uint8_t *buffer)
{
	const struct gt_encoder *e = &s->encoder;
	struct gt_file_block head = {.type = GT_BLOCK_STREAM,
				     .process = s->process,
				     .ordinal = s->ordinal};
	struct gt_file_stream stream = {.base_ticks = e->base_ticks,
					.base_id = e->base_id,
					.first_ticks = e->first_ticks,
					.last_ticks = e->last_ticks,
					.rows = e->rows};
	uint8_t *at = buffer + sizeof head + sizeof stream;
	unsigned c, d;

	for (c = 0; c < GT_CLASS_COUNT; c++)
		for (d = 0; d < GT_DOMAIN_COUNT; d++) {
			struct gt_file_count count = {(uint8_t)c, (uint8_t)d, 0,
						      (uint32_t)(e->total[c][d] -
								 e->block_total[c][d])};

			if (!count.count)
				continue;
			if (c == GT_CLASS_DEVICE)
				head.flags |= GT_BLOCK_DEVICE;
			memcpy(at, &count, sizeof count);
			at += sizeof count;
			stream.count_entries++;
		}
	memcpy(buffer, &head, sizeof head);
	memcpy(buffer + sizeof head, &stream, sizeof stream);
	return (size_t)(put_bounds(e, at) - buffer);
}

/* Write the encoder's rows as a block. The caller has made room. */
static void end_stream_block(struct gt_stream *s)
{
	struct gt_capture_writer *w = s->writer;
	struct gt_writer_file *f = w->rows;
	struct gt_encoder *e = &s->encoder;
	uint8_t buffer[STREAM_HEAD_BYTES];
	struct gt_file_block *head = (void *)buffer;
	size_t raw = (size_t)(e->p - e->begin), head_bytes, n = 0;

	if (!e->rows)
		return;
	s->first_ticks = e->first_ticks < s->first_ticks ? e->first_ticks : s->first_ticks;
	s->last_ticks = e->last_ticks > s->last_ticks ? e->last_ticks : s->last_ticks;
	head_bytes = stream_head(s, buffer);
	if (w->zstd && raw > 64 && e->begin == e->buffer) {
		uint8_t *to = f->out + f->out_bytes + head_bytes;

		n = ZSTD_compressCCtx(w->zstd, to, f->out_room - f->out_bytes - head_bytes,
				      e->begin, raw, 1);
		if (!ZSTD_isError(n) && n < raw) {
			head->flags |= GT_BLOCK_ZSTD;
			head->raw_bytes = (uint32_t)raw;
			gt_writer_put_block(f, buffer, head_bytes, to, n);
			gt_encoder_reset(e, NULL, 0);
			return;
		}
	}
	gt_writer_put_block(f, buffer, head_bytes, e->begin, raw);
	gt_encoder_reset(e, NULL, 0);
}

/* Repeat the context of the rows. Call at the start of each block. */
static void put_context(struct gt_encoder *e)
{
	const uint64_t record[3] = {3 | GT_RECORD_CONTEXT << 16 | (uint64_t)e->context << 24};
	enum gt_encode_stop stop;

	if (__builtin_expect(e->context != 0, 0) && !e->rows)
		gt_encoder_run(e, record, record + 3, &stop);
}

/* Write a row that is larger than the encoder's buffer as a separate block. Encodes the row in its
 * final position after the header, in the room made for the batch. */
static int put_long_row(struct gt_stream *s, const uint64_t *data, uint32_t words)
{
	struct gt_capture_writer *w = s->writer;
	enum gt_encode_stop stop;
	const uint64_t *next;

	gt_encoder_reset(&s->encoder, w->rows->out + w->rows->out_bytes + STREAM_HEAD_BYTES,
			 GT_ROW_MAX_BYTES(words) + GT_ROW_MAX_BYTES(3));
	put_context(&s->encoder);
	next = gt_encoder_run(&s->encoder, data, data + words, &stop);
	end_stream_block(s);
	gt_encoder_reset(&s->encoder, NULL, 0);
	return next == data + words && stop == GT_ENCODE_END ? 0 : -EBADMSG;
}

/* Return the maximum size of an encoded batch. A row of 3 words takes up to 24 + 32 bytes, and
 * blocks may have to end after 254 shapes. */
static size_t worst_bytes(size_t bytes)
{
	return bytes * 3 +
	       (bytes / (GT_ROW_SHAPES * 24) + bytes / (GT_ENCODER_BYTES / 2) + 8) *
		       STREAM_HEAD_BYTES +
	       2 * GT_ENCODER_BYTES + GT_WRITER_RECORDS_BYTES + 4096;
}

int gt_capture_write_records(struct gt_stream *s, const void *data, size_t bytes,
			     struct gt_counts *recorded)
{
	struct gt_capture_writer *w = s->writer;
	struct gt_encoder *e = &s->encoder;
	const uint64_t *r = data, *end = r + bytes / 8;
	uint64_t before[GT_CLASS_COUNT][GT_DOMAIN_COUNT], kernels = e->kernels;
	enum gt_encode_stop stop;
	int status = 0;
	unsigned c, d;

	if (w->rows->out_bytes >= GT_WRITER_WRITE_BYTES) {
		status = gt_writer_write_out(w, w->rows);
		if (status)
			return status;
	}
	if (w->replaced_fd >= 0) /* closing takes long, but the program already runs */
		close_replaced(w);
	status = gt_writer_make_room(w, w->rows, worst_bytes(bytes));
	if (status)
		return status;
	memcpy(before, e->total, sizeof before);
	if (w->keeper)
		w->keeper->look(w->keep, s->process, s->ordinal, data, bytes);
	while (r < end) {
		uint32_t words;

		put_context(e);
		r = gt_encoder_run(e, r, end, &stop);
		if (stop == GT_ENCODE_END)
			break;
		if (stop == GT_ENCODE_MALFORMED) {
			status = gt_error(-EBADMSG,
					  "record at word %zu of a batch of process %u, thread %u "
					  "is malformed",
					  (size_t)(r - (const uint64_t *)data), s->process,
					  s->ordinal);
			break;
		}
		words = __atomic_load_n(r, __ATOMIC_RELAXED) & 0xffff;
		/* the head may have changed since the encoder read it */
		if (!words || words > (size_t)(end - r))
			words = 1;
		if (stop == GT_ENCODE_FULL && e->rows) {
			end_stream_block(s);
			continue;
		}
		status = stop == GT_ENCODE_FULL
				 ? put_long_row(s, r, words)
				 : gt_writer_put_record(w, s->process, r, words, &e->doubted);
		if (status) {
			gt_error(status,
				 "cannot write the record at word %zu of a batch of process %u, "
				 "thread %u",
				 (size_t)(r - (const uint64_t *)data), s->process, s->ordinal);
			break;
		}
		r += words;
	}
	w->kernels += e->kernels - kernels;
	for (c = 0; recorded && c < GT_CLASS_COUNT; c++)
		for (d = 0; d < GT_DOMAIN_COUNT; d++)
			recorded->recorded[c][d] += e->total[c][d] - before[c][d];
	return status;
}

bool gt_capture_stream_is_doubted(struct gt_stream *s, uint64_t earliest, uint64_t latest)
{
	struct gt_encoder *e = &s->encoder;
	uint64_t first = e->first_ticks < s->first_ticks ? e->first_ticks : s->first_ticks;
	uint64_t last = e->last_ticks > s->last_ticks ? e->last_ticks : s->last_ticks;
	bool doubted = e->doubted || first < earliest || last > latest;

	e->doubted = false;
	s->first_ticks = UINT64_MAX;
	s->last_ticks = 0;
	return doubted;
}

int gt_capture_stream_create(struct gt_capture_writer *w, uint32_t process, uint32_t ordinal,
			     struct gt_stream **out)
{
	struct gt_stream *s = w->spare;

	*out = NULL;
	if (process >= GT_FILE_PROCESS_MAX)
		return gt_error(-EINVAL, "capture %s: process %u exceeds the limit of %u", w->path,
				process, GT_FILE_PROCESS_MAX);
	if (s) {
		w->spare = s->next;
		w->spare_count--;
	} else {
		s = malloc(sizeof *s);
		if (!s)
			return gt_error(
				-ENOMEM,
				"capture %s: cannot add the stream of process %u, thread %u",
				w->path, process, ordinal);
	}
	s->writer = w;
	s->process = process;
	s->ordinal = ordinal;
	s->first_ticks = UINT64_MAX;
	s->last_ticks = 0;
	gt_encoder_init(&s->encoder, ordinal);
	s->next = w->streams;
	s->link = &w->streams;
	if (s->next)
		s->next->link = &s->next;
	w->streams = s;
	*out = s;
	return 0;
}

uint64_t gt_capture_stream_newest_call(const struct gt_stream *s, enum gt_domain domain)
{
	return s->encoder.newest_call[domain];
}

uint32_t gt_capture_stream_last_call(const struct gt_stream *s, uint64_t *end)
{
	*end = s->encoder.last_call_end;
	return s->encoder.last_call;
}

void gt_capture_stream_destroy(struct gt_stream *s)
{
	struct gt_capture_writer *w;

	if (!s)
		return;
	w = s->writer;
	if (gt_writer_end_records(w) ||
	    gt_writer_make_room(w, w->rows, 2 * GT_ENCODER_BYTES + STREAM_HEAD_BYTES)) {
		gt_error_clear();
		w->failed = true;
	} else {
		end_stream_block(s);
	}
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	if (w->spare_count < SPARE_STREAMS) {
		s->next = w->spare;
		w->spare = s;
		w->spare_count++;
	} else {
		free(s);
	}
}

/* Cut the file back to the last good flush. */
static void cut_back(struct gt_capture_writer *w, struct gt_writer_file *f)
{
	if (ftruncate(f->fd, (off_t)f->flushed_bytes) && f->bytes > f->flushed_bytes)
		w->failed = true; /* blocks that the sums do not include remain in the file */
	f->bytes = f->flushed_bytes;
	f->out_bytes = 0;
	if (f == &w->main)
		gt_index_cut_back(&w->index);
}

/* Cut back to the last good flush, but keep blocks that are not streams. */
static void forget_records(struct gt_capture_writer *w)
{
	struct gt_stream *s;

	for (s = w->streams; s; s = s->next)
		gt_encoder_reset(&s->encoder, NULL, 0);
	cut_back(w, &w->main);
	if (w->rows != &w->main)
		cut_back(w, w->rows);
	w->failed |= w->kept_short;
	w->kept_short = false;
	if (gt_writer_make_room(w, &w->main, w->kept_bytes)) {
		gt_error_clear();
		w->failed = true;
		w->kept_bytes = 0;
	}
	if (w->kept_bytes)
		memcpy(w->main.out, w->kept, w->kept_bytes);
	w->main.out_bytes = w->kept_bytes;
}

int gt_capture_flush(struct gt_capture_writer *w)
{
	struct gt_stream *s;
	/* first, because strings and objects precede the streams that refer to them */
	int status = gt_writer_end_records(w);

	if (w->rows != &w->main && w->main.out_bytes && !status)
		status = gt_writer_write_out(w, &w->main);
	for (s = w->streams; s && !status; s = s->next) {
		status = gt_writer_make_room(w, w->rows, 2 * GT_ENCODER_BYTES + STREAM_HEAD_BYTES);
		if (!status)
			end_stream_block(s);
		if (!status && w->rows->out_bytes > GT_WRITER_WRITE_BYTES)
			status = gt_writer_write_out(w, w->rows);
	}
	if (!status && w->rows->out_bytes)
		status = gt_writer_write_out(w, w->rows);
	if (status) {
		forget_records(w);
		return status;
	}
	w->main.flushed_bytes = w->main.bytes;
	w->rows->flushed_bytes = w->rows->bytes;
	w->kept_bytes = 0;
	w->kept_short = false;
	gt_index_keep(&w->index);
	/* limits memory; if writing the index fails, the next flush retries */
	if (w->index.bytes >= GT_INDEX_BYTES && gt_writer_put_index(w))
		gt_error_clear();
	if (w->keeper)
		w->keeper->advance(w);
	return 0;
}

uint64_t gt_capture_writer_bytes(const struct gt_capture_writer *w)
{
	return w->main.flushed_bytes;
}

uint64_t gt_capture_writer_kernels(const struct gt_capture_writer *w)
{
	return w->kernels;
}

/* Begin and end ------------------------------------------------------------- */

/* Create a nameless file next to the capture, to reserve disk space. If the disk becomes full,
 * closing this file makes room for the sums of lost records. A failure is ignored. */
static int take_ballast(const struct gt_capture_writer *w, const char *path)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
	int fd = -1;

	/* with a file size limit, an allocation may raise SIGXFSZ */
	if (folder && w->limit_bytes == UINT64_MAX) {
		if (slash)
			slash[slash == folder] = '\0';
		fd = open(slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	}
	free(folder);
	if (fd >= 0 && posix_fallocate(fd, 0, BALLAST_BYTES)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int gt_writer_create(const char *path, struct gt_capture_writer **out)
{
	struct gt_capture_writer *w = calloc(1, sizeof *w);
	struct rlimit limit;

	*out = NULL;
	if (!w)
		return gt_error(-ENOMEM, "cannot write capture %s", path);
	w->main.fd = w->ballast_fd = w->replaced_fd = -1;
	w->rows = &w->main;
	w->limit_bytes = UINT64_MAX;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		w->limit_bytes =
			limit.rlim_cur > BALLAST_BYTES ? limit.rlim_cur - BALLAST_BYTES : 0;
	w->main.out_room = GT_WRITER_WRITE_BYTES + (256 << 10);
	w->path = strdup(path);
	w->main.out = malloc(w->main.out_room);
	w->records = malloc(GT_WRITER_RECORDS_BYTES + UINT16_MAX * 8);
	if (!w->path || !w->main.out || !w->records) {
		gt_capture_writer_destroy(w);
		return gt_error(-ENOMEM, "cannot write capture %s", path);
	}
	*out = w;
	return 0;
}

/* Write the header. If the disk is full, close a replaced capture to make room. */
int gt_writer_put_header(struct gt_capture_writer *w, const uint8_t id[GT_CAPTURE_ID_BYTES])
{
	struct gt_file_header header = {.major = GT_FILE_MAJOR,
					.minor = GT_FILE_MINOR,
					.header_bytes = sizeof header};
	ssize_t written;

	memcpy(header.magic, GT_FILE_MAGIC, sizeof header.magic);
	if (id)
		memcpy(header.uuid, id, sizeof header.uuid);
	else if (getrandom(header.uuid, sizeof header.uuid, 0) != sizeof header.uuid)
		memset(header.uuid, 0, sizeof header.uuid);
	memcpy(w->id, header.uuid, sizeof w->id);
	header.crc = gt_crc32c(0, &header, offsetof(struct gt_file_header, crc));
	written = pwrite(w->main.fd, &header, sizeof header, 0);
	if (written < 0 && (errno == ENOSPC || errno == EDQUOT) && w->replaced_fd >= 0) {
		close_replaced(w);
		written = pwrite(w->main.fd, &header, sizeof header, 0);
	}
	if (written != (ssize_t)sizeof header)
		return gt_error(written < 0 ? -errno : -ENOSPC, "cannot write capture %s", w->path);
	w->main.bytes = w->main.flushed_bytes = sizeof header;
	gt_index_begin(&w->index, sizeof header);
	return 0;
}

int gt_capture_writer_create(const char *path, bool replace,
			     const struct gt_capture_options *options,
			     const struct gt_session_info *session, struct gt_capture_writer **out)
{
	struct gt_capture_writer *w;
	struct gt_new_file file;
	int status = gt_writer_create(path, &w);

	*out = NULL;
	if (status)
		return status;
	status = gt_new_file(path, replace, options && options->shared, &file);
	if (status)
		goto fail;
	w->main.fd = file.fd;
	w->replaced_fd = file.replaced_fd;
	if (options && options->compress) {
		w->zstd = ZSTD_createCCtx();
		if (!w->zstd) {
			status = gt_error(-ENOMEM, "capture %s: cannot start compression", path);
			goto remove_file;
		}
	}
	status = gt_writer_put_header(w, NULL);
	if (!status)
		status = gt_writer_put_session(w, session);
	if (!status)
		status = gt_capture_flush(w);
	if (status)
		goto remove_file;
	w->ballast_fd = take_ballast(w, path); /* after the header, from the space that is left */
	if (w->ballast_fd < 0 && w->replaced_fd >= 0) {
		close_replaced(w);
		w->ballast_fd = take_ballast(w, path);
	}
	*out = w;
	return 0;
remove_file: /* an empty file left behind would make the next attempt fail */
	unlink(path);
fail:
	gt_capture_writer_destroy(w);
	return status;
}

/* Check before any change that the file is the capture with this id. @first: receives the position
 * of its first block. */
static int check_id(struct gt_capture_writer *w, const uint8_t *id, uint64_t *first)
{
	struct gt_scan *s = malloc(sizeof *s);
	int status = s ? gt_scan_init(s, w->main.fd, w->path)
		       : gt_error(-ENOMEM, "cannot write capture %s", w->path);

	if (!status && id && memcmp(id, s->uuid, sizeof s->uuid) != 0)
		status = gt_error(-EBADMSG, "%s is the capture of another session; not modified",
				  w->path);
	if (!status) {
		memcpy(w->id, s->uuid, sizeof w->id);
		*first = s->at;
	}
	free(s);
	return status;
}

int gt_capture_writer_reopen(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
			     uint64_t bytes, struct gt_capture_writer **out)
{
	struct gt_capture_writer *w;
	uint64_t first = 0, end;
	int status = gt_writer_create(path, &w);

	*out = NULL;
	if (status)
		return status;
	w->main.fd =
		/* O_NONBLOCK: fail on a pipe instead of blocking */
		open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (w->main.fd < 0) {
		status = gt_error(-errno, "cannot open capture %s", path);
		goto fail;
	}
	status = gt_new_file_lock(w->main.fd, path);
	if (!status)
		status = check_id(w, id, &first);
	if (!status)
		status = gt_scan_find_end(w->main.fd, path, bytes, &end);
	if (status)
		goto fail;
	if (ftruncate(w->main.fd, (off_t)end)) {
		status = gt_error(-errno,
				  "capture %s: cannot truncate it after the last complete block",
				  path);
		goto fail;
	}
	w->failed =
		bytes != UINT64_MAX && end < bytes; /* true if the file was cut in the meantime */
	gt_index_begin(&w->index, first);
	gt_writer_found_blocks(w, end);
	w->ballast_fd = take_ballast(w, path);
	*out = w;
	return 0;
fail:
	gt_capture_writer_destroy(w);
	return status;
}

void gt_capture_writer_id(const struct gt_capture_writer *w, uint8_t id[GT_CAPTURE_ID_BYTES])
{
	memcpy(id, w->id, GT_CAPTURE_ID_BYTES);
}

/* Write an INDEX of all blocks that no INDEX lists yet. Return the position of the last INDEX; 0:
 * none. */
static uint64_t put_last_index(struct gt_capture_writer *w)
{
	const uint64_t end = w->index.end;

	while (!w->index.lost && w->index.first < end)
		if (gt_writer_put_index(w)) { /* only the index is lost */
			gt_error_clear();
			return 0;
		}
	return w->index.lost ? 0 : w->index.previous;
}

/* Make the capture from the retained files. */
static int finish_kept(struct gt_capture_writer *w, bool complete, int first)
{
	int status = w->keeper->finish(w, complete);

	gt_capture_writer_destroy(w);
	return first ? first : status;
}

static int put_end(struct gt_capture_writer *w, bool complete, uint64_t index)
{
	const struct gt_file_end end = {.complete = complete,
					.bytes = w->main.bytes + w->main.out_bytes,
					.index = index};
	int status = gt_writer_append_block(w, GT_BLOCK_END, 0, 0, &end, sizeof end);

	return status ? status : gt_capture_flush(w);
}

/* Remove the index, because the end marker may need its space. */
static int take_index_back(struct gt_capture_writer *w, uint64_t at)
{
	if (ftruncate(w->main.fd, (off_t)at))
		return gt_error(-errno, "capture %s: cannot write its end", w->path);
	gt_error_clear();
	w->main.bytes = w->main.flushed_bytes = at;
	w->main.out_bytes = w->kept_bytes = 0;
	w->index.lost = true;
	return 0;
}

int gt_capture_writer_finish(struct gt_capture_writer *w, bool complete)
{
	uint64_t index = 0, at;
	int status, first;

	while (w->streams)
		gt_capture_stream_destroy(w->streams);
	first = gt_capture_flush(w);
	if (w->ballast_fd >= 0) {
		close(w->ballast_fd);
		w->ballast_fd = -1;
	}
	if (w->limit_bytes != UINT64_MAX)
		w->limit_bytes += BALLAST_BYTES;
	if (w->keeper)
		return finish_kept(w, complete && !first && !w->failed, first);
	at = w->main.bytes;
	complete &= !first && !w->failed;
	if (!first)
		index = put_last_index(w);
	status = put_end(w, complete, index);
	if (status && index && !take_index_back(w, at))
		status = put_end(w, complete, 0);
	if (close(w->main.fd) && !status)
		status = gt_error(-errno, "capture %s: cannot close", w->path);
	w->main.fd = -1;
	gt_capture_writer_destroy(w);
	return first ? first : status;
}

void gt_capture_writer_destroy(struct gt_capture_writer *w)
{
	struct gt_stream *s;

	if (!w)
		return;
	while ((s = w->streams)) {
		w->streams = s->next;
		free(s);
	}
	while ((s = w->spare)) {
		w->spare = s->next;
		free(s);
	}
	if (w->main.fd >= 0)
		close(w->main.fd);
	if (w->ballast_fd >= 0)
		close(w->ballast_fd);
	close_replaced(w);
	if (w->keeper)
		w->keeper->destroy(w->keep);
	ZSTD_freeCCtx(w->zstd);
	gt_index_fini(&w->index);
	free(w->records);
	free(w->kept);
	free(w->main.out);
	free(w->path);
	free(w);
}
