/* SPDX-License-Identifier: MIT */
/* Makes a journal from the capture and the rings, for `gputap recover`, when the collector's
 * journal is missing, truncated or damaged.
 *
 *   position     the capture's id, and the length that matches the rings (journal.h)
 *   capture      the processes, their indexes, and the number of records of each process
 *   rings        where to continue reading; the counts of live threads
 *
 * Losses of ended threads are unknown, so the capture is never complete. Without a position, all
 * whole blocks are retained, and the last batch may be in the capture twice. */
#ifndef GPUTAP_COLLECTOR_REBUILD_H
#define GPUTAP_COLLECTOR_REBUILD_H

#include "collector/drain_state.h"

/**
 * gt_rebuild_journal() - fill d->journal, and reopen the capture
 * @d: has its folder, but no open journal
 * Return: 0; -EALREADY without a cause: the capture is finished; any other negative errno with a
 *         cause, for example if the capture belongs to another session. On failure the capture is
 *         unchanged.
 */
int gt_rebuild_journal(struct gt_drain *d, const char *output, struct gt_capture_writer **writer);

#endif
