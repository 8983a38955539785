/* SPDX-License-Identifier: MIT */
/* `--trigger` on records that do not come:
 *
 *   no progress for 10s   no process that has launched GPU activities has a new record, while at
 *                         least one of them lives; without GPU activities: no process with calls
 *   gap>100ms             a device has no activity of a process, between two activities or since
 *                         the last one, while none is in flight
 *   open>5s               a call has not returned
 *
 * The records are examined as they are read from the rings. Before a trigger fires, all committed
 * records are read, so that a record that only waited in its ring does not count as missing. Each
 * cause fires once: until there is a new record, the next activity, or the call returns. While the
 * session is paused, no time passes. */
#ifndef GPUTAP_COLLECTOR_NO_PROGRESS_H
#define GPUTAP_COLLECTOR_NO_PROGRESS_H

#include "collector/drain_state.h"
#include "collector/no_progress_records.h"

/* Create the triggers of @list that are not GT_TRIGGER_RECORD. *out is NULL if there are none.
 * @fire: receives a description; called by gt_progress_advance(). Return 0 or -ENOMEM with a
 * cause. */
int gt_progress_create(const struct gt_trigger *list, size_t count, struct gt_drain *drain,
		       uint32_t host_clock, void (*fire)(void *data, const char *text), void *data,
		       struct gt_progress **out);
/* Decide. Call often. @recording: false while the session is paused. */
void gt_progress_advance(struct gt_progress *p, uint64_t now_ns, bool recording);
/* Return the ms until the next decision may be due. */
int gt_progress_due_ms(const struct gt_progress *p, uint64_t now_ns);

#endif
