/* SPDX-License-Identifier: MIT */
/* Keeps the existing objects that tools are notified of, and the contexts that were notified of
 * each object's LOAD.
 *
 *   list, in the order of loading ─► object ─► object              devices, queues, code objects
 *                                      │ children, in the order of loading: kernel symbols
 *                                      └ subscriptions: {context, its eight bytes}, for each LOAD
 *
 * A context is notified of an object's LOAD once: in the thread that loads the object or, for a
 * replay, in the thread that starts the context. If both threads try at the same time, the thread
 * that adds the subscription notifies. A parent's LOAD comes before its children's. UNLOAD goes to
 * the contexts that have a subscription.
 *
 * Locking: gt_core_lock() for the lists, never while a callback runs. A thread pins the object that
 * it uses; the last thread to unpin the object frees it. Entries are reused; memory and texts
 * remain until the process ends. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/recording.h"
#include "tool/tool_activity.h"
#include "tool/tool_reader.h"

enum { ROW_BYTES = 1 << 16, TEXT_BUCKETS = 4096, NAP_NS = 50000, PATIENCE = 20000 /* naps, 1 s */ };

/* A context with a subscription to objects of a domain. The subscription is copied, because the
 * slot may belong to another context when the callback runs. */
struct listener {
	uint32_t place, generation;
	uint32_t flags;
	uint64_t types; /* 0 if not subscribed */
};

/* One context's subscription to one object. */
struct subscription {
	struct subscription *next;
	struct gt_tool_subscriber subscriber;
	uint32_t flags;             /* flags of the context's subscription */
	_Atomic uint32_t notifying; /* thread that is notifying of LOAD; 0 once done */
	/* nonzero if the LOAD callback was not called, or UNLOAD is done */
	_Atomic uint32_t void_now;
};

struct gt_tool_object {
	struct gt_tool_object *next, *previous;
	struct gt_tool_object *parent, *first, *last; /* `first` and `last` of the children */
	struct subscription *subscriptions;
	uint32_t pins;
	bool gone;
	struct gputap_object o;
};

struct object_text {
	struct object_text *next;
	size_t bytes;
	char data[];
};

static struct gt_tool_object *first, *last; /* objects without a parent */
static struct gt_tool_object *spare_objects;
static struct subscription *spare_subscriptions;
static struct object_text *texts[TEXT_BUCKETS];
static _Atomic uint32_t over;

/* Memory (all with the lock) ------------------------------------------------------ */

static void *take_bytes(size_t bytes)
{
	static char *row, *end;
	int saved = errno;
	void *p;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!row || bytes > (size_t)(end - row)) {
		size_t n = bytes > ROW_BYTES ? bytes : ROW_BYTES;

		row = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		errno = saved;
		if (row == MAP_FAILED) {
			row = NULL;
			return NULL;
		}
		end = row + n;
	}
	p = row;
	row += bytes;
	return p;
}

static struct gt_tool_object *take_object(void)
{
	struct gt_tool_object *x = spare_objects;

	if (x)
		spare_objects = x->next;
	else
		x = take_bytes(sizeof *x);
	if (x)
		memset(x, 0, sizeof *x);
	return x;
}

static struct subscription *take_subscription(void)
{
	struct subscription *h = spare_subscriptions;

	if (h)
		spare_subscriptions = h->next;
	else
		h = take_bytes(sizeof *h);
	return h;
}

const char *gt_tool_text(const char *data, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct object_text **bucket, *t;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)data[i]) * UINT64_C(0x100000001b3);
	bucket = &texts[(hash ^ hash >> 32) % TEXT_BUCKETS];
	gt_core_lock();
	for (t = *bucket; t && (t->bytes != bytes || memcmp(t->data, data, bytes) != 0);
	     t = t->next)
		;
	if (!t && (t = take_bytes(sizeof *t + bytes + 1)) != NULL) {
		t->bytes = bytes;
		memcpy(t->data, data, bytes);
		t->data[bytes] = '\0';
		t->next = *bucket;
		*bucket = t;
	}
	gt_core_unlock();
	return t ? t->data : NULL;
}

/* Lists (all with the lock) -------------------------------------------------------- */

static void append_object(struct gt_tool_object *x)
{
	struct gt_tool_object **head = x->parent ? &x->parent->first : &first,
			      **tail = x->parent ? &x->parent->last : &last;

	x->previous = *tail;
	if (*tail)
		(*tail)->next = x;
	else
		*head = x;
	*tail = x;
}

static void unlink_and_free(struct gt_tool_object *x)
{
	struct gt_tool_object **head = x->parent ? &x->parent->first : &first,
			      **tail = x->parent ? &x->parent->last : &last;

	*(x->previous ? &x->previous->next : head) = x->next;
	*(x->next ? &x->next->previous : tail) = x->previous;
	while (x->subscriptions) {
		struct subscription *h = x->subscriptions;

		x->subscriptions = h->next;
		h->next = spare_subscriptions;
		spare_subscriptions = h;
	}
	x->next = spare_objects;
	spare_objects = x;
}

