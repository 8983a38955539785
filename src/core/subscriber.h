/* SPDX-License-Identifier: MIT */
/* Subscribers inside the process. A subscriber to tables can replace functions in the tables; a
 * subscriber to events is told of events. */
#ifndef GPUTAP_CORE_SUBSCRIBER_H
#define GPUTAP_CORE_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/tap.h"
#include "gputap/tool.h"

/* Add a subscriber. @owner: the tool that subscribes; NULL: none. Return 0 or -ENOSPC. */
int gt_table_subscribe(gputap_table_fn fn, void *user, const struct gputap_tool *owner);
int gt_event_subscribe(gputap_event_fn fn, void *user, const struct gputap_tool *owner);
/* Remove the subscriptions of @owner. No function of @owner is called afterwards. */
void gt_subscribers_remove(const struct gputap_tool *owner);

/* Call the subscribers to tables, first subscriber first. @out contains the taps; subscribers may
 * replace entries. No lock is held during these calls. */
void gt_subscribers_call(const struct gt_table *table, void **out, size_t bytes);

/* Call the subscribers for a table whose operations are not known, or whose entries are tables
 * instead of functions. */
void gt_subscribers_offer(const char *name, uint32_t instance, uint64_t version, void **entries,
			  size_t bytes);

/* Return true if any subscriber to tables exists. */
bool gt_subscribers_there(void);

/* Call subscribers to events, in the current thread. */
void gt_subscribers_event(enum gt_event_code code, enum gt_domain domain, uint64_t value,
			  const char *text);

#endif
