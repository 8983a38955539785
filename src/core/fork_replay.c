/* SPDX-License-Identifier: MIT */
/* Stores the records of objects that continue to exist in a fork's child, and writes the records
 * again into the child's ring.
 *
 *   rooms[class] ─► entry {state, object, text} ─► entry ..
 *   class sizes: texts of 64 B, then twice the size of the previous class
 *
 * The entry of a removed object is reused for another object of the same class. Entries are never
 * removed from their list.
 * Locking: a thread that looks for an entry to use holds gt_core_lock(); a thread that reads
 * entries holds no lock. A fork at any moment leaves the lists consistent in the child, which skips
 * an entry that was being written. */
#include <stdatomic.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"

enum { CLASSES = 6, SMALLEST = 64 };
enum state { GONE = 0, WRITING, LIVE };

struct gt_fork_replay {
	struct gt_fork_replay *next;
	_Atomic uint32_t state; /* enum state */
	/* epoch of the process whose records contain the object; 0: no records contain it yet */
	_Atomic uint32_t epoch;
	enum gt_object_type type;
	enum gt_domain domain;
	bool begins; /* true if the object has GT_RECORD_LIFETIME records */
	uint64_t number, handle, parent;
	size_t bytes;
	char text[];
};

static struct {
	_Atomic(struct gt_fork_replay *) first;
	uint32_t gone; /* number of entries that may be reused */
} rooms[CLASSES];

static unsigned class_of(size_t bytes)
{
	unsigned class = 0;

	while ((size_t)SMALLEST << class < bytes)
		class ++;
	return class;
}

static struct gt_fork_replay *find_room(unsigned class)
{
	struct gt_fork_replay *k =
		rooms[class].gone ? atomic_load_explicit(&rooms[class].first, memory_order_relaxed)
				  : NULL;

	while (k && atomic_load_explicit(&k->state, memory_order_relaxed) != GONE)
		k = k->next;
	if (k) {
		__atomic_sub_fetch(&rooms[class].gone, 1, __ATOMIC_RELAXED);
		return k;
	}
	k = gt_arena_take(sizeof *k + ((size_t)SMALLEST << class));
	if (k) {
		atomic_init(&k->state, GONE);
		k->next = atomic_load_explicit(&rooms[class].first, memory_order_relaxed);
		atomic_store_explicit(&rooms[class].first, k, memory_order_release);
	}
	return k;
}

static bool write_records(struct gt_thread *t, struct gt_fork_replay *k, const struct gt_text *text)
{
	if (!gt_object_write(t, k->type, k->domain, k->number, k->handle, k->parent, text) ||
	    (k->begins && !gt_lifetime_write(t, k->type, k->domain, k->number, true)))
		return false;
	atomic_store_explicit(&k->epoch, t->epoch, memory_order_relaxed);
	return true;
}

bool gt_fork_replay_write(struct gt_thread *t, struct gt_fork_replay *k)
{
	struct gt_text text;

	if (!k || atomic_load_explicit(&k->state, memory_order_acquire) != LIVE ||
	    atomic_load_explicit(&k->epoch, memory_order_relaxed) == t->epoch)
		return true;
	text.bytes = k->bytes;
	memcpy(text.data, k->text, k->bytes);
	return write_records(t, k, &text);
}

struct gt_fork_replay *gt_fork_replay_add(struct gt_thread *t, const struct gt_object *o,
					  const struct gt_text *text)
{
	size_t bytes = text ? text->bytes : 0;
	struct gt_fork_replay *k;

	static_assert(sizeof text->data <= SMALLEST << (CLASSES - 1),
		      "the largest text has a class");
	if (!t)
		return NULL;
	gt_core_lock();
	k = find_room(class_of(bytes));
	if (k)
		atomic_store_explicit(&k->state, WRITING, memory_order_release);
	gt_core_unlock();
	if (!k) {
		gt_object_write(t, o->type, o->domain, o->number, o->handle, o->parent, text);
		return NULL;
	}
	k->type = o->type;
	k->domain = o->domain;
	k->begins = o->begins;
	k->number = o->number;
	k->handle = o->handle;
	k->parent = o->parent;
	k->bytes = bytes;
	atomic_store_explicit(&k->epoch, 0, memory_order_relaxed);
	if (bytes)
		memcpy(k->text, text->data, bytes);
	write_records(t, k, text);
	atomic_store_explicit(&k->state, LIVE, memory_order_release);
	return k;
}

/* Return the length of the text without its last string if that string is a label. */
static size_t bytes_without_label(const struct gt_fork_replay *k)
{
	static const char key[] = "label=";

	for (size_t at = 0; at < k->bytes; at += strlen(k->text + at) + 1)
		if (strncmp(k->text + at, key, sizeof key - 1) == 0)
			return at;
	return k->bytes;
}

void gt_fork_replay_label(struct gt_thread *t, struct gt_fork_replay *k, const char *label)
{
	struct gt_text text;

	if (!t || !k || atomic_load_explicit(&k->state, memory_order_acquire) != LIVE)
		return;
	text.bytes = bytes_without_label(k);
	memcpy(text.data, k->text, text.bytes);
	gt_text_add(&text, "label", label);
	gt_object_write(t, k->type, k->domain, k->number, k->handle, k->parent, &text);
	if (class_of(text.bytes) != class_of(k->bytes))
		return;
	/* the child of a fork that happens at this moment skips the entry */
	atomic_store_explicit(&k->state, WRITING, memory_order_release);
	memcpy(k->text, text.data, text.bytes);
	k->bytes = text.bytes;
	atomic_store_explicit(&k->state, LIVE, memory_order_release);
}

void gt_fork_replay_remove(struct gt_thread *t, struct gt_fork_replay *k)
{
	if (!k || atomic_load_explicit(&k->state, memory_order_relaxed) != LIVE)
		return;
	if (k->begins)
		gt_lifetime_write(t, k->type, k->domain, k->number, false);
	atomic_store_explicit(&k->state, GONE, memory_order_release);
	__atomic_add_fetch(&rooms[class_of(k->bytes)].gone, 1, __ATOMIC_RELAXED);
}

void gt_fork_replay_all(struct gt_thread *t)
{
	for (unsigned class = 0; class < CLASSES; class ++)
		for (struct gt_fork_replay *k =
			     atomic_load_explicit(&rooms[class].first, memory_order_acquire);
		     k; k = k->next)
			gt_fork_replay_write(t, k);
}
