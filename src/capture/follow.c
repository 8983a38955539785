/* SPDX-License-Identifier: MIT */
/* See follow.h. The small capture is a nameless file in memory:
 *
 *   | file header | blocks that are not records, in their order | new STREAM blocks |
 *
 * Blocks are independent of each other (format.h), so the omitted blocks are not needed. In a
 * flight recorder (keep.h), metadata is in meta.N, which a new and shorter file may replace at any
 * time, and the STREAM blocks are in chunks. An open file can be read to its end even after its
 * removal. Metadata is written before the records that refer to it. So each step first determines
 * the end of the records, then reads metadata, then reads the records up to that end. */
#include "capture/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/format.h"
#include "capture/keep.h"
#include "util/error.h"

enum { NEW_MOST = 256 << 20 };

/* A growing file. */
struct growing {
	int fd;
	uint32_t number; /* number of the chunk or metadata file */
	uint64_t at;     /* position of the next block */
};

struct gt_follow {
	char *path;
	struct growing main; /* the capture, or meta.N */
	struct growing rows; /* file of a flight recorder: the chunk */
	int image;           /* memory file that holds the small captures */
	/* folder of a flight recorder; -1: the session is not a flight recorder, and the capture
	 * contains all records */
	int folder;
	char *folder_path;
	uint64_t kept; /* size of the part of the image that is reused: header and metadata */
	bool ended;
};

