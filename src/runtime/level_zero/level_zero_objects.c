/* SPDX-License-Identifier: MIT */
/* See level_zero_objects.h. A hash table maps handles to objects. Each bucket has a sequence
 * number, which is odd while the bucket's chain changes. A reader searches without the lock, and
 * repeats the search if the number was odd or has changed. All nodes have the same size, come from
 * an arena, and are reused. */
#include "runtime/level_zero/level_zero_objects.h"

#include <sched.h>
#include <stddef.h>

#include "core/late.h"

enum { BUCKETS = 4096, NODE_BYTES = 256, CHAIN_MAX = 1 << 16, TAKE_AT_ONCE = 32 };

static struct bucket {
	struct gt_lz_object *_Atomic first;
	_Atomic uint32_t sequence;
	struct gt_lz_lock lock;
} buckets[BUCKETS];

static struct gt_lz_lock nodes_lock; /* protects the lists of free nodes and objects */
static struct gt_lz_object *free_objects[GT_LZ_KINDS];
static struct gt_lz_node *free_nodes;
static struct gt_lz_queue *_Atomic queues;

_Static_assert(sizeof(struct gt_lz_queue) <= NODE_BYTES &&
		       sizeof(struct gt_lz_entry) <= NODE_BYTES &&
		       sizeof(struct gt_lz_list) <= NODE_BYTES &&
		       sizeof(struct gt_lz_device) <= NODE_BYTES,
	       "all nodes are of one size");

/* Locks --------------------------------------------------------------------------- */

static uint32_t this_process(void)
{
	return atomic_load_explicit(gt_epoch, memory_order_relaxed) + 1;
}

/* Try to take a lock. In a fork's child, a lock may still be marked as held by the parent. */
bool gt_lz_try_lock(struct gt_lz_lock *lock)
{
	uint32_t ours = this_process(), was = 0;

	return atomic_compare_exchange_strong_explicit(&lock->holder, &was, ours,
						       memory_order_acquire,
						       memory_order_relaxed) ||
	       (was != ours && atomic_compare_exchange_strong_explicit(&lock->holder, &was, ours,
								       memory_order_acquire,
								       memory_order_relaxed));
}

void gt_lz_lock(struct gt_lz_lock *lock)
{
	while (!gt_lz_try_lock(lock))
		sched_yield();
}

