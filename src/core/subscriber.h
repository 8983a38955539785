/* SPDX-License-Identifier: MIT */
/* Subscribers inside the process: to tables (to put functions in front) and of
 * events. */
#ifndef GPUTAP_CORE_SUBSCRIBER_H
#define GPUTAP_CORE_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/tap.h"
#include "gputap/tool.h"

/* @owner: the tool that subscribes, NULL: none. Return: 0, or -ENOSPC. */
int gt_table_subscribe(gputap_table_fn fn, void *user, const struct gputap_tool *owner);
int gt_event_subscribe(gputap_event_fn fn, void *user, const struct gputap_tool *owner);
/* What @owner has subscribed to. No call of it begins afterwards. */
void gt_subscribers_remove(const struct gputap_tool *owner);

/* @out has the taps in it; subscribers may replace entries, first subscriber first. No lock is
 *         held meanwhile. */
void gt_subscribers_call(const struct gt_table *table, void **out, size_t bytes);

/* The same for a table of which no operation is known, or that has nothing but tables in it. */
void gt_subscribers_offer(const char *name, uint32_t instance, uint64_t version, void **entries,
			  size_t bytes);

/* Has anybody subscribed to tables? */
bool gt_subscribers_there(void);

/* Calls subscribers of events, in the thread that is here. */
void gt_subscribers_event(enum gt_event_code code, enum gt_domain domain, uint64_t value,
			  const char *text);

#endif
