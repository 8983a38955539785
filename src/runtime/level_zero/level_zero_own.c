/* SPDX-License-Identifier: MIT */
/* Manages gputap's own events. A context has pools of events. Queues and lists keep some events, so
 * that a launch can take an event without accessing the context. A pool has separate memory,
 * allocated when it is first needed, into which the device can copy an event's times before the
 * event is reused.
 *
 * A launch may find no free event when more activities are in flight than ever before. The launch
 * then creates a few events. The launch creates a pool only if the program has not waited since the
 * last pool was half used. Pools are normally created in advance, while the program waits. Each
 * pool is twice as large as the previous one. */
#include "runtime/level_zero/level_zero_objects.h"

enum { FIRST_EVENTS = 256, MOST_EVENTS = 4096, MAKE_AT_ONCE = 8, TAKE_AT_ONCE = 32 };

/* Create a pool. The caller holds the context's lock. */
static void make_pool(struct gt_lz_context *c)
{
	const uint32_t was = c->pools ? c->pools->size : 0;
	const struct lz_event_pool_desc desc = {.head = {LZ_EVENT_POOL_DESC, NULL},
						.flags = LZ_EVENT_POOL_HOST_VISIBLE |
							 LZ_EVENT_POOL_TIMES,
						.count = !was                ? FIRST_EVENTS
							 : was < MOST_EVENTS ? 2 * was
									     : MOST_EVENTS};
	struct gt_lz_own_pool *pool = gt_lz_take(NULL);

	if (!pool)
		return;
	if (GT_LZ(c->table, zeEventPoolCreate)((void *)c->object.handle, &desc, 0, NULL,
					       &pool->pool)) {
		gt_lz_give(NULL, pool);
		return;
	}
	pool->size = desc.count;
	pool->next = c->pools;
	c->pools = pool;
	c->unmade += desc.count;
}

/* Return the pool in which events can be created. At most one pool is created in advance. The
 * caller holds the context's lock. */
static struct gt_lz_own_pool *pool_with_room(const struct gt_lz_context *c)
{
	struct gt_lz_own_pool *p = c->pools;

	if (p && p->next && p->next->made < p->next->size)
		p = p->next;
	return p && p->made < p->size ? p : NULL;
}

static bool make_event(struct gt_lz_context *c)
{
	struct gt_lz_own_pool *pool = pool_with_room(c);
	struct gt_lz_own *own;

	if (!pool) {
		make_pool(c);
		pool = pool_with_room(c);
	}
	own = pool ? gt_lz_take(NULL) : NULL;
	if (!own)
		return false;
	own->pool = pool;
	own->index = pool->made;
	if (GT_LZ(c->table, zeEventCreate)(pool->pool,
					   &(struct lz_event_desc){.head = {LZ_EVENT_DESC, NULL},
								   .index = own->index,
								   .signal = LZ_EVENT_SCOPE_HOST,
								   .wait = LZ_EVENT_SCOPE_HOST},
					   &own->event)) {
		gt_lz_give(NULL, own);
		return false;
	}
	pool->made++;
	c->unmade--;
	own->next = c->free;
	c->free = own;
	return true;
}

static void make_events(struct gt_lz_context *c)
{
	for (int i = 0; i < MAKE_AT_ONCE && make_event(c); i++)
		;
}

/* Context that needs its next pool, or NULL. */
static struct gt_lz_context *_Atomic wanting;

void gt_lz_owns_prepare(void)
{
	struct gt_lz_context *c = atomic_load_explicit(&wanting, memory_order_relaxed)
					  ? atomic_exchange(&wanting, NULL)
					  : NULL;

	if (!c)
		return;
	gt_lz_lock(&c->lock);
	/* otherwise the pool exists already, or the context was destroyed */
	if (c->pools && c->pools->made)
		make_pool(c);
	gt_lz_unlock(&c->lock);
}

