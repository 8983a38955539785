/* SPDX-License-Identifier: MIT */
/* Replaces a file with a new one instead of truncating it. Truncation would delay the start of the
 * program by milliseconds, because the kernel frees the file's blocks and drops its pages at once,
 * and because ext4 writes the new contents of a truncated file to disk when the file is closed. So
 * a new file takes the name, and the old file is deleted later, when it is closed. A file is
 * truncated if other users or programs would notice its replacement. */
#include "capture/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/error.h"

int gt_new_file_lock(int fd, const char *path)
{
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return gt_error(-EBUSY, "capture %s is being written by another process", path);
	return 0;
}

/* Return true if @path still leads to this file. Another writer may have replaced the file before
 * this process got the lock. */
static bool is_still_named(const char *path, const struct stat *opened)
{
	struct stat named;

	return !stat(path, &named) && named.st_dev == opened->st_dev &&
	       named.st_ino == opened->st_ino;
}

/* Return true if this user owns the file, and the file has no other name and no permissions besides
 * its mode. */
static bool is_only_ours(const char *path, int fd, const struct stat *opened)
{
	struct stat link;

	return S_ISREG(opened->st_mode) && opened->st_nlink == 1 && opened->st_uid == geteuid() &&
	       !lstat(path, &link) && !S_ISLNK(link.st_mode) &&
	       fgetxattr(fd, "system.posix_acl_access", NULL, 0) < 0;
}

/* Create an empty, locked file with the permissions of @old, and rename it to @path. Return the
 * descriptor, or -1 if nothing has changed. */
static int put_in_place(const char *path, const struct stat *old)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0, fd, n;
	char temporary[PATH_MAX];
	struct stat st;

	n = snprintf(temporary, sizeof temporary, "%.*s.%.200s.%d.part", folder, path,
		     path + folder, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof temporary)
		return -1;
	fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_gid == old->st_gid && !fchmod(fd, old->st_mode & 07777) &&
	    !gt_new_file_lock(fd, path) && !rename(temporary, path))
		return fd;
	unlink(temporary);
	close(fd);
	return -1;
}

int gt_new_file(const char *path, bool replace, bool shared, struct gt_new_file *file)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (replace ? 0 : O_EXCL),
		      shared ? 0666 : 0600),
	    status;
	struct stat st;

	*file = (struct gt_new_file){-1, -1};
	if (fd < 0)
		return gt_error(-errno, "cannot create capture %s", path);
	status = gt_new_file_lock(fd, path); /* lock before removing the old contents */
	if (!status && fstat(fd, &st))
		status = gt_error(-errno, "cannot create capture %s", path);
	if (!status && replace && !is_still_named(path, &st))
		status = gt_error(-EBUSY, "capture %s is being written by another process", path);
	if (status)
		goto fail;
	if (replace && st.st_size && is_only_ours(path, fd, &st)) {
		file->fd = put_in_place(path, &st);
		if (file->fd >= 0) {
			file->replaced_fd = fd;
			return 0;
		}
	}
	if (replace && ftruncate(fd, 0)) {
		status = gt_error(-errno, "cannot replace capture %s", path);
		goto fail;
	}
	file->fd = fd;
	return 0;
fail:
	close(fd);
	return status;
}