static void unpin_object(struct gt_tool_object *x)
{
	if (--x->pins == 0 && x->gone && !x->first)
		unlink_and_free(x);
}

static struct subscription *find_subscription(const struct gt_tool_object *x, uint32_t place,
					      uint32_t generation)
{
	struct subscription *h = x->subscriptions;

	while (h && (h->subscriber.place != place || h->subscriber.generation != generation ||
		     atomic_load_explicit(&h->void_now, memory_order_relaxed)))
		h = h->next;
	return h;
}

static void sleep_briefly(void)
{
	const struct timespec t = {0, NAP_NS};

	syscall(SYS_nanosleep, &t, NULL);
}

/* Notifying ---------------------------------------------------------------------------- */

static struct listener listener_of(uint32_t place, uint32_t generation,
				   const struct gt_tool_objects *asked)
{
	return (struct listener){place, generation, asked->flags, asked->fn ? asked->types : 0};
}

static bool asks_for_type(const struct listener *l, const struct gputap_object *o)
{
	return l->types >> o->type & 1;
}

static bool call_subscriber(struct subscription *h, const struct gt_tool_object *x, uint32_t phase,
			    bool replayed)
{
	const struct gt_tool_objects *to = &gt_tool_pool[h->subscriber.place].objects[x->o.domain];
	struct gputap_object o = x->o;
	int saved = errno;
	bool before;

	o.size = sizeof o;
	o.phase = phase;
	o.replayed = replayed;
	if (!gt_tool_lock_in(h->subscriber.place, h->subscriber.generation,
			     phase == GPUTAP_OBJECT_PHASE_UNLOAD))
		return false;
	before = gt_tool_calling(true);
	to->fn(&o, &h->subscriber.data, to->user);
	gt_tool_calling(before);
	gt_tool_lock_out();
	errno = saved;
	return true;
}

/* Return the subscription for notifying this context of LOAD. Return NULL if the context was
 * already notified or does not want LOAD. Wait while another thread notifies the context. */
static struct subscription *begin_load(struct gt_tool_object *x, const struct listener *l)
{
	uint32_t me = gt_tool_thread();
	struct subscription *h;

	for (unsigned n = 0;; n++) {
		uint32_t notifying;

		gt_core_lock();
		h = find_subscription(x, l->place, l->generation);
		if (!h)
			break;
		notifying = atomic_load_explicit(&h->notifying, memory_order_acquire);
		if (!notifying || notifying == me || n == PATIENCE) {
			gt_core_unlock();
			return NULL;
		}
		gt_core_unlock();
		sleep_briefly();
	}
	if (!x->gone && (h = take_subscription()) != NULL) {
		h->next = x->subscriptions;
		h->subscriber =
			(struct gt_tool_subscriber){.place = l->place, .generation = l->generation};
		h->flags = l->flags;
		atomic_store_explicit(&h->notifying, me, memory_order_relaxed);
		atomic_store_explicit(&h->void_now, 0, memory_order_relaxed);
		x->subscriptions = h;
	}
	gt_core_unlock();
	return h;
}

/* Notify a context of LOAD. @x is pinned, or is being loaded. */
static void notify_load(struct gt_tool_object *x, const struct listener *l, bool replayed)
{
	struct subscription *h;

	if (x->parent && asks_for_type(l, &x->parent->o) && !(l->flags & GPUTAP_OBJECTS_NO_REPLAY))
		notify_load(x->parent, l, replayed);
	h = asks_for_type(l, &x->o) ? begin_load(x, l) : NULL;
	if (!h)
		return;
	if (!call_subscriber(h, x, GPUTAP_OBJECT_PHASE_LOAD, replayed))
		atomic_store_explicit(&h->void_now, 1, memory_order_relaxed);
	atomic_store_explicit(&h->notifying, 0, memory_order_release);
}

/* Notify of UNLOAD. @x is unloaded and pinned, so it gets no further subscriptions.
 * @parent_first: 1 for contexts that want the parent first, 0 for the others, 2 for all contexts */
static void notify_unload(struct gt_tool_object *x, int parent_first)
{
	uint32_t me = gt_tool_thread(), notifying;

	for (struct subscription *h = x->subscriptions; h; h = h->next) {
		for (unsigned n = 0; n < PATIENCE; n++) {
			notifying = atomic_load_explicit(&h->notifying, memory_order_acquire);
			if (!notifying || notifying == me)
				break;
			sleep_briefly();
		}
		if (atomic_load_explicit(&h->void_now, memory_order_relaxed) ||
		    (parent_first != 2 &&
		     parent_first != !!(h->flags & GPUTAP_OBJECTS_PARENT_FIRST)))
			continue;
		call_subscriber(h, x, GPUTAP_OBJECT_PHASE_UNLOAD, false);
		atomic_store_explicit(&h->void_now, 1, memory_order_relaxed);
	}
}