void gt_lz_unlock(struct gt_lz_lock *lock)
{
	atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

/* Nodes --------------------------------------------------------------------------- */

static struct gt_lz_node *new_node(void)
{
	struct gt_lz_node *node = gt_arena_take(NODE_BYTES);

	return node;
}

/* Take several nodes at a time, so that the lock is rarely contended. */
static void fill_stock(struct gt_lz_stock *stock)
{
	gt_lz_lock(&nodes_lock);
	for (int i = 0; i < TAKE_AT_ONCE; i++) {
		struct gt_lz_node *node = free_nodes;

		if (node)
			free_nodes = node->next;
		else
			node = new_node();
		if (!node)
			break;
		node->next = stock->free;
		stock->free = node;
	}
	gt_lz_unlock(&nodes_lock);
}

void *gt_lz_take(struct gt_lz_stock *stock)
{
	struct gt_lz_node *node;

	if (stock) {
		if (!stock->free)
			fill_stock(stock);
		node = stock->free;
		if (node)
			stock->free = node->next;
	} else {
		gt_lz_lock(&nodes_lock);
		node = free_nodes;
		if (node)
			free_nodes = node->next;
		gt_lz_unlock(&nodes_lock);
		if (!node)
			node = new_node();
	}
	if (node)
		memset(node, 0, NODE_BYTES);
	return node;
}

void gt_lz_give(struct gt_lz_stock *stock, void *node)
{
	struct gt_lz_node *n = node;

	if (stock) {
		n->next = stock->free;
		stock->free = n;
		return;
	}
	gt_lz_lock(&nodes_lock);
	n->next = free_nodes;
	free_nodes = n;
	gt_lz_unlock(&nodes_lock);
}

void gt_lz_stock_end(struct gt_lz_stock *stock)
{
	gt_lz_lock(&nodes_lock);
	for (struct gt_lz_node *n = stock->free, *next; n; n = next) {
		next = n->next;
		n->next = free_nodes;
		free_nodes = n;
	}
	gt_lz_unlock(&nodes_lock);
	stock->free = NULL;
}

/* Objects ------------------------------------------------------------------------- */

/* Reset a queue. Threads that walk all queues may be using the queue, with its lock held. */
static void reset_queue(struct gt_lz_queue *q, bool is_new)
{
	enum { KEPT = offsetof(struct gt_lz_queue, table) };
	struct gt_lz_queue *head = atomic_load(&queues);

	if (!is_new) {
		gt_lz_lock(&q->lock);
		memset((char *)q + KEPT, 0, NODE_BYTES - KEPT);
		gt_lz_unlock(&q->lock);
		return;
	}
	memset(q, 0, NODE_BYTES);
	do
		q->next = head;
	while (!atomic_compare_exchange_weak(&queues, &head, q));
}

static struct gt_lz_object *take_object(enum gt_lz_kind kind)
{
	struct gt_lz_object *o;
	bool is_new;

	gt_lz_lock(&nodes_lock);
	o = free_objects[kind];
	if (o)
		free_objects[kind] = o->next;
	gt_lz_unlock(&nodes_lock);
	is_new = !o;
	if (is_new)
		o = gt_arena_take(NODE_BYTES);
	if (o && kind == GT_LZ_QUEUE)
		reset_queue((struct gt_lz_queue *)o, is_new);
	else if (o)
		memset(o, 0, NODE_BYTES);
	return o;
}

static struct bucket *bucket_of(enum gt_lz_kind kind, const void *handle)
{
	uint64_t hash = ((uintptr_t)handle ^ (uintptr_t)kind) * UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[hash >> 52];
}
_Static_assert(BUCKETS == 1 << 12, "the hash above has 12 bits");

static struct gt_lz_object *find_in(const struct bucket *b, enum gt_lz_kind kind,
				    const void *handle)
{
	struct gt_lz_object *o = atomic_load_explicit(&b->first, memory_order_acquire);
	unsigned steps = 0;

	while (o && steps++ < CHAIN_MAX &&
	       (atomic_load_explicit(&o->handle, memory_order_relaxed) != handle ||
		o->kind != kind))
		o = atomic_load_explicit(&o->next, memory_order_acquire);
	return o;
}

/* Start a change, with the lock held. If a fork left the number odd, the end of this change makes
 * it even. */
static void begin_change(struct bucket *b)
{
	gt_lz_lock(&b->lock);
	atomic_store_explicit(&b->sequence,
			      atomic_load_explicit(&b->sequence, memory_order_relaxed) | 1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void end_change(struct bucket *b)
{
	atomic_fetch_add_explicit(&b->sequence, 1, memory_order_release);
	gt_lz_unlock(&b->lock);
}

void *gt_lz_find(enum gt_lz_kind kind, const void *handle)
{
	struct bucket *b = bucket_of(kind, handle);
	uint32_t before = atomic_load_explicit(&b->sequence, memory_order_acquire);
	struct gt_lz_object *o;

	if (!(before & 1)) {
		o = find_in(b, kind, handle);
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&b->sequence, memory_order_relaxed) == before)
			return o;
	}
	begin_change(b);
	o = find_in(b, kind, handle);
	end_change(b);
	return o;
}

void *gt_lz_add_filled(enum gt_lz_kind kind, const void *handle,
		       void (*fill)(void *object, const void *data), const void *data)
{
	struct bucket *b = bucket_of(kind, handle);
	struct gt_lz_object *o = gt_lz_find(kind, handle), *fresh;

	if (o)
		return o;
	fresh = take_object(kind);
	if (!fresh)
		return NULL;
	fresh->kind = kind;
	atomic_store_explicit(&fresh->handle, handle, memory_order_relaxed);
	if (fill)
		fill(fresh, data);
	begin_change(b);
	o = find_in(b, kind, handle);
	if (!o) {
		atomic_store_explicit(&fresh->next, atomic_load(&b->first), memory_order_relaxed);
		atomic_store_explicit(&b->first, fresh, memory_order_release);
	}
	end_change(b);
	if (!o)
		return fresh;
	gt_lz_lock(&nodes_lock); /* another thread has added the object first */
	fresh->next = free_objects[kind];
	free_objects[kind] = fresh;
	gt_lz_unlock(&nodes_lock);
	return o;
}

void *gt_lz_add(enum gt_lz_kind kind, const void *handle)
{
	return gt_lz_add_filled(kind, handle, NULL, NULL);
}

void gt_lz_remove(enum gt_lz_kind kind, const void *handle)
{
	struct bucket *b = bucket_of(kind, handle);
	struct gt_lz_object *_Atomic *at = &b->first;
	struct gt_lz_object *o;

	begin_change(b);
	while ((o = atomic_load(at)) && (o->handle != handle || o->kind != kind))
		at = &o->next;
	if (o)
		atomic_store(at, atomic_load(&o->next));
	end_change(b);
	if (!o)
		return;
	gt_lz_lock(&nodes_lock);
	o->next = free_objects[kind];
	free_objects[kind] = o;
	gt_lz_unlock(&nodes_lock);
}

void gt_lz_describe(struct gt_lz_description *d, const struct gt_object *object,
		    const struct gt_text *text)
{
	struct gt_thread *t = gt_thread_own();

	if (!gt_is_late()) {
		gt_object_write(t, object->type, object->domain, object->number, object->handle,
				object->parent, text);
		atomic_store_explicit(&d->written, true, memory_order_release);
		return;
	}
	d->replay = gt_fork_replay_add(t, object, text);
	atomic_store_explicit(&d->written, d->replay != NULL, memory_order_release);
}

struct gt_lz_queue *gt_lz_queues(void)
{
	return atomic_load_explicit(&queues, memory_order_acquire);
}
