/* SPDX-License-Identifier: MIT */
/* See follow.h. The small capture is a nameless file in memory:
 *
 *   | file header | blocks that are not records, in their order | new STREAM blocks |
 *
 * Each block stands for itself (format.h), so that none of those that are left out is missed. */
#include "capture/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/format.h"
#include "util/error.h"

enum { NEW_MOST = 256 << 20 };

struct gt_follow {
	char *path;
	int fd, image; /* image: what the small captures are made of */
	uint64_t at;   /* of the next block in the file */
	uint64_t kept; /* bytes of the image that stay: header and what is not records */
	bool ended;
};

static int read_at(const struct gt_follow *f, void *data, size_t bytes, uint64_t at)
{
	ssize_t n;

	do
		n = pread(f->fd, data, bytes, (off_t)at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gt_error(-errno, "read %s", f->path);
	return (size_t)n == bytes;
}

static int write_at(const struct gt_follow *f, const char *data, size_t bytes, uint64_t at)
{
	while (bytes) {
		ssize_t n = pwrite(f->image, data, bytes, (off_t)at);

		if (n < 0 && errno != EINTR)
			return gt_error(-errno, "follow %s", f->path);
		if (n > 0) {
			data += n;
			at += (uint64_t)n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

static int copy_block(const struct gt_follow *f, uint64_t bytes, uint64_t to)
{
	char *data = malloc(bytes);
	int status;

	if (!data)
		return gt_error(-ENOMEM, "follow %s", f->path);
	status = read_at(f, data, bytes, f->at);
	if (status == 1)
		status = write_at(f, data, bytes, to);
	else if (!status)
		status = gt_error(-EIO, "%s became shorter", f->path);
	free(data);
	return status;
}

/* The block at f->at. Return: 1, 0: it is not whole yet, negative errno with a cause. */
static int look_at_block(const struct gt_follow *f, uint64_t file_bytes,
			 struct gt_file_block *block, uint64_t *bytes)
{
	int status;

	if (f->at + sizeof *block > file_bytes)
		return 0;
	status = read_at(f, block, sizeof *block, f->at);
	if (status != 1)
		return status;
	if (block->magic != GT_BLOCK_MAGIC || block->head_bytes < sizeof *block ||
	    block->head_bytes > GT_FILE_HEAD_MAX || block->stored_bytes > GT_FILE_PAYLOAD_MAX)
		return gt_error(-EBADMSG, "%s is damaged at byte %llu, and cannot be followed",
				f->path, (unsigned long long)f->at);
	*bytes = (uint64_t)block->head_bytes + block->stored_bytes;
	return f->at + *bytes <= file_bytes;
}

static int get_file_bytes(struct gt_follow *f, uint64_t *bytes)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return gt_error(-errno, "look at %s", f->path);
	*bytes = (uint64_t)st.st_size;
	if (*bytes < f->at) /* cut back by its writer: what was there counts as lost */
		f->at = *bytes;
	return 0;
}

/* What is not records goes to the kept ones; records behind these, unless they are passed over. In
 * two turns, as kept ones must not come behind records: first all that is kept. */
static int take_blocks(struct gt_follow *f, bool records)
{
	uint64_t file_bytes = 0, bytes, from, end, to;
	struct gt_file_block block;
	int status = get_file_bytes(f, &file_bytes);

	from = f->at;
	while (!status && f->at - from < NEW_MOST && !f->ended &&
	       (status = look_at_block(f, file_bytes, &block, &bytes)) == 1) {
		status = 0;
		f->ended = block.type == GT_BLOCK_END;
		if (block.type != GT_BLOCK_STREAM && block.type != GT_BLOCK_INDEX && !f->ended) {
			status = copy_block(f, bytes, f->kept);
			f->kept += status ? 0 : bytes;
		}
		f->at += status ? 0 : bytes;
	}
	end = f->at;
	to = f->kept;
	for (f->at = from; !status && records && f->at < end; f->at += bytes) {
		status = look_at_block(f, end, &block, &bytes);
		if (status == 1 && block.type == GT_BLOCK_STREAM) {
			status = copy_block(f, bytes, to);
			to += bytes;
		}
		status = status > 0 ? 0 : status;
	}
	f->at = end;
	if (!status && ftruncate(f->image, (off_t)to))
		status = gt_error(-errno, "follow %s", f->path);
	return status;
}

static int begin_image(struct gt_follow *f)
{
	struct gt_file_header header;
	int status = read_at(f, &header, sizeof header, 0);

	if (status != 1)
		return status < 0 ? status : gt_error(-ENODATA, "%s has no begin yet", f->path);
	if (header.header_bytes != sizeof header)
		return gt_error(-ENOTSUP, "%s is of a newer gputap", f->path);
	f->at = f->kept = sizeof header;
	return write_at(f, (const char *)&header, sizeof header, 0);
}

int gt_follow_open(const char *path, struct gt_follow **out)
{
	struct gt_follow *f;
	int status = gt_capture_probe(path);

	*out = NULL;
	if (status)
		return status;
	f = calloc(1, sizeof *f);
	if (!f)
		return gt_error(-ENOMEM, "follow %s", path);
	f->path = strdup(path);
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	f->image = memfd_create("gputap-follow", MFD_CLOEXEC);
	if (!f->path || f->fd < 0 || f->image < 0)
		status = gt_error(-errno, "follow %s", path);
	else
		status = begin_image(f);
	/* to its end, and there may be more than comes at once */
	for (uint64_t before = 0; !status && f->at != before;) {
		before = f->at;
		status = take_blocks(f, false);
	}
	if (status)
		gt_follow_close(f);
	else
		*out = f;
	return status;
}

void gt_follow_close(struct gt_follow *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->image >= 0)
		close(f->image);
	free(f->path);
	free(f);
}

int gt_follow_next(struct gt_follow *f, struct gt_capture **out, bool *ended)
{
	int status = take_blocks(f, true);
	char image[64];

	*out = NULL;
	*ended = f->ended;
	if (status || f->kept <= sizeof(struct gt_file_header))
		return status;
	snprintf(image, sizeof image, "/proc/self/fd/%d", f->image);
	return gt_capture_open(image, out);
}
