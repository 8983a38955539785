/* SPDX-License-Identifier: MIT */
/* Events of the collector's own. */
#ifndef GPUTAP_COLLECTOR_EVENTS_H
#define GPUTAP_COLLECTOR_EVENTS_H

#include "collector/drain_state.h"

/* @text: cut if it is long. */
int gt_event_write(struct gt_drain *d, uint32_t process, enum gt_event_code code,
		   enum gt_domain domain, uint64_t ticks, uint64_t value, const char *text);
/* The process is gone, and not by exit(): which calls was it in? @counts: its last ones. */
void gt_events_write_open_calls(struct gt_drain *d, struct gt_process *process,
				const struct gt_counts *counts);
/* The process has ended, or is read no further, and plug-ins of it had records that they had not
 * handed over. */
void gt_events_write_open_plugins(struct gt_drain *d, struct gt_process *process);

#endif
