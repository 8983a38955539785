/* SPDX-License-Identifier: MIT */
/* The file that a capture is written to. */
#ifndef GPUTAP_CAPTURE_NEWFILE_H
#define GPUTAP_CAPTURE_NEWFILE_H

#include <stdbool.h>

/* A new file, and what it took the place of: -1, or a file without a name, whose disk space is
 * free when it is closed. That takes milliseconds: do it beside other work. */
struct gt_new_file {
	int fd, replaced_fd;
};

/**
 * gt_new_file() - create @path, empty and locked against other writers
 * @replace: it may exist. A file that is ours alone is replaced: who has it open keeps what it has.
 *           One behind a symbolic link, with several names, of another owner or group, or in a
 *           folder that takes no new file is emptied.
 * @shared: a new one has the permissions that the umask leaves, else 0600; one that is replaced
 *         keeps its own
 * Return: 0 or negative errno with a cause: -EEXIST, -EBUSY another process writes it, ..
 */
int gt_new_file(const char *path, bool replace, bool shared, struct gt_new_file *file);
/* -EBUSY with a cause when another process has the lock. 0 also on a file system without locks. */
int gt_new_file_lock(int fd, const char *path);

#endif
