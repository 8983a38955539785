/* SPDX-License-Identifier: MIT */
/* Creates the file for a capture. */
#ifndef GPUTAP_CAPTURE_NEWFILE_H
#define GPUTAP_CAPTURE_NEWFILE_H

#include <stdbool.h>

/* A new file and the file it replaced. replaced_fd: -1, or a file without a name. Closing that file
 * frees its disk space, which takes milliseconds. Therefore close the file in parallel with other
 * work. */
struct gt_new_file {
	int fd, replaced_fd;
};

/**
 * gt_new_file() - create @path, empty and locked against other writers
 * @replace: @path may exist. A file that only this user uses is replaced: processes that have the
 *           file open keep the old contents. The function truncates a file that is reached through
 *           a symbolic link, has several names, has another owner or group, or is in a folder that
 *           allows no new file.
 * @shared: true: permissions of a new file follow the umask; false: 0600. A file that replaces
 *          another one gets the old permissions
 * Return: 0 or negative errno with a cause: -EEXIST, -EBUSY another process writes the file, ...
 */
int gt_new_file(const char *path, bool replace, bool shared, struct gt_new_file *file);
/* Return -EBUSY with a cause if another process holds the lock. Return 0 also on a file system
 * without locks. */
int gt_new_file_lock(int fd, const char *path);

#endif
