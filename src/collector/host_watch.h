/* SPDX-License-Identifier: MIT */
/* Watches the threads of traced processes that make no progress, and writes what they do
 * (GT_HOST_STATE).
 *
 *   watch's thread, every few ms:
 *     1. with drain.list_lock: finds threads that have called a GPU runtime and have committed no
 *        record since the last look
 *     2. without locks: reads their states from /proc (host_thread.h)
 *     3. with watch.lock: merges equal states to rows
 *   collector's thread, in its loop: takes finished rows (watch.lock) and writes them
 *
 * A separate thread reads /proc, because the collector must not be late at the rings. A thread that
 * stays in a state is read less often, down to every 1/20 of the time that it has been in the state
 * already. All readings together take less than 1/300 of a processor: if they take longer, they
 * happen less often. */
#ifndef GPUTAP_COLLECTOR_HOST_WATCH_H
#define GPUTAP_COLLECTOR_HOST_WATCH_H

#include "collector/drain.h"
#include "collector/host_look.h"

struct gt_host_watch;

enum { GT_HOST_WATCH_PERIOD_MS = 5 };

/**
 * gt_host_watch_start() - start watching
 * @drain: its list of processes is read
 * @period_ns: time between two looks; 0: GT_HOST_WATCH_PERIOD_MS
 * Return: the watch, or NULL with a cause. The session then continues without it.
 */
struct gt_host_watch *gt_host_watch_start(struct gt_drain *drain, uint32_t host_clock,
					  uint64_t period_ns);
/* Stop the thread. Rows that were not written are lost. @watch: may be NULL */
void gt_host_watch_stop(struct gt_host_watch *watch);

/* The following functions are called by the collector's thread, also with @watch NULL. */

/* Write the rows that are finished. Does not wait for the watch's thread. */
void gt_host_watch_write(struct gt_host_watch *watch);
/* Write all rows up to now, for a snapshot. */
void gt_host_watch_write_all(struct gt_host_watch *watch);
/* Write the rows of a process that is about to end, and forget the process. */
void gt_host_watch_end(struct gt_host_watch *watch, const struct gt_process *process);

#endif
