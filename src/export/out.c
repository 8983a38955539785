/* SPDX-License-Identifier: MIT */
/* Buffered output of the exporters, see out.h.
 *   | base ... next ... flush_at | room GT_OUT_ROOM_MAX |
 * The buffer is written when `next` has passed `flush_at`, so that filling it needs no check per
 * byte. The kernel spends its share of an export's time on finding and filling page-cache pages.
 * This time is a third shorter if blocks are allocated ahead of the writes, in large parts, and if
 * a write ends at a page boundary. Closing frees the excess. */
#include "export/out.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/background.h"
#include "util/error.h"

enum {
	PAGE = 4096,
	/* Bytes allocated at once, if the file already has at least a quarter of this size. */
	RESERVE = 32 << 20,
};

struct gt_gzip {
	struct isal_zstream stream;
	uint8_t level[ISAL_DEF_LVL1_LARGE];
	uint8_t packed[GT_OUT_WRITE];
};

static void fail_output(struct gt_out *out, int status)
{
	if (!out->status)
		out->status = gt_error(status, "cannot write %s", out->path);
}

/* Allocate blocks in advance. If this fails (a pipe, an unsupported file system, a nearly full
 * disk), the export is only slower. */
static void reserve_out(struct gt_out *out, size_t bytes)
{
	if (out->bytes + bytes <= out->reserved || out->bytes < RESERVE / 4)
		return;
	if (fallocate(out->fd, FALLOC_FL_KEEP_SIZE, (off_t)out->bytes, RESERVE) == 0)
		out->has_reserved = true;
	/* also after a failure, so that the next write does not try again */
	out->reserved = out->bytes + RESERVE;
}

/* Write data. On failure set job.status, and write no more. Runs in either thread. */
static void write_all(struct gt_out *out, const void *data, size_t bytes)
{
	const char *next = data;

	reserve_out(out, bytes);
	while (bytes && !out->job.status) {
		ssize_t n = write(out->fd, next, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			out->job.status = n < 0 ? -errno : -EIO;
			return;
		}
		next += n;
		bytes -= (size_t)n;
		out->bytes += (size_t)n;
	}
}

static void deflate_all(struct gt_out *out, char *data, size_t bytes, bool last)
{
	struct isal_zstream *z = &out->gzip->stream;

	z->next_in = (uint8_t *)data;
	z->avail_in = (uint32_t)bytes;
	z->end_of_stream = last;
	do {
		z->next_out = out->gzip->packed;
		z->avail_out = sizeof out->gzip->packed;
		if (isal_deflate(z) != COMP_OK) {
			out->job.status = -EIO;
			return;
		}
		write_all(out, out->gzip->packed, sizeof out->gzip->packed - z->avail_out);
	} while (!out->job.status &&
		 (z->avail_in || !z->avail_out || (last && z->internal_state.state != ZSTATE_END)));
}

static int gzip_create(struct gt_gzip **result)
{
	struct gt_gzip *g = malloc(sizeof *g);

	if (!g)
		return -ENOMEM;
	isal_deflate_init(&g->stream);
	g->stream.level = 1;
	g->stream.level_buf = g->level;
	g->stream.level_buf_size = sizeof g->level;
	g->stream.gzip_flag = IGZIP_GZIP;
	g->stream.flush = NO_FLUSH;
	*result = g;
	return 0;
}

int gt_out_open(struct gt_out *out, const char *path, bool gzip)
{
	int status;

	*out = (struct gt_out){.path = path, .fd = -1};
	out->base = malloc(GT_OUT_WRITE + GT_OUT_ROOM_MAX);
	if (!out->base)
		return gt_error(-ENOMEM, "cannot write %s", path);
	out->next = out->base;
	out->flush_at = out->base + GT_OUT_WRITE;
	if (gzip) {
		status = gzip_create(&out->gzip);
		if (status)
			goto free_buffer;
	}
	out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out->fd < 0) {
		status = -errno;
		goto free_gzip;
	}
	return 0;

free_gzip:
	free(out->gzip);
free_buffer:
	free(out->base);
	return gt_error(status, "cannot create %s", path);
}

void gt_out_open_memory(struct gt_out *out, size_t most)
{
	*out = (struct gt_out){.path = "", .fd = -1, .most = most};
}

int gt_out_clear(struct gt_out *out)
{
	out->status = 0;
	if (!out->base) {
		out->base = malloc(GT_OUT_WRITE + GT_OUT_ROOM_MAX);
		out->flush_at = out->base + (out->base ? GT_OUT_WRITE : 0);
	}
	out->next = out->base;
	return out->base ? 0 : -ENOMEM;
}