static int read_at(const struct gt_follow *f, const struct growing *g, void *data, size_t bytes,
		   uint64_t at)
{
	ssize_t n;

	do
		n = pread(g->fd, data, bytes, (off_t)at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gt_error(-errno, "cannot read %s", f->path);
	return (size_t)n == bytes;
}

static int write_at(const struct gt_follow *f, const char *data, size_t bytes, uint64_t at)
{
	while (bytes) {
		ssize_t n = pwrite(f->image, data, bytes, (off_t)at);

		if (n < 0 && errno != EINTR)
			return gt_error(-errno, "cannot follow %s", f->path);
		if (n > 0) {
			data += n;
			at += (uint64_t)n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

static int copy_block(const struct gt_follow *f, const struct growing *g, uint64_t bytes,
		      uint64_t to)
{
	char *data = malloc(bytes);
	int status;

	if (!data)
		return gt_error(-ENOMEM, "cannot follow %s", f->path);
	status = read_at(f, g, data, bytes, g->at);
	if (status == 1)
		status = write_at(f, data, bytes, to);
	else if (!status)
		status = gt_error(-EIO, "%s was truncated", f->path);
	free(data);
	return status;
}

/* Read the head of the block at g->at. Return 1, 0 if the block is not complete yet, or negative
 * errno with a cause. */
static int look_at_block(const struct gt_follow *f, const struct growing *g, uint64_t file_bytes,
			 struct gt_file_block *block, uint64_t *bytes)
{
	int status;

	if (g->at + sizeof *block > file_bytes)
		return 0;
	status = read_at(f, g, block, sizeof *block, g->at);
	if (status != 1)
		return status;
	if (block->magic != GT_BLOCK_MAGIC || block->head_bytes < sizeof *block ||
	    block->head_bytes > GT_FILE_HEAD_MAX || block->stored_bytes > GT_FILE_PAYLOAD_MAX)
		return gt_error(-EBADMSG, "%s is damaged at byte %llu", f->path,
				(unsigned long long)g->at);
	*bytes = (uint64_t)block->head_bytes + block->stored_bytes;
	return g->at + *bytes <= file_bytes;
}

static int get_file_bytes(const struct gt_follow *f, struct growing *g, uint64_t *bytes)
{
	struct stat st;

	if (fstat(g->fd, &st))
		return gt_error(-errno, "cannot read %s", f->path);
	*bytes = (uint64_t)st.st_size;
	/* the writer has cut the file back, so the removed records count as lost */
	if (*bytes < g->at)
		g->at = *bytes;
	return 0;
}

/* Append metadata blocks to the reused part of the image. */
static int take_kept(struct gt_follow *f, uint64_t file_bytes)
{
	struct growing *g = &f->main;
	struct gt_file_block block;
	uint64_t bytes = 0, from = g->at;
	int status = 0;

	while (!status && g->at - from < NEW_MOST && !f->ended &&
	       (status = look_at_block(f, g, file_bytes, &block, &bytes)) == 1) {
		status = 0;
		f->ended = block.type == GT_BLOCK_END;
		if (block.type != GT_BLOCK_STREAM && !f->ended) {
			status = copy_block(f, g, bytes, f->kept);
			f->kept += status ? 0 : bytes;
		}
		g->at += status ? 0 : bytes;
	}
	return status;
}

/* Append records up to @end to the image at *to. */
static int take_records(const struct gt_follow *f, struct growing *g, uint64_t end, uint64_t *to)
{
	struct gt_file_block block;
	uint64_t bytes = 0;
	int status = 0;

	while (!status && g->at < end && (status = look_at_block(f, g, end, &block, &bytes)) == 1) {
		status = 0;
		if (block.type == GT_BLOCK_STREAM) {
			status = copy_block(f, g, bytes, *to);
			*to += status ? 0 : bytes;
		}
		g->at += status ? 0 : bytes;
	}
	return status;
}

static int skip_records(const struct gt_follow *f, struct growing *g)
{
	struct gt_file_block block;
	uint64_t end = 0, bytes = 0;
	int status = get_file_bytes(f, g, &end);

	while (!status && (status = look_at_block(f, g, end, &block, &bytes)) == 1) {
		status = 0;
		g->at += bytes;
	}
	return status;
}

static int end_image(const struct gt_follow *f, uint64_t bytes)
{
	return ftruncate(f->image, (off_t)bytes) ? gt_error(-errno, "cannot follow %s", f->path)
						 : 0;
}

/* Read a capture in one file. Needs two passes because metadata must precede records: first all
 * metadata, then the records if @records is true. */
static int take_blocks(struct gt_follow *f, bool records)
{
	uint64_t file_bytes = 0, from, end, to;
	int status = get_file_bytes(f, &f->main, &file_bytes);

	from = f->main.at;
	if (!status)
		status = take_kept(f, file_bytes);
	end = f->main.at;
	to = f->kept;
	f->main.at = from;
	if (!status && records)
		status = take_records(f, &f->main, end, &to);
	f->main.at = end;
	return status ? status : end_image(f, to);
}

static int begin_image(struct gt_follow *f)
{
	struct gt_file_header header;
	int status = read_at(f, &f->main, &header, sizeof header, 0);

	if (status != 1)
		return status < 0 ? status : gt_error(-ENODATA, "%s has no header yet", f->path);
	if (header.header_bytes != sizeof header)
		return gt_error(-ENOTSUP, "%s was written by a newer gputap", f->path);
	f->main.at = f->kept = sizeof header;
	return write_at(f, (const char *)&header, sizeof header, 0);
}

/* Files of a flight recorder --------------------------------------------------------- */

/* Numbers of the existing files "chunk.N" or "meta.N". */
struct numbers {
	uint32_t least, most; /* least: lowest number above the current one; 0: none */
};

static struct numbers find_numbers(const struct gt_follow *f, const char *what, uint32_t above)
{
	int fd = openat(f->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct numbers found = {0};
	size_t length = strlen(what);

	for (struct dirent *e; dir && (e = readdir(dir));) {
		unsigned long number;

		if (strncmp(e->d_name, what, length) || e->d_name[length] != '.')
			continue;
		number = strtoul(e->d_name + length + 1, NULL, 10);
		if (number > above && number <= UINT32_MAX) {
			if (!found.least || number < found.least)
				found.least = (uint32_t)number;
			if (number > found.most)
				found.most = (uint32_t)number;
		}
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* Open file @number. Return 1, 0 if the file no longer exists, or negative errno with a cause. */
static int open_numbered(const struct gt_follow *f, struct growing *g, const char *what,
			 uint32_t number)
{
	char name[GT_KEEP_NAME_BYTES];

	snprintf(name, sizeof name, "%s.%u", what, number);
	*g = (struct growing){.number = number};
	g->fd = openat(f->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (g->fd < 0)
		return errno == ENOENT ? 0 : gt_error(-errno, "cannot follow %s", f->path);
	return 1;
}

/* If @status is 1, move @opened to @to. Otherwise close @opened. Return @status. */
static int take_over(struct growing *to, struct growing *opened, int status)
{
	if (status == 1) {
		if (to->fd >= 0)
			close(to->fd);
		*to = *opened;
	} else if (opened->fd >= 0) {
		close(opened->fd);
	}
	return status;
}

/* Open a chunk. Skip its first blocks, because they repeat open ranges that earlier chunks contain.
 * Return 1, 0 if the chunk no longer exists or has no head yet, or negative errno with a cause. */
static int open_chunk(const struct gt_follow *f, struct growing *to, uint32_t number)
{
	struct gt_chunk_head head = {0};
	struct growing opened;
	int status = open_numbered(f, &opened, "chunk", number);

	if (status == 1)
		status = read_at(f, &opened, &head, sizeof head, 0);
	if (status == 1 && head.magic != GT_CHUNK_MAGIC)
		status = 0;
	opened.at = sizeof head + head.open_bytes;
	return take_over(to, &opened, status);
}

/* Open a metadata file. Returns the same values as open_chunk(). */
static int open_metadata(const struct gt_follow *f, struct growing *to, uint32_t number)
{
	struct gt_file_header header;
	struct growing opened;
	int status = open_numbered(f, &opened, "meta", number);

	if (status == 1)
		status = read_at(f, &opened, &header, sizeof header, 0);
	return take_over(to, &opened, status);
}

static bool is_folder_gone(const struct gt_follow *f)
{
	return access(f->folder_path, F_OK) && errno == ENOENT;
}

/* Read new metadata, from the start of the newest file if a newer file exists. Incomplete blocks
 * are read later. */
static int take_metadata(struct gt_follow *f)
{
	struct numbers newer = find_numbers(f, "meta", f->main.number);
	uint64_t file_bytes = 0, before;
	int status = 0;

	if (newer.most) {
		status = open_metadata(f, &f->main, newer.most);
		if (status == 1)
			status = begin_image(f);
	}
	do {
		before = f->main.at;
		if (!status)
			status = get_file_bytes(f, &f->main, &file_bytes);
		if (!status)
			status = take_kept(f, file_bytes);
	} while (!status && f->main.at != before);
	return status;
}

/* Read the rest of the current chunk, which may have been removed, and all later chunks. */
static int take_chunks(struct gt_follow *f)
{
	bool gone = is_folder_gone(f);
	struct numbers newer = find_numbers(f, "chunk", f->rows.number);
	uint64_t end = 0, to;
	int status = get_file_bytes(f, &f->rows, &end);

	if (!status)
		status = take_metadata(f);
	to = f->kept;
	if (!status)
		status = take_records(f, &f->rows, end, &to);
	/* the newest chunk is still growing. The next step reads it, after the metadata that
	 * precedes its records */
	while (!status && newer.least && to - f->kept < NEW_MOST) {
		status = open_chunk(f, &f->rows, newer.least);
		if (status < 0)
			break;
		if (status == 1 && newer.least != newer.most)
			status = get_file_bytes(f, &f->rows, &end);
		else
			end = status = 0;
		if (!status)
			status = take_records(f, &f->rows, end, &to);
		newer = newer.least == newer.most ? (struct numbers){0}
						  : find_numbers(f, "chunk", newer.least);
	}
	f->ended = gone && !status;
	return status ? status : end_image(f, to);
}

/* "<folder>/.<name>.<first half of the capture's id>.keep", as in keep.c */
static int name_folder(struct gt_follow *f)
{
	const char *slash = strrchr(f->path, '/');
	int folder = slash ? (int)(slash + 1 - f->path) : 0;
	struct gt_file_header header;
	uint64_t id;

	if (read_at(f, &f->main, &header, sizeof header, 0) != 1)
		return gt_error(-ENODATA, "%s has no header yet", f->path);
	memcpy(&id, header.uuid, sizeof id);
	if (asprintf(&f->folder_path, "%.*s.%.200s.%016llx.keep", folder, f->path, f->path + folder,
		     (unsigned long long)id) < 0) {
		f->folder_path = NULL;
		return gt_error(-ENOMEM, "cannot follow %s", f->path);
	}
	return 0;
}

/* If the capture belongs to a flight recorder whose files exist, continue with the newest files.
 * Return 1, 0 or negative errno with a cause. */
static int begin_keep(struct gt_follow *f)
{
	struct growing metadata = {.fd = -1}, rows = {.fd = -1};
	struct numbers metas, chunks;
	int status;

	f->folder = open(f->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0)
		return 0;
	metas = find_numbers(f, "meta", 0);
	chunks = find_numbers(f, "chunk", 0);
	status = metas.most && chunks.most ? open_metadata(f, &metadata, metas.most) : 0;
	if (status == 1)
		status = open_chunk(f, &rows, chunks.most);
	if (status != 1) {
		take_over(&f->main, &metadata, 0);
		close(f->folder);
		f->folder = -1;
		return status;
	}
	take_over(&f->main, &metadata, 1);
	take_over(&f->rows, &rows, 1);
	status = begin_image(f);
	return status ? status : 1;
}

/* Open and next ---------------------------------------------------------------------- */

static int open_files(struct gt_follow *f, const char *path)
{
	int status;

	f->path = strdup(path);
	f->main.fd = open(path, O_RDONLY | O_CLOEXEC);
	f->image = memfd_create("gputap-follow", MFD_CLOEXEC);
	if (!f->path || f->main.fd < 0 || f->image < 0)
		return gt_error(-errno, "cannot follow %s", path);
	status = name_folder(f);
	if (!status)
		status = begin_keep(f);
	return status ? (status < 0 ? status : 0) : begin_image(f);
}

static int pass_over(struct gt_follow *f)
{
	int status = 0;

	if (f->folder >= 0) {
		status = skip_records(f, &f->rows);
		return status ? status : take_metadata(f);
	}
	/* repeat until the end, because one step reads a limited amount */
	for (uint64_t before = 0; !status && f->main.at != before;) {
		before = f->main.at;
		status = take_blocks(f, false);
	}
	return status;
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
		return gt_error(-ENOMEM, "cannot follow %s", path);
	f->main.fd = f->rows.fd = f->image = f->folder = -1;
	status = open_files(f, path);
	if (!status)
		status = pass_over(f);
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
	for (int i = 0; i < 4; i++) {
		int fd = (const int[]){f->main.fd, f->rows.fd, f->image, f->folder}[i];

		if (fd >= 0)
			close(fd);
	}
	free(f->folder_path);
	free(f->path);
	free(f);
}

int gt_follow_next(struct gt_follow *f, struct gt_capture **out, bool *ended)
{
	char image[64];
	int status = 0;

	/* the files of a flight recorder appear shortly after the capture */
	if (f->folder < 0 && !f->ended)
		status = begin_keep(f);
	if (status >= 0)
		status = f->folder >= 0 ? take_chunks(f) : take_blocks(f, true);
	*out = NULL;
	*ended = f->ended;
	if (status || f->kept <= sizeof(struct gt_file_header))
		return status;
	snprintf(image, sizeof image, "/proc/self/fd/%d", f->image);
	return gt_capture_open(image, out);
}
