/* SPDX-License-Identifier: MIT */
/* Subscribers inside the process: to tables (to put functions in front) and to events. */
#ifndef GPUTAP_CORE_SUBSCRIBER_H
#define GPUTAP_CORE_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/tap.h"
#include "gputap/tool.h"

/* @owner: the tool that subscribes, NULL: none. Return: 0, or -ENOSPC. */
int gt_table_subscribe(gputap_table_fn fn, void *user, const struct gputap_tool *owner);
int gt_event_subscribe(gputap_event_fn fn, void *user, const struct gputap_tool *owner);
/* Remove the subscriptions of @owner. None of its functions is called afterwards. */
void gt_subscribers_remove(const struct gputap_tool *owner);

/* @out contains the taps; subscribers may replace entries, first subscriber first. No lock is held
 * during these calls. */
void gt_subscribers_call(const struct gt_table *table, void **out, size_t bytes);

/* Call subscribers for a table without known operations, or with tables instead of functions. */
void gt_subscribers_offer(const char *name, uint32_t instance, uint64_t version, void **entries,
			  size_t bytes);

/* Return true if there are subscribers to tables. */
bool gt_subscribers_there(void);

/* Call subscribers to events, in the current thread. */
void gt_subscribers_event(enum gt_event_code code, enum gt_domain domain, uint64_t value,
			  const char *text);

#endif
