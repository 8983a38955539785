/* SPDX-License-Identifier: MIT */
/* Creates, opens and empties the session folder on the collector's side. ring/session.h describes
 * the folder's files; only the collector and `gputap recover` use `journal` and `position`
 * (collector/journal.h).
 *
 * Any program of the user can truncate the mapped files. Therefore the collector reads nothing from
 * the mapped session. It keeps a copy, and stores into the mapping under the guard (guard.h). */
#ifndef GPUTAP_COLLECTOR_FOLDER_H
#define GPUTAP_COLLECTOR_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <stdbool.h>

#include "ring/session.h"

#define GT_FOLDER_PREFIX "gputap-" /* the user's number and six letters follow */

struct gt_folder {
	char path[PATH_MAX];
	int fd;
	/* stays open, to detect whether a process of the tree still maps the session */
	int session_fd;
	struct gt_session *session; /* mapped, for stores; NULL: the file was truncated */
	struct gt_session *copy;    /* the collector's copy; NULL for `gputap recover` */
	uint32_t host_clock;        /* the session's host clock */
	size_t root_bytes;          /* length of the owner's root in `path` */
	/* folder that contains this one, if the owner has another root: when the owner's last
	 * process has ended, `path` leads nowhere. -1: not needed */
	int parent_fd;
};

/* The processes that will use a folder, if gputap does not start them. */
struct gt_folder_owner {
	/* root folder of the processes as this process sees it; "": they see the same files */
	const char *root;
	uint32_t uid, gid;
};

/**
 * gt_folder_create() - create a session folder in a directory with enough room
 * @session: data that every process will read; constant from now on except `stop`. The function
 *           reduces pool_bytes if there is less room
 * @output:  absolute path of the capture, for `gputap recover`
 * @owner:   NULL: this process, and programs that it starts
 * Tries /dev/shm, TMPDIR, /tmp, in this order, and uses the first with room for a small pool plus
 * some reserve.
 */
int gt_folder_create(struct gt_session *session, const char *output,
		     const struct gt_folder_owner *owner, struct gt_folder *out);

/**
 * gt_folder_create_door() - make a session in another root visible to `gputap status` and others
 * Creates a folder where they look, with a link to the session. The control socket belongs there.
 * Return: 0, or negative errno with a cause. Remove with gt_folder_remove().
 */
int gt_folder_create_door(const struct gt_folder *f, struct gt_folder *out);

/* Return the folder's path as its owner's processes see it. Borrowed from @f. */
const char *gt_folder_inner_path(const struct gt_folder *f);

/* Open the folder of a session whose collector may have died. The file `session` may be truncated.
 * Return 0, or -ENOENT, -EBADMSG or -ENOTSUP with a cause. */
int gt_folder_open(const char *path, struct gt_folder *out);
/* Read the capture's path that the collector stored in the folder. */
int gt_folder_output(const struct gt_folder *f, char *path, size_t bytes);

/* Create a file that the processes read. @owner: as for gt_folder_create(). Return 0, or negative
 * errno with a cause. */
int gt_folder_write(const struct gt_folder *f, const char *name, const void *data, size_t bytes,
		    const struct gt_folder_owner *owner);

/* Call @each for every segment, oldest first. */
void gt_folder_rings(const struct gt_folder *f, void (*each)(const char *name, void *data),
		     void *data);

/* Parse "<pid>-<ticks>.gpuring". Return false for other files. */
bool gt_ring_name_parse(const char *name, uint32_t *pid, uint64_t *ticks);

/**
 * gt_folder_store() - change a word of the session that the processes read
 * @word: a word of f->session
 * Restores the session file first if another program has truncated it.
 */
void gt_folder_store(struct gt_folder *f, _Atomic uint32_t *word, uint32_t value);
/* Restore the session file if another program has truncated it. */
void gt_folder_repair(struct gt_folder *f);

/* Ask every process of the tree to pass calls straight through from now on. */
void gt_folder_stop(struct gt_folder *f);

/* Remove the folder and everything in it, and close the folder. */
void gt_folder_remove(struct gt_folder *f);
void gt_folder_close(struct gt_folder *f);

/**
 * gt_file_in_use() - check if any other process holds this file open or mapped
 * @fd: opened for reading and writing, only in this process
 * Requests a write lease from the kernel, which grants a lease only to a sole user, and returns the
 * lease at once. This works across pid namespaces, and after exec, which drops a mapping without a
 * trace elsewhere.
 * Return: 1 in use; 0 not in use; -1 the file system cannot report this.
 */
int gt_file_in_use(int fd);

/* Call @each for every session folder found on this machine, in any state. */
void gt_folder_find(void (*each)(const char *path, void *data), void *data);

#endif