static void take_some(const struct gt_table *table, const void *context, struct gt_lz_own **free)
{
	struct gt_lz_context *c = gt_lz_add(GT_LZ_CONTEXT, context);

	if (!c)
		return;
	gt_lz_lock(&c->lock);
	c->table = table;
	if (!c->free)
		make_events(c);
	if (c->pools && c->unmade < c->pools->size / 2)
		atomic_store_explicit(&wanting, c, memory_order_relaxed);
	for (int i = 0; i < TAKE_AT_ONCE && c->free; i++) {
		struct gt_lz_own *own = c->free;

		c->free = own->next;
		own->next = *free;
		*free = own;
	}
	gt_lz_unlock(&c->lock);
}

struct gt_lz_own *gt_lz_own_take(const struct gt_table *table, const void *context,
				 struct gt_lz_own **free)
{
	struct gt_lz_own *own;

	if (!*free)
		take_some(table, context, free);
	own = *free;
	if (own)
		*free = own->next;
	return own;
}

/* Return an event to @free. An event that cannot be reset is not reused. */
void gt_lz_own_give(const struct gt_table *table, struct gt_lz_own **free, struct gt_lz_own *own)
{
	if (GT_LZ(table, zeEventHostReset)(own->event)) {
		gt_lz_give(NULL, own);
		return;
	}
	own->next = *free;
	*free = own;
}

void gt_lz_owns_end(const void *context, struct gt_lz_own **free)
{
	struct gt_lz_context *c = gt_lz_find(GT_LZ_CONTEXT, context);
	struct gt_lz_own *next;

	if (c)
		gt_lz_lock(&c->lock);
	for (struct gt_lz_own *own = *free; own; own = next) {
		next = own->next;
		if (c) {
			own->next = c->free;
			c->free = own;
		} else {
			gt_lz_give(NULL, own);
		}
	}
	*free = NULL;
	if (c)
		gt_lz_unlock(&c->lock);
}

void *gt_lz_host_memory(const struct gt_table *table, const void *context, size_t bytes)
{
	const struct lz_host_memory_desc desc = {.head = {LZ_HOST_MEMORY_DESC, NULL}};
	void *memory = NULL;

	if (!GT_LZ(table, zeMemAllocHost) || !GT_LZ(table, zeMemFree) ||
	    GT_LZ(table, zeMemAllocHost)((void *)context, (const void *)&desc, bytes, 64, &memory))
		return NULL;
	memset(memory, 0, bytes);
	return memory;
}

struct lz_kernel_times *gt_lz_own_times(const struct gt_table *table, const void *context,
					const struct gt_lz_own *own)
{
	struct gt_lz_context *c = gt_lz_find(GT_LZ_CONTEXT, context);
	struct lz_kernel_times *times;

	if (!c)
		return NULL;
	gt_lz_lock(&c->lock);
	if (!own->pool->times)
		own->pool->times = gt_lz_host_memory(table, context,
						     own->pool->size * sizeof *own->pool->times);
	times = own->pool->times;
	gt_lz_unlock(&c->lock);
	return times ? times + own->index : NULL;
}

/* Release a context's events when the program destroys the context. Events that activities in
 * flight will signal are not destroyed. */
void gt_lz_context_end(const void *context)
{
	struct gt_lz_context *c = gt_lz_find(GT_LZ_CONTEXT, context);

	if (!c)
		return;
	gt_lz_lock(&c->lock);
	for (struct gt_lz_own *own = c->free, *next; own; own = next) {
		next = own->next;
		if (GT_LZ(c->table, zeEventDestroy))
			GT_LZ(c->table, zeEventDestroy)(own->event);
		gt_lz_give(NULL, own);
	}
	for (struct gt_lz_own_pool *p = c->pools, *next; p; p = next) {
		next = p->next;
		if (GT_LZ(c->table, zeEventPoolDestroy))
			GT_LZ(c->table, zeEventPoolDestroy)(p->pool);
		if (p->times)
			GT_LZ(c->table, zeMemFree)((void *)context, p->times);
		gt_lz_give(NULL, p);
	}
	c->free = NULL;
	c->pools = NULL;
	c->unmade = 0;
	gt_lz_unlock(&c->lock);
	gt_lz_remove(GT_LZ_CONTEXT, context);
}