/* Loading and unloading ------------------------------------------------------------------- */

struct gt_tool_object *gt_tool_object_add(const struct gputap_object *o,
					  struct gt_tool_object *parent)
{
	struct gt_tool_object *x;

	gt_core_lock();
	x = take_object();
	if (x) {
		x->o = *o;
		x->parent = parent;
		x->pins = !parent; /* pinned until gt_tool_object_loaded() */
		append_object(x);
	}
	gt_core_unlock();
	return x;
}

/* Unpin @x, and return the next object in the list, pinned, or NULL. The caller holds the lock. */
static struct gt_tool_object *step_object(struct gt_tool_object *x, struct gt_tool_object *to)
{
	if (to)
		to->pins++;
	if (x)
		unpin_object(x);
	return to;
}

/* Notify a context of the children of @x in the order of loading. @x is pinned, and the caller
 * holds the lock. */
static void notify_children(struct gt_tool_object *x, const struct listener *l, bool replayed)
{
	for (struct gt_tool_object *child = step_object(NULL, x->first); child;
	     child = step_object(child, child->next)) {
		gt_core_unlock();
		notify_load(child, l, replayed);
		gt_core_lock();
	}
}

void gt_tool_object_loaded(struct gt_tool_object *x)
{
	struct listener listeners[GT_TOOL_POOL];
	uint8_t places[GT_TOOL_POOL];
	unsigned count = 0, of;

	if (!x)
		return;
	if (!atomic_load_explicit(&over, memory_order_relaxed) && gt_tool_look()) {
		of = gt_tool_order(places);
		for (unsigned i = 0; i < of; i++) {
			const struct gt_tool_context *c = &gt_tool_pool[places[i]];

			if (c->objects[x->o.domain].fn)
				listeners[count++] =
					listener_of(places[i],
						    atomic_load_explicit(&c->generation,
									 memory_order_acquire),
						    &c->objects[x->o.domain]);
		}
		gt_tool_look_done();
	}
	for (unsigned i = 0; i < count; i++) {
		notify_load(x, &listeners[i], false);
		gt_core_lock();
		notify_children(x, &listeners[i], false);
		gt_core_unlock();
	}
	gt_core_lock();
	unpin_object(x);
	gt_core_unlock();
}

static void unload(struct gt_tool_object *x)
{
	struct gt_tool_object *child;

	gt_core_lock();
	if (x->gone) {
		gt_core_unlock();
		return;
	}
	x->gone = true;
	x->pins++;
	for (child = x->last; child; child = child->previous) {
		child->gone = true;
		child->pins++;
	}
	gt_core_unlock();
	/* the children are pinned and no child is added, so the list does not change */
	if (x->last)
		notify_unload(x, 1);
	for (child = x->last; child; child = child->previous)
		notify_unload(child, 2);
	notify_unload(x, 2);
	gt_core_lock();
	for (child = x->last; child;) {
		struct gt_tool_object *before = child->previous;

		unpin_object(child);
		child = before;
	}
	unpin_object(x);
	gt_core_unlock();
}

void gt_tool_object_unload(struct gt_tool_object *x)
{
	if (x)
		unload(x);
}

void gt_tool_objects_replay(uint32_t place, uint32_t generation)
{
	struct listener listeners[GT_DOMAIN_COUNT];
	struct gt_tool_object *x;
	bool wanted = false;

	gt_core_lock(); /* a callback may destroy the context */
	for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
		listeners[d] = listener_of(place, generation, &gt_tool_pool[place].objects[d]);
		if (listeners[d].flags & GPUTAP_OBJECTS_NO_REPLAY)
			listeners[d].types = 0;
		wanted |= listeners[d].types != 0;
	}
	x = wanted && !atomic_load_explicit(&over, memory_order_relaxed) ? step_object(NULL, first)
									 : NULL;
	while (x) {
		const struct listener *l = &listeners[x->o.domain];

		if (l->types) {
			gt_core_unlock();
			notify_load(x, l, true);
			gt_core_lock();
			notify_children(x, l, true);
		}
		x = step_object(x, x->next);
	}
	gt_core_unlock();
}

void gt_tool_objects_end(void)
{
	struct gt_tool_object *x, *before;

	atomic_store_explicit(&over, 1, memory_order_relaxed);
	gt_core_lock();
	for (x = step_object(NULL, last); x; x = before) {
		gt_core_unlock();
		unload(x);
		gt_core_lock();
		before = step_object(x, x->previous);
	}
	gt_core_unlock();
}
