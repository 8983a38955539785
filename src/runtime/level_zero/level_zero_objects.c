/* SPDX-License-Identifier: MIT */
/* See level_zero_objects.h. All nodes are of one size, from an arena, and used again. */
#include "runtime/level_zero/level_zero_objects.h"

#include <sched.h>

enum { BUCKETS = 4096, NODE_BYTES = 192, OWN_EVENTS = 256 };

static struct gt_lz_object *buckets[BUCKETS];
static struct gt_lz_object *free_nodes;
static struct gt_lz_queue *queues;
static _Atomic uint32_t holder; /* process that holds the lock, + 1; 0: nobody */

_Static_assert(sizeof(struct gt_lz_queue) <= NODE_BYTES &&
		       sizeof(struct gt_lz_entry) <= NODE_BYTES &&
		       sizeof(struct gt_lz_list) <= NODE_BYTES &&
		       sizeof(struct gt_lz_device) <= NODE_BYTES,
	       "all nodes are of one size");

/* In a fork's child the lock may be held by a thread that is not there. */
void gt_lz_lock(void)
{
	uint32_t ours = atomic_load_explicit(gt_epoch, memory_order_relaxed) + 1;

	for (;;) {
		uint32_t was = 0;

		if (atomic_compare_exchange_strong(&holder, &was, ours) ||
		    (was != ours && atomic_compare_exchange_strong(&holder, &was, ours)))
			return;
		sched_yield();
	}
}

void gt_lz_unlock(void)
{
	atomic_store_explicit(&holder, 0, memory_order_release);
}

void *gt_lz_take(void)
{
	struct gt_lz_object *node = free_nodes;

	if (node)
		free_nodes = node->next;
	else
		node = gt_arena_take(NODE_BYTES);
	if (node)
		memset(node, 0, NODE_BYTES);
	return node;
}

void gt_lz_give(void *node)
{
	struct gt_lz_object *n = node;

	n->next = free_nodes;
	free_nodes = n;
}

static struct gt_lz_object **bucket_of(enum gt_lz_kind kind, const void *handle)
{
	uint64_t hash = ((uintptr_t)handle ^ (uintptr_t)kind) * UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[hash >> 52];
}
_Static_assert(BUCKETS == 1 << 12, "the hash above has 12 bits");

void *gt_lz_find(enum gt_lz_kind kind, const void *handle)
{
	struct gt_lz_object *o = *bucket_of(kind, handle);

	while (o && (o->handle != handle || o->kind != kind))
		o = o->next;
	return o;
}

void *gt_lz_add(enum gt_lz_kind kind, const void *handle)
{
	struct gt_lz_object *o = gt_lz_find(kind, handle), **bucket = bucket_of(kind, handle);

	if (o)
		return o;
	o = gt_lz_take();
	if (!o)
		return NULL;
	o->kind = kind;
	o->handle = handle;
	o->next = *bucket;
	*bucket = o;
	if (kind == GT_LZ_QUEUE) {
		((struct gt_lz_queue *)o)->next = queues;
		queues = (struct gt_lz_queue *)o;
	}
	return o;
}

static void unlink_queue(const struct gt_lz_queue *queue)
{
	struct gt_lz_queue **at = &queues;

	while (*at && *at != queue)
		at = &(*at)->next;
	if (*at)
		*at = queue->next;
}

void gt_lz_remove(enum gt_lz_kind kind, const void *handle)
{
	struct gt_lz_object **at = bucket_of(kind, handle), *gone;

	while (*at && ((*at)->handle != handle || (*at)->kind != kind))
		at = &(*at)->next;
	gone = *at;
	if (!gone)
		return;
	*at = gone->next;
	if (kind == GT_LZ_QUEUE)
		unlink_queue((struct gt_lz_queue *)gone);
	gt_lz_give(gone);
}

struct gt_lz_queue *gt_lz_queues(void)
{
	return queues;
}

void gt_lz_use_event(const void *event, int by)
{
	struct gt_lz_event *e = event ? gt_lz_find(GT_LZ_EVENT, event) : NULL;

	if (e)
		e->in_flight += (uint32_t)by;
}

/* Events of ours ------------------------------------------------------------------- */

static void make_events(struct gt_lz_context *c)
{
	const struct lz_event_pool_desc desc = {.head = {LZ_EVENT_POOL_DESC, NULL},
						.flags = LZ_EVENT_POOL_HOST_VISIBLE |
							 LZ_EVENT_POOL_TIMES,
						.count = OWN_EVENTS};
	struct gt_lz_own_pool *pools = gt_lz_take();
	void *pool;

	if (!pools)
		return;
	if (GT_LZ(c->table, zeEventPoolCreate)((void *)c->object.handle, &desc, 0, NULL, &pool)) {
		gt_lz_give(pools);
		return;
	}
	*pools = (struct gt_lz_own_pool){c->pools, pool};
	c->pools = pools;
	for (uint32_t i = 0; i < OWN_EVENTS; i++) {
		const struct lz_event_desc event = {.head = {LZ_EVENT_DESC, NULL},
						    .index = i,
						    .signal = LZ_EVENT_SCOPE_HOST,
						    .wait = LZ_EVENT_SCOPE_HOST};
		struct gt_lz_own *own = gt_lz_take();

		if (!own || GT_LZ(c->table, zeEventCreate)(pool, &event, &own->event))
			return;
		own->next = c->free;
		c->free = own;
	}
}

struct gt_lz_own *gt_lz_own_take(const struct gt_table *table, const void *context)
{
	struct gt_lz_context *c = gt_lz_add(GT_LZ_CONTEXT, context);
	struct gt_lz_own *own;

	if (!c)
		return NULL;
	c->table = table;
	if (!c->free)
		make_events(c);
	own = c->free;
	if (own)
		c->free = own->next;
	return own;
}

void gt_lz_own_give(const void *context, struct gt_lz_own *own)
{
	struct gt_lz_context *c = gt_lz_find(GT_LZ_CONTEXT, context);

	/* its context is gone; one that cannot be reset is not used again */
	if (!c || GT_LZ(c->table, zeEventHostReset)(own->event)) {
		gt_lz_give(own);
		return;
	}
	own->next = c->free;
	c->free = own;
}

/* The program destroys its context. Events that work in flight signals are left to the driver. */
void gt_lz_context_end(const void *context)
{
	struct gt_lz_context *c = gt_lz_find(GT_LZ_CONTEXT, context);

	if (!c)
		return;
	for (struct gt_lz_own *own = c->free, *next; own; own = next) {
		next = own->next;
		if (GT_LZ(c->table, zeEventDestroy))
			GT_LZ(c->table, zeEventDestroy)(own->event);
		gt_lz_give(own);
	}
	for (struct gt_lz_own_pool *p = c->pools, *next; p; p = next) {
		next = p->next;
		if (GT_LZ(c->table, zeEventPoolDestroy))
			GT_LZ(c->table, zeEventPoolDestroy)(p->pool);
		gt_lz_give(p);
	}
	gt_lz_remove(GT_LZ_CONTEXT, c->object.handle);
}
