/* SPDX-License-Identifier: MIT */
/* The program's objects needed for GPU activities, by handle, and their waiting and running
 * activities. No lock is global:
 *
 *   table of objects   looked up without a lock; a bucket's own lock for insertion and removal
 *   queue              its lock: activities in flight, free gputap events
 *   list               no lock: a program uses a list in one thread at a time
 *   context, device    its lock: gputap's events; the clock
 *
 * A queue's lock is held while the driver is queried about events, never while a tool is notified.
 * Order: queue, context, nodes. Nodes are never unmapped, and an object's node is only reused for
 * objects of its kind: a thread with a pointer to an object that the program has destroyed
 * meanwhile still finds an object, possibly another one. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_OBJECTS_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_OBJECTS_H

#include "core/emit.h"
#include "core/tap.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_wraps.h"
#include "runtime/level_zero/level_zero_abi.h"
#include "runtime/work.h"

/* A driver's function below all taps. */
#define GT_LZ(table, name) \
	((gt_level_zero_##name##_fn *)(table)->taps[GT_LEVEL_ZERO_INDEX_##name].real)

enum gt_lz_kind {
	GT_LZ_CONTEXT,
	GT_LZ_DEVICE,
	GT_LZ_QUEUE,
	GT_LZ_LIST,
	GT_LZ_POOL,
	GT_LZ_EVENT,
	GT_LZ_KERNEL,
	GT_LZ_FENCE,
	GT_LZ_IMAGE,
	GT_LZ_KINDS
};

struct gt_lz_lock {
	_Atomic uint32_t holder; /* process that holds it, + 1; 0: none */
};

struct gt_lz_object {
	struct gt_lz_object *_Atomic next; /* in its bucket; among the free ones */
	const void *_Atomic handle;
	enum gt_lz_kind kind;
};

/* Nodes that are not objects, with a single owner. */
struct gt_lz_node {
	struct gt_lz_node *next;
};
struct gt_lz_stock {
	struct gt_lz_node *free;
};

/* A gputap event. */
struct gt_lz_own {
	struct gt_lz_own *next; /* free ones */
	void *event;
	struct gt_lz_own_pool *pool;
	uint32_t index;
};

struct gt_lz_own_pool {
	struct gt_lz_own_pool *next;
	void *pool;
	uint32_t size, made;           /* number of events: capacity, created */
	struct lz_kernel_times *times; /* one for each of its events; NULL: not requested yet */
};

struct gt_lz_context {
	struct gt_lz_object object;
	const struct gt_table *table;
	struct gt_lz_lock lock; /* protects the members below */
	struct gt_lz_own *free;
	struct gt_lz_own_pool *pools; /* events are made from the first one */
	uint32_t unmade;              /* number that can still be made without another pool */
};

/* A value of the device's clock, and its time (CLOCK_BOOTTIME). */
struct gt_lz_anchor {
	uint64_t ticks, ns;
};

/* A device with its clock: level_zero_clock.c. `known` ticks continue where the device's counter
 * wraps. */
struct gt_lz_device {
	struct gt_lz_object object;
	const struct gt_table *table;
	uint64_t number, hz;
	uint32_t bits, kernel_bits;
	struct gt_lz_lock lock;    /* protects the members below */
	struct gt_lz_anchor known; /* ns 0: not read yet */
	struct gt_lz_anchor host;  /* host ticks, and time: of the first reading */
	uint64_t pause_ns;
	_Atomic uint64_t next_ticks; /* host ticks of the next reading; 0: rate not known */
	uint64_t next_ns;
};

/* Times of a list's run, which the device copies before the next run. */
struct gt_lz_readback {
	struct gt_lz_readback *next; /* of its list */
	void *list;                  /* a closed gputap list */
	struct lz_kernel_times *times;
	struct gt_lz_own *done; /* signalled when the times are there */
	_Atomic uint32_t users; /* number of items */
};

/* An activity in flight. */
struct gt_lz_item {
	struct gt_lz_item *next;
	struct gt_work *work;
	void *event;                 /* signalled when it is done; NULL: none */
	struct gt_lz_event *program; /* the program event that `event` is, if any */
	/* the gputap event that `event` is, if it belongs to no list */
	struct gt_lz_own *own;
	struct lz_kernel_times *times; /* will contain the times; NULL: the event has them */
	struct gt_lz_readback *readback;
	uint64_t sequence;
	const void *list; /* handle of its regular list */
	uint32_t ordinal; /* of its entry there */
	bool dirty;       /* the event may have been signalled earlier */
};

/* Place where activities complete: a queue, or an immediate list, which is also a queue. */
struct gt_lz_queue {
	struct gt_lz_object object;
	struct gt_lz_queue *next; /* in the list of all queues ever used; constant */
	struct gt_lz_lock lock;   /* protects the members below */
	const struct gt_table *table;
	const void *context; /* handle */
	struct gt_lz_device *device;
	uint64_t number; /* of the queue as an object */
	bool synchronous;
	struct gt_lz_item *first, *last;
	struct gt_lz_stock items;
	struct gt_lz_own *own;      /* free ones */
	_Atomic uint64_t submitted; /* sequence of the last item */
	_Atomic uint32_t count;
	uint32_t look;
};

/* A command of a regular list. */
struct gt_lz_entry {
	struct gt_lz_entry *next;
	struct gt_work_what what;
	void *event;
	struct gt_lz_event *program; /* the program event that `event` is, if any */
	struct gt_lz_own *own;
	struct lz_kernel_times *times; /* as of an item */
	bool dirty;                    /* as of an item */
	uint64_t id;                   /* in a mutable list; 0: none */
};

struct gt_lz_list {
	struct gt_lz_object object;
	const struct gt_table *table;
	const void *context; /* handle */
	struct gt_lz_device *device;
	struct gt_lz_queue *queue; /* if the list is immediate */
	uint32_t ordinal;          /* of its queue group */
	struct gt_lz_entry *first, *last;
	struct gt_lz_stock entries;
	struct gt_lz_own *own; /* free ones */
	uint64_t next_id;      /* for the next command, if the program has requested an id */
	struct gt_lz_readback *readbacks;
	uint32_t readback_count;
	/* queue of the last run, if that run may be unfinished */
	struct gt_lz_queue *ran;
	bool in_order;
	_Atomic bool captures; /* the program is capturing its commands into a graph */
	bool fresh;            /* it was run in the open call */
	/* activities of its last run are not followed: they may still be running */
	bool unseen;
	bool named; /* reported that its times are not known */
};

/* Pools created with times, and their events. */
struct gt_lz_pool {
	struct gt_lz_object object;
	bool counter_based;
	bool wants_times; /* the program has requested times, and may read them */
};

struct gt_lz_event {
	struct gt_lz_object object;
	bool counter_based; /* reused without a reset */
	bool wants_times;   /* as in its pool */
	/* signalled by a command since its last reset on the host, so its state may be that
	 * command's */
	_Atomic bool used;
	_Atomic bool named;                /* reported that its times are not known */
	_Atomic uint32_t in_flight;        /* number of items that use it */
	_Atomic uint32_t entries;          /* number of list entries that use it */
	struct gt_lz_queue *_Atomic queue; /* queue that signals it */
	/* several commands of this list use it: its state may be any command's */
	const struct gt_lz_list *_Atomic shared;
};

struct gt_lz_kernel {
	struct gt_lz_object object;
	uint32_t name, group[3];
	uint32_t symbol, group_bytes, private_bytes;
	bool unwanted; /* not selected by `--kernels` */
};

struct gt_lz_fence {
	struct gt_lz_object object;
	struct gt_lz_queue *queue;
	uint64_t until; /* sequence */
};

struct gt_lz_image {
	struct gt_lz_object object;
	uint64_t texels;
	uint32_t bits; /* per texel; 0: not known */
};

void gt_lz_lock(struct gt_lz_lock *lock);
bool gt_lz_try_lock(struct gt_lz_lock *lock);
void gt_lz_unlock(struct gt_lz_lock *lock);

/* Return NULL if there is none, or out of memory. */
void *gt_lz_find(enum gt_lz_kind kind, const void *handle);
/* returns the existing one, or a zeroed one */
void *gt_lz_add(enum gt_lz_kind kind, const void *handle);
void gt_lz_remove(enum gt_lz_kind kind, const void *handle);
struct gt_lz_queue *gt_lz_queues(void);

/* Return a zeroed node; all have the same size. @stock: its owner's lock is held; NULL: no
 * owner. */
void *gt_lz_take(struct gt_lz_stock *stock);
void gt_lz_give(struct gt_lz_stock *stock, void *node);
void gt_lz_stock_end(struct gt_lz_stock *stock);

/* level_zero_own.c. Return a gputap event that is not signalled, from @free, the owner's list. */
struct gt_lz_own *gt_lz_own_take(const struct gt_table *table, const void *context,
				 struct gt_lz_own **free);
void gt_lz_own_give(const struct gt_table *table, struct gt_lz_own **free, struct gt_lz_own *own);
/* Create events in advance that a launch will need soon. Called when the program has waited. */
void gt_lz_owns_prepare(void);
/* Return events that the owner no longer needs. */
void gt_lz_owns_end(const void *context, struct gt_lz_own **free);
/* Return memory into which the device can write the event's times. NULL: out of memory. */
struct lz_kernel_times *gt_lz_own_times(const struct gt_table *table, const void *context,
					const struct gt_lz_own *own);
/* Allocate memory that is visible to device and host. */
void *gt_lz_host_memory(const struct gt_table *table, const void *context, size_t bytes);
void gt_lz_context_end(const void *context);

/* level_zero_clock.c. */
struct gt_lz_device *gt_lz_device(const struct gt_table *table, struct gt_thread *t, void *handle);
/* Read the clock if it is time to. */
void gt_lz_clock_read(struct gt_lz_device *d, struct gt_thread *t);
struct gt_lz_anchor gt_lz_clock_anchor(struct gt_lz_device *d);
/* Convert a kernel's past timestamp to ns of the device's clock; *boottime: in CLOCK_BOOTTIME. */
uint64_t gt_lz_clock_ns(const struct gt_lz_device *d, struct gt_lz_anchor known, uint64_t stamp,
			uint64_t *boottime);

static inline uint64_t gt_lz_submitted_to(const struct gt_lz_queue *queue)
{
	return atomic_load_explicit(&queue->submitted, memory_order_relaxed);
}

/* Notify tools once that activities on an unknown queue or list are missed, if tools came after it
 * was made. */
void gt_lz_note_unknown(void);

/* level_zero_harvest.c. Call without locks held. */
/* Append the item to the queue. */
void gt_lz_push(struct gt_lz_queue *queue, const struct gt_lz_item *item);
/* @until: the program knows that items up to this sequence are done */
void gt_lz_harvest(struct gt_lz_queue *queue, uint64_t until);
void gt_lz_harvest_all(void);
/* Detach a program event that will be reset, destroyed or reused. @list: immediate list whose next
 * command does so, NULL: not done in a command. @ask: it has not been done yet, so the event's
 * state is that of the activity that uses it. */
void gt_lz_event_detach(struct gt_lz_event *event, const struct gt_lz_list *list, bool ask);

/* level_zero_graphs.c. Return true if the list's commands now go into a graph, instead of to the
 * device. */
bool gt_lz_is_captured(const struct gt_lz_list *list);

/* level_zero_memory.c. Return the kind of copy: read, write, or copy. */
enum gt_device_op gt_lz_copy_op(const void *to, const void *from);
enum gt_device_op gt_lz_image_op(const void *memory, bool to_image);

/* level_zero_images.c. Return the bytes of a copy of @region; NULL: the whole image. 0: not
 * known. */
uint64_t gt_lz_image_bytes(const void *image, const void *region);

/* level_zero_runs.c */
/* Report the reason in an event, once per list. @queue: its number; 0: none. */
void gt_lz_list_name(struct gt_lz_list *list, uint64_t queue, const char *why);
/* Copy times within the list: the next command of @list resets, or signals again, an event that its
 * commands use. */
void gt_lz_list_keep_times(struct gt_lz_list *list, struct gt_lz_event *event);
/* Set the event of a mutable list's command from now on. @program: the program's event with times;
 * NULL: it has none. */
void gt_lz_entry_set_event(struct gt_lz_list *list, struct gt_lz_entry *e,
			   struct gt_lz_event *program, void *event);
/* Remove the list's commands. */
void gt_lz_list_empty(struct gt_lz_list *list);

#endif
