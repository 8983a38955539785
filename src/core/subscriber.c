/* SPDX-License-Identifier: MIT */
/* See subscriber.h. There are two lists of slots. To take a slot, a subscriber holds gt_core_lock()
 * and stores its function last (release). To notify, a thread loads the function first (acquire),
 * without a lock. */
#include "core/subscriber.h"

#include <errno.h>

#include "core/recording.h"

enum { SUBSCRIBERS = 64 }; /* equals the maximum number of contexts */

struct subscriber {
	_Atomic(void *) fn; /* stored last */
	void *user;
	const struct gputap_tool *owner;
};

static struct subscriber table_subscribers[SUBSCRIBERS], event_subscribers[SUBSCRIBERS];

static int add_subscriber(struct subscriber *list, void *fn, void *user,
			  const struct gputap_tool *owner)
{
	int rc = -ENOSPC;

	gt_core_lock();
	for (int i = 0; i < SUBSCRIBERS; i++)
		if (!atomic_load_explicit(&list[i].fn, memory_order_relaxed)) {
			list[i].user = user;
			list[i].owner = owner;
			atomic_store_explicit(&list[i].fn, fn, memory_order_release);
			rc = 0;
			break;
		}
	gt_core_unlock();
	return rc;
}

int gt_table_subscribe(gputap_table_fn fn, void *user, const struct gputap_tool *owner)
{
	return add_subscriber(table_subscribers, (void *)(uintptr_t)fn, user, owner);
}

int gt_event_subscribe(gputap_event_fn fn, void *user, const struct gputap_tool *owner)
{
	return add_subscriber(event_subscribers, (void *)(uintptr_t)fn, user, owner);
}

static void remove_subscribers(struct subscriber *list, const struct gputap_tool *owner)
{
	for (int i = 0; owner && i < SUBSCRIBERS; i++)
		if (list[i].owner == owner)
			atomic_store_explicit(&list[i].fn, NULL, memory_order_release);
}

void gt_subscribers_remove(const struct gputap_tool *owner)
{
	gt_core_lock();
	remove_subscribers(table_subscribers, owner);
	remove_subscribers(event_subscribers, owner);
	gt_core_unlock();
}

static void offer_table(const struct gputap_table *t)
{
	for (int i = 0; i < SUBSCRIBERS; i++) {
		void *fn = atomic_load_explicit(&table_subscribers[i].fn, memory_order_acquire);

		if (fn)
			((gputap_table_fn)(uintptr_t)fn)(t, table_subscribers[i].user);
	}
}

void gt_subscribers_call(const struct gt_table *table, void **out, size_t bytes)
{
	offer_table(&(struct gputap_table){sizeof(struct gputap_table),
					   (enum gputap_domain)table->domain, table->instance, out,
					   bytes, table->name, table->version});
}

void gt_subscribers_offer(const char *name, uint32_t instance, uint64_t version, void **entries,
			  size_t bytes)
{
	offer_table(&(struct gputap_table){sizeof(struct gputap_table), GPUTAP_DOMAIN_NONE,
					   instance, entries, bytes, name, version});
}

bool gt_subscribers_there(void)
{
	for (int i = 0; i < SUBSCRIBERS; i++)
		if (atomic_load_explicit(&table_subscribers[i].fn, memory_order_acquire))
			return true;
	return false;
}

void gt_subscribers_event(enum gt_event_code code, enum gt_domain domain, uint64_t value,
			  const char *text)
{
	struct gputap_event e = {sizeof e, (enum gputap_event_code)code, (enum gputap_domain)domain,
				 value, text};

	for (int i = 0; i < SUBSCRIBERS; i++) {
		void *fn = atomic_load_explicit(&event_subscribers[i].fn, memory_order_acquire);

		if (fn)
			((gputap_event_fn)(uintptr_t)fn)(&e, event_subscribers[i].user);
	}
}
