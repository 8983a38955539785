/* SPDX-License-Identifier: MIT */
/* Events that the collector itself writes. */
#ifndef GPUTAP_COLLECTOR_EVENTS_H
#define GPUTAP_COLLECTOR_EVENTS_H

#include "collector/drain_state.h"

/* @text: truncated if too long. */
int gt_event_write(struct gt_drain *d, uint32_t process, enum gt_event_code code,
		   enum gt_domain domain, uint64_t ticks, uint64_t value, const char *text);
/* Write the calls that were open in a process that ended without calling exit(). @counts: final
 * counts of the process. */
void gt_events_write_open_calls(struct gt_drain *d, struct gt_process *process,
				const struct gt_counts *counts);
/* Write an event if a process has ended, or is no longer read, while its plug-ins had undelivered
 * records. */
void gt_events_write_open_plugins(struct gt_drain *d, struct gt_process *process);

#endif
