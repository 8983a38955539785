/* SPDX-License-Identifier: MIT */
/* Delays of the threads that execute the activities of devices in software (GT_HOST_WORKERS).
 *
 * The runtime of such a device runs activities on threads of the process. If such a thread waits
 * for a processor, an activity starts late, or a thread that waits for it returns late. A reading
 * gives the longest delay of any thread between two times, but not when it occurred:
 *
 *       | reading: 6 ms of delay            |
 *       | busy | idle 4 ms | busy | idle 4  |
 *                ^ 4 ms             ^ 2 ms
 *
 * The delay counts for the first idle time between the two times, and only once. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_WORKERS_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_WORKERS_H

#include "analysis/idle/idle_steps.h"

/* Note a reading (GT_RECORD_HOST with detail GT_HOST_WORKERS). */
void idle_workers_note(struct idle *s, const struct gt_item *item);
void idle_workers_fini(struct idle *s);
/* Add a part in which the device waited for a thread of the runtime. Time for which such a thread
 * waited for a processor gets the cause GT_IDLE_HOST_RUNNABLE, the other time @cause. Parameters as
 * of idle_add_part(). */
void idle_workers_add_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
			   enum gt_idle_cause cause, uint32_t op, uint32_t name);

#endif
