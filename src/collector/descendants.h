/* SPDX-License-Identifier: MIT */
/* Processes of the tree that came past us: executed by a program's own system call instructions,
 * by a function of libc's that nobody stands in front of, or by a program that we are not in.
 * Nothing of ours runs where they begin, so the collector looks for them in /proc: see
 * descendants.c. */
#ifndef GPUTAP_COLLECTOR_DESCENDANTS_H
#define GPUTAP_COLLECTOR_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/drain_state.h"

struct gt_descendant; /* one that lives */
struct gt_missed;     /* one that is not traced */

struct gt_descendants {
	struct gt_drain *drain; /* borrowed, as the paths are */
	const char *library;    /* libgputap.so's */
	char session_path[PATH_MAX];
	bool looks_for_torch; /* the session waits for a range */
	bool lacks_torch;     /* a process that has ended had torch without gputap's package */
	uint32_t root;        /* the session's first program; 0: it has ended */
	struct gt_descendant *known;
	size_t known_count, known_room;
	struct gt_missed *missed;
	size_t missed_count, missed_room;
	uint32_t *waiting; /* pids that are to be looked at */
	size_t waiting_count, waiting_room;
	uint32_t look; /* number of the last one */
	uint64_t next_ns, every_ns;
};

/* @library: path of libgputap.so. */
void gt_descendants_init(struct gt_descendants *d, struct gt_drain *drain, const char *library);
void gt_descendants_fini(struct gt_descendants *d);

/* Look, if it is time to. @root: pid of the session's first program; 0: it has ended. */
void gt_descendants_look(struct gt_descendants *d, uint32_t root, uint64_t now_ns);

/* Has any process torch, and not gputap's package for it, which says what torch's ranges are?
 * Known only where looks_for_torch was set. */
bool gt_descendants_lack_torch(const struct gt_descendants *d);

/* At the end, when the last words of all processes are read: those that nobody reported go into the
 * capture. */
void gt_descendants_write(struct gt_descendants *d);

#endif
