/* SPDX-License-Identifier: MIT */
/* See keep.h. Functions here are called right after a good flush, or before the first one. */
#include "capture/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "capture/scan.h"
#include "capture/snapshot.h"
#include "clock/clock.h"
#include "util/clock_ns.h"
#include "util/error.h"

enum {
	PARTS = 16, /* number of chunks per window */
	/* number of bytes by which a flush may exceed a chunk's share */
	SLACK_BYTES = 8 << 20,
	FILTER_BYTES = 4 << 20, /* metadata smaller than this is not filtered */
};

/* Files ------------------------------------------------------------------------- */

static void name_file(char name[GT_KEEP_NAME_BYTES], const char *what, uint32_t number)
{
	snprintf(name, GT_KEEP_NAME_BYTES, "%s.%u", what, number);
}

static int open_file(const struct gt_keep *k, const char *what, uint32_t number, int flags)
{
	char name[GT_KEEP_NAME_BYTES];

	name_file(name, what, number);
	return openat(k->folder_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static void remove_file(const struct gt_keep *k, const char *what, uint32_t number)
{
	char name[GT_KEEP_NAME_BYTES];

	name_file(name, what, number);
	unlinkat(k->folder_fd, name, 0);
}

/* "<folder>/.<name>.<first half of the capture's id>.keep" */
static char *name_folder(const struct gt_capture_writer *w)
{
	const char *slash = strrchr(w->path, '/');
	int folder = slash ? (int)(slash + 1 - w->path) : 0;
	uint64_t id;
	char *path;

	memcpy(&id, w->id, sizeof id);
	if (asprintf(&path, "%.*s.%.200s.%016llx.keep", folder, w->path, w->path + folder,
		     (unsigned long long)id) < 0)
		return NULL;
	return path;
}

static bool drop_for_room(struct gt_capture_writer *w);
static void advance(struct gt_capture_writer *w);
static int finish(struct gt_capture_writer *w, bool complete);
static void destroy(struct gt_keep *k);
static void look(struct gt_keep *k, uint32_t process, uint32_t ordinal, const void *data,
		 size_t bytes);
static void end(struct gt_keep *k, uint32_t process, uint32_t ordinal);

static const struct gt_keeper keeper = {drop_for_room, advance, finish, destroy, look, end};

static int keep_new(struct gt_capture_writer *w, const struct gt_keep_options *asked)
{
	struct gt_keep *k = calloc(1, sizeof *k);

	if (!k)
		return gt_error(-ENOMEM, "cannot write capture %s", w->path);
	k->rows.fd = k->folder_fd = k->output_fd = -1;
	k->asked = *asked;
	k->most_bytes = asked->most_bytes;
	k->filter_at = FILTER_BYTES;
	k->rows.out_room = GT_WRITER_WRITE_BYTES + (256 << 10);
	k->rows.out = malloc(k->rows.out_room);
	k->folder = name_folder(w);
	w->keep = k;
	w->keeper = &keeper;
	return k->rows.out && k->folder ? 0 : gt_error(-ENOMEM, "cannot write capture %s", w->path);
}

static void destroy(struct gt_keep *k)
{
	if (k->rows.fd >= 0)
		close(k->rows.fd);
	if (k->folder_fd >= 0)
		close(k->folder_fd);
	if (k->output_fd >= 0)
		close(k->output_fd);
	gt_open_ranges_fini(&k->open);
	free(k->rows.out);
	free(k->folder);
	free(k);
}

/* Remove all files. Also works without a free descriptor. */
static void remove_files(struct gt_keep *k)
{
	DIR *dir = fdopendir(k->folder_fd);
	struct dirent *e;

	if (dir) {
		rewinddir(dir);
		while ((e = readdir(dir)))
			if (e->d_name[0] != '.')
				unlinkat(dirfd(dir), e->d_name, 0);
		closedir(dir);
		k->folder_fd = -1;
	}
	rmdir(k->folder);
}

/* Chunks ------------------------------------------------------------------------ */

static struct gt_chunk *newest(struct gt_keep *k)
{
	return &k->chunks[k->count - 1];
}

static bool drop_oldest(struct gt_keep *k)
{
	if (k->count < 2)
		return false;
	remove_file(k, "chunk", k->chunks[0].number);
	k->ended_bytes -= k->chunks[0].bytes;
	k->count--;
	memmove(k->chunks, k->chunks + 1, k->count * sizeof k->chunks[0]);
	return true;
}

static bool drop_for_room(struct gt_capture_writer *w)
{
	return drop_oldest(w->keep);
}

static void look(struct gt_keep *k, uint32_t process, uint32_t ordinal, const void *data,
		 size_t bytes)
{
	gt_open_ranges_look(&k->open, process, ordinal, data, bytes);
}

static void end(struct gt_keep *k, uint32_t process, uint32_t ordinal)
{
	gt_open_ranges_end(&k->open, process, ordinal);
}

/* Write the open ranges after the chunk's head, and their size to @head. Return 0, or negative
 * errno with errno set. */
static int write_open_ranges(const struct gt_keep *k, int fd, struct gt_chunk_head *head)
{
	struct gt_capture_writer *to;
	int status;

	head->open_bytes = 0;
	if (!k->open.count)
		return 0;
	status = gt_writer_create(k->folder, &to);
	if (!status) {
		to->main.fd = fd;
		to->main.bytes = to->main.flushed_bytes = sizeof *head;
		status = gt_open_ranges_write(&k->open, to);
		head->open_bytes = to->main.flushed_bytes - sizeof *head;
		to->main.fd = -1;
		gt_capture_writer_destroy(to);
	}
	gt_error_clear();
	errno = -status;
	return status;
}

/* Create the file of a chunk with its head. Return the descriptor, or -1 with errno set. */
static int make_chunk(const struct gt_keep *k, struct gt_chunk_head *head)
{
	int fd = open_file(k, "chunk", head->number, O_RDWR | O_CREAT | O_TRUNC), error;

	if (fd < 0)
		return -1;
	if (!write_open_ranges(k, fd, head) &&
	    pwrite(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head)
		return fd;
	error = errno;
	close(fd);
	remove_file(k, "chunk", head->number);
	errno = error;
	return -1;
}

/* Compute the limit of retained bytes on this disk. */
static void look_at_disk(struct gt_keep *k)
{
	struct statvfs disk;
	uint64_t there;

	k->most_bytes = k->asked.most_bytes;
	if (fstatvfs(k->folder_fd, &disk))
		return;
	there = k->ended_bytes + k->rows.bytes + (uint64_t)disk.f_bavail * disk.f_frsize;
	if (k->most_bytes > there / 2)
		k->most_bytes = there / 2;
}

/* Write rows to a new chunk from now on. Return 0 or negative errno. On failure the old chunk
 * continues. */
static int begin_chunk(struct gt_keep *k)
{
	struct gt_chunk_head head = {.magic = GT_CHUNK_MAGIC,
				     .host_clock = k->host_clock,
				     .number = k->count ? newest(k)->number + 1 : 1};
	int fd;

	look_at_disk(k);
	gt_clock_tuple_take(k->host_clock, &head.begun);
	do
		fd = make_chunk(k, &head);
	while (fd < 0 && (errno == ENOSPC || errno == EDQUOT) && drop_oldest(k));
	if (fd < 0)
		return -errno;
	if (k->count == GT_KEEP_CHUNKS)
		drop_oldest(k);
	if (k->count) {
		close(k->rows.fd);
		newest(k)->bytes = k->rows.bytes;
		newest(k)->ended_ns = head.begun.boottime_ns;
		k->ended_bytes += k->rows.bytes;
	}
	k->chunks[k->count++] =
		(struct gt_chunk){.number = head.number, .begun_ns = head.begun.boottime_ns};
	k->rows.fd = fd;
	k->rows.bytes = k->rows.flushed_bytes = sizeof head + head.open_bytes;
	return 0;
}

/* Return true if a new chunk is due. After the death of the collector, age does not matter, because
 * the window ended at the collector's death. */
static bool is_chunk_full(struct gt_keep *k, uint64_t now)
{
	return k->rows.bytes >= k->most_bytes / PARTS ||
	       (!k->is_recovered && now - newest(k)->begun_ns >= k->asked.window_ns / PARTS);
}

static void drop_old(struct gt_keep *k, uint64_t now)
{
	uint64_t slack = k->most_bytes / 4 < SLACK_BYTES ? k->most_bytes / 4 : SLACK_BYTES;
	uint64_t most = k->most_bytes - k->most_bytes / PARTS - slack;

	while (k->count > 1 &&
	       (k->ended_bytes > most ||
		(!k->is_recovered && k->chunks[0].ended_ns + k->asked.window_ns < now)))
		drop_oldest(k);
}

/* Metadata ---------------------------------------------------------------------- */

/* Copy the needed metadata to a new file. On failure the old file continues. */
static void renew_metadata(struct gt_capture_writer *w)
{
	struct gt_keep *k = w->keep;
	struct gt_capture_writer *to;
	struct gt_retained kept = {.is_window = true};
	struct gt_retained_files files;
	int status = gt_writer_create(w->path, &to);

	k->filter_at = 2 * w->main.flushed_bytes; /* do not retry too often after a failure */
	if (status)
		goto out;
	to->main.fd = open_file(k, "meta", k->meta + 1, O_RDWR | O_CREAT | O_TRUNC);
	status = to->main.fd < 0 ? -errno : gt_writer_put_header(to, w->id);
	if (!status)
		status = gt_keep_open_files(w, &files);
	if (!status) {
		status = gt_retained_filter(&files, to, false, &kept);
		gt_retained_files_close(&files);
	}
	if (!status)
		status = gt_capture_flush(to);
	if (!status) {
		close(w->main.fd);
		w->main.fd = to->main.fd;
		w->main.bytes = w->main.flushed_bytes = to->main.flushed_bytes;
		to->main.fd = -1;
		k->stale_meta = k->meta++;
		k->filter_at = 2 * w->main.flushed_bytes > FILTER_BYTES ? 2 * w->main.flushed_bytes
									: FILTER_BYTES;
	} else {
		remove_file(k, "meta", k->meta + 1);
	}
	gt_capture_writer_destroy(to);
out:
	if (status)
		gt_error_clear();
}

static void advance(struct gt_capture_writer *w)
{
	struct gt_keep *k = w->keep;
	uint64_t now;

	/* the journal has named the newer file since the previous flush */
	if (k->stale_meta)
		remove_file(k, "meta", k->stale_meta);
	k->stale_meta = 0;
	now = gt_clock_ns(CLOCK_BOOTTIME);
	if (is_chunk_full(k, now))
		begin_chunk(k); /* on failure the old chunk continues */
	drop_old(k, now);
	if (w->main.flushed_bytes >= k->filter_at)
		renew_metadata(w);
}

/* Begin and end ------------------------------------------------------------------ */

/* Copy the start of the session from the capture to the metadata file. */
static int copy_begin(struct gt_capture_writer *w, int fd)
{
	return gt_snapshot_copy(w->main.fd, 0, w->main.flushed_bytes, fd, 0);
}

/* Fail early if too few descriptors are available, because all chunks are opened at once at the end
 * of the session. */
static int try_descriptors(int fd)
{
	int copies[PARTS + 4], n = 0, status = 0;

	while (!status && n < PARTS + 4) {
		copies[n] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (copies[n] < 0)
			status = -errno;
		else
			n++;
	}
	while (n)
		close(copies[--n]);
	return status;
}

int gt_capture_keep(struct gt_capture_writer *w, const struct gt_keep_options *asked,
		    uint32_t host_clock)
{
	int status = keep_new(w, asked), fd;
	struct gt_keep *k = w->keep;

	if (status)
		return status;
	k->host_clock = host_clock;
	k->meta = 1;
	if (mkdir(k->folder, 0700))
		return gt_error(-errno, "cannot create folder %s", k->folder);
	k->folder_fd = open(k->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = k->folder_fd < 0 ? -1 : open_file(k, "meta", 1, O_RDWR | O_CREAT | O_EXCL);
	status = fd < 0 ? -errno : copy_begin(w, fd);
	if (!status)
		status = begin_chunk(k);
	if (!status)
		status = try_descriptors(fd);
	if (status) {
		if (fd >= 0)
			close(fd);
		remove_files(k);
		return gt_error(status, "cannot retain records in %s", k->folder);
	}
	k->output_fd = w->main.fd;
	w->main.fd = fd;
	w->rows = &k->rows;
	return 0;
}

/* Return the number after "<what>."; 0: the file is of another kind. */
static uint32_t read_number(const char *name, const char *what)
{
	size_t n = strlen(what);

	return !strncmp(name, what, n) && name[n] == '.' ? (uint32_t)strtoul(name + n + 1, NULL, 10)
							 : 0;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct gt_chunk *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* List the existing chunks up to the newest one in @position, and remove later ones. */
static int find_chunks(struct gt_keep *k, const struct gt_keep_position *position)
{
	int fd = openat(k->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		uint32_t number = read_number(e->d_name, "chunk");

		if (!number)
			continue;
		if (number > position->chunk || k->count == GT_KEEP_CHUNKS) {
			unlinkat(k->folder_fd, e->d_name, 0);
			continue;
		}
		if (!fstatat(k->folder_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			k->chunks[k->count++] =
				(struct gt_chunk){.number = number, .bytes = (uint64_t)st.st_size};
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	qsort(k->chunks, k->count, sizeof *k->chunks, compare_chunks);
	for (size_t i = 0; i + 1 < k->count; i++)
		k->ended_bytes += k->chunks[i].bytes;
	return k->count && newest(k)->number == position->chunk ? 0 : -ENOENT;
}

static int reopen_files(struct gt_capture_writer *w, const struct gt_keep_position *position)
{
	int status = keep_new(w, &position->asked), fd;
	struct gt_keep *k = w->keep;
	struct gt_chunk_head head;

	if (status)
		return status;
	k->meta = position->meta;
	k->folder_fd = open(k->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (k->folder_fd < 0)
		return gt_error(-errno, "cannot open the retained records in %s", k->folder);
	status = find_chunks(k, position);
	fd = status ? -1 : open_file(k, "meta", k->meta, O_RDWR);
	if (!status && fd < 0)
		status = -errno;
	if (!status) {
		k->rows.fd = open_file(k, "chunk", position->chunk, O_RDWR);
		status = k->rows.fd < 0 ? -errno : 0;
	}
	if (!status && (ftruncate(fd, (off_t)w->main.flushed_bytes) ||
			ftruncate(k->rows.fd, (off_t)position->chunk_bytes)))
		status = -errno;
	if (status) {
		if (fd >= 0)
			close(fd);
		return gt_error(status, "cannot reopen the retained records in %s", k->folder);
	}
	if (gt_scan_read(k->rows.fd, &head, sizeof head, 0) == 0)
		k->host_clock = head.host_clock;
	k->output_fd = w->main.fd;
	w->main.fd = fd;
	w->main.bytes = w->main.flushed_bytes;
	k->rows.bytes = k->rows.flushed_bytes = position->chunk_bytes;
	w->rows = &k->rows;
	k->is_recovered = true;
	k->filter_at = UINT64_MAX; /* do not filter metadata, because recovery takes little time */
	return 0;
}

void gt_capture_writer_retained(const struct gt_capture_writer *w, struct gt_keep_position *out)
{
	const struct gt_keep *k = w->keep;

	memset(out, 0, sizeof *out);
	if (!k)
		return;
	out->asked = k->asked;
	out->meta = k->meta;
	out->chunk = k->chunks[k->count - 1].number;
	out->chunk_bytes = k->rows.flushed_bytes;
}

static int finish(struct gt_capture_writer *w, bool complete)
{
	struct gt_keep *k = w->keep;
	struct gt_retained why = {.is_window = true,
				  .asked = k->asked,
				  .reason = k->is_recovered ? GT_RETAINED_RECOVERED
							    : GT_RETAINED_END};
	int status;

	if (!k->is_recovered) /* the time of the collector's death is unknown */
		why.end_ns = gt_clock_ns(CLOCK_BOOTTIME);

	do {
		struct gt_retained_files files;

		status = gt_keep_open_files(w, &files);
		if (status)
			break;
		gt_error_clear();
		status = gt_snapshot_assemble(&files, w->path, k->output_fd, w->id, &why, complete);
		gt_retained_files_close(&files);
	} while ((status == -ENOSPC || status == -EDQUOT) && drop_oldest(k));
	if (!status)
		remove_files(k);
	return status;
}

int gt_capture_writer_reopen_retained(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
				      uint64_t bytes, const struct gt_keep_position *position,
				      struct gt_capture_writer **out)
{
	struct gt_capture_writer *w;
	int status = gt_capture_writer_reopen(path, id, UINT64_MAX, &w);

	*out = NULL;
	if (status)
		return status;
	w->main.flushed_bytes = bytes;
	status = reopen_files(w, position);
	if (status) {
		gt_capture_writer_destroy(w);
		return status;
	}
	*out = w;
	return 0;
}

void gt_capture_writer_discard(struct gt_capture_writer *w)
{
	if (w && w->keep)
		remove_files(w->keep);
	gt_capture_writer_destroy(w);
}
