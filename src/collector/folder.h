/* SPDX-License-Identifier: MIT */
/* The session folder as the collector sees it: creating, opening, emptying. ring/session.h
 * describes its files; only the collector and `gputap recover` use `journal` and `position`
 * (collector/journal.h).
 *
 * Any program of the user can cut the files that are mapped. The collector therefore reads nothing
 * from the mapped session: it has a copy, and stores into the mapping under the guard (guard.h). */
#ifndef GPUTAP_COLLECTOR_FOLDER_H
#define GPUTAP_COLLECTOR_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <stdbool.h>

#include "ring/session.h"

#define GT_FOLDER_PREFIX "gputap-" /* then come the user's number and six letters */

struct gt_folder {
	char path[PATH_MAX];
	int fd;
	/* stays open: shows whether a process of the tree still maps the session */
	int session_fd;
	struct gt_session *session; /* mapped, for stores; NULL: the file was cut */
	struct gt_session *copy;    /* the collector's copy; NULL for `gputap recover` */
	uint32_t host_clock;        /* the session's */
};

/**
 * gt_folder_create() - create a session folder where there is room
 * @session: what every process will read; constant from now on except `stop`. Its pool_bytes is
 *           reduced if there is less room
 * @output:  absolute path of the capture, for `gputap recover`
 * Tries /dev/shm, TMPDIR, /tmp, in this order, and takes the first with room for a small pool and a
 * bit more.
 */
int gt_folder_create(struct gt_session *session, const char *output, struct gt_folder *out);

/* Open the folder of a session whose collector may have died. Its file `session` may be cut. Return
 * -ENOENT, -EBADMSG or -ENOTSUP with a cause. */
int gt_folder_open(const char *path, struct gt_folder *out);
/* Read the capture's path as the collector wrote it. */
int gt_folder_output(const struct gt_folder *f, char *path, size_t bytes);

/* Call @each for every segment, oldest first. */
void gt_folder_rings(const struct gt_folder *f, void (*each)(const char *name, void *data),
		     void *data);

/* Parse "<pid>-<ticks>.gpuring". Return false for other files. */
bool gt_ring_name_parse(const char *name, uint32_t *pid, uint64_t *ticks);

/**
 * gt_folder_store() - change a word of the session that the processes read
 * @word: a word of f->session
 * If another program has cut the session file, it is restored.
 */
void gt_folder_store(struct gt_folder *f, _Atomic uint32_t *word, uint32_t value);
/* Restore the session's file if another program has cut it. */
void gt_folder_repair(struct gt_folder *f);

/* Request every process of the tree to pass straight through from now on. */
void gt_folder_stop(struct gt_folder *f);

/* Remove the folder and everything in it; close it. */
void gt_folder_remove(struct gt_folder *f);
void gt_folder_close(struct gt_folder *f);

/**
 * gt_file_in_use() - check if any other process holds this file open or mapped
 * @fd: opened for reading and writing, only in this process
 * Requests a write lease from the kernel, which grants it only to a sole user, and returns it at
 * once. This works across pid namespaces, and after exec, which drops a mapping without a trace
 * elsewhere.
 * Return: 1 in use, 0 not in use, -1 the file system does not report it.
 */
int gt_file_in_use(int fd);

/* Call @each for every session folder found on this machine, in any state. */
void gt_folder_find(void (*each)(const char *path, void *data), void *data);

#endif
