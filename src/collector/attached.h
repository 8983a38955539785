/* SPDX-License-Identifier: MIT */
/* A session that is attached to running processes (`gputap attach`), from the first attachment to
 * the end, when each process detaches:
 *
 *   collector                                    process: thread that follows the session
 *   session.stop = 1, session.control, FUTEX_WAKE ─►
 *   reads the rings                              gt_late.detach() of every runtime
 *                                             ◄─ segment.detached = 1
 *   reads what is left, finishes the capture
 *
 * A process that is stopped, or hangs in a runtime, is left after some seconds. It detaches when it
 * continues, because session.stop stays 1 in its mapping. */
#ifndef GPUTAP_COLLECTOR_ATTACHED_H
#define GPUTAP_COLLECTOR_ATTACHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/attach_target.h"
#include "collector/control.h"
#include "collector/drain_state.h"
#include "collector/environment.h"

struct gt_attached {
	struct gt_drain *drain;
	const struct gt_attach_target *targets; /* borrowed */
	size_t count;                           /* 0: gputap starts the program */
	uint8_t *states;                        /* of each target; NULL: none was attached to */
	uint32_t attached;                      /* number of targets that were attached to */
	_Atomic bool is_detach_asked;           /* set in control's thread */
};

/* @targets: borrowed. Return 0 or -ENOMEM. */
int gt_attached_init(struct gt_attached *a, struct gt_drain *drain,
		     const struct gt_attach_target *targets, size_t count);
void gt_attached_fini(struct gt_attached *a);

/* Offer the command "detach", which ends the session. */
void gt_attached_offer(struct gt_attached *a, struct gt_control *control);

/* Attach to one target. Return 0, or gt_attach()'s error. */
int gt_attached_add(struct gt_attached *a, size_t index, const char *library,
		    struct gt_attach_note *out);

/**
 * gt_attached_write_environment() - let programs that the targets execute join the session
 * Writes the file GT_ENVIRONMENT_FILE. If the programs cannot reach gputap's libraries, writes
 * nothing, and the capture names each of the programs (descendants.h).
 * Return: 0, or negative errno with a cause.
 */
int gt_attached_write_environment(struct gt_attached *a, const struct gt_libraries *libraries);

/* Write the event GT_EVENT_ATTACHED for processes whose segments were found since the last call. */
void gt_attached_write(struct gt_attached *a);

/* Return true if the pid of a segment is that of an attached process, which may be older than the
 * session. */
bool gt_attached_has(const struct gt_attached *a, uint32_t pid);

/* Return the number of processes that have not detached yet, of those that will. */
uint32_t gt_attached_remaining(struct gt_attached *a);

#endif
