/* SPDX-License-Identifier: MIT */
/* Makes captures from the files of a recording that is in progress or has ended: see snapshot.h.
 *
 *   | header | metadata still needed | KEPT | rows of chunk 1, 2, .. | END |
 *
 * Without --keep there are no chunks, and the current file is copied unchanged. The kernel copies
 * the rows (copy_file_range(): some file systems share the blocks). A snapshot shares only files
 * with the writer, and the writer only appends to or removes these files. */
#include "capture/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/keep.h"
#include "capture/scan.h"
#include "util/error.h"

enum { COPY_BYTES = 1 << 20 };

struct gt_snapshot {
	struct gt_retained_files files;
	struct gt_retained why;
	uint8_t id[GT_CAPTURE_ID_BYTES];
	char *text;
};

void gt_retained_files_close(struct gt_retained_files *files)
{
	if (files->meta_fd >= 0)
		close(files->meta_fd);
	while (files->count)
		close(files->chunks[--files->count].fd);
	files->meta_fd = -1;
}

int gt_keep_open_files(const struct gt_capture_writer *w, struct gt_retained_files *files)
{
	const struct gt_keep *k = w->keep;
	int status;

	memset(files, 0, sizeof *files);
	files->meta_fd = fcntl(w->main.fd, F_DUPFD_CLOEXEC, 0);
	files->meta_bytes = w->main.flushed_bytes;
	files->is_thinned = k && k->chunks[0].number > 1;
	for (size_t i = 0; k && i < k->count && files->meta_fd >= 0; i++) {
		char name[GT_KEEP_NAME_BYTES];
		int fd;

		snprintf(name, sizeof name, "chunk.%u", k->chunks[i].number);
		fd = openat(k->folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			break;
		files->chunks[files->count++] =
			(struct gt_retained_chunk){fd, i + 1 < k->count ? k->chunks[i].bytes
									: k->rows.flushed_bytes};
	}
	if (files->meta_fd >= 0 && (!k || files->count == k->count))
		return 0;
	status = gt_error(-errno, "cannot open the files of capture %s", w->path);
	gt_retained_files_close(files);
	return status;
}

/* Copy with read and write. Used if the kernel cannot copy. */
static int copy_bytes(int from, uint64_t at, uint64_t bytes, int to, uint64_t to_at)
{
	uint8_t *buffer = malloc(COPY_BYTES);
	int status = buffer ? 0 : -ENOMEM;

	while (bytes && !status) {
		size_t n = bytes < COPY_BYTES ? (size_t)bytes : COPY_BYTES, done = 0;

		status = gt_scan_read(from, buffer, n, at);
		while (!status && done < n) {
			ssize_t written =
				pwrite(to, buffer + done, n - done, (off_t)(to_at + done));

			if (written < 0 && errno == EINTR)
				continue;
			if (written <= 0)
				status = written ? -errno : -EIO;
			else
				done += (size_t)written;
		}
		at += n;
		to_at += n;
		bytes -= n;
	}
	free(buffer);
	return status;
}

int gt_snapshot_copy(int from, uint64_t at, uint64_t bytes, int to, uint64_t to_at)
{
	while (bytes) {
		off_t in = (off_t)at, out = (off_t)to_at;
		ssize_t n = copy_file_range(from, &in, to, &out,
					    bytes < (1 << 30) ? (size_t)bytes : 1 << 30, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
			return -errno;
		if (n <= 0) /* the kernel cannot copy between these two file systems */
			return copy_bytes(from, at, bytes, to, to_at);
		at += (uint64_t)n;
		to_at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int copy_rows(const struct gt_retained_files *files, struct gt_capture_writer *to)
{
	int status = 0;

	for (size_t i = 0; i < files->count && !status; i++) {
		struct gt_chunk_head head;
		uint64_t at = sizeof head, bytes;

		status = gt_scan_read(files->chunks[i].fd, &head, sizeof head, 0);
		/* skip the chunk's open ranges, because an earlier chunk contains them */
		at += !status && i ? head.open_bytes : 0;
		if (status || at > files->chunks[i].bytes)
			continue;
		bytes = files->chunks[i].bytes - at;
		status = gt_snapshot_copy(files->chunks[i].fd, at, bytes, to->main.fd,
					  to->main.bytes);
		if (!status)
			gt_writer_found_blocks(to, to->main.bytes + bytes);
	}
	return status ? gt_error(status, "cannot write capture %s", to->path) : 0;
}

static int write_window(const struct gt_retained_files *files, struct gt_capture_writer *to,
			const uint8_t *id, struct gt_retained *why)
{
	int status = gt_writer_put_header(to, id);

	if (!status)
		status = gt_retained_filter(files, to, true, why);
	if (!status)
		status = gt_writer_end_records(to);
	why->is_thinned = files->is_thinned;
	if (!status)
		status = gt_writer_put_retained(to, why);
	if (!status)
		status = gt_capture_flush(to);
	return status ? status : copy_rows(files, to);
}

/* Write the whole capture. */
static int write_all(const struct gt_retained_files *files, struct gt_capture_writer *to,
		     const struct gt_retained *why)
{
	int status = gt_snapshot_copy(files->meta_fd, 0, files->meta_bytes, to->main.fd, 0);

	if (status)
		return gt_error(status, "cannot write capture %s", to->path);
	gt_index_begin(&to->index, sizeof(struct gt_file_header));
	gt_writer_found_blocks(to, files->meta_bytes);
	return gt_writer_put_retained(to, why);
}

int gt_snapshot_assemble(const struct gt_retained_files *files, const char *path, int fd,
			 const uint8_t *id, struct gt_retained *why, bool complete)
{
	struct gt_capture_writer *to;
	int status = gt_writer_create(path, &to);

	if (status)
		return status;
	to->main.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (to->main.fd < 0 || ftruncate(fd, 0))
		status = gt_error(-errno, "cannot write capture %s", path);
	else if (files->count)
		status = write_window(files, to, id, why);
	else
		status = write_all(files, to, why);
	if (!status)
		return gt_capture_writer_finish(to, complete);
	gt_capture_writer_destroy(to);
	return status;
}

int gt_snapshot_create(const struct gt_capture_writer *w, const struct gt_retained *why,
		       struct gt_snapshot **out)
{
	struct gt_snapshot *s = calloc(1, sizeof *s);
	int status;

	*out = NULL;
	if (!s)
		return gt_error(-ENOMEM, "cannot write a snapshot");
	s->why = *why;
	s->why.is_window = w->keep != NULL;
	s->text = why->text ? strdup(why->text) : NULL;
	s->why.text = s->text;
	if (w->keep)
		s->why.asked = w->keep->asked;
	memcpy(s->id, w->id, sizeof s->id);
	status = gt_keep_open_files(w, &s->files);
	if (status) {
		free(s->text);
		free(s);
		return status;
	}
	*out = s;
	return 0;
}

/* Check that the snapshot may replace @path, which must be a regular file: not a device, a pipe, a
 * folder, or a symbolic link. */
static int check_name(const char *path, bool replace)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : gt_error(-errno, "cannot write snapshot %s", path);
	if (!replace)
		return gt_error(-EEXIST, "cannot write snapshot %s", path);
	if (S_ISREG(st.st_mode))
		return 0;
	gt_error(0, "%s is not a regular file; not modified", path);
	return -EINVAL;
}

/* Rename the complete file to its name. */
static int put_in_place(const char *part, const char *path, bool replace)
{
	unsigned flags = replace ? 0 : RENAME_NOREPLACE;

	if (!renameat2(AT_FDCWD, part, AT_FDCWD, path, flags))
		return 0;
	if (flags && errno == EINVAL) { /* the file system does not support RENAME_NOREPLACE */
		if (!link(part, path)) {
			unlink(part);
			return 0;
		}
	}
	return -errno;
}

int gt_snapshot_write(struct gt_snapshot *s, const char *path, bool replace, bool shared)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0, fd, status = check_name(path, replace);
	char *part;

	if (status)
		return status;
	if (asprintf(&part, "%.*s.%.200s.%d.%u.part", folder, path, path + folder, (int)getpid(),
		     s->why.number) < 0)
		return gt_error(-ENOMEM, "cannot write snapshot %s", path);
	fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, shared ? 0666 : 0600);
	if (fd < 0) {
		status = gt_error(-errno, "cannot write snapshot %s", path);
		goto out;
	}
	/* each snapshot of a flight recorder contains different records, so it needs a separate
	 * id */
	status = gt_snapshot_assemble(&s->files, path, fd, s->files.count ? NULL : s->id, &s->why,
				      true);
	close(fd);
	if (!status) {
		status = put_in_place(part, path, replace);
		if (status)
			gt_error(status, "cannot write snapshot %s", path);
	}
	if (status)
		unlink(part);
out:
	free(part);
	return status;
}

void gt_snapshot_destroy(struct gt_snapshot *s)
{
	if (!s)
		return;
	gt_retained_files_close(&s->files);
	free(s->text);
	free(s);
}
