/* SPDX-License-Identifier: MIT */
/* Payloads of stream blocks: read on demand, checked, decompressed. A damaged payload is counted at
 * its first read.
 * Locking: several threads may read one capture. A lock guards what they change in it: the reported
 * damage of blocks, and the health and counts that include this damage. Damage is rare, so one lock
 * for all captures is enough. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "capture/checksum.h"
#include "capture/reader.h"
#include "util/error.h"

static pthread_mutex_t damage_lock = PTHREAD_MUTEX_INITIALIZER;

void gt_block_reader_fini(struct block_reader *r)
{
	free(r->stored);
	free(r->raw);
	ZSTD_freeDCtx(r->zstd);
	memset(r, 0, sizeof *r);
}

static int block_room(uint8_t **buffer, size_t *room, size_t bytes)
{
	uint8_t *p;

	if (*room >= bytes)
		return 0;
	p = realloc(*buffer, bytes);
	if (!p)
		return gt_error(-ENOMEM, "cannot store a block of %zu bytes", bytes);
	*buffer = p;
	*room = bytes;
	return 0;
}

static int decompress(struct block_reader *r, const struct stream_block *b)
{
	size_t n;

	if (!r->zstd)
		r->zstd = ZSTD_createDCtx();
	if (!r->zstd)
		return gt_error(-ENOMEM, "cannot decompress a block");
	n = ZSTD_decompressDCtx(r->zstd, r->raw, b->raw_bytes, r->stored + b->head_bytes,
				b->stored_bytes);
	return ZSTD_isError(n) || n != b->raw_bytes ? -EBADMSG : 0;
}

int gt_capture_file_read(const struct capture_file *file, void *to, size_t bytes, uint64_t at)
{
	int fd = file->fd, status;
	struct stat st;

	if (fd >= 0)
		return gt_scan_read(fd, to, bytes, at);
	fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	status = fstat(fd, &st) ? -errno
		 : st.st_dev == file->device && st.st_ino == file->inode
			 ? gt_scan_read(fd, to, bytes, at)
			 : -ESTALE;
	close(fd);
	return status;
}

int gt_block_read(struct block_reader *r, const struct gt_capture *c, struct stream_block *b,
		  const uint8_t **payload)
{
	const struct capture_file *file = &c->files[gt_session_of(c, b->process)->file];
	size_t whole = (size_t)b->head_bytes + b->stored_bytes;
	bool packed = b->flags & GT_BLOCK_ZSTD;
	uint8_t *rows;
	int status;

	status = block_room(&r->stored, &r->stored_room, whole + GT_DECODE_SLACK);
	if (!status && packed)
		status = block_room(&r->raw, &r->raw_room, (size_t)b->raw_bytes + GT_DECODE_SLACK);
	if (status)
		return status;
	status = gt_capture_file_read(file, r->stored, whole, b->at);
	if (status && status != -ENODATA)
		return gt_error(status, "cannot read capture %s", file->path);
	/* compare the head with the block, because it may be a copy from an index */
	if (!status && (gt_head_crc(r->stored, b->head_bytes) != b->head_crc ||
			gt_crc32c(0, r->stored + b->head_bytes, b->stored_bytes) != b->payload_crc))
		status = -EBADMSG;
	if (!status && packed)
		status = decompress(r, b);
	else if (!status && b->raw_bytes != b->stored_bytes)
		status = -EBADMSG;
	if (status == -ENOMEM)
		return status;
	if (status) {
		gt_block_bad(c, b);
		return -EBADMSG;
	}
	rows = packed ? r->raw : r->stored + b->head_bytes;
	memset(rows + b->raw_bytes, 0, GT_DECODE_SLACK);
	*payload = rows;
	return 0;
}

static bool next_count(const uint8_t *head, size_t head_bytes, uint32_t i,
		       struct gt_file_count *out)
{
	struct gt_file_stream ext;
	size_t at = sizeof(struct gt_file_block) + sizeof ext + i * sizeof *out;

	memcpy(&ext, head + sizeof(struct gt_file_block), sizeof ext);
	if (i >= ext.count_entries || at + sizeof *out > head_bytes)
		return false;
	memcpy(out, head + at, sizeof *out);
	return true;
}

