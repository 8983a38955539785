/* SPDX-License-Identifier: MIT */
/* The session folder as the collector sees it: making, opening, emptying. ring/session.h describes
 * its files; only the collector and `gputap recover` use `journal` and `position`
 * (collector/journal.h).
 *
 * Any program of the user can cut the files that are mapped. So the collector reads nothing from
 * the mapped session: it has a copy, and stores into the mapping under the guard (guard.h). */
#ifndef GPUTAP_COLLECTOR_FOLDER_H
#define GPUTAP_COLLECTOR_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <stdbool.h>

#include "ring/session.h"

#define GT_FOLDER_PREFIX "gputap-" /* then the user's number and six letters */

struct gt_folder {
	char path[PATH_MAX];
	int fd;
	/* stays open: shows whether a process of the tree still maps the session */
	int session_fd;
	struct gt_session *session; /* mapped, for stores; NULL: the file is cut */
	struct gt_session *copy;    /* the collector's own; NULL for `gputap recover` */
	uint32_t host_clock;        /* of the session */
};

/**
 * gt_folder_create() - make a new session folder where there is room
 * @session: what every process will read; constant from now on but for `stop`. Its pool_bytes is
 *           made smaller where there is less room
 * @output:  absolute path of the capture, for `gputap recover` Tries /dev/shm, TMPDIR, /tmp, in
 * this order; takes the first with room for a small pool and a bit more.
 */
int gt_folder_create(struct gt_session *session, const char *output, struct gt_folder *out);

/* Open the folder of a session whose collector may have died. Its file `session` may be cut.
 * -ENOENT, -EBADMSG, -ENOTSUP with a cause. */
int gt_folder_open(const char *path, struct gt_folder *out);
/* The capture's path as the collector wrote it. */
int gt_folder_output(const struct gt_folder *f, char *path, size_t bytes);

/* Call @each for every segment, oldest first. */
void gt_folder_rings(const struct gt_folder *f, void (*each)(const char *name, void *data),
		     void *data);

/* "<pid>-<ticks>.gpuring"; false: another file. */
bool gt_ring_name_parse(const char *name, uint32_t *pid, uint64_t *ticks);

/**
 * gt_folder_store() - change a word of the session that the processes read
 * @word: of f->session
 * A session file that another program has cut is made whole again.
 */
void gt_folder_store(struct gt_folder *f, _Atomic uint32_t *word, uint32_t value);
/* Make the session's file whole again if another program has cut it. */
void gt_folder_repair(struct gt_folder *f);

/* Tell every process of the tree to go straight through from now on. */
void gt_folder_stop(struct gt_folder *f);

/* Remove the folder with all that is in it; close. */
void gt_folder_remove(struct gt_folder *f);
void gt_folder_close(struct gt_folder *f);

/**
 * gt_file_in_use() - does any other process hold this file open or mapped?
 * @fd: opened for reading and writing, by us alone Asks the kernel for a write lease, which it
 * grants only to a sole user, and gives it back at once. It is right whatever the pid namespace,
 * and after exec, which drops a mapping without a trace elsewhere.
 * Return: 1 in use, 0 not in use, -1 the file system does not say.
 */
int gt_file_in_use(int fd);

/* Call @each for every folder of a session found on this machine, of any state. */
void gt_folder_find(void (*each)(const char *path, void *data), void *data);

#endif