/* Double the buffer of an output in memory. Return false after setting the status. */
static bool grow_memory(struct gt_out *out)
{
	size_t used = (size_t)(out->next - out->base), size = (size_t)(out->flush_at - out->base);
	char *more = size * 2 <= out->most ? realloc(out->base, size * 2 + GT_OUT_ROOM_MAX) : NULL;

	if (!more) {
		out->status = -ENOMEM;
		return false;
	}
	out->base = more;
	out->next = more + used;
	out->flush_at = more + size * 2;
	return true;
}

/* Wait until the thread is idle, and report its error. */
static void settle_job(struct gt_out *out)
{
	gt_background_wait(out->background);
	if (out->job.status)
		fail_output(out, out->job.status);
}

static void do_job(void *data)
{
	struct gt_out *out = data;

	if (out->job.status)
		return;
	if (out->gzip)
		deflate_all(out, out->job.data, out->job.bytes, false);
	else
		write_all(out, out->job.data, out->job.bytes);
}

void gt_out_use_thread(struct gt_out *out)
{
	if (out->background || out->most)
		return;
	out->spare = malloc(GT_OUT_WRITE + GT_OUT_ROOM_MAX);
	out->background = out->spare ? gt_background_create() : NULL;
}

/* Write the first @bytes of the buffer, and move the rest to its start. With a thread, the rest
 * moves to the start of the other buffer. */
static void write_buffer(struct gt_out *out, size_t bytes)
{
	size_t rest = (size_t)(out->next - out->base) - bytes;
	char *from = out->base;

	settle_job(out);
	out->job.data = from;
	out->job.bytes = bytes;
	if (out->background) {
		out->base = out->spare;
		out->spare = from;
		out->flush_at = out->base + GT_OUT_WRITE;
		/* before the thread may use the buffer */
		memcpy(out->base, from + bytes, rest);
		gt_background_start(out->background, do_job, out);
	} else {
		do_job(out);
		settle_job(out);
		/* The areas do not overlap, because a buffer that is flushed contains many
		 * pages. */
		memcpy(out->base, from + bytes, rest);
	}
	out->next = out->base + rest;
}

void gt_out_flush(struct gt_out *out)
{
	size_t bytes = (size_t)(out->next - out->base);

	if (out->most && !out->status && grow_memory(out))
		return;
	if (out->status) /* after an error, only clear the buffer */
		out->next = out->base;
	else /* gzip: always as many bytes, because the compressed bytes depend on it */
		write_buffer(out, out->gzip ? GT_OUT_WRITE : bytes - bytes % PAGE);
}

/* Write large data without copying it, except for parts of pages. Return the number of bytes
 * written. */
static size_t write_large(struct gt_out *out, const char *data, size_t bytes)
{
	char *room = gt_out_room(out);
	size_t buffered = (size_t)(room - out->base), first = -buffered % PAGE,
	       whole = (bytes - first) - (bytes - first) % PAGE;

	memcpy(room, data, first);
	settle_job(out);
	write_all(out, out->base, buffered + first);
	write_all(out, data + first, whole);
	settle_job(out);
	out->next = out->base;
	return first + whole;
}

void gt_out_write(struct gt_out *out, const void *data, size_t bytes)
{
	const char *next = data;

	if (bytes >= GT_OUT_WRITE && !out->gzip && !out->most) {
		size_t written = write_large(out, next, bytes);

		next += written;
		bytes -= written;
	}

	while (bytes) {
		char *room = gt_out_room(out);
		size_t part = bytes < GT_OUT_ROOM_MAX ? bytes : GT_OUT_ROOM_MAX;

		memcpy(room, next, part);
		gt_out_end(out, room + part);
		next += part;
		bytes -= part;
	}
}

static void free_out(struct gt_out *out)
{
	gt_background_destroy(out->background);
	free(out->gzip);
	free(out->base);
	free(out->spare);
}

int gt_out_finish(struct gt_out *out, int status)
{
	size_t rest = (size_t)(out->next - out->base);

	settle_job(out);
	if (status) { /* the exporter failed: discard the rest */
		if (out->fd >= 0)
			close(out->fd);
		free_out(out);
		return status;
	}
	if (out->gzip && !out->status)
		deflate_all(out, out->base, rest, true);
	else
		write_all(out, out->base, rest);
	settle_job(out);
	if (out->has_reserved && !out->status && ftruncate(out->fd, (off_t)out->bytes) < 0)
		fail_output(out, -errno);
	/* Network file systems may report a full disk only at close(). */
	if (close(out->fd) < 0)
		fail_output(out, -errno);
	free_out(out);
	return out->status;
}