/* Return true for the first report of this kind of damage of the block. Call under the lock. */
static bool is_first_report(struct stream_block *b, uint8_t kind)
{
	bool is_first = !(b->reported & kind);

	b->reported |= kind;
	return is_first;
}

void gt_block_check_counts(const struct block_reader *r, const struct gt_capture *constant,
			   struct stream_block *b, const struct gt_decoder *d)
{
	/* cast as in gt_block_bad() */
	struct gt_capture *c = (struct gt_capture *)(uintptr_t)constant;
	uint64_t rows[GT_CLASS_COUNT][GT_DOMAIN_COUNT] = {{0}};
	static const uint64_t none[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	struct gt_file_count n;
	uint32_t i;

	for (i = 0; i < d->shape_count; i++) {
		const struct gt_item_head *item = &d->shapes[i].item;

		if (item->kind == GT_RECORD_CALL || item->kind == GT_RECORD_DEVICE)
			rows[item->kind == GT_RECORD_DEVICE ? GT_CLASS_DEVICE : GT_CLASS_CALL]
			    [GT_OP_DOMAIN(item->op)] += d->shapes[i].rows;
	}
	for (i = 0; next_count(r->stored, b->head_bytes, i, &n); i++)
		if (n.class < GT_CLASS_COUNT && n.domain < GT_DOMAIN_COUNT)
			rows[n.class][n.domain] -= n.count;
	if (memcmp(rows, none, sizeof rows) == 0)
		return;
	pthread_mutex_lock(&damage_lock);
	if (is_first_report(b, GT_DAMAGE_SUMS)) {
		c->health.bad_sums++;
		gt_session_of(c, b->process)->public.health.bad_sums++;
	}
	pthread_mutex_unlock(&damage_lock);
}

/* Count the block's records as lost: move them from the recorded to the corrupt records. The counts
 * in the block's head are valid, because the head was checked. */
static void count_lost(struct gt_capture *c, const struct stream_block *b)
{
	uint8_t head[GT_FILE_HEAD_MAX];
	struct gt_counts *counts = &c->sums[b->process]->counts;
	struct session *session = gt_session_of(c, b->process);
	struct gt_file_count n;
	uint32_t i;

	c->health.bad_blocks++;
	c->health.bad_bytes += (uint64_t)b->head_bytes + b->stored_bytes;
	session->public.health.bad_blocks++;
	session->public.health.bad_bytes += (uint64_t)b->head_bytes + b->stored_bytes;
	if (gt_capture_file_read(&c->files[session->file], head, b->head_bytes, b->head_at))
		return;
	for (i = 0; next_count(head, b->head_bytes, i, &n); i++) {
		uint64_t lost;

		if (n.class >= GT_CLASS_COUNT || n.domain >= GT_DOMAIN_COUNT)
			continue;
		lost = n.count < counts->recorded[n.class][n.domain]
			       ? n.count
			       : counts->recorded[n.class][n.domain];
		counts->recorded[n.class][n.domain] -= lost;
		counts->dropped[GT_DROP_CORRUPT][n.class][n.domain] += lost;
	}
}

void gt_block_bad(const struct gt_capture *constant, struct stream_block *b)
{
	/* by design, health and counts are updated late, even in a constant capture */
	struct gt_capture *c = (struct gt_capture *)(uintptr_t)constant;

	pthread_mutex_lock(&damage_lock);
	if (is_first_report(b, GT_DAMAGE_BLOCK))
		count_lost(c, b);
	pthread_mutex_unlock(&damage_lock);
}

int gt_capture_verify(struct gt_capture *c)
{
	struct block_reader reader = {0};
	const uint8_t *payload;
	size_t i;
	int status = 0;

	for (i = 0; i < c->block_count && (!status || status == -EBADMSG); i++)
		status = gt_block_read(&reader, c, &c->blocks[i], &payload);
	gt_block_reader_fini(&reader);
	return status == -EBADMSG ? 0 : status;
}

void gt_capture_lock_health(void)
{
	pthread_mutex_lock(&damage_lock);
}

void gt_capture_unlock_health(void)
{
	pthread_mutex_unlock(&damage_lock);
}
