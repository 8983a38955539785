/* SPDX-License-Identifier: MIT */
/* The file that a capture is written to. */
#ifndef GPUTAP_CAPTURE_NEWFILE_H
#define GPUTAP_CAPTURE_NEWFILE_H

#include <stdbool.h>

/* A new file, and the one it replaced: -1, or a file without a name, whose disk space is freed when
 * it is closed. Closing takes milliseconds: do it in parallel with other work. */
struct gt_new_file {
	int fd, replaced_fd;
};

/**
 * gt_new_file() - create @path, empty and locked against other writers
 * @replace: it may exist. A file that only this user uses is replaced: processes that have it open
 *           keep the old contents. A file that is reached through a symbolic link, has several
 *           names, another owner or group, or is in a folder that allows no new file is truncated.
 * @shared: a new file has the permissions that the umask leaves, else 0600; one that replaces
 *          another gets the permissions of that
 * Return: 0 or negative errno with a cause: -EEXIST, -EBUSY another process writes it, ...
 */
int gt_new_file(const char *path, bool replace, bool shared, struct gt_new_file *file);
/* Return -EBUSY with a cause if another process has the lock; 0 also on a file system without
 * locks. */
int gt_new_file_lock(int fd, const char *path);

#endif
