/* SPDX-License-Identifier: MIT */
/* A journal made of the capture and the rings, for `gputap recover`, where the collector's own is
 * missing, cut or damaged.
 *
 *   position     the capture's id, and the length that goes with what the rings say (journal.h)
 *   capture      which processes there are, their indexes, what is recorded of each
 *   rings        from where the rest is to be read; counts of threads that live
 *
 * Not known: what threads lost that had ended. So the capture is never complete. Without a position
 * all whole blocks are kept, and the last batch can be in the capture twice. */
#ifndef GPUTAP_COLLECTOR_REBUILD_H
#define GPUTAP_COLLECTOR_REBUILD_H

#include "collector/drain_state.h"

/**
 * gt_rebuild_journal() - fill d->journal, and go on with the capture
 * @d: with its folder; the journal is not open
 * Return: 0; -EALREADY without a cause: the capture is finished; or negative errno with a cause,
 *         and the capture is as it was: it is another session's, ..
 */
int gt_rebuild_journal(struct gt_drain *d, const char *output, struct gt_capture_writer **writer);

#endif
