/* SPDX-License-Identifier: MIT */
/* Processes of the tree that bypass gputap because they were executed through a program's inline
 * system calls, through a libc function that is not interposed, or from a program without gputap.
 * No gputap code runs when such processes start, so the collector looks for them in /proc: see
 * descendants.c. */
#ifndef GPUTAP_COLLECTOR_DESCENDANTS_H
#define GPUTAP_COLLECTOR_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/drain_state.h"

struct gt_descendant; /* a live process */
struct gt_missed;     /* a process that is not traced */

struct gt_descendants {
	struct gt_drain *drain; /* borrowed, like the paths */
	const char *library;    /* path of libgputap.so */
	char session_path[PATH_MAX];
	/* true if the session records single processes, and not the programs that these execute */
	bool ignores_children;
	bool looks_for_torch; /* true if the session waits for a range */
	bool lacks_torch; /* true if a process that has ended had torch without gputap's package */
	uint32_t root;    /* pid of the session's first program; 0: the program has ended */
	struct gt_descendant *known;
	size_t known_count, known_room;
	struct gt_missed *missed;
	size_t missed_count, missed_room;
	uint32_t *waiting; /* pids still to be examined */
	size_t waiting_count, waiting_room;
	uint32_t look; /* number of the last look */
	uint64_t next_ns, every_ns;
};

/* @library: path of libgputap.so. */
void gt_descendants_init(struct gt_descendants *d, struct gt_drain *drain, const char *library);
void gt_descendants_fini(struct gt_descendants *d);

/* Look for processes if the next look is due. @root: pid of the session's first program; 0: the
 * program has ended. */
void gt_descendants_look(struct gt_descendants *d, uint32_t root, uint64_t now_ns);

/* Return true if any process has torch without gputap's package, which reports torch's ranges.
 * Valid only if looks_for_torch was set. */
bool gt_descendants_lack_torch(const struct gt_descendants *d);

/* Write processes that were never reported to the capture. Call at the end, after all processes
 * have been read completely. */
void gt_descendants_write(struct gt_descendants *d);

#endif
